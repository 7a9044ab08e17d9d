"""The outline against a plain statement of what it should show, however it was brought there."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.core.events import EntryKind, FolderEntry
from memtui.ui.widgets.tree.outline import FEW, SMALL, Outline, SortOrder, get_name, get_parent, list_ancestors
from tests.sampling import many

F, D = EntryKind.FILE, EntryKind.DIRECTORY

SKETCH = [
    FolderEntry("notes/2026-11-21-standup.md", F, 812, 98),
    FolderEntry("notes", D, None, 5),
    FolderEntry("scratch.txt", F, 2000, 9),
    FolderEntry("people/me.md", F, 30, 30),
    FolderEntry("project/README.md", F, 4000, 10),
    FolderEntry("project/src/deep.py", F, 10, 11),
    FolderEntry("notes/.draft", F, 1, 1),
]


def expected(outline: Outline, entries: dict[str, FolderEntry]) -> list[str]:
    """The visible rows, worked out the slow and obvious way."""
    directories = {path for path, entry in entries.items() if entry.kind is D}
    newest, files = {}, {}
    for path in directories:
        below = [entry for name, entry in entries.items() if name == path or name.startswith(path + "/")]
        times = (entry.mtime_ns for entry in below if entry.kind is not D)
        newest[path] = max((time for time in times if time is not None), default=None)
        files[path] = sum(entry.kind is not D for entry in below)

    def value(path: str) -> float:
        if outline.sort is SortOrder.NAME:
            return 0
        if outline.sort is SortOrder.SIZE:
            known = files[path] if path in directories else entries[path].size
        else:
            known = newest[path] if path in directories else entries[path].mtime_ns
        if known is None:
            return float("inf")
        return known if outline.reverse else -known

    def listing(parent: str) -> list[str]:
        names = [path for path in entries if get_parent(path) == parent and path not in outline.pins]
        if not outline.hidden:
            names = [path for path in names if not get_name(path).startswith(".")]
        backwards = outline.reverse and outline.sort is SortOrder.NAME
        names.sort(key=lambda path: (get_name(path).casefold(), get_name(path)), reverse=backwards)
        names.sort(key=value)
        names.sort(key=lambda path: path not in directories)
        rows = []
        for path in names:
            rows.append(path)
            if path in outline.expanded:
                rows += listing(path)
        return rows

    rows = []
    for pin in outline.pins:
        if pin in entries:
            rows += [pin, *(listing(pin) if pin in outline.expanded else ())]
    return rows + listing("")


# Examples


def test_a_small_folder_starts_expanded_with_directories_first() -> None:
    assert list(Outline(SKETCH)) == [
        "notes",
        "notes/.draft",
        "notes/2026-11-21-standup.md",
        "people",
        "people/me.md",
        "project",
        "project/src",
        "project/src/deep.py",
        "project/README.md",
        "scratch.txt",
    ]


def test_a_large_folder_starts_with_its_top_level_only() -> None:
    entries = [FolderEntry(f"d{number}/f.md", F) for number in range(SMALL)]
    assert len(Outline(entries)) == SMALL


def test_hidden_names_and_all_below_them_can_be_left_out() -> None:
    outline = Outline([*SKETCH, FolderEntry(".git/config", F)], hidden=False)
    assert not [path for path in outline if "/." in path or path.startswith(".")]
    outline.set_hidden(True)
    assert ".git/config" in list(outline)


def test_a_directory_knows_its_files_and_the_newest_time_below() -> None:
    outline = Outline(SKETCH)
    row = outline.get_row(outline.find_index("project") or 0)
    assert (row.files, row.newest_ns, row.expanded, row.depth) == (2, 11, True, 0)
    outline.remove("project/src/deep.py")
    row = outline.get_row(outline.find_index("project") or 0)
    assert (row.files, row.newest_ns) == (1, 10)


def test_revealing_expands_what_lies_around_and_shows_hidden_names() -> None:
    outline = Outline([FolderEntry("a/b/.c/d", F)], expanded=(), hidden=False)
    outline.reveal("a/b/.c/d")
    assert list(outline) == ["a", "a/b", "a/b/.c", "a/b/.c/d"]
    outline.reveal("not/there")
    assert outline.find_index("not/there") is None


@pytest.mark.parametrize(
    ("sort", "reverse", "names"),
    [
        (SortOrder.NAME, False, ["dir", "A", "a", "b", "C"]),
        (SortOrder.NAME, True, ["dir", "C", "b", "a", "A"]),
        (SortOrder.MODIFIED, False, ["dir", "C", "a", "A", "b"]),
        (SortOrder.MODIFIED, True, ["dir", "A", "a", "C", "b"]),
        (SortOrder.SIZE, False, ["dir", "b", "A", "a", "C"]),
        (SortOrder.SIZE, True, ["dir", "A", "b", "a", "C"]),
    ],
)
def test_sorting_goes_both_ways_and_keeps_directories_first_and_unknown_last(
    sort: SortOrder, reverse: bool, names: list[str]
) -> None:
    entries = [
        FolderEntry("a", F, None, 2),
        FolderEntry("A", F, 1, 1),
        FolderEntry("b", F, 2),
        FolderEntry("C", F, None, 3),
    ]
    assert list(Outline([*entries, FolderEntry("dir", D)], sort=sort, reverse=reverse)) == names


def test_moving_a_directory_takes_along_all_in_it_and_keeps_it_expanded() -> None:
    outline = Outline(SKETCH, expanded=["project"])
    outline.move_all({"project": "archive/old"})
    assert "project" not in outline
    outline.reveal("archive/old/README.md")
    assert list(outline)[:5] == [
        "archive",
        "archive/old",
        "archive/old/src",
        "archive/old/README.md",
        "notes",
    ]


def test_nothing_moves_into_itself() -> None:
    outline = Outline(SKETCH)
    before = list(outline)
    outline.move_all({"project": "project/src/project"})
    assert list(outline) == before


def test_a_file_that_became_a_directory_is_replaced_with_all_below_it() -> None:
    outline = Outline([FolderEntry("a", D), FolderEntry("a/b", F)])
    outline.add(FolderEntry("a", F))
    assert list(outline) == ["a"]
    outline.add(FolderEntry("a/c", F))
    assert list(outline) == ["a", "a/c"]
    assert outline.files == 1


def test_a_folder_two_thousand_levels_deep_is_an_ordinary_folder() -> None:
    path = "/".join("a" * 2000)
    outline = Outline([FolderEntry(path, F)], expanded=())
    outline.reveal(path)
    assert outline.find_index(path) == 1999
    outline.remove("a")
    assert (len(outline), outline.files, outline.entries) == (0, 0, 0)


def test_the_folder_itself_has_no_row() -> None:
    outline = Outline([FolderEntry("", D, None, 3)])
    outline.add(FolderEntry("", D))
    outline.remove("")
    assert (len(outline), outline.entries) == (0, 0)


def test_what_is_pinned_stands_on_top_by_its_whole_path_and_not_in_its_directory() -> None:
    outline = Outline(SKETCH, hidden=False)
    outline.set_pins(["project/README.md", "notes"])
    rows = [(row.name, row.depth, row.pinned) for row in map(outline.get_row, range(len(outline)))]
    assert rows[:4] == [
        ("project/README.md", 0, True),
        ("notes", 0, True),
        ("2026-11-21-standup.md", 1, False),
        ("people", 0, False),
    ]
    assert list(outline).count("project/README.md") == 1
    outline.collapse("project")
    assert next(iter(outline)) == "project/README.md"
    outline.set_pins([])
    outline.expand("project")
    assert list(outline) == list(Outline(SKETCH, hidden=False))


def test_a_pin_outlives_its_note_and_goes_where_it_goes() -> None:
    outline = Outline(SKETCH, pins=["people/me.md"])
    outline.remove("people")
    assert "people/me.md" not in list(outline)
    outline.add(FolderEntry("people/me.md", F))
    assert next(iter(outline)) == "people/me.md"
    outline.move_all({"people": "team/people"})
    assert outline.pins == ("team/people/me.md",)
    assert next(iter(outline)) == "team/people/me.md"


def test_names_that_change_places_are_moved_at_once() -> None:
    outline = Outline(
        [FolderEntry("a", F, 1), FolderEntry("b", F, 2), FolderEntry("c", F, 3), FolderEntry("d/x", F, 4)], pins=["a"]
    )
    done = outline.move_all({"a": "b", "b": "a", "c": "e/c", "d": "d/in/d", "gone": "here"})
    assert done == {"a": "b", "b": "a", "c": "e/c"}
    sizes = {path: entry.size for path in outline if (entry := outline.get(path)) and entry.kind is F}
    assert sizes == {"b": 1, "a": 2, "e/c": 3, "d/x": 4}
    assert outline.pins == ("b",)


# Properties

NAMES = st.sampled_from(["a", "B", "b", "ä", ".h", "\udcff", "z z"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
NUMBERS = st.none() | st.integers(0, 5)
ENTRIES = st.builds(FolderEntry, PATHS, st.sampled_from([F, F, D, EntryKind.LINK, EntryKind.OTHER]), NUMBERS, NUMBERS)
CHANGES = st.one_of(
    st.tuples(st.just("add"), ENTRIES),
    st.tuples(st.just("remove"), PATHS),
    st.tuples(st.just("move_all"), st.dictionaries(PATHS, PATHS, max_size=2)),
    st.tuples(st.just("set_pins"), st.lists(PATHS, max_size=3)),
    st.tuples(st.just("set_pins"), st.lists(PATHS, max_size=3)),
    st.tuples(st.just("expand"), PATHS),
    st.tuples(st.just("collapse"), PATHS),
    st.tuples(st.just("toggle"), PATHS),
    st.tuples(st.just("reveal"), PATHS),
    st.tuples(st.just("update"), st.lists(ENTRIES, max_size=3), st.lists(PATHS, max_size=3)),
    st.tuples(st.just("set_hidden"), st.booleans()),
    st.tuples(st.just("set_sort"), st.sampled_from(SortOrder), st.booleans()),
)


def everything(outline: Outline) -> dict[str, FolderEntry]:
    """All entries of an outline, found by expanding every directory of a copy of its rows."""
    found: dict[str, FolderEntry] = {}
    state = (outline.hidden, outline.expanded)
    outline.set_hidden(True)
    while closed := [path for path in outline if path in outline and is_closed(outline, path)]:
        for path in closed:
            outline.expand(path)
    for path in outline:
        entry = outline.get(path)
        assert entry is not None
        found[path] = entry
    for path in outline.expanded - state[1]:
        outline.collapse(path)
    outline.set_hidden(state[0])
    return found


def is_closed(outline: Outline, path: str) -> bool:
    entry = outline.get(path)
    return entry is not None and entry.kind is D and path not in outline.expanded


def assert_sound(outline: Outline) -> None:
    """Rows, lookups, counts and times are those of an outline built anew, and of the obvious way."""
    rows = list(outline)
    lines = [outline.get_row(index) for index in range(len(outline))]
    assert [outline.find_index(path) for path in rows] == list(range(len(rows)))
    entries = everything(outline)
    assert list(outline) == rows
    anew = Outline(
        entries.values(),
        sort=outline.sort,
        reverse=outline.reverse,
        hidden=outline.hidden,
        expanded=outline.expanded,
        pins=outline.pins,
    )
    assert rows == list(anew) == expected(outline, entries)
    assert lines == [anew.get_row(index) for index in range(len(anew))]
    assert (outline.files, outline.entries) == (anew.files, anew.entries)
    assert outline.entries == len(entries)
    for path in entries:
        assert all(parent in entries and entries[parent].kind is D for parent in list_ancestors(path))


@settings(max_examples=many(100, 20), deadline=None)
@given(st.lists(ENTRIES, max_size=12), st.lists(CHANGES, max_size=15))
def test_after_any_changes_the_rows_are_those_of_an_outline_built_anew(
    entries: list[FolderEntry], changes: list[tuple[object, ...]]
) -> None:
    outline = Outline(entries)
    for name, *arguments in changes:
        change: Callable[..., None] = getattr(outline, str(name))
        change(*arguments)
        everything_visible = [outline.get_row(index) for index in range(len(outline))]
        assert len(everything_visible) == len(outline)
    assert_sound(outline)


@pytest.mark.parametrize("sort", list(SortOrder))
def test_many_changes_at_once_end_where_one_by_one_would(sort: SortOrder) -> None:
    chance = random.Random(sort.value)
    entries = [
        FolderEntry(f"d{chance.randrange(20)}/f{number}", F, chance.randrange(9), chance.randrange(9))
        for number in range(FEW * 8)
    ]
    singly, at_once = Outline(entries, sort=sort), Outline(entries, sort=sort)
    removed = [entry.path for entry in entries[: FEW * 3]] + ["d3"]
    added = [FolderEntry(f"new/{number}", F, number, number) for number in range(FEW)]
    for path in removed:
        singly.remove(path)
    for entry in added:
        singly.add(entry)
    at_once.update(added, removed)
    assert list(singly) == list(at_once)
    for outline in (singly, at_once):
        for path in list(outline):
            outline.expand(path)
    assert list(singly) == list(at_once)
    assert_sound(at_once)


def test_a_change_costs_little_among_many_siblings() -> None:
    """Counted, not timed: the rows whose order is asked for when one of 20,000 siblings comes or goes."""

    class Counting(Outline):
        asked = 0

        def _get_sort_key(self, path: str):  # type: ignore[no-untyped-def]
            self.asked += 1
            return super()._get_sort_key(path)

    outline = Counting(FolderEntry(f"{number:05}.md", F) for number in range(20_000))
    outline.add(FolderEntry("10000a.md", F))
    outline.remove("10000.md")
    assert outline.find_index("10000a.md") == 10_000
    assert 0 < outline.asked < 100
