"""The power fails while several write: nothing that was acknowledged is lost, on ext4 and on XFS.

By hand, as often as one likes: `unshare --mount python -m tests.faults.power COUNT SEED FILESYSTEM`.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import memtui
from tests import sampling

_COUNT = sampling.many(42, 4)
_LIMIT = 100 + 20 * _COUNT


def _refusal(kind: str) -> str:
    """Why no disk can be made and mounted here, empty where one can."""
    missing = [name for name in (f"mkfs.{kind}", "mount", "unshare") if shutil.which(name) is None]
    if missing:
        return f"there is no {missing[0]}"
    tried = subprocess.run(["unshare", "--mount", "losetup", "--find"], capture_output=True, text=True, check=False)
    return tried.stderr.strip() if os.geteuid() == 0 else "only root may mount"


@pytest.mark.sweep
@pytest.mark.timeout(_LIMIT)
@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_a_power_cut_loses_nothing_that_was_acknowledged(kind: str) -> None:
    if refusal := _refusal(kind):
        pytest.skip(refusal)
    words = ["unshare", "--mount", sys.executable, "-m", "tests.faults.power", str(_COUNT), "1", kind]
    environment = {**os.environ, "PYTHONPATH": str(Path(memtui.__file__).parents[1])}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=_LIMIT - 30, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["wrong"] == []
    assert found["cuts"] == _COUNT
    assert found["answers"]["ok"] >= _COUNT
