"""torch alone: a recurrent net on packed sequences, with mixed precision and a schedule that follows the loss."""

import torch

torch.manual_seed(0)
model = torch.nn.LSTM(8, 8, 2, dropout=0.1).to("cuda")
optimizer, grads = torch.optim.SGD(model.parameters(), lr=0.1), torch.amp.GradScaler("cuda")
schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
for _ in range(3):
    with torch.autocast("cuda"):
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            torch.randn(6, 4, 8, device="cuda"), torch.tensor([6, 5, 3, 1])
        )
        out, _ = model(packed)
        loss = torch.nn.utils.rnn.pad_packed_sequence(out)[0].float().pow(2).mean()
    grads.scale(loss).backward()
    grads.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=False)
    grads.step(optimizer)
    grads.update()
    schedule.step(loss)
