"""A person and somebody else write to the same note, again and again, each through a program of their own.

Real keys, a real terminal, real processes: what both wrote is there in the end, and the history has all of it.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.core.events import Agent, Event, Outside, Person
from memtui.engine import Engine
from tests.conftest import fill

Starting = Callable[..., Any]

WRITER = """
import os
import sys
import time
from pathlib import Path
import memtui

folder, state, how, stop = Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4])
note = folder / "shared.md"
claude = memtui.Agent("Claude")
engine = memtui.open(folder, state=state) if how == "agent" else None
number = 0
while not stop.exists():
    old, new = f"counter: {number}\\n", f"counter: {number + 1}\\n"
    if engine is not None:
        words = {"command": "str_replace", "path": "/memories/shared.md", "old_str": old, "new_str": new}
        answer = engine.execute(words, actor=claude)
        if answer.is_error:  # somebody's save has undone what this one had written
            sys.exit(f"{number}: {answer.text}")
    else:
        passing = folder.parent / "passing"
        passing.write_text(note.read_text().replace(old, new))
        os.replace(passing, note)
    number += 1
    time.sleep(0.1)  # it is its nature to write again and again
print(number)
"""

SAVE, END, ESCAPE = "\x13", "\x1b[1;5F", "\x1b"
QUESTION = "Merge: both changes fit together"
DOWN, SHIFT_DOWN, DELETE = "\x1b[B", "\x1b[1;2B", "\x1b[3~"
TEXT = "# Shared\n\ncounter: 0\n\n- one fixed line\n- another one\n\n## Mine\n\n- written before\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fill(tmp_path / "memories", {"shared.md": TEXT})


@contextmanager
def writing(folder: Path, state: Path, how: str) -> Iterator[Callable[[], int]]:
    """Somebody who counts in the note until told to stop; then it tells how far it came."""
    stop = folder.parent / "stop"
    environment = {"PYTHONPATH": str(Path(memtui.__file__).parents[1]), "PATH": ""}
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(state), how, str(stop)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip

    def stopped() -> int:
        stop.touch()
        out, problem = process.communicate(timeout=30)
        assert not process.returncode, problem
        return int(out)

    try:
        yield stopped
    finally:
        process.kill()
        process.communicate()


def edit(terminal: Starting, folder: Path, state: Path, size: tuple[int, int] = (80, 24)) -> Any:
    """Open the note in the editor, with the cursor at its end."""
    screen = terminal("-m", "memtui", folder, "--state", state, size=size)
    screen.wait_for(" note")
    screen.wait_for("shared.md")
    screen.press("e")
    screen.wait_for("memtui edit")
    screen.wait_for("Ln 1, Col 1")
    screen.press(END)
    screen.wait_for("Ln 11, Col 1")
    return screen


def is_unsaved(screen: Any) -> bool:
    return "* unsaved" in screen.text


def leave(screen: Any) -> None:
    """Close the editor, and memtui."""
    screen.press(ESCAPE)
    screen.wait_for(lambda: "memtui edit" not in screen.text)
    screen.press("q")
    assert screen.end() == 0


def versions(engine: Engine) -> list[tuple[Event, str]]:
    """What the note held, the oldest first, and by which event."""
    rows = reversed(engine.history.versions_of("shared.md"))
    return [(row.event, (engine.history.text(row.after) or b"").decode()) for row in rows]


def counted(text: str) -> int:
    return int(re.findall(r"counter: (\d+)\n", text)[0])


@pytest.mark.parametrize("how", ["agent", "outside"])
def test_nothing_is_lost_while_both_write_again_and_again(
    terminal: Starting, folder: Path, tmp_path: Path, how: str
) -> None:
    state = tmp_path / "state"
    with memtui.open(folder, state=state):
        pass  # what stands there is known from the start, whoever comes first
    screen = edit(terminal, folder, state)
    mine: list[str] = []
    asked = 0
    with writing(folder, state, how) as stopped:
        while len(mine) < 3 or (not asked and len(mine) < 9):
            mine.append(f"line {len(mine) + 1} of mine")
            for word in re.findall(r"\S+\s?", mine[-1] + "\r"):
                screen.press(word)
                screen.wait_for(lambda word=word: word.strip() in screen.text)
            screen.wait_for(lambda: "CHANGED" in screen.text)  # told live, while one types
            screen.press(SAVE)
            screen.wait_for(lambda: QUESTION in screen.text or not is_unsaved(screen))
            if QUESTION in screen.text:
                asked += 1
                screen.press("m")
                screen.wait_for(lambda: QUESTION not in screen.text and not is_unsaved(screen))
        reached = stopped()
    leave(screen)

    with memtui.open(folder, state=state) as engine:
        history = versions(engine)
    assert asked
    saves = [text for event, text in history if isinstance(event.actor, Person)]
    others = [text for event, text in history if isinstance(event.actor, Agent if how == "agent" else Outside)]
    # The history shows both: every save, and every number that was written or seen.
    # A program that read the note before a save and replaces it afterwards takes lines of mine out of the note: then
    # the next save has not got them either, but each was saved, and is there.
    overwritten = how == "outside" and any(_is_overwritten(*pair) for pair in pairwise(history))
    assert all(any(f"{line}\n" in text for text in saves) for line in mine)
    for number in range(1, len(mine) + 1) if not overwritten else ():
        so_far = "".join(f"{each}\n" for each in mine[:number])
        assert any(text.endswith(f"- written before\n{so_far}") for text in saves)
    numbers = [counted(text) for _, text in history]
    assert numbers == sorted(numbers), "a save took back what the other one had written"
    if how == "agent":
        assert sorted(set(numbers)) == list(range(reached + 1))
    # And the note has both, each where it belongs.
    if overwritten:
        assert f"counter: {reached}\n" in (folder / "shared.md").read_text()
        return
    assert any(mine[0] in text for text in others)
    expected = TEXT.replace("counter: 0", f"counter: {reached}") + "".join(f"{line}\n" for line in mine)
    assert (folder / "shared.md").read_text() == expected


def _is_overwritten(older: tuple[Event, str], newer: tuple[Event, str]) -> bool:
    return isinstance(older[0].actor, Person) and older[1].partition("## Mine")[2] != newer[1].partition("## Mine")[2]


def other_writes(folder: Path, state: Path, text: str) -> None:
    with memtui.open(folder, state=state) as engine:
        words = {"command": "create", "path": "/memories/shared.md", "file_text": text}
        assert not engine.execute(words, actor=Agent("Claude")).is_error


def both_write_at_the_end(terminal: Starting, folder: Path, state: Path) -> Any:
    """The editor when it has been asked to save what somebody else has changed."""
    screen = edit(terminal, folder, state)
    screen.press("mine at the end")
    screen.wait_for("mine at the end")
    other_writes(folder, state, TEXT + "theirs at the end\n")
    screen.wait_for("CHANGED")
    screen.press(SAVE)
    return screen


def test_mine_is_kept_and_theirs_is_in_the_history(terminal: Starting, folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    screen = both_write_at_the_end(terminal, folder, state)
    screen.wait_for("theirs at the end")
    assert (folder / "shared.md").read_text() == TEXT + "theirs at the end\n"  # nothing is written before the choice
    screen.press("k")
    screen.wait_for(lambda: not is_unsaved(screen) and "CONFLICT" not in screen.text)
    assert (folder / "shared.md").read_text() == TEXT + "mine at the end"
    leave(screen)
    with memtui.open(folder, state=state) as engine:
        assert [text for _, text in versions(engine)] == [
            TEXT, TEXT + "theirs at the end\n", TEXT + "mine at the end",
        ]  # fmt: skip


def test_theirs_is_taken_and_mine_is_offered_again_also_after_a_kill(
    terminal: Starting, folder: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    screen = both_write_at_the_end(terminal, folder, state)
    screen.wait_for("while you were editing")
    screen.press("t")
    screen.wait_for("kept as a draft")
    screen.wait_for(lambda: not is_unsaved(screen))
    assert "theirs at the end" in screen.text
    screen.process.kill()
    screen.process.wait()

    again = terminal("-m", "memtui", folder, "--state", state)
    again.wait_for(" note")
    again.press("e")
    again.wait_for("memtui edit")
    again.wait_for("your version, set aside at")
    again.press("e")
    again.wait_for("mine at the end")
    again.wait_for(lambda: is_unsaved(again))
    assert (folder / "shared.md").read_text() == TEXT + "theirs at the end\n"


@pytest.mark.parametrize(
    ("key", "text"), [("k", "mine\n"), ("t", "theirs\n"), ("b", "mine\ntheirs\n"), ("e", "mine\ntheirs\n")]
)
def test_what_cannot_be_decided_is_decided_with_one_key_a_place(
    terminal: Starting, folder: Path, tmp_path: Path, key: str, text: str
) -> None:
    state = tmp_path / "state"
    screen = edit(terminal, folder, state, size=(100, 40))
    screen.press("mine\r")
    screen.wait_for("Ln 12")
    other_writes(folder, state, TEXT + "theirs\n")
    screen.wait_for("CHANGED")
    screen.press(SAVE)
    screen.wait_for("while you were editing")
    screen.press("m")
    screen.wait_for("was changed on both sides")
    assert (folder / "shared.md").read_text() == TEXT + "theirs\n"
    screen.press(key)
    if key == "e":  # both are in the editor, and nothing is written yet
        screen.wait_for("Merged, not saved yet")
        assert (folder / "shared.md").read_text() == TEXT + "theirs\n"
        screen.press(SAVE)
    screen.wait_for(lambda: not is_unsaved(screen))
    assert (folder / "shared.md").read_text() == TEXT + text
    leave(screen)


def test_a_left_over_marker_asks_before_it_is_saved(terminal: Starting, folder: Path, tmp_path: Path) -> None:
    screen = edit(terminal, folder, tmp_path / "state", size=(100, 40))
    screen.press(">>>>>>> Claude\r")
    screen.wait_for(">>>>>>> Claude")
    screen.press(SAVE)
    screen.wait_for("is a conflict marker")
    assert (folder / "shared.md").read_text() == TEXT
    screen.press("s")
    screen.wait_for(lambda: not is_unsaved(screen))
    assert (folder / "shared.md").read_text() == TEXT + ">>>>>>> Claude\n"
    leave(screen)


@pytest.mark.parametrize("how", ["kill", "hangup"])
def test_what_was_typed_survives_the_end_of_the_terminal(
    terminal: Starting, folder: Path, tmp_path: Path, how: str
) -> None:
    state = tmp_path / "state"
    screen = edit(terminal, folder, state)
    screen.press("typed, never saved")
    screen.wait_for("typed, never saved")
    if how == "kill":
        drafts = state / "drafts"
        screen.wait_for(lambda: any(b"never saved" in file.read_bytes() for file in drafts.glob("*.draft")))
        screen.process.kill()
    else:
        screen.close()
    screen.process.wait(timeout=20)
    assert (folder / "shared.md").read_text() == TEXT

    again = terminal("-m", "memtui", folder, "--state", state)
    again.wait_for(" note")
    again.press("e")
    again.wait_for("an unsaved draft of")
    again.press("e")
    again.wait_for("This is your draft.")
    assert "typed, never saved" in again.text
    again.press(SAVE)
    again.wait_for(lambda: not is_unsaved(again))
    again.wait_for(lambda: (folder / "shared.md").read_text() == TEXT + "typed, never saved")
    leave(again)
    assert list((state / "drafts").iterdir()) == []
