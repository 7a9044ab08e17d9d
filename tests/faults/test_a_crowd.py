"""Sixteen processes that edit the same notes at once: nothing that was acknowledged is lost.

By hand, as often as one likes: `python -m tests.faults.crowd EDITS WRITERS`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import memtui
from tests import sampling

_EDITS = sampling.many(4_800, 96)
_WRITERS = 16
_LIMIT = 300


@pytest.mark.sweep
@pytest.mark.timeout(_LIMIT)
@pytest.mark.skipif(sys.platform != "linux", reason="forking a warmed process is only safe on Linux")
def test_a_crowd_loses_no_edit() -> None:
    words = [sys.executable, "-m", "tests.faults.crowd", str(_EDITS), str(_WRITERS)]
    environment = {**os.environ, "PYTHONPATH": str(Path(memtui.__file__).parents[1])}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=_LIMIT - 30, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["wrong"] == []
    assert found["edits"] == _EDITS
