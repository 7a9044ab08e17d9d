"""From hits to findings: one secret is told once, also where a note is nothing but secrets."""

import random
import string
from pathlib import Path

import pytest

from memtui import memory
from memtui.audit.masking import Span, find_overlapping_spans
from memtui.audit.runner import run_audit


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
