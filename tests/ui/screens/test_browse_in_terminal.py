"""What a person does by hand, in a real terminal with real keys: find, edit, meet the agent, decide, take it back.

What is recorded at the end is compared: neither her text nor the agent's is lost on any of these ways.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.core.events import Agent, Event
from memtui.engine import Engine

PREFS = "# Preferences\n\n- Answers: concise\n- Timezone: Berlin\n- Editor: nano\n"
PATH = "learnings/user_preferences.md"
CTRL_S, ESCAPE, DOWN, END = "\x13", "\x1b", "\x1b[B", "\x1b[F"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "memories"
    (folder / "learnings").mkdir(parents=True)
    (folder / PATH).write_text(PREFS)
    for number in range(40):
        (folder / f"note-{number:02}.md").write_text(f"# Note {number}\n\nsomething else\n")
    return folder


@pytest.fixture
def memory(folder: Path, tmp_path: Path) -> Iterator[Engine]:
    """The agent's own engine, in this process."""
    with memtui.open(folder, state=tmp_path / "state") as engine:
        yield engine


@pytest.fixture
def screen(terminal: Callable[..., Any], folder: Path, memory: Engine, tmp_path: Path) -> Any:
    """memtui over the folder, in a terminal, once it is live."""
    del memory  # it has looked at the folder, so that the screen finds it known
    shown = terminal("-m", "memtui", folder, "--state", tmp_path / "state", env={"HOME": str(tmp_path)})
    shown.wait_for(" note")
    shown.wait_for("Tip: ")  # of the first start: it follows once the folder is watched
    return shown


def agent_writes(memory: Engine, old: str, new: str) -> None:
    answer = memory.execute(
        {"command": "str_replace", "path": f"/memories/{PATH}", "old_str": old, "new_str": new}, actor=Agent("Clara")
    )
    assert not answer.is_error, answer.text


def events(memory: Engine) -> list[Event]:
    memory.reconcile()
    return [event for event in memory.events() if event.command not in ("found", "view")]


def texts(memory: Engine) -> list[str]:
    """Every text that the note ever held, the oldest first."""
    versions = reversed(memory.history.versions_of(PATH))
    return [(memory.history.text(each.after) or b"").decode() for each in versions]


def finds_and_edits(screen: Any) -> None:
    """Find the note by a name that is typed wrongly, open it, and begin to edit."""
    screen.press("/")
    screen.wait_for("Find in")
    screen.press("preefrences")
    screen.wait_for("similar")
    screen.wait_for("Timezone: Berlin")  # beside the results
    screen.press("\r")
    screen.wait_for("2 user_preferences.md")
    screen.press("e")
    screen.wait_for("memtui edit")
    screen.wait_for("Ctrl+S save")


def test_she_finds_it_despite_a_typo_edits_it_and_both_changes_are_merged(
    screen: Any, memory: Engine, folder: Path
) -> None:
    finds_and_edits(screen)
    screen.press(DOWN * 2 + END + ", in English")
    screen.wait_for("unsaved")
    agent_writes(memory, "Berlin", "Lisbon")
    screen.wait_for("Clara")  # it is said while she types
    screen.press(CTRL_S)
    screen.wait_for("Merge: ")
    screen.press("m")
    merged = PREFS.replace("concise", "concise, in English").replace("Berlin", "Lisbon")
    screen.wait_for(lambda: (folder / PATH).read_text() == merged)
    screen.settle()
    assert texts(memory)[-2:] == [PREFS.replace("Berlin", "Lisbon"), merged]
    assert [(event.actor.name, event.command) for event in events(memory)] == [
        ("Clara", "str_replace"),
        ("you", "write"),
    ]
    screen.press(ESCAPE)
    screen.wait_for("1 Files")
    screen.press("u")
    screen.wait_for(lambda: (folder / PATH).read_text() == PREFS.replace("Berlin", "Lisbon"))
    screen.press("q")
    assert screen.end() == 0


def both_change_a_line(screen: Any, memory: Engine) -> None:
    """She saves a line that the agent has changed since she began to edit."""
    finds_and_edits(screen)
    screen.press(DOWN * 2 + END + " indeed")
    screen.wait_for("unsaved")
    agent_writes(memory, "Answers: concise", "Answers: very short")
    screen.press(CTRL_S)


def test_she_keeps_hers_and_the_agents_text_stays_in_the_history(screen: Any, memory: Engine, folder: Path) -> None:
    both_change_a_line(screen, memory)
    screen.wait_for("Keep yours; ")
    assert (folder / PATH).read_text() == PREFS.replace("concise", "very short"), (
        "something was written before she chose"
    )
    screen.press("k")
    screen.wait_for(lambda: (folder / PATH).read_text() == PREFS.replace("concise", "concise indeed"))
    assert PREFS.replace("concise", "very short") in texts(memory)


def test_she_takes_the_agents_and_hers_is_kept_as_a_draft(screen: Any, memory: Engine, folder: Path) -> None:
    both_change_a_line(screen, memory)
    screen.wait_for("Take Clara")
    screen.press("t")
    screen.wait_for("draft")
    screen.settle()
    screen.press(ESCAPE)
    screen.wait_for("1 Files")
    assert (folder / PATH).read_text() == PREFS.replace("concise", "very short")
    screen.press("e")
    screen.wait_for("draft")
    screen.wait_for("memtui edit")
