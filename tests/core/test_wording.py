"""Sizes, ages, counts and events in words: one form for each style."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.core.events import Actor, Agent, Change, EntryKind, Event, Outside, Person, Version
from memtui.core.suggestion import find_nearest, format_suggestion
from memtui.core.unicode import measure_cells
from memtui.core.wording import (
    COLUMN,
    PLAIN,
    SCREEN,
    SPOKEN,
    compute_age_lifetime,
    count_unseen_changes,
    describe_event,
    format_age,
    format_count,
    format_deed,
    format_done,
    format_event_clause,
    format_short_count,
    format_size,
    shorten,
    split_event,
)

DAY = 86_400


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, ("0B", "0 B", "0 B", "0 bytes")),
        (1, ("1B", "1 B", "1 B", "1 byte")),
        (999, ("999B", "999 B", "999 B", "999 bytes")),
        (1_229, ("1.2K", "1.2K", "1.2 KB", "1.2 kilobytes")),
        (41_984, ("41K", "41K", "41 KB", "41 kilobytes")),
        (1_610_612_736, ("1.5G", "1.5G", "1.5 GB", "1.5 gigabytes")),
    ],
)
def test_a_size_is_the_same_number_in_each_style(size: int, words: tuple[str, ...]) -> None:
    assert tuple(format_size(size, style) for style in (COLUMN, SCREEN, PLAIN, SPOKEN)) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "0s"), (59.9, "59s"), (3_600, "1h"), (99 * DAY, "99d"), (100 * DAY, "14w"), (364 * DAY, "52w"),
        (365 * DAY, "1y"), (400 * DAY, "1y"), (729 * DAY, "1y"), (730 * DAY, "2y"),
    ],
)  # fmt: skip
def test_an_age_is_in_years_from_the_first_one_on(seconds: float, words: str) -> None:
    assert format_age(seconds) == format_age(seconds, COLUMN) == format_age(seconds, PLAIN) == words


@given(st.floats(-1e9, 1e12))
def test_an_age_fits_in_three_cells(seconds: float) -> None:
    assert len(format_age(seconds, COLUMN)) <= 3


def test_counts_have_their_noun_and_short_ones_a_tenth() -> None:
    assert [format_count(count, "note") for count in (0, 1, 1_200)] == [
        "0 notes", "1 note", "1,200 notes",
    ]  # fmt: skip
    assert [format_short_count(count) for count in (820, 18_249, 999_949, 999_950)] == [
        "820",
        "18.2k",
        "999.9k",
        "1.0M",
    ]


@given(st.text(st.characters(categories=("Ll", "Lo", "Lu")), max_size=60), st.integers(8, 30))
def test_what_is_shortened_fits_and_keeps_its_end(text: str, width: int) -> None:
    short = shorten(text, width, tail=2)
    assert measure_cells(short) <= width or short == ".." + text[-2:]
    assert short == text or short.endswith(".." + text[-2:])


def make_event(**fields: object) -> Event:
    """An event of Claude's, with some fields otherwise."""
    known: dict[str, object] = {
        "seq": 41, "at_us": 0, "actor": Agent("Claude"), "command": "str_replace", "path": "/memories/a.md",
        "added": 1, "removed": 2,
    }  # fmt: skip
    return Event(**(known | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "seen", "heard"),
    [
        ({}, "Claude edited a.md (+1 -2)", "Claude edited a.md, 1 line added, 2 removed"),
        ({"actor": Person(), "command": "undo", "undoes": (7,), "added": None, "removed": None},
         "You undid #7 in a.md", "You undid event 7 in a.md"),
        ({"actor": Outside(), "command": "modified", "added": 0, "removed": 0},
         "Another program edited a.md", "Another program edited a.md"),
    ],
)  # fmt: skip
def test_an_event_is_one_sentence_on_the_screen_and_another_one_aloud(
    fields: dict[str, object], seen: str, heard: str
) -> None:
    event = make_event(**fields)
    assert (format_event_clause(event), format_event_clause(event, SPOKEN)) == (seen, heard)
    assert describe_event(event) == f"{seen}."


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "Claude edited a.md"),
        ({"actor": Person(), "command": "undo", "undoes": (7,)}, "You undid #7 in a.md"),
        ({"actor": Person(), "command": "redo", "undoes": (7, 8)}, "You redid #7 and #8 in a.md"),
        ({"actor": Person(), "command": "delete", "path": "/memories/old", "note": "2 files"},
         "You deleted 2 files in old/"),
    ],
)  # fmt: skip
def test_the_pieces_of_a_sentence_leave_the_numbers_of_lines_to_the_list(
    fields: dict[str, object], sentence: str
) -> None:
    assert "".join(split_event(make_event(**fields))) == sentence


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "edited it"),
        ({"command": "create"}, "created it"),
        ({"command": "create", "changes": (Change("a.md", Version(EntryKind.FILE, "00" * 32, 3), None),)},
         "overwrote it"),
        ({"command": "undo", "undoes": (4,), "note": "#4 delete"}, "undid deletion #4"),
        ({"command": "redo", "undoes": (5,), "note": "#5 undo"}, "redid undo #5"),
        ({"command": "undo", "undoes": (4,), "note": "#4 of an agent"}, "undid event #4"),
        ({"command": "undo", "undoes": (9, 8, 7), "note": "3 events, #7 to #9"}, "undid #9 to #7"),
        ({"command": "undo"}, "undid"),
        ({"command": "of a later version"}, "changed it"),
    ],
)  # fmt: skip
def test_what_was_done_to_a_file_that_is_named_already(fields: dict[str, object], words: str) -> None:
    assert format_done(make_event(**fields)) == words


