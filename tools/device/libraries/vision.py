"""timm and torchvision: classification with mixup, averaged weights and schedules; detection, segmentation."""

import timm
import torch
import torchvision
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.utils import AverageMeter, ModelEmaV3, accuracy, dispatch_clip_grad

D = "cuda"
torch.manual_seed(0)
for name in ("resnet18", "vit_tiny_patch16_224", "convnext_atto"):
    try:
        model = (
            timm.create_model(name, num_classes=10, drop_path_rate=0.1, **({"img_size": 64} if "vit" in name else {}))
            .to(D)
            .train()
        )
        optimizer = create_optimizer_v2(model, opt="lamb" if name == "resnet18" else "adamw", lr=1e-3)
        ema, mix, meter = ModelEmaV3(model), Mixup(mixup_alpha=0.2, cutmix_alpha=1.0, num_classes=10), AverageMeter()
        for step in range(3):
            x, y = torch.randn(4, 3, 64, 64, device=D), torch.randint(10, (4,), device=D)
            mixed, target = mix(x, y)
            loss = SoftTargetCrossEntropy()(model(mixed), target)
            loss.backward()
            dispatch_clip_grad(model.parameters(), 0.02, mode="agc" if step else "norm")
            optimizer.step()
            optimizer.zero_grad()
            ema.update(model, step)
            meter.update(loss.item(), 4)
            accuracy(model(x), y, topk=(1, 5))
    except Exception as fault:
        print(name, type(fault).__name__, str(fault)[:200])


SMALL = {"min_size": 128, "max_size": 160}
FEW = {"box_batch_size_per_image": 32, "rpn_post_nms_top_n_test": 100, "box_detections_per_img": 10}


def boxes():
    corner = torch.rand(3, 2, device=D) * 60
    return {
        "boxes": torch.cat([corner, corner + 20 + torch.rand(3, 2, device=D) * 40], 1),
        "labels": torch.randint(1, 5, (3,), device=D),
        "masks": (torch.rand(3, 128, 128, device=D) > 0.5).byte(),
    }


for make in (
    "fasterrcnn_resnet50_fpn",
    "maskrcnn_resnet50_fpn",
    "retinanet_resnet50_fpn",
    "fcos_resnet50_fpn",
    "ssdlite320_mobilenet_v3_large",
):
    try:
        model = torchvision.models.detection.__dict__[make](
            weights=None,
            weights_backbone=None,
            num_classes=5,
            **({} if "ssd" in make else SMALL),
            **(FEW if "rcnn" in make else {}),
        ).to(D)
        for _ in range(2):
            losses = model([torch.rand(3, 128, 128, device=D) for _ in range(2)], [boxes() for _ in range(2)])
            sum(losses.values()).backward()
        model.eval()
        with torch.no_grad():
            model([torch.rand(3, 128, 128, device=D)])
    except Exception as fault:
        print(make, type(fault).__name__, str(fault)[:200])
import torchvision.ops as O

b = boxes()["boxes"]
for call in (
    lambda: O.nms(b, torch.rand(3, device=D), 0.5),
    lambda: O.batched_nms(b, torch.rand(3, device=D), torch.arange(3, device=D), 0.5),
    lambda: O.remove_small_boxes(b, 5),
    lambda: O.masks_to_boxes(boxes()["masks"]),
    lambda: O.generalized_box_iou_loss(b, b),
    lambda: O.sigmoid_focal_loss(torch.randn(4, device=D), torch.ones(4, device=D)),
    lambda: O.roi_align(torch.rand(1, 3, 32, 32, device=D), [b / 8], 4),
    lambda: torchvision.utils.draw_bounding_boxes((torch.rand(3, 128, 128, device=D) * 255).byte(), b),
    lambda: torchvision.utils.make_grid(torch.rand(4, 3, 16, 16, device=D), normalize=True),
    lambda: torchvision.utils.draw_segmentation_masks(
        (torch.rand(3, 128, 128, device=D) * 255).byte(), boxes()["masks"].bool()
    ),
):
    try:
        call()
    except Exception as fault:
        print("ops", type(fault).__name__, str(fault)[:200])
