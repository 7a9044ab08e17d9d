"""Baselines: what was found before, so that only what is new counts. A file of fingerprints, to be kept under version
control beside what it is about; it names rules and paths for whoever reads a difference, and nothing of any text.
"""

import json
from collections.abc import Iterable

from memtui.audit.findings import Finding
from memtui.core.errors import MemtuiError

SCHEMA = 1
KIND = "memtui baseline"
_FINGERPRINT = 16


class NoBaseline(MemtuiError):
    """A file is no baseline; the words say why."""


def fingerprints(data: bytes, name: str) -> frozenset[str]:
    """The fingerprints of a baseline.

    Args:
        data: The file.
        name: What a person calls it.

    Raises:
        NoBaseline: It is none.
    """
    try:
        document = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise NoBaseline(f"{name} is no baseline: it is no JSON. Nothing was audited. {_MAKE}") from None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise NoBaseline(f"{name} is no baseline of memtui. Nothing was audited. {_MAKE}")
    if document.get("schema") != SCHEMA:
        raise NoBaseline(f"{name} is a baseline of a newer memtui. Nothing was audited. Use that version.")
    rows = document.get("findings")
    if not isinstance(rows, list) or not all(_is_row(row) for row in rows):
        raise NoBaseline(f"{name} is damaged: not every finding in it has a fingerprint. Nothing was audited. {_MAKE}")
    return frozenset(row["fingerprint"] for row in rows)


_MAKE = "Make one: memtui audit --write-baseline FILE"


def document(findings: Iterable[Finding]) -> str:
    """A baseline of findings, as JSON; the same findings make the same bytes."""
    rows = sorted(
        {(each.place.path, each.rule, each.fingerprint) for each in findings},
    )
    listed = [{"fingerprint": fingerprint, "rule": rule, "path": path} for path, rule, fingerprint in rows]
    return json.dumps({"schema": SCHEMA, "kind": KIND, "findings": listed}, indent=1) + "\n"


def _is_row(row: object) -> bool:
    fingerprint = row.get("fingerprint") if isinstance(row, dict) else None
    return isinstance(fingerprint, str) and len(fingerprint) == _FINGERPRINT
