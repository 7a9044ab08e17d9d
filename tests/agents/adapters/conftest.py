"""What the tests of adapters share."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _collect_streams() -> Iterator[None]:
    """Have what a framework leaves open warn within its own test, where warnings are no errors."""
    yield
    gc.collect()
