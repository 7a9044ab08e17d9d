"""The power fails while several write: nothing that was acknowledged is lost, on ext4 and on XFS.

By hand, as often as one likes: `unshare --mount python -m tests.faults.power COUNT SEED FILESYSTEM`.
"""

import os
import shutil

import pytest

from tests import sampling
from tests.faults.checking import run_module

_COUNT = sampling.many(42, 4)
_LIMIT = 100 + 20 * _COUNT


@pytest.mark.sweep
@pytest.mark.timeout(_LIMIT)
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_a_power_cut_loses_nothing_that_was_acknowledged(kind: str) -> None:
    for name in ("unshare", f"mkfs.{kind}"):
        if shutil.which(name) is None:
            pytest.skip(f"there is no {name}")
    found = run_module("power", _COUNT, 1, kind, limit=_LIMIT - 30, before=("unshare", "--mount"))
    if "refused" in found:
        pytest.skip(found["refused"])
    assert found["wrong"] == []
    assert found["cuts"] == _COUNT
    assert found["answers"]["ok"] >= _COUNT
