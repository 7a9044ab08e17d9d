"""Whatever stands in a file or arrives on a pipe: it is read, or refused in a sentence, and is never a bug.

A generator knows the shape of each: it takes what is well formed and puts something odd in one place or two.
"""

import contextlib
import copy
import json
import random
import re
import tempfile
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.chat.sessions.export import rebuild_events, to_markdown
from memtui.agents.chat.sessions.records import restore_session
from memtui.agents.chat.sessions.replay import replay_session
from memtui.agents.chat.sessions.store import ChatSession, list_sessions, read_records
from memtui.agents.hooks.payload import InvalidHookCall, parse_call, predict_results
from memtui.agents.hooks.settings import add_hooks, load_hook_settings, remove_hooks
from memtui.agents.mcp.stdio import _parse_message
from memtui.agents.transcripts.parse import extract_prompt
from memtui.agents.transcripts.writes import scan_transcripts
from memtui.audit.registry import find_rule_problems
from memtui.audit.suppressions import build_baseline, parse_baseline
from memtui.config.load import load_config
from memtui.core.errors import MemtuiError
from memtui.core.events import Person
from memtui.core.paths import decode_protected
from memtui.editing.drafts import EditDraftStore
from memtui.engine.pins import _decode_pins
from memtui.journal import announcements
from memtui.journal.snapshot import open_read_only
from memtui.journal.transfer import iter_export_lines, read_export
from memtui.notes import formats
from memtui.notes.front_matter import parse_front_matter, read_properties
from memtui.review.marks import Review
from memtui.ui.screen_state import load_view_state
from tests.sampling import many

DIGITS = "9" * 8_000
DEEP = "[" * 100_000
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1.5,
    10**30,
    -(10**30),
    1e308,
    float("nan"),
    float("inf"),
    "",
    "\ud800",
    "\x00",
    "\u202e",
    "a" * 5_000,
    "2026-99-99T00:00:00Z",
    "9" * 40,
    "/",
    "../..",
    [],
    {},
    [[]],
    [None],
    {"": None},
    [{}],
    {"type": []},
    ["\ud800"],
    {"a": {"b": []}},
)
"""What stands where something else is expected."""
ODD_TOML = (
    *(
        DIGITS,
        f"0x{'f' * 8_000}",
        "nan",
        "-inf",
        "-1",
        "true",
        '""',
        f'"{"[" * 5_000}"',
        "[[]]",
        "{a = []}",
        "1979-05-27",
        "'\x00'",
    ),
    *("07:32:00", '"\\U0010ffff"', '"a" "b"'),
)
MARK = "\ue000digits"
"""What becomes a number of 8,000 digits, which `json` does not write."""


def mutate(value: Any, chance: random.Random) -> Any:
    """A copy of a value of JSON that is odd in one place or two."""
    value = copy.deepcopy(value)
    for _ in range(chance.choice((1, 1, 2))):
        holder: Any = [value]
        key: Any = 0
        while isinstance(holder[key], dict | list) and holder[key] and chance.random() < 0.85:
            holder, key = holder[key], None
            key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        match chance.randrange(6):
            case 0 if isinstance(holder, dict):
                del holder[key]
            case 1:
                holder[key] = [holder[key]]
            case 2:
                holder[key] = MARK
            case _:
                holder[key] = copy.deepcopy(chance.choice(ODD))
        value = (
            holder[0] if holder is not value and len(holder) == 1 and key == 0 and isinstance(holder, list) else value
        )
    return value


def encode(value: Any) -> bytes:
    return json.dumps(value).replace(json.dumps(MARK), DIGITS).encode()


