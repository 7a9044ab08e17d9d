"""What makes a database a journal: its mark, the number of its schema, and how its tables and guards are declared."""

import contextlib
import sqlite3
from functools import cache

APPLICATION = 0x6D656D74
"""What marks a database as a journal of ours: `memt`."""
VERSION = 5
GUARDED = 3
"""The first schema in which events say what guards memories."""
_NOTED = b'"noted":'
NOTING = f"instr(body, x'{_NOTED.hex()}') > 0"
"""The condition of events that note something about guards: in a string the quotes would be escaped."""
INDEX = f"CREATE INDEX noting ON events (seq) WHERE {NOTING};"
"""Finds them, without reading the others."""
SCHEMA = f"""
CREATE TABLE events (seq INTEGER PRIMARY KEY, body BLOB NOT NULL, hash BLOB NOT NULL);
CREATE TABLE texts_of_events (seq INTEGER PRIMARY KEY, answer TEXT, arguments TEXT);
CREATE TABLE versions (sha256 BLOB PRIMARY KEY, size INTEGER NOT NULL, packed INTEGER NOT NULL, data BLOB)
    WITHOUT ROWID;
CREATE TABLE touched (path BLOB NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (path, seq)) WITHOUT ROWID;
CREATE TABLE known (path BLOB PRIMARY KEY, kind TEXT NOT NULL, sha256 BLOB, size INTEGER NOT NULL,
    stamp TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE totals (files INTEGER NOT NULL, bytes INTEGER NOT NULL);
CREATE TABLE intents (id INTEGER PRIMARY KEY, body BLOB NOT NULL, answer TEXT, arguments TEXT);
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE taken_back (seq INTEGER NOT NULL, by_seq INTEGER NOT NULL, PRIMARY KEY (seq, by_seq)) WITHOUT ROWID;
{INDEX}
INSERT INTO totals VALUES (0, 0);
CREATE TRIGGER events_stay BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
CREATE TRIGGER events_hold BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_follow BEFORE INSERT ON events
    WHEN NEW.seq != (SELECT coalesce(max(seq), 0) + 1 FROM events)
    BEGIN SELECT RAISE(ABORT, 'events have no gaps'); END;
CREATE TRIGGER versions_stay BEFORE DELETE ON versions BEGIN SELECT RAISE(ABORT, 'versions are never deleted'); END;
CREATE TRIGGER known_more AFTER INSERT ON known WHEN NEW.kind = 'file'
    BEGIN UPDATE totals SET files = files + 1, bytes = bytes + NEW.size; END;
CREATE TRIGGER known_less AFTER DELETE ON known WHEN OLD.kind = 'file'
    BEGIN UPDATE totals SET files = files - 1, bytes = bytes - OLD.size; END;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
"""
TO_2 = """
CREATE TABLE taken_back (seq INTEGER NOT NULL, by_seq INTEGER NOT NULL, PRIMARY KEY (seq, by_seq)) WITHOUT ROWID;
PRAGMA user_version = 2;
"""
"""What a journal of schema 1 lacks: which events were taken back. In those days none was.

One of schema 2 lacks the index of what guards memories: that stood in the table `notes`, and no event said so. In one
of schema 3 all bodies are kept as they are, in one of schema 4 with their hashes among the rest: see `bodies`.
"""
SINCE = {"taken_back": 2, "noting": GUARDED}
"""The schema with which something came, by its name; all else came with the first one."""
ENTRIES = {
    "entries": (
        "table",
        "CREATE TABLE entries (number INTEGER PRIMARY KEY AUTOINCREMENT, path BLOB NOT NULL UNIQUE, "
        "kind TEXT NOT NULL, size INTEGER NOT NULL, mode INTEGER, mtime_ns INTEGER, data BLOB NOT NULL)",
    ),
    "entry_links": ("index", "CREATE INDEX entry_links ON entries (number) WHERE kind = 'link'"),
}
"""The memories themselves, where one file holds them and the journal; by name, as `get_declared_schema` has it."""
HOSTED = {
    "hosted_memories": (
        "table",
        "CREATE TABLE hosted_memories (id TEXT PRIMARY KEY, path TEXT NOT NULL UNIQUE) WITHOUT ROWID",
    ),
    "hosted_versions": ("table", "CREATE TABLE hosted_versions (id TEXT PRIMARY KEY, sha256 TEXT) WITHOUT ROWID"),
}
"""What a copy of a hosted store has besides: the memory at each path, and the versions that are taken over."""
NEWER = "The journal was written by a newer memtui. Update memtui to use it."
FOREIGN = "The journal's file is a database of another program. Choose another one with --state."
HOLDS_NO_MEMORIES = "The file is the journal of a memory folder, and holds no memories itself. Open the folder."
FOREIGN_FILE = "The file is a database of another program. Nothing was changed. Choose another file."
EMPTY = "The journal is empty: it has no events."


def find_problem(connection: sqlite3.Connection) -> str:
    """Why a database cannot be read as a journal, as a sentence; empty if it can. Raises `sqlite3.Error`."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application == APPLICATION:
        return NEWER if version > VERSION else ""
    if application or version or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return FOREIGN
    return EMPTY


def find_non_table(connection: sqlite3.Connection) -> str:
    """The name of something in a database that is no plain table; empty if all are. Raises `sqlite3.Error`.

    A journal of another author is read as plain rows: no view of his, which may never end, is to be run.
    """
    row = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'view' OR sql LIKE 'CREATE VIRTUAL%' "
        "OR (type = 'table' AND (sql LIKE '% AS (%' OR sql LIKE '% AS(%' OR sql LIKE '%GENERATED%'))"
    ).fetchone()
    return str(row[0]) if row is not None else ""


@cache
def get_declared_schema() -> dict[str, tuple[str, str]]:
    """What a journal is made of, by name: its kind and how it is declared."""
    with contextlib.closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(SCHEMA)
        rows = fresh.execute("SELECT name, type, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        return {name: (kind, sql) for name, kind, sql in rows}
