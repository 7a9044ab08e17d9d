"""A proposal in words and as a comparison: what a person has to see before she says yes."""

import os
from dataclasses import dataclass

from memtui.core.actors import shown_name
from memtui.core.asking import Proposal, is_below
from memtui.core.diffs import compare
from memtui.core.events import Change
from memtui.core.paths import ROOT_NAME
from memtui.core.visible import HIDDEN, one_line
from memtui.ui import wording
from memtui.ui.diff.layout import Comparison

_LISTED = 5_000
"""Files of a proposal that are listed by name; their number is said in any case."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """What is shown of a proposal.

    Attributes:
        title: Who wants what, in a sentence.
        remark: What is to be known of it; empty for nothing.
        comparison: The exact change; `None` where there are no lines to compare.
        notice: Why not.
        always: Below which path a yes for good would hold; relative to the folder.
    """

    title: str
    remark: str
    comparison: Comparison | None
    notice: str
    always: str


def proposed(proposal: Proposal) -> Proposed:
    """Work out what is shown, in a thread: texts may be large."""
    files = proposal.files
    remarks = [one_line(proposal.again)] if proposal.again else []
    notice, comparison = "", None
    if proposal.command == "rename" or len(files) != 1:
        comparison = _names(proposal)
        notice = "" if comparison else "No file is in it."
    else:
        change = files[0]
        before, after = proposal.text(change.before), proposal.text(change.after)
        if before is None or after is None:
            notice = "It holds bytes that are no text. They cannot be shown."
        elif before == after:
            notice = "The text would stay as it is."
        else:
            comparison = Comparison(compare(before, after))
            hidden = len(HIDDEN.findall(after)) - len(HIDDEN.findall(before))
            if hidden > 0:
                remarks.append(f"{hidden:,} hidden {'character' if hidden == 1 else 'characters'} would be written.")
    return Proposed(_title(proposal), " ".join(remarks), comparison, notice, always_below(proposal))


def _title(proposal: Proposal) -> str:
    who, files = shown_name(proposal.actor), proposal.files
    path = one_line(wording.relative(proposal.path))
    overwrites = any(change.before is not None for change in files)
    match proposal.command:
        case "create":
            what = f"overwrite {path}" if overwrites else f"create {path}"
        case "delete" if len(files) == 1:
            what = f"delete {path}"
        case "delete":
            what = f"delete {path}/ with {wording.files(len(files))}"
        case "rename":
            new = one_line(wording.relative(proposal.new_path or ""))
            moved = {change.path for change in files if change.after is not None}
            what = f"rename {path} to {new}" + (f", {wording.files(len(moved))}" if len(moved) != 1 else "")
        case _:
            what = f"edit {path}"
    return f"{one_line(who)} wants to {what}"


def _names(proposal: Proposal) -> Comparison | None:
    """Many files at once: the list of names before, against that after."""
    files = sorted(proposal.files, key=lambda change: change.path)
    gone = [_row(proposal, change) for change in files if change.after is None]
    come = [_row(proposal, change) for change in files if change.after is not None]
    if not gone and not come:
        return None
    return Comparison(compare(_listed(gone), _listed(come)))


def _row(proposal: Proposal, change: Change) -> str:
    version = change.after or change.before
    text = proposal.text(version)
    name = one_line(change.path)
    if text is not None:
        lines = text.count("\n") + (not text.endswith("\n") and bool(text))
        return f"{name}   {lines:,} {'line' if lines == 1 else 'lines'}"
    return f"{name}   {wording.size(version.size)}" if version and version.size is not None else name


def _listed(rows: list[str]) -> str:
    left = len(rows) - _LISTED
    shown = [*rows[:_LISTED], f"and {left:,} more"] if left > 0 else rows
    return "".join(f"{row}\n" for row in shown)


def always_below(proposal: Proposal) -> str:
    """What `always` would stand for: the directory of all that would change, or the file where that is the folder."""
    files = [change.path for change in proposal.files] or [change.path for change in proposal.changes]
    prefix = os.path.commonpath([os.path.dirname(path) for path in files])
    if not prefix and len(files) == 1:
        return files[0]
    while not all(is_below(change.path, prefix) for change in proposal.changes):
        prefix = os.path.dirname(prefix)  # directories that would be made for it are part of the change
    return prefix


def place(prefix: str) -> str:
    """A path as the agent calls it."""
    return f"{ROOT_NAME}/{one_line(prefix)}" if prefix else ROOT_NAME
