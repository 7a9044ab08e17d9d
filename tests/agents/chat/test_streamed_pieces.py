"""The pieces of an answer in a session's file: they stand for their message exactly where that is missing."""

import json
from pathlib import Path
from typing import Any

import pytest

from memtui.agents.chat.sessions.records import make_record, parse_records, serialize_record
from memtui.agents.chat.sessions.redaction import redact_sessions

BEGAN = make_record("turn_began", {"turn": 1, "text": "hi", "attachments": []})
PIECES = [make_record("streamed", {"turn": 1, "block": 0, "text": text}) for text in ("One ", "two ", "three.")]
WHOLE = [{"type": "text", "text": "One two three."}]
ANSWER = make_record("message", {"turn": 1, "role": "assistant", "content": WHOLE})


def _read(*records: dict[str, Any]) -> list[dict[str, Any]]:
    return list(parse_records(map(serialize_record, records)))


@pytest.mark.parametrize("cut", range(4))
@pytest.mark.parametrize("goes_on", [False, True])
def test_pieces_without_their_message_are_read_as_it(cut: int, goes_on: bool) -> None:
    later = [make_record("turn_began", {"turn": 2, "text": "on", "attachments": []})] if goes_on else []
    found = _read(BEGAN, *PIECES[:cut], *later)
    messages = [each for each in found if each["type"] == "message"]
    assert [each["type"] for each in found] == ["turn_began", *["message"] * bool(cut), *["turn_began"] * goes_on]
    text = "".join(each["text"] for each in PIECES[:cut])
    assert [each["content"] for each in messages] == ([[{"type": "text", "text": text}]] if cut else [])


@pytest.mark.parametrize(
    "after",
    [
        ANSWER,
        make_record("repaired", {"turn": 1, "message": {"role": "assistant", "content": WHOLE}}),
        make_record("rewound", {"turn": 1, "why": "refused"}),
        make_record("turn_ended", {"turn": 1, "end": "fault"}),
    ],
    ids=lambda record: record["type"],
)
def test_pieces_whose_turn_went_on_are_never_read(after: dict[str, Any]) -> None:
    setting = make_record("setting", {"policy": "ask"})
    assert [each["type"] for each in _read(BEGAN, *PIECES, setting, after)] == ["turn_began", "setting", after["type"]]


@pytest.mark.parametrize("is_whole", [False, True])
def test_a_text_that_stands_across_pieces_is_redacted(is_whole: bool, tmp_path: Path) -> None:
    path = tmp_path / "20261121-175900-4f3a.jsonl"
    setting = make_record("setting", {"policy": "ask"})
    records = [BEGAN, PIECES[0], setting, *PIECES[1:], *([ANSWER] if is_whole else [])]
    path.write_bytes(b"".join(map(serialize_record, records)))
    before = path.read_bytes()
    assert redact_sessions(tmp_path, match="nowhere", path=None, events=(), rehearse=False).sessions == ()
    assert path.read_bytes() == before
    found = redact_sessions(tmp_path, match="One two three", path=None, events=(), rehearse=False)
    assert found.sessions == ("20261121-175900-4f3a",)
    kept = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert not any(word in str(kept) for word in ("One ", "two ", "three"))
    assert [each for each in parse_records(path.read_bytes().splitlines(keepends=True)) if each["type"] == "message"]
