"""Sixteen processes that edit the same notes at once: nothing that was acknowledged is lost.

By hand, as often as one likes: `python -m tests.faults.crowd EDITS WRITERS`.
"""

import sys

import pytest

from tests import sampling
from tests.faults.checking import run_module

_EDITS = sampling.many(4_800, 96)
_WRITERS = 16
_LIMIT = 300


@pytest.mark.sweep
@pytest.mark.timeout(_LIMIT)
@pytest.mark.skipif(sys.platform != "linux", reason="forking a warmed process is only safe on Linux")
def test_a_crowd_loses_no_edit() -> None:
    found = run_module("crowd", _EDITS, _WRITERS, limit=_LIMIT - 30)
    assert found["wrong"] == []
    assert found["edits"] == _EDITS
