"""One-time tips: the next key that is worth knowing, one at each start, each shown once."""

import contextlib

from memtui.fs.atomic import write_atomic
from memtui.fs.state import get_state_home, make_private_directory
from memtui.ui.key_names import label_key

_KEPT = "tips"
"""The file beside the journals that holds how many tips were shown."""
_DIGITS = 4

TIPS = (
    ("browse.find", "finds in names, text and history"),
    ("browse.diff", "shows what the last change did"),
    ("browse.undo", "undoes a change, also one of an agent"),
    ("app.commands", "lists all commands"),
    ("browse.past", "shows the whole folder as it was"),
    ("note.blame", "shows who wrote each line"),
    ("browse.next_change", "goes to the next changed file"),
    ("browse.deleted", "lists deleted notes"),
    ("note.view", "shows a note as source, then as the model sees it"),
    ("browse.zoom", "zooms the pane to the whole screen"),
    ("browse.audit", "audits the folder"),
)
"""Ids of bindings with what their keys do, in the order in which they help."""


def take_tip() -> str:
    """The next tip, which is then noted as shown; empty once all were. Blocking."""
    home = get_state_home()
    try:
        shown = int((home / _KEPT).read_bytes()[:_DIGITS])
    except (OSError, ValueError):
        shown = 0
    if not 0 <= shown < len(TIPS):
        return ""
    with contextlib.suppress(OSError):
        make_private_directory(home)
        write_atomic(home / _KEPT, f"{shown + 1}\n".encode(), sync=False)
        name, words = TIPS[shown]
        return f"Tip: {label_key(name)} {words}."
    return ""  # what cannot be noted would be shown at each start
