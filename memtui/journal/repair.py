"""Making anew what a journal keeps beside its chain: what stands at each path, the indexes, and the guards of its rows.

All of it is computed from the events, so somebody who has changed it has gained nothing: what differs then from the
files is found and recorded like any other change from outside.
"""

import sqlite3
from typing import Any

from memtui.core.errors import StateUnusable
from memtui.core.events import IMPORTED
from memtui.core.guards import IMPORTED_UNTIL
from memtui.journal.bodies import unpack_body
from memtui.journal.chain import decode_body
from memtui.journal.guards import find_imported_until, find_ineffective_notes
from memtui.journal.schema import NOTING, get_declared_schema
from memtui.journal.standing import Standing, encode_path, find_known_differences
from memtui.journal.verify import verify_journal
from memtui.journal.verify_report import FindingWeight, RepairReport

HOPELESS = (FindingWeight.EVENT, FindingWeight.FILE)
"""Findings after which nothing can be made from the events."""


def remake_tables(connection: sqlite3.Connection, unseen: str) -> RepairReport:
    """Make the tables anew, within the transaction that is open. Every path is to be looked at again: stamp `unseen`.

    Raises:
        StateUnusable: The chain itself is broken, so nothing can be made from it.
        sqlite3.Error: It cannot be read or written.
    """
    broken = next((each for each in verify_journal(connection).findings if each.weight in HOPELESS), None)
    if broken is not None:
        raise StateUnusable(f"Nothing was repaired, because the events themselves are broken: {broken.text}")
    standing = Standing()
    touched: set[tuple[Any, ...]] = set()
    taken_back: set[tuple[Any, ...]] = set()
    noting: list[int] = []
    noted: set[str] = set()
    imported = 0
    for seq, body in connection.execute("SELECT seq, body FROM events ORDER BY seq"):
        record = decode_body(unpack_body(body))
        if record.get("command") == IMPORTED:
            imported = seq
        if record.get("noted"):
            noting.append(seq)
            noted.update(record["noted"])
        changed = standing.apply_event(record)
        touched.update((encode_path(path), seq) for path in changed)
        if changed or not record.get("is_error"):
            taken_back.update((each, seq) for each in record.get("undoes", ()))
    guards = _remake_guards(connection)
    paths = _remake_known(connection, standing, unseen)
    tables = ["known"] if paths else []
    tables += (
        table
        for table, rows in (("touched", touched), ("taken_back", taken_back))
        if _remake_index(connection, table, rows)
    )
    if _remake_noting(connection, noting):
        tables.append("noting")
    if find_imported_until(connection) < imported:
        connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (IMPORTED_UNTIL, str(imported)))
        tables.append("notes")
    if ineffective := find_ineffective_notes(connection, noted):
        connection.executemany("DELETE FROM notes WHERE name = ?", [(name,) for name in ineffective])
        tables += ["notes"] if "notes" not in tables else []
    if _remake_totals(connection):
        tables.append("totals")
    return RepairReport(paths, tuple(tables), guards)


def _remake_guards(connection: sqlite3.Connection) -> tuple[str, ...]:
    there = dict(connection.execute("SELECT name, sql FROM sqlite_master"))
    remade = [
        (name, kind, sql)
        for name, (kind, sql) in get_declared_schema().items()
        if kind in ("trigger", "index") and there.get(name) != sql
    ]
    for name, kind, sql in remade:
        connection.execute(f"DROP {kind} IF EXISTS {name}")
        connection.execute(sql)
    return tuple(name for name, _, _ in remade)


def _remake_known(connection: sqlite3.Connection, standing: Standing, unseen: str) -> tuple[str, ...]:
    differences = list(find_known_differences(connection, standing))
    for path, recorded, _ in differences:
        key = encode_path(path)
        connection.execute("DELETE FROM known WHERE path = ?", (key,))
        if recorded is not None:
            kind, sha256, size = recorded[:3]
            row = (key, kind, bytes.fromhex(sha256) if sha256 else None, size, unseen)
            connection.execute("INSERT INTO known VALUES (?, ?, ?, ?, ?)", row)
    connection.execute("UPDATE known SET stamp = ?", (unseen,))
    return tuple(path for path, _, _ in differences)


def _remake_index(connection: sqlite3.Connection, table: str, rows: set[tuple[Any, ...]]) -> bool:
    if set(connection.execute(f"SELECT * FROM {table}")) == rows:
        return False
    connection.execute(f"DELETE FROM {table}")
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)
    return True


def _remake_noting(connection: sqlite3.Connection, noting: list[int]) -> bool:
    if [row[0] for row in connection.execute(f"SELECT seq FROM events WHERE {NOTING} ORDER BY seq")] == noting:
        return False
    connection.execute("REINDEX noting")
    return True


def _remake_totals(connection: sqlite3.Connection) -> bool:
    """Count files and bytes again; a trigger may have counted on while rows were made anew."""
    counted = connection.execute("SELECT count(*), coalesce(sum(size), 0) FROM known WHERE kind = 'file'").fetchall()
    if connection.execute("SELECT files, bytes FROM totals").fetchall() == counted:
        return False
    connection.execute("DELETE FROM totals")
    connection.execute("INSERT INTO totals VALUES (?, ?)", counted[0])
    return True
