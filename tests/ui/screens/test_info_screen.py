"""From a note to the session, the prompt and the call that wrote its lines, in the browser."""

from pathlib import Path

import memtui
from memtui.agents.chat.events import ChatOptions
from memtui.agents.chat.sessions.store import CHATS, ChatSession
from memtui.core.events import Agent, ImportedChange
from memtui.ui.screens.info import EventScreen, OriginScreen
from tests.ui.conftest import Opened, Opening

NOTE = "# Tea\n\n- black\n- green\n" + "".join(f"- leaf {number}\n" for number in range(60)) + "- by hand\n"
TOLD = NOTE.removesuffix("- by hand\n")
FILES = {"a.md": "# A\n", "tea.md": NOTE, "d/e.md": "x\n"}


def told(**more: object) -> ImportedChange:
    """A write as a session file tells it."""
    fields: dict[str, object] = {
        "path": "tea.md",
        "at_us": 1_700_000_000_000_000,
        "agent": memtui.Agent("Claude Code", "a-model", "s-\x1b[2J1"),
        "call_id": "toolu_1",
        "tool": "Write",
        "prompt": "Remember\x1b[2J [/x] what I drink",
        "source": "s-1.jsonl",
        "line": 3,
        "after": TOLD.encode(),
    }
    return ImportedChange(**{**fields, **more})  # type: ignore[arg-type]


async def ask(app: Opened) -> None:
    """Ask for the origin by the commands, as a person does."""
    await app.press("colon")
    await app.wait_for(lambda: app.app.screen is not app.browse, "the commands")
    await app.press(*"origin of")
    await app.wait_for(lambda: "Origin of these lines" in app.text)
    await app.press("enter")
    await app.wait_for(lambda: isinstance(app.app.screen, OriginScreen))


async def test_a_command_leads_from_a_note_to_who_asked_for_it(opened: Opening) -> None:
    async with opened(FILES, size=(100, 40)) as app:
        with app.engine() as engine:
            engine.imports.record([told()])
        await app.to("tea.md")
        await ask(app)
        await app.wait_for(lambda: "Remember" in app.text)
        for words in (
            "Origin of tea.md", "lines 1-64", "| # Tea", "and 61 more", "Claude Code (a-model)", "s-\\x1b[2J1",
            "Write, from a session file, call toolu_1", "Remember\\x1b[2J [/x] what I drink", "s-1.jsonl:3",
            "line 65", "| - by hand", "it was there when memtui first looked",
        ):  # fmt: skip
            assert words in app.text, words
        await app.press("down", "down", "enter")
        await app.wait_for(lambda: "Copied the session" in app.text)
        assert app.app.clipboard == "s-\x1b[2J1"
        await app.press("escape")
        await app.wait_for(lambda: app.app.screen is app.browse)


async def test_it_begins_at_the_lines_in_view(opened: Opening) -> None:
    async with opened(FILES, size=(80, 24)) as app:
        with app.engine() as engine:
            engine.imports.record([told()])
        await app.to("tea.md")
        await app.press("2", "end")
        await app.wait_for(lambda: "by hand" in app.text)
        app.browse.note.show_match_from(65)
        await ask(app)
        await app.wait_for(lambda: "Origin of tea.md" in app.text and "who" in app.text)
        screen = app.app.screen
        assert isinstance(screen, OriginScreen)
        assert screen._line == app.browse.note.first_line
        assert screen._line > 1


async def test_a_folder_and_an_empty_note_have_no_lines_to_tell_of(opened: Opening) -> None:
    async with opened({"d/empty.md": ""}, size=(80, 24)) as app:
        await app.to("d")
        await ask(app)
        await app.wait_for(lambda: "director" in app.text or "no lines" in app.text)
        await app.press("escape")
        await app.press("right")
        await app.to("d/empty.md")
        await ask(app)
        await app.wait_for(lambda: "The file is empty." in app.text)


