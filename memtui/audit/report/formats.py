"""Which reports there are. Each writer is loaded where it is asked for, for start-up cost."""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtui.audit.audit import Audit

FORMATS = ("text", "json", "md", "sarif", "html")


def written(audit: "Audit", format: str, *, folder: str, exit_code: int | None = None, everything: bool = False) -> str:
    """A report.

    Args:
        audit: What was found.
        format: One of `FORMATS`.
        folder: The memory folder, with links resolved.
        exit_code: What the process will end with.
        everything: Whether a text and a SARIF log tell also what is excepted, finding by finding; JSON always does.
    """
    match format:
        case "json":
            from memtui.audit.report import as_json

            return as_json.write(audit)
        case "md":
            from memtui.audit.report import markdown

            return markdown.write(audit)
        case "sarif":
            from memtui.audit.report import sarif

            return sarif.write(audit, below=_below_here(folder), exit_code=exit_code, suppressed=everything)
        case "html":
            from memtui.audit.report import html

            return html.write(audit)
        case _:
            from memtui.audit.report import text

            return text.write(audit, everything=everything)


def _below_here(folder: str) -> str:
    """The folder relative to the directory in which memtui was started; empty if it is not inside of that."""
    relative = os.path.relpath(folder, os.path.realpath("."))
    return "" if relative in (".", "..") or relative.startswith("../") else relative
