"""Killed at any system call, or with any of them failing: nothing is half done, nothing is lost, every answer is true.

By default every call is killed at; of the errors and the short writes a sample is tried, the same one each time.
`MEMTUI_FAULTS=all` tries each error at each call, which takes half an hour.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import memtui
from tests.faults import tracing, trying

_ALL = os.environ.get("MEMTUI_FAULTS") == "all"
_STRIDES = {"kill": 1, "short": 1 if _ALL else 3, "fail": 1 if _ALL else 23, "fail on": 1 if _ALL else 9}


@pytest.fixture(scope="session")
def traceable() -> None:
    """Skips where processes may not be traced. Asked in a process of its own: this one has threads."""
    words = [sys.executable, "-c", "from tests.faults import tracing; print(tracing.refusal() or '')"]
    said = subprocess.run(words, env=_environment(), capture_output=True, text=True, timeout=60, check=False)
    if said.returncode or said.stdout.strip():
        pytest.skip(said.stdout.strip() or said.stderr[-300:])


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(Path(memtui.__file__).parents[1]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def attempt(name: str, mode: str) -> Any:
    """Try one thing with all faults of one mode."""
    words = [sys.executable, "-m", "tests.faults.trying", name, mode, str(_STRIDES[mode])]
    done = subprocess.run(words, env=_environment(), capture_output=True, text=True, timeout=1_800, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.timeout(1_800 if _ALL else 120)
@pytest.mark.usefixtures("traceable")
@pytest.mark.parametrize("mode", _STRIDES)
@pytest.mark.parametrize("name", trying.trials())
def test_nothing_is_half_done_lost_or_untrue(name: str, mode: str) -> None:
    found = attempt(name, mode)
    assert found["wrong"] == []
    assert found["cases"] > 0 or mode == "short"  # opening may write nothing


@pytest.mark.usefixtures("traceable")
def test_what_is_tried_really_fails() -> None:
    """A harness that cannot find anything proves nothing: here a store that lies is found out."""
    words = [sys.executable, "-c", _LIAR, "kill", "fail"]
    done = subprocess.run(words, env=_environment(), capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    wrong = json.loads(done.stdout.splitlines()[-1])
    assert any("is neither old nor new" in words for words in wrong)
    assert any("answered" in words for words in wrong)


_LIAR = """
import json, os, sys
from memtui.store import nodes, writing
from tests.faults import trying

write = writing.FolderTransaction.write

def in_place(self, path, data, *, expected):
    if expected is None:
        return write(self, path, data, expected=None)
    with self._root.place(path.parts, follow=True) as place:
        fd = os.open(place.name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600, dir_fd=place.fd)
        try:
            os.write(fd, data)
            os.fsync(fd)
        except OSError:
            pass
        finally:
            node = nodes.node_of("/".join(place.parts), os.fstat(fd))
            os.close(fd)
        return writing.Written(node, ())

writing.FolderTransaction.write = in_place
print(json.dumps(trying.attempt("overwrite", sys.argv[1:], 2).wrong))
"""


def test_the_calls_of_both_architectures_have_the_same_names() -> None:
    intel, arm = (set(tracing._NAMES[machine].values()) for machine in ("x86_64", "aarch64"))
    assert arm <= intel
    assert intel >= tracing.CHANGING
