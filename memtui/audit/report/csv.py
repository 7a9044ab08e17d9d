"""The report as a table for spreadsheets: RFC 4180, one line for each finding below a line of names.

A spreadsheet takes a cell that begins with one of a few signs for a formula, and runs it. What comes from notes and
names is hostile, so such a cell has an apostrophe before it, as spreadsheets themselves mark text.
"""

import csv
import io
from collections.abc import Iterable

from memtui.audit.model import Audit, AuditFinding
from memtui.audit.ranking import group_findings
from memtui.audit.report.wording import format_actor, format_opinion, format_utc, sanitize_text

COLUMNS = (
    "severity", "family", "rule", "certainty", "path", "line", "column", "end_line", "end_column", "words", "evidence",
    "do", "actor", "when", "event", "call", "session", "fingerprint", "group", "opinion",
)  # fmt: skip
_FORMULA = tuple("=+-@＝＋－＠")
"""What a cell begins with that some spreadsheet runs; also behind blanks."""


def render_csv(audit: Audit) -> str:
    """The report as comma-separated values, without what is excepted."""
    page = io.StringIO(newline="")
    writer = csv.writer(page)  # the dialect of RFC 4180, with CR and LF at the end of each line
    writer.writerow(COLUMNS)
    for group in group_findings(audit.findings):
        writer.writerows(list(map(_format_cell, _list_values(found, group.id))) for found in group.findings)
    return page.getvalue()


def _list_values(found: AuditFinding, group: str) -> Iterable[str | int | None]:
    place, origin = found.location, found.origin
    return (
        found.severity.value, found.family.value, found.rule, found.certainty, place.path, place.line, place.column,
        place.end_line, place.end_column, found.words, found.evidence, found.do,
        format_actor(origin.actor), format_utc(origin.at_us), origin.seq, origin.call_id, origin.session,
        found.fingerprint, group, format_opinion(found.opinion) if found.opinion is not None else "",
    )  # fmt: skip


def _format_cell(value: str | int | None) -> str:
    """A value as a cell, on one line and no formula; empty for `None`."""
    if value is None or isinstance(value, int):
        return "" if value is None else str(value)
    shown = sanitize_text(value)
    return f"'{shown}" if shown.lstrip()[:1] in _FORMULA else shown
