"""Mentions become links: in notes that are the person's own, and only where they still stand."""

from collections.abc import Callable, Mapping
from pathlib import Path

import memtui
from memtui.engine import Engine
from memtui.flows.mentions import link_mentions
from memtui.knowledge.mentions import Mention, find_mentions
from memtui.knowledge.parse import parse_note
from memtui.ui.flows.dialog import PHRASES


def _find(engine: Engine, path: str) -> list[Mention]:
    note = engine.graph().get_note(path)
    assert note is not None
    others = [each.path for each in engine.graph().notes if each.path != path]
    return list(find_mentions([note], engine.knowledge.iter_texts(others), {}))


def _link(
    tmp_path: Path, texts: Mapping[str, str], before: Callable[[Engine], object] = lambda _: None
) -> tuple[str, dict[str, str]]:
    """Link all mentions of `tea.md`; the sentence, and what the notes hold then."""
    folder = tmp_path / "memories"
    folder.mkdir()
    for path, text in texts.items():
        (folder / path).write_bytes(text.encode())
    with memtui.open(folder, state=tmp_path / "state") as engine:
        mentions = _find(engine, "tea.md")
        before(engine)
        words = link_mentions(PHRASES, engine, mentions, "tea.md").words
    return words, {path: (folder / path).read_bytes().decode() for path in texts}


NOTES = {"tea.md": "# Green Tea\n", "a.md": "Green tea.\r\nAnd green tea\r\n", "b.md": "green tea\n"}


def test_each_is_linked_where_it_stands_and_line_ends_stay(tmp_path: Path) -> None:
    words, texts = _link(tmp_path, NOTES)
    assert words == "Linked 3 mentions in 2 notes. u undoes it."
    assert texts["a.md"] == "[[Green tea]].\r\nAnd [[green tea]]\r\n"
    assert texts["b.md"] == "[[green tea]]\n"


def test_in_the_row_of_a_table_the_stroke_of_a_link_ends_no_cell(tmp_path: Path) -> None:
    table = "| what | when |\n| --- | --- |\n| %s | noon |\n"
    texts = {"tea.md": "# Green Tea\n", "other.md": "---\ntitle: Green Tea\n---\n", "a.md": table % "The green tea"}
    words, texts = _link(tmp_path, texts)
    assert words == "Linked 1 mention in a.md. u undoes it."
    assert texts["a.md"].split("\n")[2] == "| The [[tea\\|green tea]] | noon |"
    assert [each.link.target for each in parse_note(texts["a.md"], "a.md").links] == ["tea"]


def test_protected_notes_are_left_and_named(tmp_path: Path) -> None:
    words, texts = _link(tmp_path, NOTES, lambda engine: engine.files.protect(["a.md"]))
    assert words.startswith(
        "Linked 1 mention in b.md. Left as before, as it is generated, mirrored or protected: a.md."
    )
    assert texts["a.md"] == NOTES["a.md"]


def test_what_changed_meanwhile_is_left_and_counted(tmp_path: Path) -> None:
    def change(engine: Engine) -> None:
        path = Path(engine.store.path or "") / "b.md"
        path.write_text("coffee\n")

    words, texts = _link(tmp_path, NOTES, change)
    assert words == "Linked 2 mentions in a.md. Changed meanwhile: 1 mention. u undoes it."
    assert texts["b.md"] == "coffee\n"
