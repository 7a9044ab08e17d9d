"""Where the links of a note are drawn, and going along them in the browser."""

import pytest
from textual.widgets import OptionList

from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.dialogs import MenuScreen
from memtui.ui.screens.external_link import ExternalLinkScreen
from memtui.ui.screens.info import DetailsScreen
from memtui.ui.widgets.markdown.document import NoteDocument, NoteLayout
from memtui.ui.widgets.markdown.links import NoteLinks
from tests.ui.conftest import Opened, Opening

_NOTE = """---
name: start
---
# Start

See [[alice]] and [the plan](projects/plan.md#risks), the rules in
@people/rules.md, and https://example.org/a/long/path?q=1.

- [evil](https://a@evil.example/x), [script](javascript:x) and [out](../../etc)
- **[bold *label*](people/alice.md)** [[a]][[a]] `[[code]]`
- [[plan|the **plan**]]

> quoted [with link](people/rules.md)

| a | b |
|---|---|
| [[alice]] | [x](projects/plan.md) |
"""

FILES = {
    "README.md": "---\nname: start-here\n---\n# Start\n\nSee [[alice]], [the plan](projects/plan.md#risks),\n"
    "[web](https://example.org/x) and [gone](gone.md).\n",
    "people/alice.md": "# Alice\n\nBack to [[start-here]].\n",
    "projects/plan.md": "# Plan\n" + "".join(f"\nline {n}\n" for n in range(60)) + "\n## Risks\n\nSee [[alice]].\n",
}


@pytest.mark.parametrize("width", [80, 24])
def test_each_link_of_a_rendered_note_is_marked_where_it_is_drawn(width: int) -> None:
    document = NoteDocument(_NOTE, NoteLayout("markdown", "rendered", width))
    links = NoteLinks(document)
    drawn = []
    for number, link in enumerate(links.links):
        places = links.get_spans(number)
        drawn.append("".join(document.get_rows(each.chunk)[each.row].text[each.start : each.end] for each in places))
        for place in places:
            assert links.find_link_at(place.chunk, place.row, place.start) == number, link.target
        assert links.get_row(number) == document.tops[places[0].chunk] + places[0].row
    assert drawn == [
        "[[alice]]", "the plan", "@people/rules.md", "https://example.org/a/long/path?q=1", "evil",
        "[script](javascript:x)", "out", "bold label", "[[a]]", "[[a]]", "[[plan|the plan]]", "with link", "[[alice]]",
        "x",
    ]  # fmt: skip


def test_each_link_of_a_source_is_marked_as_it_is_written() -> None:
    document = NoteDocument(_NOTE, NoteLayout("markdown", "source", 100))
    links = NoteLinks(document)
    lines = _NOTE.split("\n")
    for number, link in enumerate(links.links):
        (place,) = links.get_spans(number)
        row = document.get_rows(place.chunk)[place.row]
        assert row.first == link.line - 1
        assert row.text[place.start : place.end] == lines[link.line - 1][slice(*link.span)]


async def _choose(app: Opened, number: int) -> None:
    for _ in range(number):
        await app.press("l")
    await app.wait_for(lambda: app.message.startswith(f"Link {number} of "), f"link {number}")


async def test_a_link_is_followed_with_enter_and_left_with_backspace(opened: Opening) -> None:
    async with opened(FILES, size=(100, 30)) as app:
        await app.to("README.md")
        await app.press("2")
        await _choose(app, 2)
        assert "projects/plan.md#risks" in app.message
        await app.press("enter")
        await app.note_of("projects/plan.md")
        await app.wait_for(lambda: "Risks" in app.text, "the heading in view")
        assert app.message == "projects/plan.md."
        await _choose(app, 1)
        await app.press("enter")
        await app.note_of("people/alice.md")
        await app.press("enter", "enter")  # by the name that the note gives itself
        await app.note_of("README.md")
        await app.press("backspace")
        await app.note_of("people/alice.md")
        await app.press("backspace")
        await app.note_of("projects/plan.md")
        await app.wait_for(lambda: "Risks" in app.text and app.browse.note.links.number == 0, "the same rows and link")
        await app.press("backspace")
        await app.note_of("README.md")
        await app.wait_for(lambda: app.browse.note.links.number == 1, "the link that was followed")
        assert app.message == "Back in README.md."
        await app.press("backspace")
        assert app.message.startswith("Cannot go back")


