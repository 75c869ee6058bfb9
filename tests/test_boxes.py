"""Which boxes are left is read from the device, wherever the function that asks is imported from."""

import pytest
from checked import codes

STEP = """
import torch
from {module} import {function}


class Detector(torch.nn.Module):
    def forward(self, found):
        kept = {{}}
        for name, part in found.items():
            kept[name] = {call}
        return kept
"""
OF_ITEMS = 'batched_nms(part["boxes"].float(), part["scores"], torch.zeros_like(part["boxes"][:, 0]), 0.5)'


@pytest.mark.parametrize(
    ("module", "function", "call"),
    [
        ("torchvision.ops", "batched_nms", OF_ITEMS),
        ("torchvision.ops.boxes", "batched_nms", OF_ITEMS),
        ("torchvision.ops.boxes", "nms", 'nms(part["boxes"], part["scores"], 0.5)'),
        ("torchvision.ops", "boxes", 'boxes.nms(part["boxes"], part["scores"], 0.5)'),
        ("torchvision.ops.boxes", "masks_to_boxes", "masks_to_boxes(torch.sigmoid(part) > 0.5)"),
    ],
)  # fmt: skip
def test_boxes_of_which_nothing_else_is_known(module, function, call):
    assert codes(STEP.format(module=module, function=function, call=call)) == ["SG505"]


def test_boxes_on_the_host_cost_no_wait():
    assert codes(STEP.format(module="torchvision.ops", function="nms", call="nms(part.cpu(), part[0].cpu(), 0.5)")) == [
        "SG202",
        "SG202",
    ]


def test_a_parameter_that_is_handed_over_is_a_tensor():
    assert codes("""
        from torchvision.ops import nms

        def keep(boxes, scores):
            kept = nms(boxes, scores, 0.5)
            return boxes[kept[0].item()]
    """) == ["SG505", "SG201"]  # fmt: skip
