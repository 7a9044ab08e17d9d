"""From hits to findings: one secret is told once, also where a note is nothing but secrets."""

import random
import string
from pathlib import Path

import pytest

from memtui import memory
from memtui.audit.finding_builder import group_hits
from memtui.audit.masking import Span, find_overlapping_spans
from memtui.audit.model import FindingLocation, Hit
from memtui.audit.runner import run_audit
from tests.audit.families import rule


def keys(count: int) -> list[str]:
    """Keys that nobody has, the same in every run."""
    numbers, letters = random.Random(31), string.ascii_letters + string.digits
    return ["sk-" + "ant-" + "api03-" + "".join(numbers.choices(letters, k=60)) for _ in range(count)]


@pytest.mark.parametrize("seed", range(20))
def test_what_touches_a_part_of_a_text_is_found_among_spans_in_order(seed: int) -> None:
    numbers = random.Random(seed)
    edges = sorted(numbers.sample(range(100), 24))
    spans: list[Span] = list(zip(edges[::2], edges[1::2], strict=True))
    for first in range(100):
        last = numbers.randrange(first, 101)
        assert list(find_overlapping_spans(spans, first, last)) == [
            each for each in spans if each[1] > first and each[0] < last
        ]


@pytest.mark.parametrize("between", ["\n", " "], ids=["lines", "one line"])
def test_a_note_of_nothing_but_keys_tells_of_each_once(between: str, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    wanted = keys(150)
    (folder / "keys.md").write_text(between.join(f"key: {key}" for key in wanted), encoding="utf-8")
    with memory.observe(folder, look=False) as observer:
        found = run_audit(observer, title="memories", only=("secret",)).findings
        again = run_audit(observer, title="elsewhere", only=("secret",)).findings
    assert [each.fingerprint for each in again] == [each.fingerprint for each in found]
    assert len(found) == len({each.fingerprint for each in found}) == len(wanted)
    columns = [(each.location.line, each.location.column) for each in found]
    assert len(set(columns)) == len(wanted)
    told = "".join(each.evidence + each.words for each in found)
    assert not any(key[16:40] in told for key in wanted)


def test_the_same_secret_is_known_in_other_notes_and_in_no_other_audit(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    one, other = keys(2)
    for name, key in (("a.md", one), ("b.md", one), ("c.md", other)):
        (folder / name).write_text(f"key: {key}\n", encoding="utf-8")
    with memory.observe(folder, look=False) as observer:
        a, b, c = (each.secret for each in run_audit(observer, title="memories", only=("secret",)).findings)
        again = run_audit(observer, title="memories", only=("secret",)).findings[0].secret
    assert a == b
    assert len({a, c, again}) == 3


def test_many_hits_in_one_note_keep_the_cause_that_all_of_them_have() -> None:
    rules = {"missing-path": rule("missing-path", together="names {count} paths, such as {some}")}
    facts = [{"path": f"old/{at}.py", "gone_directory": "old", "gone_in": f"{at}"} for at in range(6)]
    hits = [Hit("missing-path", "a.md", "names it", facts=each) for each in facts]
    [merged] = group_hits(hits, rules, lambda hit: FindingLocation(hit.path, 1))
    assert merged.words == "names 6 paths, such as old/0.py, old/1.py and old/2.py"
    assert merged.facts == {"count": 6, "lines": "1", "gone_directory": "old"}