async def test_beside_a_line_stands_what_the_person_had_asked_for_in_the_chat(opened: Opening, tmp_path: Path) -> None:
    state = tmp_path / "the state"
    async with opened({"a.md": "# A\n"}, size=(160, 30), state=state) as app:
        chat = ChatSession.create(state / CHATS, folder=str(app.folder), model="a-model", options=ChatOptions(), seq=0)
        chat.write("turn_began", turn=1, text="Remember that I drink [b]tea", attachments=[])
        with app.engine() as engine:
            agent = memtui.Agent("Claude", session=chat.id)
            command = {"command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": "tea\n"}
            answer = engine.execute(command, actor=agent, call_id="toolu_7")
        assert not answer.is_error
        chat.write("call", turn=1, call_id="toolu_7", name="memory", input=command, answer="ok", is_error=False)
        chat.close()
        await app.wait_for(lambda: "tea" in app.text)
        await app.to("a.md")
        await app.press("B")
        await app.wait_for(lambda: "line 1:" in app.text)
        blame = app.browse.blame
        await app.wait_for(lambda: (blame := app.browse.blame) is not None and blame.prompts, "the prompts")
        blame = app.browse.blame
        assert blame is not None
        assert list(blame.prompts.values()) == ["Remember that I drink [b]tea"]


async def test_details_of_an_event_say_all_that_is_recorded_of_it(opened: Opening) -> None:
    async with opened({"a.md": "one\n"}, size=(100, 40)) as app:
        agent = Agent("Cl\x1bara", "a-model", "s-1")
        command = {"command": "str_replace", "path": "/memories/a.md", "old_str": "one", "new_str": "t\x1b[2Jwo"}
        with app.engine() as engine:
            event = engine.execute(command, actor=agent, call_id="toolu_[b]7").event
        await app.wait_for(lambda: app.browse.last_seq == event.seq)
        await app.press("3", "i")
        await app.wait_for(lambda: "s-1" in app.text and isinstance(app.app.screen, EventScreen))
        for words in (
            f"Event #{event.seq}", "Cl\\x1bara edited a.md", "a-model", "toolu_[b]7", "str_replace", "/memories/a.md",
            "2Jwo", " ms", "a.md: ", event.hash[:40],
        ):  # fmt: skip
            assert words in app.text, words
        await app.press("down", "down", "down", "down", "enter")
        await app.wait_for(lambda: app.app.clipboard == "s-1")
        await app.press("escape")
        await app.wait_for(lambda: app.app.screen is app.browse)


async def test_details_of_a_refusal_have_its_answer_and_those_of_a_note_stay_where_the_files_are(
    opened: Opening,
) -> None:
    async with opened({"a.md": "one\n"}, size=(100, 40)) as app:
        with app.engine() as engine:
            event = engine.execute({"command": "create", "path": "/memories/../x", "file_text": "secret words"},
                                   actor=Agent("Clara")).event  # fmt: skip
        await app.wait_for(lambda: app.browse.last_seq == event.seq)
        await app.press("3", "i")
        await app.wait_for(lambda: "REFUSED" in app.text and "Path /memories/../x" in app.text)
        await app.press("escape", "1", "i")
        await app.wait_for(lambda: "Details of a.md" in app.text)


async def test_details_of_an_event_are_drawn_at_once_whatever_an_agent_sent(opened: Opening) -> None:
    async with opened({"a.md": "one\n"}, size=(100, 40)) as app:
        huge = "x\u202e" * 300_000
        with app.engine() as engine:
            event = engine.execute({"command": "create", "path": f"/memories/{huge}", "file_text": huge},
                                   actor=Agent(huge, huge, huge), call_id=huge).event  # fmt: skip
        await app.wait_for(lambda: app.browse.last_seq == event.seq)
        await app.press("3", "i")
        await app.wait_for(lambda: isinstance(app.app.screen, EventScreen) and app.app.screen._facts)
        await app.wait_for(lambda: "more characters" in app.text)
        assert all(len(fact.value) < 2_100 for fact in app.app.screen._facts)
