"""An exported journal holds all of the record, and can be verified without memtui and without its database."""

import ast
import base64
import contextlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.core.attributes import Attributes
from memtui.core.events import Agent, Change, EntryKind, Event, Person, Version, sha256
from memtui.core.unicode import HIDDEN
from memtui.journal import chain
from memtui.journal.snapshot import open_read_only
from memtui.journal.sqlite import Journal
from memtui.journal.transfer import iter_export_lines

SCRIPT = Path(__file__).with_name("verify_export.py")
TEXTS = [b"plain\n", b"\xff\x00 no text", "日本 \u202e\x7f\x1b\n".encode(), b"long " * 1_000, b""]


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A journal with a version of each kind."""
    where = str(tmp_path / "journal.db")
    with contextlib.closing(Journal(where)) as journal:
        before = None
        for number, data in enumerate(TEXTS):
            after = Version(EntryKind.FILE, sha256(data), len(data), Attributes(0o640 + number, -number))
            event = Event(
                at_us=number,
                actor=Agent("bot\x1b[31m"),
                command="create",
                path="/memories/f",
                changes=(Change("f", before, after), Change("d", None, Version(EntryKind.DIRECTORY))),
                answer=f"done {number} \x7f\u202e" if number % 2 else None,
                arguments="{}" if number else None,
                viewed=after,
            )
            journal.append_events([event], texts={sha256(data): data})
            before = after
        journal.append_events(
            [Event(at_us=9, actor=Person(), command="view", path="/memories")], texts={sha256(b"u"): b"u"}
        )
    return where


def exported(path: str, *, texts: bool = True) -> list[bytes]:
    with open_read_only(path) as opened:
        return list(
            iter_export_lines(opened.connection, folder="~/memories", exported="2026-11-21T10:14:02Z", texts=texts)
        )


def verified(tmp_path: Path, content: list[bytes]) -> "subprocess.CompletedProcess[str]":
    """Run the script on an export, where there is no memtui to import."""
    file = tmp_path / "export.jsonl"
    file.write_bytes(b"".join(content))
    return subprocess.run(
        [sys.executable, "-I", SCRIPT, file], capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path
    )


def tamper(path: str, sql: str, values: tuple[object, ...] = ()) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        for name in ("events_stay", "events_hold", "versions_stay"):
            database.execute(f"DROP TRIGGER IF EXISTS {name}")
        database.execute(sql, values)


def test_the_script_that_verifies_is_short_and_needs_nothing_of_ours() -> None:
    source = SCRIPT.read_text()
    imported = {
        name.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import) for name in node.names
    }
    assert imported == {"base64", "hashlib", "json", "sys"}
    assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(ast.parse(source)))
    assert len([line for line in source.splitlines() if line.strip()]) <= 45


def test_an_export_holds_all_of_the_record(path: str) -> None:
    header, *rows = [json.loads(line) for line in exported(path)]
    assert header == {
        "memtui": "journal",
        "schema": 1,
        "start": chain.START.hex(),
        "folder": "~/memories",
        "exported": "2026-11-21T10:14:02Z",
        "texts": True,
    }
    with contextlib.closing(Journal(path)) as journal:
        events = journal.get_events()
    for event, row in zip(events, rows, strict=False):
        assert chain.encode_event(event) == row["body"].encode("ascii")
        assert {key: row[key] for key in ("seq", "hash", "answer", "arguments")} == {
            "seq": event.seq,
            "hash": event.hash,
            "answer": event.answer,
            "arguments": event.arguments,
        }
    versions = rows[len(events) : -1]
    kept = [base64.b64decode(row["base64"]) if "base64" in row else row["text"].encode() for row in versions]
    assert sorted(kept) == sorted(TEXTS)
    assert all(
        (row["sha256"], row["size"]) == (sha256(data), len(data)) for row, data in zip(versions, kept, strict=True)
    )
    assert rows[-1] == {"end": True, "events": len(events), "versions": len(TEXTS), "head": events[-1].hash}


def test_an_export_drives_no_terminal(path: str) -> None:
    for line in exported(path):
        assert line.endswith(b"\n")
        assert line[:-1].isascii()
        assert not HIDDEN.search(line[:-1].decode())


def test_an_exported_journal_verifies_without_memtui(path: str, tmp_path: Path) -> None:
    done = verified(tmp_path, exported(path))
    assert (done.returncode, done.stderr) == (0, "")
    with contextlib.closing(Journal(path)) as journal:
        assert done.stdout == f"6 events, 5 versions, all intact. Head: {journal.get_head()[1]}\n"


def test_an_empty_journal_can_be_exported(tmp_path: Path) -> None:
    Journal(str(tmp_path / "journal.db")).close()
    content = exported(str(tmp_path / "journal.db"))
    assert len(content) == 2
    assert verified(tmp_path, content).returncode == 0


def test_without_texts_the_chain_verifies_and_no_text_is_there(path: str, tmp_path: Path) -> None:
    content = exported(path, texts=False)
    assert len(content) == 8
    assert verified(tmp_path, content).returncode == 0
    whole = b"".join(content)
    for text in (b"plain", b"done", b"long"):
        assert text not in whole
    assert "answer" not in json.loads(content[1])
    assert verified(tmp_path, [*content[:3], *content[4:]]).returncode == 1


def edited(line: bytes, **values: object) -> bytes:
    return json.dumps({**json.loads(line), **values}).encode() + b"\n"


Edit = Callable[[list[bytes]], list[bytes]]
EDITS: dict[str, Edit] = {
    "an edited body": lambda rows: [*rows[:2], rows[2].replace(b"create", b"delete"), *rows[3:]],
    "an edited hash": lambda rows: [*rows[:2], edited(rows[2], hash="0" * 64), *rows[3:]],
    "an edited number": lambda rows: [*rows[:2], edited(rows[2], seq=7), *rows[3:]],
    "an edited answer": lambda rows: [*rows[:2], edited(rows[2], answer="never said"), *rows[3:]],
    "an answer where there is none": lambda rows: [rows[0], edited(rows[1], answer="never said"), *rows[2:]],
    "a removed answer": lambda rows: [*rows[:2], edited(rows[2], answer=None), *rows[3:]],
    "removed arguments": lambda rows: [*rows[:2], edited(rows[2], arguments=None), *rows[3:]],
    "an edited version": lambda rows: [*rows[:7], edited(rows[7], text="x", base64=""), *rows[8:]],
    "a version said to be redacted": lambda rows: [
        *rows[:7],
        json.dumps({"sha256": json.loads(rows[7])["sha256"], "redacted": True}).encode() + b"\n",
        *rows[8:],
    ],
    "a dropped event": lambda rows: [*rows[:3], *rows[4:]],
    "a dropped last event": lambda rows: [*rows[:6], *rows[7:]],
    "a dropped version": lambda rows: [*rows[:8], *rows[9:]],
    "swapped events": lambda rows: [*rows[:2], rows[3], rows[2], *rows[4:]],
    "an event twice": lambda rows: [*rows[:3], rows[2], *rows[3:]],
    "a version twice": lambda rows: [*rows[:8], rows[7], *rows[8:]],
    "a dropped header": lambda rows: rows[1:],
    "no end": lambda rows: rows[:-1],
    "half of it": lambda rows: rows[:4],
    "a line that was cut": lambda rows: [*rows[:-1], rows[-1][:20]],
    "a line behind the end": lambda rows: [*rows, rows[2]],
    "nothing": lambda rows: rows[:0],
    "another end": lambda rows: [*rows[:-1], edited(rows[-1], head="0" * 64)],
    "another start": lambda rows: [edited(rows[0], start="0" * 64), *rows[1:]],
    "another program's": lambda rows: [edited(rows[0], memtui="x"), *rows[1:]],
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_what_was_done_to_an_export_is_found(path: str, tmp_path: Path, edit: Edit) -> None:
    done = verified(tmp_path, edit(exported(path)))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("NOT INTACT: ")
    assert done.stderr.count("\n") == 1


def test_every_cut_of_an_export_is_found(path: str, tmp_path: Path) -> None:
    content = exported(path)
    for length in range(len(content)):
        assert verified(tmp_path, content[:length]).returncode == 1


def test_redacted_texts_are_said_and_verify(path: str, tmp_path: Path) -> None:
    names = (sha256(TEXTS[3]), sha256("done 1 \x7f\u202e".encode()))
    tamper(path, "UPDATE versions SET data = NULL WHERE sha256 = ?", (bytes.fromhex(names[0]),))
    tamper(path, "UPDATE texts_of_events SET answer = NULL WHERE seq = 2")
    content = exported(path)
    assert {"sha256": names[0], "missing": True} in map(json.loads, content)
    assert verified(tmp_path, content).returncode == 1
    with contextlib.closing(Journal(path)) as journal:
        journal.append_events([Event(at_us=9, actor=Person(), command="redact", path="/memories/f", redacted=names)])
    content = exported(path)
    assert {"sha256": names[0], "redacted": True} in map(json.loads, content)
    assert json.loads(content[2])["answer"] is None
    done = verified(tmp_path, content)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_damaged_is_exported_as_it_is(path: str, tmp_path: Path) -> None:
    tamper(path, "UPDATE versions SET data = x'00' WHERE packed")
    tamper(path, "UPDATE events SET body = x'ff' WHERE seq = 3")
    tamper(path, "UPDATE texts_of_events SET answer = CAST(x'ff' AS TEXT) WHERE seq = 2")
    content = [json.loads(line) for line in exported(path)]
    assert {"sha256": sha256(TEXTS[3]), "damaged": True} in content
    assert (content[3]["body_base64"], content[2]["answer_base64"]) == ("/w==", "/w==")
    assert verified(tmp_path, exported(path)).returncode == 1


def test_an_export_of_a_journal_that_cannot_be_read_on_has_no_end(path: str) -> None:
    whole = bytearray(Path(path).read_bytes())
    with open_read_only(path) as opened:
        (page,) = opened.connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'versions'").fetchone()
    whole[(page - 1) * 4_096 : page * 4_096] = b"\xff" * 4_096
    Path(path).write_bytes(whole)
    got = []
    with open_read_only(path) as opened, pytest.raises(sqlite3.DatabaseError):
        got.extend(iter_export_lines(opened.connection, folder="", exported=""))
    assert not any(b'"end"' in line for line in got)


def test_an_export_is_of_one_moment_while_others_write(path: str, tmp_path: Path) -> None:
    with contextlib.closing(Journal(path)) as journal:
        content = []
        with open_read_only(path) as opened:
            for number, line in enumerate(iter_export_lines(opened.connection, folder="", exported="")):
                content.append(line)
                data = f"{number}".encode()
                after = Version(EntryKind.FILE, sha256(data), len(data))
                event = Event(at_us=number, actor=Person(), command="write", path="/memories/g", answer="written")
                changed = {"changes": (Change("g", None, after),)}
                journal.append_events([Event(**{**_values(event), **changed})], texts={sha256(data): data})
            assert opened.is_steady()
        assert journal.get_head()[0] == 6 + len(content)
    assert verified(tmp_path, content).returncode == 0


def _values(event: Event) -> dict[str, Any]:
    return {name: getattr(event, name) for name in Event.__slots__}