def test_an_edit_of_several_files_is_not_called_one_of_their_directory() -> None:
    kept = Version(EntryKind.FILE, "0" * 64, 1)
    changes = tuple(Change(f"people/{name}.md", kept, kept) for name in ("ann", "bob"))
    event = make_event(actor=Person("you"), command="write", path="/memories/people", changes=changes)
    assert format_deed(event) == "your edit of 2 files in people/"
    assert describe_event(event) == "You edited 2 files in people/ (+1 -2)."
    assert (
        describe_event(make_event(command="write", path="/memories", changes=changes))
        == "Claude edited 2 files (+1 -2)."
    )


def test_a_mistyped_word_has_one_nearest() -> None:
    assert find_nearest("LGO", ["log", "ls"]) == "log"
    assert find_nearest("xyz", ["log", "ls"]) is None
    assert find_nearest("ligth", ["settings.ui.light", "settings.theme"]) is None
    assert find_nearest("ligth", ["settings.ui.light", "settings.theme"], dotted=True) == "settings.ui.light"
    assert format_suggestion("lgo", ["log"], "None.", shown="'{}'") == "Did you mean 'log'?"
    assert format_suggestion("xyz", ["log"], "None.") == "None."


AGENT, ME = Agent("Claude"), Person()


@pytest.mark.parametrize(
    ("story", "words"),
    [
        ((), ""),
        (((AGENT, "a", "", "1"), (AGENT, "b", "1", "2"), (AGENT, "c", "3", "")), "1 new, 1 changed, 1 deleted"),
        (((AGENT, "a", "1", "2"), (AGENT, "a", "2", "3")), "1 changed"),
        (((AGENT, "a", "", "1"), (AGENT, "a", "1", "2")), "1 new"),
        (((AGENT, "a", "", "1"), (AGENT, "a", "1", "")), ""),
        (((AGENT, "a", "1", "2"), (AGENT, "a", "2", "1")), ""),
        (((AGENT, "a", "1", ""), (AGENT, "b", "", "1")), "1 renamed"),
        (((ME, "a", "1", "2"), (ME, "b", "1", "")), ""),
        (((AGENT, "a", "1", "2"), (ME, "a", "2", "")), ""),
        (((ME, "a", "1", "2"), (AGENT, "a", "2", "3")), "1 changed"),
    ],
)
def test_what_is_unseen_is_counted_by_kind_and_without_what_the_person_did(
    story: tuple[tuple[Actor, str, str, str], ...], words: str
) -> None:
    def version(text: str) -> Version | None:
        return Version(EntryKind.FILE, text, 1) if text else None

    events = [
        Event(at_us=1, actor=actor, command="x", path=path, changes=(Change(path, version(before), version(after)),))
        for actor, path, before, after in story
    ]
    counts = count_unseen_changes(events)
    assert ", ".join(f"{count} {kind}" for kind, count in counts.items() if count) == words


@pytest.mark.parametrize("seconds", [-90, -60, -3.5, 0, 0.4, 59.2, 60, 3_599, 86_399.5, 86_400, 8_639_999, 1e9])
def test_an_age_reads_the_same_for_its_lifetime_and_otherwise_right_after(seconds: float) -> None:
    lifetime = compute_age_lifetime(seconds)
    assert lifetime > 0
    assert format_age(seconds + lifetime * 0.99, COLUMN) == format_age(seconds, COLUMN)
    assert format_age(seconds + lifetime + 0.01, COLUMN) != format_age(seconds, COLUMN)


def test_a_merge_names_both_notes() -> None:
    kept = Change("tea.md", Version(EntryKind.FILE, "a" * 64, 1), Version(EntryKind.FILE, "b" * 64, 1))
    event = Event(
        at_us=1, actor=Person(), command="merge", path="/memories/tea.md", note="with a, b.md, 3 files", changes=(kept,)
    )
    assert describe_event(event) == "You merged a, b.md into tea.md (3 files)."
    assert describe_event(event, SPOKEN) == "You merged a, b.md into tea.md, 3 files."
    assert split_event(event)[1:4] == ("You", " merged a, b.md into ", "tea.md")
