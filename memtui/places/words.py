"""What is said of a place to a person."""

from memtui.core.visible import one_line
from memtui.places import short
from memtui.places.finding import Owner, Place

_OWNERS = {
    Owner.HERE: "here",
    Owner.CLAUDE_CODE: "Claude Code",
    Owner.CLAUDE_AGENT: "agent",
    Owner.VSCODE: "VS Code",
    Owner.RECENT: "opened before",
}


def owner_of(place: Place) -> str:
    """Whose memories they are, in words and on one line."""
    return f"{_OWNERS[place.owner]} {one_line(place.name)}".rstrip()


def about(place: Place) -> str:
    """Which project they are about, and whether it is still there; empty where there is none."""
    if not place.files and not place.is_counted:
        return "the disk does not answer"
    if place.project is None:
        return "project not known" if place.owner is Owner.CLAUDE_CODE else ""
    case = {True: "", False: ", which is gone", None: ", which does not answer"}[place.project_exists]
    return f"for {one_line(short(place.project))}{case}"
