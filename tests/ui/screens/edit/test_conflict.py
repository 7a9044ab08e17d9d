"""The question that a conflict is: what it says, what it offers, and that hostile text stays text."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from rich.cells import cell_len
from textual.app import App
from textual.pilot import Pilot

from memtui.core.events import Actor, Agent, Event, Outside, Person
from memtui.editing.conflict import (
    ConflictChoice,
    ConflictPrompt,
    DecidePlaces,
    KeepMine,
    MergeTexts,
    TakeTheirs,
    build_conflict_prompt,
)
from memtui.editing.save import NoteChange, SaveConflict, SaveTarget, compute_version
from memtui.ui.screens.conflict import ConflictScreen
from memtui.ui.terminal import TerminalSanitizer
from memtui.ui.widgets.conflict import ConflictDiffScreen

BASE = "# Notes\n\n- Prefers **concise** answers\n- Timezone: Europe/Berlin\nend\n"
MINE = BASE.replace("answers", "answers, in English")
THEIRS = BASE.replace("concise", "very concise")


def event(actor: Actor = Agent("Claude"), command: str = "str_replace") -> Event:  # noqa: B008 - it is frozen
    return Event(seq=7, at_us=1_700_000_000_000_000, actor=actor, command=command, path="/memories/a.md")


def conflict(
    mine: str = MINE,
    theirs: str | bytes | None = THEIRS,
    *,
    base: str | None = BASE,
    situation: NoteChange = NoteChange.CHANGED,
    events: tuple[Event, ...] = (event(),),
    moved_to: str | None = None,
    detail: str = "",
) -> SaveConflict:
    now = theirs.encode() if isinstance(theirs, str) else theirs
    was = base.encode() if base is not None else None
    return SaveConflict(
        "a.md", mine.encode(), compute_version(was or b""), was, now, compute_version(now) if now is not None else None,
        situation, moved_to, events, event(Person(), "write"), detail,
    )  # fmt: skip


def offered(about: ConflictPrompt) -> dict[str, ConflictChoice | DecidePlaces]:
    return {answer.key: answer.choice for answer in about.options}


# What is said and offered


def test_two_changes_that_go_together_are_offered_as_one_text() -> None:
    about = build_conflict_prompt(conflict())
    assert about.title == "Claude changed this file while you were editing"
    assert about.sides[0].endswith("str_replace  +1 -1")
    assert about.sides[1] == "You  unsaved  +1 -1"
    both = MINE.replace("concise", "very concise")
    assert offered(about) == {"m": MergeTexts(both), "k": KeepMine(), "t": TakeTheirs()}


def undecided() -> SaveConflict:
    """Two places that both changed, and one change on each side beside them."""
    mine = MINE.replace("# Notes", "# My notes").replace("end", "my end")
    theirs = BASE.replace("# Notes", "# Their notes").replace("Berlin", "Lisbon").replace("end", "their end")
    return conflict(mine, theirs)


def test_what_cannot_be_decided_is_shown_first_and_asked_about() -> None:
    about = build_conflict_prompt(undecided())
    assert [place.mine for place in about.places] == [("# My notes\n",), ("my end\n",)]
    assert offered(about)["m"] == DecidePlaces()
    assert about.options[0].label == "Merge: choose at 2 places"


@pytest.mark.parametrize(
    ("found", "keys"),
    [
        (conflict(theirs=None, situation=NoteChange.DELETED), "kt"),
        (conflict(theirs=BASE, situation=NoteChange.MOVED, moved_to="b.md"), "kot"),
        (conflict(situation=NoteChange.MOVED, moved_to="b.md"), "mkot"),
        (conflict(theirs=None, situation=NoteChange.REPLACED, detail="it is a directory now"), "bt"),
        (conflict(theirs=b"\xff\0", situation=NoteChange.REPLACED), "bkt"),
        (conflict(theirs=None, situation=NoteChange.UNREADABLE, detail="permission denied"), "bt"),
        (conflict(base=None), "mkt"),
    ],
)
def test_only_what_is_possible_is_offered(found: SaveConflict, keys: str) -> None:
    about = build_conflict_prompt(found)
    assert "".join(offered(about)) == keys
    where = {
        "k": SaveTarget.FOLLOW if found.situation is NoteChange.MOVED else SaveTarget.HERE,
        "o": SaveTarget.HERE,
        "b": SaveTarget.BESIDE,
    }
    for key, choice in offered(about).items():
        if isinstance(choice, KeepMine):
            assert choice.where is where[key]


@pytest.mark.parametrize(
    ("actor", "title", "name"),
    [
        (Outside(), "Another program changed", "theirs"),
        (Person(), "You (elsewhere) changed", "elsewhere"),
        (Agent("you"), "agent:you changed", "agent:you"),
        (Agent("a\nb\x1b[31m[red]"), r"a\nb\x1b[31m[r.. changed", r"a\nb\x1b[31m[r.."),
    ],
)
def test_who_it_was_is_named_as_everywhere(actor: Actor, title: str, name: str) -> None:
    about = build_conflict_prompt(conflict(events=(event(actor),)))
    assert about.title.startswith(title)
    assert about.names[1] == name


def test_line_ends_alone_are_said_and_merging_takes_them_over() -> None:
    about = build_conflict_prompt(conflict(theirs=BASE.replace("\n", "\r\n")))
    assert "only line endings or BOM" in about.sides[0]
    assert offered(about)["m"] == MergeTexts(MINE)


# The screen


class _Asking(App[None]):
    """Asks, over nothing."""

    def __init__(self, about: ConflictPrompt) -> None:
        super().__init__()
        self._filters.append(TerminalSanitizer())
        self.about = about
        self.answers: list[ConflictChoice | None] = []

    def on_mount(self) -> None:
        self.push_screen(ConflictScreen(self.about), self.answers.append)

    @property
    def text(self) -> str:
        return "\n".join(strip.text.rstrip() for strip in self.screen._compositor.render_strips())


@asynccontextmanager
async def asking(
    found: SaveConflict, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[_Asking, Pilot[None], Callable[..., object]]]:
    app = _Asking(build_conflict_prompt(found))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app, pilot, pilot.press


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        ("m", MergeTexts), ("enter", MergeTexts), ("k", KeepMine), ("down enter", KeepMine), ("t", TakeTheirs),
        ("escape", type(None)), ("q", type(None)), ("o", None), ("b", None), ("up enter", type(None)),
    ],
)  # fmt: skip
async def test_each_key_chooses_what_it_says(keys: str, answer: type | None) -> None:
    async with asking(conflict()) as (app, pilot, _):
        await pilot.press(*keys.split())
        await pilot.pause()
        assert [type(each) for each in app.answers] == ([] if answer is None else [answer])


async def test_a_click_chooses_as_well() -> None:
    async with asking(conflict()) as (app, pilot, _):
        row = next(number for number, line in enumerate(app.text.split("\n")) if "Keep yours" in line)
        await pilot.click(offset=(20, row))
        await pilot.pause()
        assert app.answers == [KeepMine()]


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 36), (200, 50)])
async def test_all_three_texts_and_every_answer_are_in_sight(size: tuple[int, int]) -> None:
    async with asking(conflict(), size) as (app, _, _press):
        for words in (
            "! Claude changed this file", "**concise** answers", "**very concise** answers", "answers, in",
            "Merge: both changes fit together", "(recommended)", "Keep yours; Claude's version stays in history",
            "Take Claude's; yours is saved as a draft", "m merge  k keep yours  t take theirs", "Esc back",
        ):  # fmt: skip
            assert words in app.text
        assert all(cell_len(line) <= size[0] for line in app.text.split("\n"))


@pytest.mark.parametrize(
    ("keys", "first", "last", "line"),
    [
        ("m t k", "# Their notes\n", "my end\n", 0),
        ("m k b", "# My notes\n", "my end\ntheir end\n", 0),
        ("m n t k", "# My notes\n", "their end\n", 0),
        ("m k N t t", "# Their notes\n", "their end\n", 0),
        ("m e t", "# My notes\n# Their notes\n", "their end\n", 1),
        ("m b e", "# My notes\n# Their notes\n", "my end\ntheir end\n", 6),
        ("m enter enter", "# Their notes\n", "their end\n", 0),
    ],
)
async def test_each_place_is_decided_with_one_key(keys: str, first: str, last: str, line: int) -> None:
    async with asking(undecided()) as (app, pilot, _):
        await pilot.press(*keys.split())
        await pilot.pause()
        rest = BASE.replace("answers", "answers, in English").replace("Berlin", "Lisbon")
        assert app.answers == [MergeTexts(rest.replace("# Notes\n", first).replace("end\n", last), line)]


async def test_a_merge_can_be_left_before_its_last_place() -> None:
    async with asking(undecided()) as (app, pilot, _):
        await pilot.press("m", "t")
        await pilot.pause()
        assert "place 2 of 2" in app.text
        assert "their end" in app.text
        await pilot.press("d", "escape", "escape")
        await pilot.pause()
        assert isinstance(app.screen, ConflictScreen)
        assert app.answers == []


async def test_it_says_which_note_and_where_in_it() -> None:
    text = f"# Importer\n\n## Nightly export\n\n```sh\n# a comment\n```\n{BASE}"
    found = conflict(text.replace("concise", "short"), text.replace("concise", "very short"), base=text)
    async with asking(replace(found, path="projects/importer/decisions.md"), (60, 24)) as (app, _, _press):
        assert "projects/importer/decisions.md" in app.text
        assert re.search(r"line 10 +# Notes", app.text)
    text = text.replace("# Notes\n", "")
    found = conflict(text.replace("concise", "short"), text.replace("concise", "very short"), base=text)
    async with asking(found) as (app, _, _press):
        assert re.search(r"line 9 +## Nightly export", app.text)


async def test_the_result_is_that_of_the_answer_under_the_cursor() -> None:
    async with asking(undecided()) as (app, pilot, _):
        assert re.search(r"result +as you choose at each place", app.text)
        for keys, shown in (
            ("down", "# My notes"), ("down", "# Their notes"), ("down down", "nothing is written"),
            ("m", "# Their notes"), ("down", "# My notes"), ("down", r"# My notes .*\n.* # Their notes"),
            ("down down", "nothing is merged"),
        ):  # fmt: skip
            await pilot.press(*keys.split())
            await pilot.pause()
            assert re.search(rf"result +{shown}", app.text), keys


LINE = "- The nightly export runs at 02:00 in Lisbon and its log goes to the folder of the week, in English"


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 36), (160, 40), (200, 50)])
@pytest.mark.parametrize("length", [1, 3, 40])
async def test_what_differs_is_in_sight_whatever_the_width(size: tuple[int, int], length: int) -> None:
    base = f"{'before it ' * length}{LINE}{' behind it' * length}\n"
    mine, theirs = base.replace("Lisbon", "Lyon"), base.replace("Lisbon", "Porto")
    async with asking(conflict(mine, theirs, base=base), size) as (app, _, _press):
        rows = list(filter(None, (re.search(r" in (\w+) and", line) for line in app.text.split("\n"))))
        assert [row[1] for row in rows] == ["Lisbon", "Porto", "Lyon"]
        assert len({row.start() for row in rows}) == 1


async def test_a_change_that_is_wider_than_the_box_is_shown_whole() -> None:
    words = [f"word{number}" for number in range(40)]
    base = f"{'the same ' * 20}here{' at its end' * 20}\n"
    mine, theirs = base.replace("here", " ".join(words)), base.replace("here", "there")
    async with asking(conflict(mine, theirs, base=base), (80, 40)) as (app, _, _press):
        shown = re.sub(r"\s", "", app.text.replace("║", ""))
        for word in words:
            assert word in shown or any(word[:cut] in shown for cut in range(3, len(word)))


async def test_several_places_are_gone_through() -> None:
    found = conflict(MINE.replace("end", "x" * 9), THEIRS.replace("answers", "replies").replace("end", "y" * 9))
    async with asking(found) as (app, pilot, _):
        assert "conflict 1 of 2" in app.text
        assert "replies" in app.text
        await pilot.press("n")
        await pilot.pause()
        assert "conflict 2 of 2" in app.text
        assert "y" * 9 in app.text
        await pilot.press("N")
        await pilot.pause()
        assert "conflict 1 of 2" in app.text


async def test_a_place_that_is_longer_than_the_screen_scrolls_and_the_answers_stay() -> None:
    lines = "".join(f"mine {number}\n" for number in range(300))
    async with asking(conflict(BASE.replace("end\n", lines), BASE.replace("end\n", "theirs\n"))) as (app, pilot, _):
        assert "mine 1" in app.text
        assert "Esc" in app.text
        for _ in range(6):
            await pilot.press("pagedown")
        await pilot.pause()
        assert min(int(number) for number in re.findall(r"mine (\d+)", app.text)) > 10
        assert "Keep yours" in app.text


async def test_of_a_line_that_is_far_too_long_what_differs_is_in_sight() -> None:
    line = "word " * 200_000
    found = conflict(line + "mine\n", line + "theirs\n", base=line + "base\n")
    async with asking(found) as (app, _, _press):
        for words in ("..word", "word mine", "word theirs", "word base", "Keep yours"):
            assert words in app.text


@pytest.mark.parametrize("size", [(60, 15), (120, 36)])
async def test_hostile_text_and_names_stay_text(size: tuple[int, int]) -> None:
    evil = "[/x][@click=app.bell]\x1b]52;c;AAAA\x07\u202e[bold]"
    found = conflict(BASE.replace("end", f"mine {evil}"), BASE.replace("end", f"their {evil}"))
    found = replace(found, events=(event(Agent(evil)),), path=f"{evil}.md", detail=evil)
    async with asking(found, size) as (app, pilot, _):
        assert "[/x][@click=app.bell]" in app.text
        for text in (app.text, app.text):
            assert not {"\x1b", "\x07", "\u202e"} & set(text)
        await pilot.press("d")
        await pilot.pause()
        assert isinstance(app.screen, ConflictDiffScreen)


async def test_the_full_diffs_are_three_and_the_question_stays() -> None:
    async with asking(conflict(MINE.replace("end", "my end"))) as (app, pilot, _):
        await pilot.press("d")
        screen = app.screen
        assert isinstance(screen, ConflictDiffScreen)
        for key, there, not_there in (("1", "very", "my end"), ("2", "in English", "very"), ("3", "very", "zzz")):
            await pilot.press(key)
            await pilot.pause()
            await app.workers.wait_for_complete()
            await pilot.pause()
            assert there in app.text
            assert not_there not in app.text
        await pilot.press("tab")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "Their changes" in app.text
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, ConflictScreen)
        await pilot.press("d")
        await pilot.pause()
        assert isinstance(app.screen, ConflictDiffScreen)
        assert app.answers == []


async def test_a_further_change_is_shown_while_it_is_asked() -> None:
    async with asking(conflict()) as (app, pilot, _):
        await pilot.press("down")
        screen = app.screen
        assert isinstance(screen, ConflictScreen)
        screen.show(
            build_conflict_prompt(conflict(theirs=THEIRS.replace("Berlin", "Lisbon"), events=(event(), event())))
        )
        await pilot.pause()
        assert "2 changes" in app.text
        await pilot.press("enter")  # what was highlighted still is
        await pilot.pause()
        assert app.answers == [KeepMine()]


async def test_lines_of_which_only_one_is_too_long_stay_below_each_other() -> None:
    base = "# Decision about the dead-letter queue and what its owners do at night\n"
    found = conflict(base.replace("\n", "XY\n"), base.replace("\n", " changed elsewhere\n"), base=base)
    async with asking(found) as (app, _, _press):
        starts = [match.start() for line in app.text.split("\n") if (match := re.search("owners do at night", line))]
        assert len(starts) == 3
        assert len(set(starts)) == 1