def spoil(data: bytes, chance: random.Random) -> bytes:
    """Bytes with a few of them gone, doubled or changed."""
    if chance.random() < 0.5 and (values := list(re.finditer(rb"(?<= = ).*", data))):
        value = chance.choice(values)
        return data[: value.start()] + chance.choice(ODD_TOML).encode() + data[value.end() :]
    at = chance.randrange(len(data) + 1)
    odd = chance.choice(
        (
            b"\xff",
            b"\xed\xa0\x80",
            b"\x00",
            DEEP.encode(),
            DIGITS.encode(),
            b"0x" + b"f" * 8_000,
            b"\n",
            b'"',
            b"{",
            b"= ",
        )
    )
    return data[:at] + (odd if chance.random() < 0.7 else b"") + data[at + chance.randrange(4) :]


@dataclass(frozen=True)
class Reader:
    """What is read: lines of JSON or one text; how it is read; what it may raise, which people are told in words."""

    sample: Any
    read: Callable[[bytes, Path], object]
    is_lines: bool = False

    def make(self, chance: random.Random) -> bytes:
        if isinstance(self.sample, bytes):
            return spoil(self.sample, chance)
        if not self.is_lines:
            data = encode(mutate(self.sample, chance))
        else:
            rows = list(self.sample)
            at = chance.randrange(len(rows))
            rows[at] = mutate(rows[at], chance)
            data = b"".join(encode(row) + b"\n" for row in rows)
        return spoil(data, chance) if chance.random() < 0.2 else data


def _write(data: bytes, place: Path, name: str) -> Path:
    path = place / name
    path.write_bytes(data)
    return path


def _read_settings(data: bytes, place: Path) -> None:
    loaded = load_config(path=str(_write(data, place, "config.toml")), environ={})
    assert all(problem.sentence for problem in (*loaded.problems, *find_rule_problems(loaded)))


