"""A power cut takes any part of what was not synced: what was answered is there again, and nobody else is named.

By hand, as often as one likes: `python -m tests.faults.losing COUNT SEED`.
"""

import json
import subprocess
import sys

import pytest

from tests import sampling
from tests.faults.checking import make_environment, run_module

_COUNT = sampling.many(1_500, 100)
_LIMIT = 100 + _COUNT


@pytest.mark.sweep
@pytest.mark.timeout(_LIMIT)
@pytest.mark.skipif(sys.platform != "linux", reason="a log of SQLite's is cut short as Linux has written it")
def test_what_a_power_cut_takes_from_the_folder_comes_out_of_the_journal() -> None:
    found = run_module("losing", _COUNT, 1, limit=_LIMIT - 30)
    assert found["wrong"] == []
    assert found["cuts"] == _COUNT


_LIARS = {
    "an intent that is not synced": """
add = Journal.add_intent
Journal.add_intent = lambda self, *words, **named: add(self, *words, **{**named, "durable": False})
""",
    "a folder that is said to be settled before it is": """
def note(self, size):
    durability.SettledMark("start 1", self._journal.get_head()[0]).save(self._journal)
durability.Settler.note = note
""",
    "a folder that is not made again": """
durability.RollForward.run = lambda *_: None
""",
}


@pytest.mark.skipif(sys.platform != "linux", reason="a log of SQLite's is cut short as Linux has written it")
@pytest.mark.parametrize("lie", _LIARS.values(), ids=_LIARS.keys())
def test_what_is_lost_is_really_found(lie: str) -> None:
    program = f"""
import sys
from memtui.engine import durability
from memtui.journal.sqlite import Journal
from tests.faults import losing
{lie}
losing.main(["200", "3"])
"""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, env=make_environment(), capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    assert json.loads(done.stdout.splitlines()[-1])["wrong"]
