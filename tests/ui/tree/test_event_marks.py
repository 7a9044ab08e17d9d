"""What events make of rows and marks, a batch at a time."""

from collections.abc import Iterable
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from memtui.core.events import Actor, Agent, Change, EntryKind, Event, FolderEntry, Outside, Person, Version
from memtui.ui.widgets.tree import changes as tree_changes
from memtui.ui.widgets.tree.changes import EventMarks
from memtui.ui.widgets.tree.outline import Outline
from memtui.ui.widgets.tree.row_state import RowChange
from memtui.ui.widgets.tree.view import TreeView
from tests.ui.conftest import until

FILE = Version(EntryKind.FILE, "00" * 32, 3)
OTHER = Version(EntryKind.FILE, "11" * 32, 4)
CLARA = Agent("Clara")


class Host(App[None]):
    def compose(self) -> ComposeResult:
        yield TreeView(id="files")


class Case:
    def __init__(self, view: TreeView, pilot: Pilot[None]) -> None:
        self.view = view
        self.pilot = pilot
        self.dropped = 0
        self.seq = 0
        self.news = EventMarks(view, self.count)

    def count(self) -> None:
        self.dropped += 1

    def event(self, command: str, changes: Iterable[Change], actor: Actor = CLARA, **fields: Any) -> Event:
        self.seq += 1
        changes = tuple(changes)
        path = fields.pop("path", f"/memories/{changes[0].path}")
        return Event(seq=self.seq, at_us=1_000_000, actor=actor, command=command, path=path, changes=changes, **fields)

    def made(self, path: str, actor: Actor = CLARA) -> Event:
        return self.event("create", [Change(path, None, FILE)], actor)

    def gone(self, path: str, actor: Actor = CLARA) -> Event:
        return self.event("delete", [Change(path, FILE, None)], actor)

    def renamed(self, old: str, new: str) -> Event:
        changes = [Change(old, FILE, None), Change(new, None, FILE)]
        return self.event("rename", changes, path=f"/memories/{old}", new_path=f"/memories/{new}")

    @property
    def rows(self) -> list[str]:
        return list(self.view.outline)

    def mark(self, path: str) -> RowChange | None:
        return self.view.changes.get(path)


@pytest.fixture
async def case() -> Any:
    app = Host()
    async with app.run_test() as pilot:
        view = app.query_one(TreeView)
        view.show(Outline([FolderEntry("a.md", EntryKind.FILE, 3, 1), FolderEntry("b.md", EntryKind.FILE, 3, 1)]))
        yield Case(view, pilot)


async def test_a_note_that_is_made_and_renamed_at_once_is_new_once(case: Case) -> None:
    case.news.apply_events([case.made("c.md"), case.renamed("c.md", "d.md")])
    assert case.rows == ["a.md", "b.md", "d.md"]
    assert len(case.news) == 1
    assert case.mark("d.md") is RowChange.RENAMED


async def test_many_that_are_renamed_at_once_are_moved_and_not_struck_through(case: Case) -> None:
    case.view.selection.toggle("b.md")
    changes = [Change("a.md", FILE, OTHER), Change("b.md", OTHER, None), Change("d/c.md", None, FILE)]
    moved = (("a.md", "d/c.md"), ("b.md", "a.md"))
    case.news.apply_events([case.event("rename", changes, Person(), path="/memories", moved=moved)])
    case.view.outline.expand("d")
    assert case.rows == ["d", "d/c.md", "a.md"]
    assert case.mark("a.md") is None
    assert list(case.view.selection) == ["a.md"]
    changes = [Change("a.md", None, OTHER), Change("b.md", OTHER, None)]
    case.news.apply_events([case.event("rename", [*changes], path="/memories", moved=(("a.md", "b.md"),))])
    assert case.mark("b.md") is RowChange.RENAMED
    assert "b.md" in case.news


async def test_a_note_that_is_made_and_deleted_at_once_leaves_nothing(case: Case) -> None:
    case.news.apply_events([case.made("c.md"), case.gone("c.md")])
    assert case.rows == ["a.md", "b.md"]


