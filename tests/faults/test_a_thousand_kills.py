"""Writers killed at random moments, several at a time: nothing that was acknowledged is lost, and nobody waits.

A thousand with `MEMTUI_TESTS=full`, fewer otherwise; by hand `python -m tests.faults.killing COUNT SEED`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import memtui
from tests import sampling

_COUNT = sampling.many(1_000, 150)
_SEED = 1
_LIMIT = 300 + 3 * _COUNT
"""Seconds; on a quiet machine a kill takes less than a third of one."""


@pytest.mark.sweep
@pytest.mark.timeout(_LIMIT)
@pytest.mark.skipif(sys.platform != "linux", reason="forking a warmed process is only safe on Linux")
def test_a_thousand_kills_lose_nothing() -> None:
    words = [sys.executable, "-m", "tests.faults.killing", str(_COUNT), str(_SEED)]
    environment = {**os.environ, "PYTHONPATH": str(Path(memtui.__file__).parents[1]), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=_LIMIT - 30, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["wrong"] == []
    assert found["killed"] == _COUNT
    assert found["answers"]["ok"] >= _COUNT