def _read_draft(data: bytes, place: Path) -> None:
    head = data.rstrip(b"\n") + b"\nthe text\n"
    _write(head, place, "0-kept.draft")
    store = EditDraftStore(place)
    for draft in (*store.list_latest(), *(draft for draft, _ in store.list_all())):
        assert draft.describe(time.time_ns() // 1_000)


def _read_session(data: bytes, place: Path) -> None:
    path = _write(data, place, "20261121-175900-4f3a.jsonl")
    list_sessions(place)
    session = ChatSession.resume(place, "20261121-175900-4f3a", kept=False)
    try:
        session.restore()
        records = list(read_records(path))
        assert restore_session(records)
        to_markdown(records)
        for _ in rebuild_events(records):
            pass
        with memtui.open(fresh(place / "memories"), state=place / "state") as memory:
            for _ in replay_session(records, memory):
                pass
    finally:
        session.close()


def fresh(path: Path) -> Path:
    path.mkdir(exist_ok=True)
    return path


def _read_hook(data: bytes, _: Path) -> None:
    call = parse_call(data)
    if call is not None:
        predict_results(call.tool, call.given, b"before\n")


def _read_hook_settings(data: bytes, place: Path) -> None:
    settings = load_hook_settings(str(_write(data, place, "settings.json")))
    add_hooks(settings, "memtui hook", seconds=9.0)
    remove_hooks(settings)


def _read_transcript(data: bytes, place: Path) -> None:
    path = _write(data, place, "session.jsonl")
    scan_transcripts(str(place), [str(path)])
    for line in data.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            record = json.loads(line)
            if isinstance(record, dict):
                extract_prompt(record)


def _read_note(data: bytes, _: Path) -> None:
    text = data.decode("utf-8", "surrogatepass") if b"\xff" not in data else data.decode("latin-1")
    for each in (text, f"---\n{text}\n---\n", f"---\na: {text}\nb: [1\n---\nbody"):
        parse_front_matter(each)
        read_properties(each)
    for check in (formats.check_json, formats.check_jsonc, formats.check_toml, formats.check_yaml, formats.check_xml):
        check(text)


def _export() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        with memtui.open(fresh(place / "m"), state=place / "s") as memory:
            for text in ("one\n", "two\n"):
                memory.execute({"command": "create", "path": "/memories/a.md", "file_text": text}, actor=Person())
            path = str(memory.journal.files.bells[0])
        with open_read_only(path) as opened:
            lines = list(iter_export_lines(opened.connection, folder="m", exported="2026-11-21T10:14:02Z", texts=True))
    return [json.loads(line) for line in lines]


_AT = "2026-11-21T18:00:01.000Z"
_CALL = {"type": "tool_use", "id": "c1", "name": "memory", "input": {"command": "view", "path": "/memories"}}
SESSION = [
    {"type": "session", "at": _AT, "schema": 1, "id": "20261121-175900-4f3a", "folder": "/m", "model": "a", "seq": 1},
    {"type": "setting", "policy": "ask", "effort": "low", "thinking": True, "always": ["a"]},
    {
        "type": "turn_began",
        "at": _AT,
        "turn": 1,
        "text": "hello",
        "attachments": [{"name": "a", "size": 3, "media_type": "image/png"}],
    },
    {"type": "message", "turn": 1, "role": "user", "content": [{"type": "text", "text": "hello"}]},
    {"type": "message", "turn": 1, "role": "assistant", "content": [{"type": "text", "text": "hi"}, _CALL]},
    {
        "type": "call",
        "at": _AT,
        "turn": 1,
        "call_id": "c1",
        "name": "memory",
        "seq": 2,
        "input": _CALL["input"],
        "answer": "x",
        "is_error": False,
        "edit": {"command": "view", "path": "/memories"},
        "note": "n",
        "outcome": "ran",
    },
    {
        "type": "message",
        "turn": 1,
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "x"}],
    },
    {"type": "note", "turn": 1, "text": "told"},
    {"type": "undone", "turn": 1, "text": "was undone", "seqs": [2]},
    {"type": "rewound", "turn": 2},
    {"type": "repaired", "turn": 1, "message": {"role": "user", "content": "again"}},
    {
        "type": "turn_ended",
        "at": _AT,
        "turn": 1,
        "end": "done",
        "usage": {"input_tokens": 1, "output_tokens": 2, "cost": 0.1},
        "remembered": [{"path": "p.md", "how": "changed", "added": 1, "removed": 1, "edited": True, "seq": 2}],
    },
]
TRANSCRIPT = [
    {
        "type": "user",
        "timestamp": _AT,
        "sessionId": "s",
        "cwd": "/m",
        "uuid": "u",
        "message": {"role": "user", "content": "do it"},
    },
    {
        "type": "assistant",
        "timestamp": _AT,
        "sessionId": "s",
        "cwd": "/m",
        "parentUuid": "u",
        "message": {
            "model": "a",
            "content": [
                {"type": "tool_use", "id": "1", "name": "Write", "input": {"file_path": "/m/a.md", "content": "x"}},
                {"type": "tool_use", "id": "2", "name": "Bash", "input": {"command": "rm /m/a.md && mv /m/b /m/c"}},
            ],
        },
    },
    {
        "type": "user",
        "timestamp": _AT,
        "sessionId": "s",
        "toolUseResult": {
            "type": "create",
            "filePath": "/m/a.md",
            "content": "x",
            "structuredPatch": [],
            "originalFile": None,
        },
        "message": {"content": [{"type": "tool_result", "tool_use_id": "1", "content": "ok"}]},
    },
]
HOOK = {
    "hook_event_name": "PostToolUse",
    "tool_name": "Edit",
    "session_id": "s",
    "transcript_path": "/t",
    "cwd": "/m",
    "tool_use_id": "c",
    "tool_input": {
        "file_path": "/m/a.md",
        "old_string": "a",
        "new_string": "b",
        "replace_all": True,
        "edits": [{"old_string": "a"}],
    },
    "tool_response": {"filePath": "/m/a.md", "structuredPatch": [{"lines": ["+a"]}]},
}
_MARK = {
    **dict.fromkeys(("reviewer", "path", "before", "after", "hunk", "words", "head"), "a"),
    **{"previous": "0" * 64, "at": "2026-11-21T10:14:02+00:00", "verdict": "accepted", "seq": 3},
}
READERS: Mapping[str, Reader] = {
    "settings": Reader(
        b'theme = "light"\n[memory]\nmax_files = 2000\nlock_seconds = 5.0\n[ui]\nfollow = true\n'
        b'[keys]\n"browse.find" = "f"\n[audit]\nstale_days = 3\n'
        b'[audit.rules]\nstale = "off"\n[[audit.exempt]]\nrule = "stale"\nreason = "x"\n'
        b"until = 2030-01-01\n",
        _read_settings,
    ),
    "a draft": Reader(
        {
            "schema": 1,
            "path": "a.md",
            "base": None,
            "at_us": 1_700_000_000_000_000,
            "why": "editing",
            "cursor": [0, 0],
            "owner": "kept",
        },
        _read_draft,
    ),
    "a review": Reader(
        {"kind": "memtui review", "schema": 1, "folder": "/m", "hash": "0" * 64, "marks": [_MARK, _MARK]},
        lambda data, place: Review.read(_write(data, place, "review.json")).valid_marks,
    ),
    "a baseline": Reader(
        {**json.loads(build_baseline([])), "findings": [{"fingerprint": "a" * 16, "rule": "stale", "path": "a.md"}]},
        lambda data, _: parse_baseline(data, "the file"),
    ),
    "an export": Reader(_export, lambda data, place: read_export(str(_write(data, place, "export")), title="it"), True),
    "a session": Reader(SESSION, _read_session, True),
    "a transcript": Reader(TRANSCRIPT, _read_transcript, True),
    "a hook's input": Reader(HOOK, _read_hook),
    "a note": Reader(b'key: value\nlist: [1, 2]\n"a": {"b": [1, 1.5e3, 2026-01-01]}\n', _read_note),
    "JSON in a note": Reader({"a": [1, {"b": "c"}], "key": 2.5}, _read_note),
    "what the screen remembers": Reader(
        {
            "schema": 1,
            "cursor": "a",
            "expanded": ["a"],
            "collapsed": [],
            "sort": "name",
            "dividers": {"a": 3},
            "words": {"a": "b"},
        },
        lambda data, place: load_view_state(_write(data, place, "screen.json").parent),
    ),
    "protected paths": Reader(["a", "b/c"], lambda data, _: decode_protected(data.decode("utf-8", "surrogateescape"))),
    "pins": Reader({"pins": ["a"], "seq": 3}, lambda data, _: _decode_pins(data.decode("utf-8", "surrogateescape"))),
    "an announcement": Reader(
        {
            "actor": ["a", None, "s"],
            "path": "a",
            "call_id": "c",
            "note": "",
            "hashes": ["a"],
            "from_us": 1,
            "until_us": 2,
            "is_new": True,
            "arguments": None,
        },
        lambda data, place: announcements._decode(str(_write(data, place, "one"))),
    ),
    "settings of Claude Code": Reader(
        {
            "hooks": {
                "PreToolUse": [
                    {"matcher": "Write", "hooks": [{"type": "command", "command": "memtui hook", "timeout": 9}]}
                ]
            }
        },
        _read_hook_settings,
    ),
    "a frame of MCP": Reader(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "memory", "arguments": {"command": "view", "path": "/"}},
        },
        lambda data, _: _parse_message(data),
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_an_odd_file_is_read_or_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    reader = READERS[name]
    if callable(reader.sample):
        reader = Reader(reader.sample(), reader.read, reader.is_lines)
    chance = random.Random(zlib.crc32(name.encode()))
    sentences: list[str] = []
    for number in range(many(2_000, 60)):
        data = reader.make(chance)
        place = tmp_path / str(number % 8)
        fresh(place)
        try:
            reader.read(data, place)
        except (MemtuiError, InvalidHookCall) as error:
            sentences.append(str(error))
        except Exception as error:
            error.add_note(f"case {number} of {name}: {data[:2_000]!r}")
            raise
    assert all(sentence.strip() for sentence in sentences)
