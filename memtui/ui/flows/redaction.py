"""Removing a text for good from a screen, by `memtui redact`.

Only the verb knows drafts and chats as well; so a screen runs it, and shows its sentences.
"""

import asyncio
import subprocess
import sys
from collections.abc import Sequence

from textual.app import App

from memtui.core.unicode import to_one_line
from memtui.flows.dialog import FlowOutcome
from memtui.ui.screens.dialogs import ConfirmScreen

_SECONDS = 120.0
_NOTHING = "Nothing was removed."


async def redact(app: App[object], words: Sequence[str], text: str | None) -> FlowOutcome:
    """Say what would be removed, ask, and remove it.

    Args:
        words: Of the command line, `redact` and what follows, without `--dry-run` and `--yes`.
        text: What `--match -` reads; it stands in no command line, which other programs see. `None` for nothing.
    """
    code, sentence = await asyncio.to_thread(_run, [*words, "--dry-run"], text)
    if not sentence.startswith("Would remove"):
        return FlowOutcome(sentence or _NOTHING, is_warning=True)
    if not await app.push_screen_wait(ConfirmScreen(f"{sentence} It cannot be undone. Remove it?")):
        return FlowOutcome(_NOTHING)
    code, sentence = await asyncio.to_thread(_run, [*words, "--yes"], text)
    return FlowOutcome(sentence or _NOTHING, is_warning=code != 0)


def _run(words: Sequence[str], text: str | None) -> tuple[int, str]:
    """The exit code, and the first sentence of the output; else of the errors."""
    command = [sys.executable, "-m", "memtui", *words, "--no-color"]
    try:
        done = subprocess.run(
            command, input=(text or "").encode("utf-8", "replace"), capture_output=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return 1, "memtui redact could not be run, or did not end in time. View the note before going on."
    lines = (done.stdout.strip() or done.stderr.strip()).decode("utf-8", "replace").splitlines()
    return done.returncode, to_one_line(lines[0]) if lines else ""