async def test_a_note_that_goes_and_comes_back_at_once_is_there(case: Case) -> None:
    case.news.apply_events([case.gone("a.md"), case.made("a.md")])
    assert case.rows == ["a.md", "b.md"]
    assert case.mark("a.md") is RowChange.NEW
    case.news._drop_gone({"a.md": 1})
    assert "a.md" in case.rows


async def test_what_goes_is_struck_through_first(case: Case) -> None:
    case.news.apply_events([case.gone("a.md")])
    assert case.mark("a.md") is RowChange.DELETED
    assert case.rows == ["a.md", "b.md"]
    case.news._drop_gone({"a.md": 1})
    assert case.rows == ["b.md"]
    assert (len(case.news), case.dropped) == (0, 1)


async def test_what_goes_is_dim_before_it_leaves_unless_it_comes_back(case: Case) -> None:
    case.view.selection.toggle("b.md")
    case.view.move_to("a.md")
    case.news.apply_events([case.gone("a.md"), case.gone("b.md")])
    assert not any(map(case.view.lights.is_fading, case.rows))
    case.news._fade_gone({"a.md": 1, "b.md": 2})
    assert [case.view.lights.is_fading(path) for path in ("a.md", "b.md")] == [True, True]
    assert (case.rows, case.view.cursor_path, list(case.view.selection)) == (["a.md", "b.md"], "a.md", ["b.md"])
    case.news.apply_events([case.made("a.md")])
    assert not case.view.lights.is_fading("a.md")
    case.news._drop_gone({"a.md": 1, "b.md": 2})
    assert case.rows == ["a.md"]
    case.news.apply_events([case.gone("a.md")])
    assert not case.view.lights.is_fading("a.md")


async def test_nothing_is_dim_without_animations(case: Case) -> None:
    case.view.app.animation_level = "none"
    case.news.apply_events([case.gone("a.md")])
    case.news._fade_gone({"a.md": 1})
    assert case.rows == ["b.md"]


async def test_a_deleted_row_fades_and_leaves_by_itself(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_changes, "GONE_SECONDS", 0.005)
    monkeypatch.setattr(tree_changes, "FADE_SECONDS", 0.005)
    faded: list[str] = []
    monkeypatch.setattr(case.view.lights, "fade", faded.extend)
    case.news.apply_events([case.gone("a.md")])
    await until(case.pilot, lambda: case.dropped == 1)
    assert (faded, case.rows) == (["a.md"], ["b.md"])


async def test_very_much_goes_in_one_go(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    names = [f"n{number}.md" for number in range(1_000)]
    case.view.add([FolderEntry(name, EntryKind.FILE, 3, 1) for name in names])
    drop = case.view.drop
    monkeypatch.setattr(case.view, "drop", lambda paths: (calls.append(len(list(paths))), drop(paths)))
    case.news.apply_events([case.gone(name, Outside()) for name in names])
    assert calls == [1_000]
    assert case.rows == ["a.md", "b.md"]
    assert len(case.news) == 0


async def test_a_few_at_a_time_are_many_together(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_changes, "MANY_GONE", 3)
    names = [f"n{number}.md" for number in range(4)]
    case.view.add([FolderEntry(name, EntryKind.FILE, 3, 1) for name in names])
    for name in names:
        case.news.apply_events([case.gone(name)])
    assert case.rows == ["a.md", "b.md"]


async def test_what_the_person_does_she_has_seen(case: Case) -> None:
    change = Change("a.md", FILE, OTHER)
    case.news.apply_events([case.event("str_replace", [change])])
    assert len(case.news) == 1
    case.news.apply_events([case.event("undo", [Change("a.md", OTHER, FILE)], Person())])
    assert len(case.news) == 0
    assert case.mark("a.md") is None
    case.news.apply_events([case.event("undo", [Change("b.md", FILE, None)], Person())])
    assert len(case.news) == 0
    assert case.mark("b.md") is RowChange.DELETED


async def test_next_goes_round(case: Case) -> None:
    assert case.news.find_next("a.md", 1) is None
    case.news.apply_events([case.made("c.md"), case.event("str_replace", [Change("a.md", FILE, OTHER)])])
    assert case.news.find_next("a.md", 1) == "c.md"
    assert case.news.find_next("c.md", 1) == "a.md"
    assert case.news.find_next("b.md", 1) == "c.md"
    assert case.news.find_next("b.md", -1) == "a.md"
