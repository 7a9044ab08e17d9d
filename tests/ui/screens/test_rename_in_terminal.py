"""Renaming in the person's own editor, in a real terminal: it gets the screen, and gives it back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

EDITOR = """#!/bin/sh
grep -q '^# Each line below' "$1" || exit 3
sed 's:^notes/:archive/:' "$1" > "$1.new" && cat "$1.new" > "$1"
"""


def test_names_are_changed_in_ones_own_editor_and_one_key_takes_it_back(
    terminal: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "memories"
    for number in range(12):
        path = folder / f"notes/{number:02}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"note {number}\n")
    editor = tmp_path / "editor"
    editor.write_text(EDITOR)
    editor.chmod(0o755)
    screen = terminal("-m", "memtui", folder, env={"EDITOR": str(editor), "VISUAL": ""}, size=(80, 24))
    screen.wait_for("12 notes")
    screen.wait_for(" note")
    screen.press("*")
    screen.wait_for("12 selected.")
    screen.press("r")
    screen.wait_for("as text, one name a line")
    screen.press("e")
    screen.wait_for("Rename all 12? u undoes all of it.")
    assert (folder / "notes/00.md").exists()
    screen.press("y")
    screen.wait_for(lambda: (folder / "archive/11.md").exists() and not (folder / "notes/11.md").exists())
    screen.wait_for("Renamed 12 files in notes/.")
    screen.press("u")
    screen.wait_for(lambda: (folder / "notes/11.md").exists() and not (folder / "archive").exists())
    screen.wait_for("Undid")
    assert {path.read_text() for path in (folder / "notes").iterdir()} == {f"note {number}\n" for number in range(12)}
    screen.press("q")
    assert screen.end() == 0
