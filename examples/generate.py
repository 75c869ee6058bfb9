"""Generate text token by token, and ask the device after each token whether to go on.

    has every sequence ended?     an `if` on a tensor, once per token      SG204
    show the token as it comes    `.tolist()`, once per token              SG202

Between two tokens the device has nothing queued, and a small model spends more time idle than computing. Nothing
here is a mistake of one line: streaming needs the token on the host. But the question need not be asked each time.
Ask every eighth token and cut what came after the end; or copy the token to a pinned buffer with
`non_blocking=True`, record an event, and show it one step late.

    python generate.py [--device cpu] [--tokens 32]
"""

import argparse

import torch
from torch import nn

VOCABULARY = 128
END = 0


class LanguageModel(nn.Module):
    """The next token's scores from the last token and a running state: [B], [B, D] -> [B, V], [B, D]."""

    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width)
        self.cell = nn.GRUCell(width, width)
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, token, state):
        state = self.cell(self.embed(token), state)
        return self.head(state), state


@torch.no_grad()
def generate(model, token, state, limit, show):
    """Sample until every sequence has ended or is `limit` tokens long."""
    finished = torch.zeros_like(token, dtype=torch.bool)
    for _ in range(limit):
        logits, state = model(token, state)
        drawn = torch.multinomial(logits.softmax(dim=-1), num_samples=1).squeeze(-1)
        token = torch.where(finished, END, drawn)
        show(token.tolist())  # sync: SG202
        finished = finished | (token == END)
        if finished.all():  # sync: SG204
            break


def main():
    parser = argparse.ArgumentParser(description="token generation that waits")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--width", type=int, default=32)
    args = parser.parse_args()

    model = LanguageModel(args.width).to(args.device).eval()
    start = torch.ones(args.batch, dtype=torch.long, device=args.device)
    state = torch.zeros(args.batch, args.width, device=args.device)
    generate(model, start, state, args.tokens, show=print)


if __name__ == "__main__":
    main()
