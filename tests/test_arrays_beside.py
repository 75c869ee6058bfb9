"""What may be an array of the host, or a module of a library, is no tensor for what is asked of it."""

from __future__ import annotations

from functools import partial

import checked
import pytest

HEAD = """import numpy as np
import torch
from other import convert, cupy


def f(x: torch.Tensor, some, fast):
    """

codes = partial(checked.codes, head=HEAD)


@pytest.mark.parametrize(
    "text",
    [
        "y = np.asarray(some) if fast else convert(some)\n    return y.tolist()",
        "y = np.zeros(3)\n    if fast: y = convert(x)\n    return y.tolist()",
        "lib = convert if fast else np\n    return lib.bincount(some), x.sum()",
    ],
)
def test_beside_an_array_nothing_shows_a_tensor(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("y = convert(x)\n    return y.tolist()", ["SG202"]),
        ("lib = torch if fast else np\n    return lib.bincount(x)", ["SG107"]),
    ],
)
def test_what_is_no_array_is_one(text: str, found: list[str]) -> None:
    assert codes(text) == found


def test_a_name_that_stands_for_one_of_two_libraries_is_no_tensor() -> None:
    text = """
    import numpy as np
    import torch
    from other import optional_import

    cp, has_cp = optional_import("cupy")

    def f(img, fast):
        if fast:
            lib = cp
        else:
            lib = np
        torch.exp(img)
        return lib.argsort(lib.bincount(img.short()))[::-1]
    """
    assert codes(text, head="") == []


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("torch.as_tensor(KMeans(2).fit(some).cluster_centers_, device=x.device)", ["SG302"]),
        ("torch.as_tensor(np.load(some).values.astype('f4'), device=x.device)", ["SG302"]),
        ("[torch.as_tensor(row, device=x.device) for row in np.load(some).values]", ["SG302"]),
        ("torch.as_tensor(KMeans(2).fit(some).cluster_centers_)", []),
        ("torch.as_tensor(convert(some).centers, device=x.device)", []),
        ("torch.as_tensor(x.values, device=x.device)", []),
    ],
)
def test_an_attribute_of_what_is_on_the_host_is_data(made: str, found: list[str]) -> None:
    assert codes(f"from sklearn.cluster import KMeans\n    return {made}") == found
