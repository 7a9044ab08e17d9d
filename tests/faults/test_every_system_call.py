"""Killed at any system call, or with any of them failing: nothing is half done, nothing is lost, every answer is true.

With `MEMTUI_TESTS=full` every call is killed at and written short, and a fourth of the errors are tried at each call,
with `every` all of them, which takes hours; else a sample, the same one each time, and another one of each thing.
"""

import json
import subprocess
import sys
from collections.abc import Mapping

import pytest

from tests import sampling
from tests.faults import tracing, trying
from tests.faults.checking import make_environment, run_module

_STRIDES = {"kill": 23, "short": 7, "fail": 149, "fail on": 61}
_SHARE = 1 if sampling.EVERY else 4
_WHOLE = {"kill": 1, "short": 1, "fail": _SHARE, "fail on": _SHARE, "fail on folder": 7, "fail on state": 7}
_APART = {"kill": 3, "fail": 17, "fail on": 7, "fail on folder": 5, "fail on state": 5}
if not sampling.FULL:
    _APART = {mode: stride * 11 for mode, stride in _APART.items()}
_PAIRS = sampling.many(60, 8)
"""Pairs of faults of each thing that is tried, of which the second one is met in the recovery from the first."""
_LIMIT = 1_700
_PAIRED = [name for name, trial in trying.trials().items() if trial.act is not None and not trial.closing]
_FAR = [name for name, trial in trying.trials().items() if trial.far]


@pytest.fixture(scope="session")
def traceable() -> None:
    """Skips where processes may not be traced. Asked in a process of its own: this one has threads."""
    words = [sys.executable, "-c", "from tests.faults import tracing; print(tracing.refusal() or '')"]
    said = subprocess.run(words, env=make_environment(), capture_output=True, text=True, timeout=60, check=False)
    if said.returncode or said.stdout.strip():
        pytest.skip(said.stdout.strip() or said.stderr[-300:])


@pytest.mark.sweep(keep=12)
@pytest.mark.timeout(_LIMIT + 100)
@pytest.mark.usefixtures("traceable")
@pytest.mark.parametrize("name", [name for name in trying.trials() if name not in _FAR])
def test_nothing_is_half_done_lost_or_untrue(name: str) -> None:
    found = run_module("trying", name, _join(_WHOLE if sampling.FULL else _STRIDES), limit=_LIMIT)
    assert found["wrong"] == []
    assert {mode for mode, cases in found["cases"].items() if cases} >= _STRIDES.keys() - {"short"}
    # opening may write nothing


@pytest.mark.sweep(keep=0, always=("delete a directory",))
@pytest.mark.timeout(_LIMIT + 100)
@pytest.mark.usefixtures("traceable")
@pytest.mark.parametrize("name", _FAR)
def test_folder_and_journal_may_fail_one_without_the_other(name: str) -> None:
    """Each has a disk of its own where there are two, so that nothing is moved from one to the other."""
    found = run_module("trying", name, _join(_APART), limit=_LIMIT)
    assert found["wrong"] == []
    assert all(found["cases"].values())


@pytest.mark.sweep(keep=0, always=("create in new directories-", "delete a directory-"))
@pytest.mark.timeout(_LIMIT + 100)
@pytest.mark.usefixtures("traceable")
@pytest.mark.parametrize("name", _PAIRED, ids=[f"{name}-" for name in _PAIRED])
def test_recovery_is_cut_or_fails_at_any_call_and_goes_on(name: str) -> None:
    found = run_module("recovering", name, str(_PAIRS), limit=_LIMIT)
    assert found["wrong"] == []
    assert sum(found["cases"].values()) > _PAIRS // 2


def _join(strides: Mapping[str, int]) -> str:
    return ",".join(f"{mode}={stride}" for mode, stride in strides.items())


@pytest.mark.usefixtures("traceable")
def test_what_is_tried_really_fails() -> None:
    """A harness that cannot find anything proves nothing: here a store that lies is found out."""
    words = [sys.executable, "-c", _LIAR]
    done = subprocess.run(words, env=make_environment(), capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    wrong = json.loads(done.stdout.splitlines()[-1])
    assert any("is neither old nor new" in words for words in wrong)
    assert any("answered" in words for words in wrong)


_LIAR = """
import json
import os
from memtui.core.attributes import UNKNOWN
from memtui.store import base
from memtui.store.folder import FolderTransaction
from tests.faults import trying

write = FolderTransaction.write

def in_place(self, path, data, *, expected, attributes=UNKNOWN):
    if expected is None:
        return write(self, path, data, expected=None, attributes=attributes)
    with self._root.resolve_path(path.parts, follow=True) as place:
        fd = os.open(place.name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600, dir_fd=place.fd)
        try:
            os.write(fd, data[:1])
            os.write(fd, data[1:])  # one of two kills, whichever is tried, is between
            os.fsync(fd)
        except OSError:
            pass
        finally:
            node = base.make_node("/".join(place.parts), os.fstat(fd))
            os.close(fd)
        return base.WriteResult(node, ())

FolderTransaction.write = in_place
print(json.dumps(trying.attempt("overwrite", {"kill": 2, "fail": 7}).wrong))
"""


def test_the_calls_of_both_architectures_have_the_same_names() -> None:
    intel, arm = (set(tracing._NAMES[machine].values()) for machine in ("x86_64", "aarch64"))
    assert arm <= intel
    assert intel >= tracing.CHANGING
