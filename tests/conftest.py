"""What one test sets for the whole process, the next one does not see."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def default_validation():
    """Programs of the pages switch off the validation of distributions for good."""
    yield
    if "torch.distributions" in sys.modules:
        sys.modules["torch.distributions"].Distribution.set_default_validate_args(__debug__)
