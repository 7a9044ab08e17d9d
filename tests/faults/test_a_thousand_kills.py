"""Writers killed at random moments, several at a time: nothing that was acknowledged is lost, and nobody waits.

A thousand with `MEMTUI_TESTS=full`, fewer otherwise; by hand `python -m tests.faults.killing COUNT SEED`.
"""

import sys

import pytest

from tests import sampling
from tests.faults.checking import run_module

_COUNT = sampling.many(1_000, 150)
_SEED = 1
_LIMIT = 300 + 3 * _COUNT
"""Seconds; on a quiet machine a kill takes less than a third of one."""


@pytest.mark.sweep
@pytest.mark.timeout(_LIMIT)
@pytest.mark.skipif(sys.platform != "linux", reason="forking a warmed process is only safe on Linux")
def test_a_thousand_kills_lose_nothing() -> None:
    found = run_module("killing", _COUNT, _SEED, limit=_LIMIT - 30)
    assert found["wrong"] == []
    assert found["killed"] == _COUNT
    assert found["answers"]["ok"] >= _COUNT
