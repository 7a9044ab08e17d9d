"""A note amid its links: what is listed, how one walks, and what Enter makes."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from memtui.core.events import Agent
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.dialogs import MenuScreen
from memtui.ui.screens.neighbourhood import NeighbourhoodScreen

Opening = Callable[..., AbstractAsyncContextManager[Any]]

NOTES = {
    "alpha.md": (
        "---\ntype: plan\ntags: [team]\n---\n# Alpha\n\nSee [[beta]] and [[Missing one]].\n\n- part_of [[gamma]]\n"
    ),
    "beta.md": "---\ntype: person\n---\n# Beta\n\nThe alpha is first, and [back](alpha.md).\n",
    "gamma.md": "# Gamma\n\nNothing about alpha.\n",
    "notes/delta.md": "# Delta\n\nThe Alpha of old, and alpha again.\n\n`alpha` in code\n",
}


async def neighbourhood(app: Any, path: str = "alpha.md") -> NeighbourhoodScreen:
    """Press w on a note, and wait until its mentions are known."""
    app.app.screen.move_to(path)
    await app.wait_for(lambda: app.app.screen.files.cursor_path == path, path)
    await app.press("w")
    await app.wait_for(lambda: isinstance(app.app.screen, NeighbourhoodScreen), "the links")
    screen = app.app.screen
    assert isinstance(screen, NeighbourhoodScreen)
    await known(app, screen, path)
    return screen


async def known(app: Any, screen: NeighbourhoodScreen, path: str) -> None:
    await app.wait_for(lambda: screen.mentions.found is not None and screen._links is not None, "the links")
    await app.wait_for(lambda: screen.mentions.found is not None and screen._links.path == path == screen._path, path)
    await app.rest()


def listed(view: Any) -> list[str]:
    return [f"{row.path}:{row.line}" for row in view.items]


async def test_both_directions_mentions_and_dangling_names_are_listed(opened: Opening) -> None:
    async with opened(NOTES, size=(120, 36)) as app:
        screen = await neighbourhood(app)
        assert listed(screen.incoming) == ["beta.md:6"]
        assert "The alpha is first, and [back](alpha.md)." in screen.incoming.items[0].text
        assert listed(screen.outgoing) == ["gamma.md:9", "beta.md:7"]
        assert [row.edge.wanted for row in screen.below.items if row.edge] == ["Missing one"]
        assert listed(screen.below)[1:] == ["gamma.md:3", "notes/delta.md:3", "notes/delta.md:3"]
        assert all(
            words in app.text for words in ("part_of 1", "wiki links 1", "plan  #team", "Mentions 3  dangling 1")
        )


async def test_the_four_lists_have_room_at_80x24(opened: Opening) -> None:
    async with opened(NOTES, size=(80, 24)) as app:
        screen = await neighbourhood(app)
        for view in (screen.incoming, screen.note, screen.outgoing, screen.below):
            assert view.size.width > 30
            assert view.size.height > 6
        assert "dangling 1" in app.text


async def test_enter_walks_and_backspace_goes_back_to_the_row(opened: Opening) -> None:
    async with opened(NOTES, size=(120, 36)) as app:
        screen = await neighbourhood(app)
        await app.press("tab", "tab", "down")
        assert screen.focused is screen.outgoing
        await app.press("enter")
        await known(app, screen, "beta.md")
        assert "trail 1" in app.text
        assert listed(screen.incoming) == ["alpha.md:7"]
        await app.press("backspace")
        await known(app, screen, "alpha.md")
        assert screen.focused is screen.outgoing
        assert screen.outgoing.cursor_item.path == "beta.md"
        await app.press("backspace")
        await app.wait_for(lambda: screen.message.text.startswith("This is where you began."))


async def test_depth_and_filter_change_what_is_listed(opened: Opening) -> None:
    async with opened({**NOTES, "far.md": "[[beta]]\n"}, size=(120, 36)) as app:
        screen = await neighbourhood(app)
        await app.press("2")
        await app.wait_for(lambda: listed(screen.incoming) == ["beta.md:6", "far.md:1"])
        assert "2 links away: far.md" in app.text
        await app.press("slash", *"type:person")
        await app.wait_for(lambda: listed(screen.outgoing) == ["beta.md:7"])
        await app.press("escape")
        await app.wait_for(lambda: len(screen.outgoing.items) == 2)
        await app.press("slash", *"kind:x")
        await app.wait_for(lambda: screen.message.text.startswith("No kind of link is called x."))


async def test_enter_links_a_mention_and_star_all_as_one_undoable_event(opened: Opening) -> None:
    async with opened(NOTES, size=(120, 36)) as app:
        screen = await neighbourhood(app)
        screen.below.focus()
        await app.press("asterisk")
        await app.wait_for(lambda: screen.message.text == "Linked 3 mentions in 2 notes. u undoes it.")
        assert (app.folder / "gamma.md").read_text() == "# Gamma\n\nNothing about [[alpha]].\n"
        delta = "# Delta\n\nThe [[Alpha]] of old, and [[alpha]] again.\n\n`alpha` in code\n"
        assert (app.folder / "notes/delta.md").read_text() == delta
        await app.wait_for(lambda: "gamma.md:3" in listed(screen.incoming))
        with app.engine() as engine:
            events = [event for event in engine.events() if event.command == "write"]
        assert [(len(event.changes), event.note) for event in events] == [(2, "3 mentions linked, 2 files")]
        await app.press("u")
        await app.wait_for(lambda: (app.folder / "notes/delta.md").read_text() == NOTES["notes/delta.md"])
        await app.wait_for(lambda: (app.folder / "gamma.md").read_text() == NOTES["gamma.md"])
        await app.wait_for(lambda: "gamma.md:3" not in listed(screen.incoming))


async def test_enter_on_a_dangling_name_creates_the_note_from_a_template(opened: Opening) -> None:
    async with opened(NOTES, size=(120, 36)) as app:
        screen = await neighbourhood(app)
        screen.below.focus()
        await app.press("enter")
        await app.wait_for(lambda: isinstance(app.app.screen, MenuScreen), "the templates")
        await app.press("enter")
        await app.wait_for((app.folder / "Missing one.md").exists)
        await app.wait_for(lambda: "Missing one.md:7" in listed(screen.outgoing), "a link by now")
        assert not [row for row in screen.below.items if row.edge]
        await app.press("u")
        await app.wait_for(lambda: not (app.folder / "Missing one.md").exists())


async def test_what_an_agent_writes_meanwhile_is_listed(opened: Opening) -> None:
    async with opened(NOTES, size=(120, 36)) as app:
        screen = await neighbourhood(app)
        with app.engine() as engine:
            text = "to [[alpha]]\n"
            engine.execute({"command": "create", "path": "/memories/new.md", "file_text": text}, actor=Agent("Claude"))
        await app.wait_for(lambda: "new.md:1" in listed(screen.incoming))


async def test_o_opens_the_note_under_the_cursor_in_the_files(opened: Opening) -> None:
    async with opened(NOTES, size=(120, 36)) as app:
        await neighbourhood(app)
        await app.press("o")
        await app.wait_for(
            lambda: isinstance(app.app.screen, BrowseScreen) and app.screen.files.cursor_path == "beta.md"
        )


async def test_in_a_read_only_session_nothing_is_linked_or_created(opened: Opening) -> None:
    async with opened(NOTES, read_only=True, size=(120, 36)) as app:
        screen = await neighbourhood(app)
        screen.below.focus()
        for key in ("asterisk", "enter"):
            screen.message.show_message("")
            await app.press(key)
            await app.wait_for(lambda: screen.message.text.startswith("Read-only."))
        await app.press("down", "enter")
        await app.rest()
        assert (app.folder / "gamma.md").read_text() == NOTES["gamma.md"]
        assert not (app.folder / "Missing one.md").exists()


async def test_keys_in_a_burst_break_nothing(opened: Opening) -> None:
    async with opened(NOTES, size=(80, 24)) as app:
        await neighbourhood(app)
        await app.press(*["enter", "tab", "down", "2", "3", "1", "backspace", "w"] * 3)  # opens it every second time
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen))
        await app.rest()
        assert not app.app.screen.query(NeighbourhoodScreen)
        screen = await neighbourhood(app)
        assert screen.incoming.items or screen.outgoing.items


async def test_hostile_names_are_shown_as_text(opened: Opening) -> None:
    notes = {"a.md": "[[[/x]]] [[\x1b[31mred]] [b]([@click=app.quit]x.md)\n\n[[a]]\n", "[/red].md": "[[a]] and a\n"}
    async with opened(notes, size=(80, 24)) as app:
        screen = await neighbourhood(app, "a.md")
        await app.press("enter")
        await known(app, screen, "[/red].md")
        assert "\x1b" not in app.text
