"""Audits of many folders as one report: a table of folders and families, the worst first, and each folder's own."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from memtui.audit.model import Family, Severity
from memtui.audit.report.folder_report import FolderReport, format_total
from memtui.audit.report.json import SCHEMA
from memtui.audit.report.wording import SEVERITIES, sanitize_text

KIND = "memtui audit of folders"
_WIDEST = 40
"""Characters of a folder's name in a table; of a longer one its end is shown."""
_NOTHING = "-"


def merge_reports(
    reports: Sequence[FolderReport], format: str, *, taken_us: int | None = None, everything: bool = False
) -> str:
    """One report of many.

    Args:
        format: That in which each of them is.
        taken_us: When the first of them was begun, for a page.
        everything: Whether text shows the reports of folders in which nothing is to be looked at, too.
    """
    ordered = sorted(reports, key=lambda each: each.danger)
    match format:
        case "json":
            return _merge_json(ordered)
        case "jsonl":
            return "".join(render_one(each, format) for each in ordered)
        case "csv":
            return _merge_csv(ordered)
        case "html":
            from memtui.audit.report.html_many import render_folders  # noqa: PLC0415 - start-up: one format of a run

            return render_folders(ordered, taken_us)
        case "sarif":
            return _merge_sarif(ordered)
        case "junit":
            return _merge_junit(ordered)
        case "md":
            return "\n".join([*_render_markdown_table(ordered), "", *(each.report for each in ordered if each.report)])
        case _:
            shown = (each for each in ordered if render_one(each, format, everything=everything))
            return "\n".join([*_render_table(ordered), "", *(each.report for each in shown)])


def render_one(report: FolderReport, format: str, *, everything: bool = False) -> str:
    """What is printed of one folder before the others are audited, in `text` or `jsonl`; empty for nothing."""
    if format == "jsonl":
        return report.report or f"{_describe_problem(report)}\n"
    return f"{report.report}\n" if report.report and (everything or _is_to_be_looked_at(report)) else ""


def render_overview(reports: Sequence[FolderReport]) -> str:
    """The table of folders and families alone, as text."""
    return "\n".join([*_render_table(sorted(reports, key=lambda each: each.danger)), ""])


def _is_to_be_looked_at(each: FolderReport) -> bool:
    return bool(each.count(Severity.FAIL) or each.count(Severity.WARN))


def _format_cell(numbers: Sequence[int]) -> str:
    fails, warns, _ = numbers
    return f"{fails:,}/{warns:,}" if fails or warns else _NOTHING


def _shorten(title: str) -> str:
    title = sanitize_text(title)
    return title if len(title) <= _WIDEST else f"…{title[1 - _WIDEST :]}"


def _list_rows(reports: Sequence[FolderReport]) -> list[list[str]]:
    """The table: its head, then a row for each folder; of one that was not audited there is only its name."""
    rows = [["folder", *(family.value for family in Family)]]
    for each in reports:
        cells = [_format_cell(each.counts[family.value]) for family in Family] if each.counts else []
        rows.append([_shorten(each.title), *cells])
    return rows


def _render_table(reports: Sequence[FolderReport]) -> list[str]:
    rows = _list_rows(reports)
    name = max(len(row[0]) for row in rows)
    widths = [max(len(row[at]) for row in rows if len(row) > 1) for at in range(1, len(rows[0]))]
    lines = [format_total(reports), "Failures / warnings:", ""]
    for row, each in zip(rows, (None, *reports), strict=True):
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths, strict=False)]
        problem = sanitize_text(each.problem) if each is not None and each.problem else ""
        lines.append("  ".join([row[0].ljust(name), *cells, *([f"not audited: {problem}"] if problem else [])]))
    return lines


def _render_markdown_table(reports: Sequence[FolderReport]) -> list[str]:
    head, *rows = _list_rows(reports)
    lines = [f"# {format_total(reports)}", "", "Failures / warnings:", ""]
    lines += [f"| {' | '.join(head)} |", f"|---|{'--:|' * (len(head) - 1)}"]
    for row, each in zip(rows, reports, strict=True):
        cells = row[1:] or [f"not audited: {_quote(each.problem)}", *[""] * (len(head) - 2)]
        lines.append(f"| {' | '.join([_quote(row[0]), *cells])} |")
    return lines


def _quote(text: str) -> str:
    """A text in a code span within a table, where nothing is rendered and nothing ends it."""
    return f"`{sanitize_text(text).replace('`', chr(39)).replace('|', '¦')}`"


def _describe_problem(each: FolderReport) -> str:
    return json.dumps({"event": "problem", "folder": each.title, "problem": each.problem, "code": each.code})


def _merge_json(reports: Sequence[FolderReport]) -> str:
    document = {
        "schema": SCHEMA,
        "kind": KIND,
        "summary": {
            "folders": len(reports),
            "audited": sum(not each.problem for each in reports),
            **{severity.value: sum(each.count(severity) for each in reports) for severity in SEVERITIES},
        },
        "folders": [
            json.loads(each.report)
            if each.report
            else {"folder": each.title, "problem": each.problem, "code": each.code}
            for each in reports
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _merge_csv(reports: Sequence[FolderReport]) -> str:
    page = io.StringIO(newline="")
    writer = csv.writer(page)
    for number, each in enumerate(each for each in reports if each.report):
        head, *rows = csv.reader(io.StringIO(each.report, newline=""))
        if not number:
            writer.writerow(["folder", *head])
        writer.writerows([sanitize_text(each.title), *row] for row in rows)
    return page.getvalue()


def _merge_sarif(reports: Sequence[FolderReport]) -> str:
    """One log with a run for each folder; runs of the same name are numbered, so that none takes another's place."""
    merged: dict[str, Any] = {}
    seen: dict[str, int] = {}
    for each in reports:
        if not each.report:
            continue
        log = json.loads(each.report)
        for run in log["runs"]:
            details = run["automationDetails"]
            name = details["id"]
            seen[name] = seen.get(name, 0) + 1
            details["id"] = name if seen[name] == 1 else f"{name.rstrip('/')}-{seen[name]}/"
        merged = merged or {**log, "runs": []}
        merged["runs"] += log["runs"]
    if unread := [each for each in reports if each.problem]:
        notices = [{"level": "error", "message": {"text": f"Not audited: {each.problem}"}} for each in unread]
        invocation = {"executionSuccessful": False, "toolExecutionNotifications": notices}
        run = {"tool": {"driver": {"name": "memtui"}}, "invocations": [invocation], "results": []}
        merged = merged or {"version": "2.1.0", "runs": []}
        merged["runs"] = [run, *merged["runs"]]
    return json.dumps(merged, indent=2) + "\n"


def _merge_junit(reports: Sequence[FolderReport]) -> str:
    root = ElementTree.Element("testsuites", name="memtui audits")
    for each in reports:
        title = sanitize_text(each.title)
        if each.report:
            for suite in ElementTree.fromstring(each.report.partition("\n")[2]):
                suite.set("name", f"{title}: {suite.get('name')}")
                root.append(suite)
        else:
            suite = ElementTree.SubElement(root, "testsuite", name=title, tests="1", failures="0", errors="1")
            case = ElementTree.SubElement(suite, "testcase", name="audit", classname="memtui")
            ElementTree.SubElement(case, "error", message=sanitize_text(each.problem))
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'