async def test_a_dead_link_says_so_and_an_outside_one_asks(opened: Opening) -> None:
    async with opened(FILES, size=(100, 30)) as app:
        await app.to("README.md")
        await app.press("2")
        await _choose(app, 4)
        await app.press("enter")
        await app.wait_for(lambda: app.message == "Broken link: there is no note gone.md.")
        await app.press("L", "enter")
        await app.wait_for(lambda: isinstance(app.app.screen, ExternalLinkScreen))
        assert "opens  example.org" in app.text
        assert "https://example.org/x" in app.text
        await app.press("enter")
        assert isinstance(app.app.screen, ExternalLinkScreen)  # nothing is done by habit
        await app.press("c")
        await app.wait_for(lambda: app.message == "Copied the address (terminal).")
        assert app.app.clipboard == "https://example.org/x"
        assert app.cursor == "README.md"


async def test_a_click_follows_a_link_and_a_note_without_one_says_so(opened: Opening) -> None:
    async with opened({**FILES, "z.md": "no link"}, size=(100, 30)) as app:
        await app.to("README.md")
        rows = app.text.split("\n")
        y = next(at for at, row in enumerate(rows) if "[[alice]]" in row)
        x = rows[y].index("[[alice]]")
        await app.pilot.click(offset=(x - 3, y))  # beside it
        await app.rest()
        assert app.cursor == "README.md"
        await app.pilot.click(offset=(x + 3, y))
        await app.note_of("people/alice.md")
        await app.to("z.md")
        await app.press("2", "enter")
        await app.wait_for(lambda: app.message == "No links in this note.")


async def test_details_say_what_a_note_is_and_go_along_its_links(opened: Opening) -> None:
    async with opened(FILES, size=(100, 40)) as app:
        await app.to("people/alice.md")
        await app.press("i")
        await app.wait_for(lambda: isinstance(app.app.screen, DetailsScreen))
        await app.wait_for(lambda: "linked from 2" in app.text, "the links from elsewhere")
        for words in (
            "/memories/people/alice.md", "33 bytes, 3 lines, 5 words", "~9, estimated", "read by agents  never",
            "another program,", "links 1", "start-here", "README.md:6  See [[alice]], [the plan]", "projects/plan.md:",
        ):  # fmt: skip
            assert words in app.text, words
        options = app.app.screen.query_one(OptionList)
        wanted = next(at for at, option in enumerate(options.options) if "plan.md:" in str(option.prompt))
        while options.highlighted != wanted:
            await app.press("down")
        await app.press("enter")
        await app.note_of("projects/plan.md")
        await app.wait_for(lambda: "Risks" in app.text, "the line of the link")
        await app.press("backspace")
        await app.note_of("people/alice.md")
        await app.press("i")
        await app.wait_for(lambda: "links 1" in app.text and "linked from 2" in app.text)
        assert "Enter copies it" in app.text
        await app.press("enter")
        await app.wait_for(lambda: "Copied the path (terminal)." in app.text)
        assert app.app.clipboard == "/memories/people/alice.md"
        await app.press("end", "up", "up")
        await app.wait_for(lambda: "Enter goes there" in app.text)
        await app.press("enter")
        await app.note_of("README.md")


async def test_details_of_a_folder_and_of_hostile_notes_are_said_calmly(opened: Opening) -> None:
    hostile = "[\x1b]52;c;eA==\x07](x\u202e.md) [[" + "a" * 300 + "]]"
    async with opened({"d/a.md": "x", "d/e/b\u202e.md": hostile, "bin": b"\xff\0"}, size=(80, 24)) as app:
        await app.to("d")
        await app.press("i")
        await app.wait_for(lambda: "2 files below it" in app.text)
        await app.press("escape")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen))
        await app.press("down", "down")
        await app.wait_for(lambda: app.cursor == "d/e/b\u202e.md")
        await app.press("i")
        await app.wait_for(lambda: "links 1" in app.text or "links 2" in app.text)
        assert not {"\x1b", "\u202e", "\x07"} & set(app.text)
        await app.press("escape")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen))
        await app.to("bin")
        await app.press("i")
        await app.wait_for(lambda: "not UTF-8 (first at byte 0)" in app.text)


async def test_the_copy_menu_offers_what_there_is(opened: Opening) -> None:
    async with opened(FILES, size=(100, 30)) as app:
        (app.folder / "people/alice.md").write_text("# Alice\n\nMoved.\n")
        await app.wait_for(lambda: "alice.md" in app.message, "the change")
        await app.to("people/alice.md")
        await app.wait_for(lambda: app.browse.change.change is not None, "the last change")
        copied = {}
        for key in "pcdrl":
            await app.press("y")
            await app.wait_for(lambda: isinstance(app.app.screen, MenuScreen))
            await app.press(key)
            await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen))
            await app.wait_for(lambda: app.message.endswith("(terminal)."))
            copied[key] = app.app.clipboard
            app.browse.message.show_message("")
        assert copied["p"] == "/memories/people/alice.md"
        assert copied["c"] == "# Alice\n\nMoved.\n"
        assert "+Moved." in copied["d"]
        assert copied["r"] == str(app.folder / "people/alice.md")
        assert copied["l"] == "[[people/alice]]"
