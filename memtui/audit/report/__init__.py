"""The reports of an audit. Each writer is loaded where it is asked for, for start-up cost."""

import os
from typing import TYPE_CHECKING

from memtui.core.paths import ONLINE, SQLITE

if TYPE_CHECKING:
    from memtui.audit.model import Audit, Severity


FORMATS = ("text", "json", "jsonl", "md", "sarif", "html", "csv", "junit")


def render_report(
    audit: "Audit",
    format: str,
    *,
    folder: str,
    exit_code: int | None = None,
    fail_on: "Severity | None" = None,
    everything: bool = False,
) -> str:
    """A report.

    Args:
        exit_code: That of the process, for SARIF.
        fail_on: The severity from which a finding fails its test case, for JUnit; `None` for never.
        everything: Whether text and SARIF list suppressed findings; JSON always does.
    """
    match format:
        case "json":
            from memtui.audit.report import json  # noqa: PLC0415 - start-up: one format of a run

            return json.render_json(audit)
        case "jsonl":
            from memtui.audit.report import json  # noqa: PLC0415 - start-up: one format of a run

            return json.render_jsonl(audit)
        case "csv":
            from memtui.audit.report import csv  # noqa: PLC0415 - start-up: one format of a run

            return csv.render_csv(audit)
        case "junit":
            from memtui.audit.report import junit  # noqa: PLC0415 - start-up: one format of a run

            return junit.render_junit(audit, fail_on=fail_on)
        case "md":
            from memtui.audit.report import markdown  # noqa: PLC0415 - start-up: one format of a run

            return markdown.render_markdown(audit)
        case "sarif":
            from memtui.audit.report import sarif  # noqa: PLC0415 - start-up: one format of a run

            return sarif.render_sarif(
                audit, below=_get_relative_folder(folder), exit_code=exit_code, suppressed=everything
            )
        case "html":
            from memtui.audit.report import html  # noqa: PLC0415 - start-up: one format of a run

            return html.render_html(audit)
        case _:
            from memtui.audit.report import text  # noqa: PLC0415 - start-up: one format of a run

            return text.render_text(audit, everything=everything)


def _get_relative_folder(folder: str) -> str:
    """The folder relative to the directory in which memtui was started; empty if it is not inside of that."""
    if folder.startswith(ONLINE):
        return ""
    relative = os.path.relpath(folder.removeprefix(SQLITE), os.path.realpath("."))
    return "" if relative in (".", "..") or relative.startswith("../") else relative
