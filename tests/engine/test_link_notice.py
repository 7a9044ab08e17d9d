"""An agent that renames a note to which others link is told, where the settings say so."""

from pathlib import Path

import pytest

import memtui
from memtui.core.events import Actor, Person
from memtui.core.settings import Settings
from memtui.engine import Engine
from tests.conftest import ME, fill

FILES = {
    "MEMORY.md": "- [Tea](tea.md)\n- [[tea]]\n",
    "d/log.md": "See [tea](../tea.md).\n",
    "tea.md": "# Tea\n\n[log](d/log.md)\n",
    "lone.md": "No link leads here.\n",
}
SUCCESS = "Successfully renamed /memories/tea.md to /memories/d/chai.md"


def rename(engine: Engine, old: str, new: str, actor: Actor = ME) -> str:
    answer = engine.execute(
        {"command": "rename", "old_path": f"/memories/{old}", "new_path": f"/memories/{new}"}, actor=actor
    )
    assert not answer.is_error, answer.text
    assert answer.event.answer == answer.text
    return answer.text


def open_filled(tmp_path: Path, settings: Settings) -> Engine:
    return memtui.open(fill(tmp_path / "folder", FILES), state=tmp_path / "state", settings=settings)


def test_the_links_that_a_rename_broke_are_named(tmp_path: Path) -> None:
    with open_filled(tmp_path, Settings(links_on_agent_rename="tell")) as engine:
        first, line = rename(engine, "tea.md", "d/chai.md").split("\n")
        assert first == SUCCESS
        assert line == (
            "These links lead nowhere now: /memories/MEMORY.md:1 (tea.md), /memories/d/log.md:1 (../tea.md), "
            "/memories/d/chai.md:3 (d/log.md)"
        )  # [[tea]] leads to the title of the note
        assert rename(engine, "d/chai.md", "tea.md") == "Successfully renamed /memories/d/chai.md to /memories/tea.md"


def test_a_directory_takes_its_links_along(tmp_path: Path) -> None:
    with open_filled(tmp_path, Settings(links_on_agent_rename="tell")) as engine:
        assert rename(engine, "d", "e").split("\n")[1:] == [
            "These links lead nowhere now: /memories/tea.md:3 (d/log.md)"
        ]


@pytest.mark.parametrize("settings", [Settings(), Settings(links_on_agent_rename="leave")])
def test_nothing_is_said_by_default(tmp_path: Path, settings: Settings) -> None:
    with open_filled(tmp_path, settings) as engine:
        assert rename(engine, "tea.md", "d/chai.md") == SUCCESS


def test_nothing_is_said_where_no_link_breaks_and_to_no_person(tmp_path: Path) -> None:
    with open_filled(tmp_path, Settings(links_on_agent_rename="tell")) as engine:
        assert "\n" not in rename(engine, "lone.md", "alone.md")
        assert rename(engine, "tea.md", "d/chai.md", Person("you")) == SUCCESS


def test_many_links_are_counted(tmp_path: Path) -> None:
    with open_filled(tmp_path, Settings(links_on_agent_rename="tell")) as engine:
        (tmp_path / "folder" / "many.md").write_text("[[lone]]\n" * 1_234)
        engine.reconcile()
        line = rename(engine, "lone.md", "alone.md").split("\n")[1]
        assert line.count("/memories/many.md") == 10
        assert line.endswith(" and 1,224 more")


def test_names_are_told_on_one_line(tmp_path: Path) -> None:
    with open_filled(tmp_path, Settings(links_on_agent_rename="tell")) as engine:
        (tmp_path / "folder" / "a\nb\x1b[2J.md").write_text("[[lone]]\n")
        engine.reconcile()
        answer = rename(engine, "lone.md", "alone.md")
        assert answer.count("\n") == 1
        assert "\x1b" not in answer
