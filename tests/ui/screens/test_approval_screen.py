"""An agent in another process asks, the person at the browser answers by keys, and the agent gets the answer."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memtui.agents.gate import ApprovalGate
from memtui.agents.remote_approval import has_approval_server, request_approval
from memtui.core.approvals import Allow, ApprovalPolicy, Deny, Edit, Proposal, Unanswered, Verdict
from memtui.core.events import Agent, Change, EntryKind, Version, sha256
from memtui.flows.approvals import ApprovalQueue
from memtui.fs.state import APPROVAL_SOCKET
from memtui.ui.messages import ChatRequested
from memtui.ui.screens.approval import ApprovalScreen
from memtui.ui.screens.chat import ChatScreen
from memtui.ui.widgets import approval
from tests.agents.model_server import ModelServer

Opening = Callable[..., AbstractAsyncContextManager[Any]]

CLAUDE = Agent("Claude Code", session="a-session")


def proposal_of(
    path: str = "alpha.md", before: str | None = "# Alpha\n", after: str = "# Alpha\n\nnew line\n", who: Agent = CLAUDE
) -> Proposal:
    texts = {sha256(text.encode()): text.encode() for text in (before, after) if text is not None}
    was = None if before is None else Version(EntryKind.FILE, sha256(before.encode()), len(before))
    will = Version(EntryKind.FILE, sha256(after.encode()), len(after))
    command = "create" if before is None else "str_replace"
    return Proposal(who, command, f"/memories/{path}", None, "toolu_1", (Change(path, was, will),), texts, "")


class Asking(threading.Thread):
    """An agent that asks from elsewhere, and waits."""

    def __init__(self, state: Path, proposal: Proposal | None = None, seconds: float = 60) -> None:
        super().__init__(daemon=True)
        self.verdict: Verdict | None = None
        self.stopped = threading.Event()
        self._ask = lambda: request_approval(
            state, proposal or proposal_of(), seconds=seconds, stop=self.stopped.is_set
        )
        self.start()

    def run(self) -> None:
        self.verdict = self._ask()


async def open_desk(app: Any) -> None:
    await app.wait_for(
        lambda: app.browse.session._approval_server is not None and app.browse.session._approval_server.is_open,
        "the desk",
    )


async def ask(app: Any, proposal: Proposal | None = None, seconds: float = 60) -> Asking:
    """Have an agent ask, and wait until the person is told."""
    await open_desk(app)
    before = len(app.browse.approvals.questions.waiting)
    asking = Asking(app.state, proposal, seconds)
    await app.wait_for(
        lambda: len(app.browse.approvals.questions.waiting) > before or not asking.is_alive(), "the question"
    )
    return asking


async def look(app: Any) -> None:
    """Press the key of the banner, and wait until the question may be answered."""
    await app.press("f9")
    await app.wait_for(lambda: isinstance(app.app.screen, ApprovalScreen), "the question's screen")
    await app.wait_for(lambda: app.app.screen.view.is_armed, "a question that can be answered")


async def answered(app: Any, asking: Asking) -> Verdict | None:
    await app.wait_for(lambda: not asking.is_alive(), "the answer")
    return asking.verdict


async def test_a_question_raises_a_banner_that_says_who_wants_what(opened: Opening) -> None:
    async with opened() as app:
        asking = await ask(app)
        await app.wait_for(lambda: "Claude Code asks to edit alpha.md." in app.text, "the banner")
        assert "F9 answers" in app.text
        asking.stopped.set()


@pytest.mark.parametrize(
    ("keys", "verdict", "words"),
    [
        (["y"], Allow(), "Allowed: Claude Code may go on with alpha.md."),
        (["n"], Deny(), "Denied: alpha.md stays as it is."),
        (["r", *"not now", "enter"], Deny("not now"), "gets your reason"),
        (["e", "X", "ctrl+s"], Edit("X# Alpha\n\nnew line\n"), "Your text is written to alpha.md"),
    ],
    ids=["yes", "no", "reason", "edit"],
)
async def test_what_the_person_says_is_what_the_agent_gets(
    opened: Opening, keys: list[str], verdict: Verdict, words: str
) -> None:
    async with opened() as app:
        asking = await ask(app)
        await look(app)
        assert "Claude Code wants to edit alpha.md" in app.text
        assert "new line" in app.text
        await app.press(*(("space" if key == " " else key) for key in keys))
        assert await answered(app, asking) == verdict
        await app.wait_for(lambda: words in app.message, "the words")
        assert app.app.screen is app.browse
        assert "asks to" not in app.text


async def test_a_long_path_is_told_in_the_banner_and_whole_in_the_question(opened: Opening) -> None:
    path = "projects/billing-migration/2026-11-25-decision-about-the-dead-letter-queue-and-its-owners.md"
    async with opened(size=(80, 24)) as app:
        asking = await ask(app, proposal_of(path))
        await app.wait_for(lambda: "-and-its-owners.md." in app.text, "the end of the name in the banner")
        other = await ask(app, proposal_of("alpha.md"))
        await look(app)
        rows = [line.strip("┏┓┃ ") for line in app.text.splitlines()]
        at = rows.index("edit projects/billing-migration/")
        assert rows[at + 1] == path.rpartition("/")[2]
        assert rows[1].startswith("Question 1 of 2. Claude Code waits until ")
        assert "y yes  n no  r no, because  e edit first  Esc later" in rows
        assert "a always in /memories/projects/billing-migration  A always everywhere" in rows
        await app.press("n")
        await app.wait_for(lambda: app.app.screen.view.is_armed, "the next question")
        assert "a always in /memories/alpha.md  A always everywhere  until you quit" in app.text
        asking.stopped.set()
        other.stopped.set()


async def test_a_key_that_was_meant_for_something_else_answers_nothing(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approval, "GRACE_SECONDS", 3600)
    async with opened() as app:
        asking = await ask(app)
        await app.press("f9", "a", "y", "n")
        await app.wait_for(lambda: isinstance(app.app.screen, ApprovalScreen), "the question's screen")
        view = app.app.screen.view
        await app.wait_for(lambda: view.preview is not None, "the question")
        assert asking.is_alive()
        assert not view.is_armed
        monkeypatch.setattr(view, "_clock", lambda: time.monotonic() + 7200)
        await app.press("n")
        assert await answered(app, asking) == Deny()


async def test_esc_goes_back_and_the_question_stays_open(opened: Opening) -> None:
    async with opened() as app:
        asking = await ask(app)
        await look(app)
        await app.press("escape")
        await app.wait_for(lambda: app.app.screen is app.browse, "the browser")
        assert asking.is_alive()
        assert "Claude Code asks to edit alpha.md." in app.text
        await look(app)
        await app.press("y")
        assert await answered(app, asking) == Allow()


async def test_always_holds_for_this_agent_in_this_window_and_can_be_taken_back(opened: Opening) -> None:
    async with opened() as app:
        first = await ask(app, proposal_of("notes/beta.md"))
        second = await ask(app, proposal_of("notes/gamma.md"))
        other = await ask(app, proposal_of("alpha.md"))
        stranger = await ask(app, proposal_of("notes/beta.md", who=Agent("somebody")))
        assert "3 more" in app.text
        await look(app)
        await app.press("a")
        assert await answered(app, first) == Allow(), "the asker asks again: it is this window that lets it through"
        assert await answered(app, second) == Allow()
        assert other.is_alive()
        assert stranger.is_alive()
        await app.wait_for(lambda: app.app.screen.view.is_armed, "the next question")
        await app.press("n")
        assert await answered(app, other) == Deny()
        await app.wait_for(lambda: app.app.screen.view.is_armed, "the last question")
        await app.press("n")
        assert await answered(app, stranger) == Deny()
        await app.wait_for(lambda: app.app.screen is app.browse)
        through = await ask(app, proposal_of("notes/new.md", before=None))
        assert await answered(app, through) == Allow()
        await app.wait_for(lambda: "Allowed by your rule: Claude Code asks to create notes/new.md" in app.message)
        assert "allowed: /memories/notes" in app.text
        await app.press("f9")
        await app.wait_for(lambda: "Claude Code in session a-session: /memories/notes" in app.text)
        await app.press("1")
        await app.wait_for(lambda: "ask again about Claude Code in session a-session" in app.message)
        assert "allowed:" not in app.text.splitlines()[0]
        again = await ask(app, proposal_of("notes/beta.md"))
        await app.wait_for(lambda: "Claude Code asks to edit notes/beta.md." in app.text)
        again.stopped.set()


async def test_it_disappears_when_who_asked_is_gone(opened: Opening) -> None:
    async with opened() as app:
        asking = await ask(app)
        await look(app)
        asking.stopped.set()
        await app.wait_for(lambda: app.app.screen is app.browse, "the browser")
        await app.wait_for(lambda: "The agent that asked has ended" in app.message)
        assert "F9 answers" not in app.text


async def test_it_disappears_when_the_limit_has_passed_and_says_so(opened: Opening) -> None:
    async with opened() as app:
        asking = await ask(app, seconds=0.3)
        assert await answered(app, asking) == Unanswered(0.3)
        await app.wait_for(lambda: "No answer in time: the change was refused. Nothing was written." in app.message)
        assert "F9 answers" not in app.text


async def test_what_the_person_is_writing_is_not_lost_when_the_agent_goes(opened: Opening) -> None:
    async with opened() as app:
        asking = await ask(app)
        await look(app)
        await app.press("e", "X")
        asking.stopped.set()
        await app.wait_for(lambda: "Your text stays here until you press" in app.text, "the words")
        assert "X# Alpha" in app.text
        await app.press("ctrl+s")
        await app.wait_for(lambda: "Not answered" in app.text, "that it was too late")
        await app.press("escape", "escape")
        await app.wait_for(lambda: app.app.screen is app.browse, "the browser")


async def test_in_a_chat_it_is_answered_while_a_message_is_being_typed(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer() as server:
        server.point_sdk_at_it(monkeypatch)
        async with opened() as app:
            app.app.post_message(ChatRequested(str(app.folder)))
            await app.wait_for(lambda: isinstance(app.app.screen, ChatScreen), "the chat")
            chat = app.app.screen
            asking = await ask(app)
            await app.wait_for(lambda: "Claude Code asks to edit alpha.md." in app.text, "the banner")
            await app.press("a", "b")
            await app.wait_for(lambda: "ab" in app.text, "what was typed")
            assert asking.is_alive()
            await app.press("f9")
            await app.wait_for(lambda: isinstance(app.app.screen, ApprovalScreen), "the question's screen")
            await app.wait_for(lambda: app.app.screen.view.is_armed, "a question that can be answered")
            await app.press("y")
            assert await answered(app, asking) == Allow()
            await app.wait_for(lambda: app.app.screen is chat, "the chat")
            assert "ab" in app.text
            assert server.requests == [] or all("ab" not in str(each.body) for each in server.requests)


async def test_with_nothing_asked_the_key_says_so(opened: Opening) -> None:
    async with opened() as app:
        await app.press("f9")
        await app.wait_for(lambda: app.message == "No agent is asking.")


async def test_on_a_screen_above_it_is_said_as_well(opened: Opening) -> None:
    async with opened() as app:
        await app.press("D")
        await app.wait_for(lambda: app.app.screen is not app.browse)
        asking = await ask(app)
        await app.wait_for(lambda: "Claude Code asks to edit alpha.md." in app.text, "the banner above")
        asking.stopped.set()


async def test_a_read_only_window_is_not_asked(opened: Opening) -> None:
    async with opened(ready=False, read_only=True) as app:
        await app.wait_for(lambda: app.app.screen_stack[-1].__class__.__name__ == "BrowseScreen")
        await app.wait_for(lambda: app.browse.session._totals is not None, "all that begins before the first news")
        assert app.browse.session._approval_server is None
        assert not has_approval_server(app.state)
        assert not (app.state / APPROVAL_SOCKET).exists()


async def test_the_window_that_is_closed_is_not_asked_any_more(opened: Opening) -> None:
    async with opened() as app:
        await open_desk(app)
        assert has_approval_server(app.state)
    assert not has_approval_server(app.state)


async def test_hostile_names_do_no_harm(opened: Opening) -> None:
    async with opened() as app:
        who = Agent("\x1b]52;c;eA==\x07[/x][@click=app.quit]you\u202e", session="\x1b[2J")
        path = "[red]\x1b[31m/\u202egnp.md"
        asking = await ask(app, proposal_of(path, "a\x1b[2J\n", "b\x1b]0;title\x07\u200b\n", who))
        await look(app)
        assert "\x1b" not in app.text
        assert "\\x1b" in app.text
        await app.press("n")
        assert await answered(app, asking) == Deny()


async def test_a_gate_in_another_process_asks_here_and_writes_what_was_approved(opened: Opening) -> None:
    async with opened() as app:
        await open_desk(app)
        with app.engine() as memory:
            gate = ApprovalGate(
                memory, policy=ApprovalPolicy.ASK, ask=lambda asked: request_approval(app.state, asked, seconds=60)
            )
            command = {"command": "create", "path": "/memories/new.md", "file_text": "from elsewhere\n"}
            writing = asyncio.create_task(asyncio.to_thread(gate.execute, command, actor=CLAUDE))
            await app.wait_for(lambda: "Claude Code asks to create new.md." in app.text, "the banner")
            await look(app)
            await app.press("y")
            await app.wait_for(writing.done, "the write")
            assert not writing.result().is_error
        assert (app.folder / "new.md").read_text() == "from elsewhere\n"
        await app.wait_for(lambda: ("Claude Code", "create", "/memories/new.md") in app.actors)


HOOK = [sys.executable, "-m", "memtui", "hook", "--ask"]


async def test_a_hook_asks_here_and_what_is_written_then_is_claude_codes(opened: Opening) -> None:
    async with opened() as app:
        await open_desk(app)
        path = app.folder / "alpha.md"
        told = (
            '{"session_id":"a-session","hook_event_name":"%s","tool_name":"Write","tool_use_id":"toolu_7",'
            '"tool_input":{"file_path":"%s","content":"theirs\\n"},"tool_response":{"type":"update"}}'
        )
        words = [*HOOK, "--dir", str(app.folder), "--state", str(app.state)]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}

        def hook(event: str) -> "subprocess.CompletedProcess[bytes]":
            data = (told % (event, path)).encode()
            return subprocess.run(words, input=data, capture_output=True, env=environment, check=False, timeout=60)

        before = asyncio.create_task(asyncio.to_thread(hook, "PreToolUse"))
        await app.wait_for(lambda: "Claude Code asks to overwrite alpha.md." in app.text, "the banner")
        await look(app)
        await app.press("y")
        await app.wait_for(before.done, "the hook")
        assert b'"permissionDecision": "allow"' in before.result().stdout
        path.write_text("theirs\n")
        await app.wait_for(lambda: ("Claude Code", "modified", "/memories/alpha.md") in app.actors, "the event")
        assert (await asyncio.to_thread(hook, "PostToolUse")).returncode == 0
        assert ("outside", "modified", "/memories/alpha.md") not in app.actors


def test_a_yes_for_good_is_for_one_agent_and_below_one_path() -> None:
    line = ApprovalQueue()
    mine = proposal_of("notes/a.md")
    line.give_consent(mine, "notes")

    class Asked:
        def __init__(self, proposal: Proposal) -> None:
            self.proposal = proposal

    def is_asked(proposal: Proposal) -> bool:
        return line.add(Asked(proposal))  # type: ignore[arg-type]

    assert not is_asked(mine)
    assert is_asked(replace(mine, actor=replace(CLAUDE, session="another")))
    assert is_asked(replace(mine, actor=Agent("other")))
    assert is_asked(proposal_of("notes.md"))
    assert is_asked(replace(mine, changes=(*mine.changes, Change("a.md", None, mine.changes[0].after))))


def test_what_the_person_wrote_is_asked_about_whatever_she_said_before() -> None:
    line = ApprovalQueue()
    line.give_consent(proposal_of("notes/a.md"), "notes")
    plain = SimpleNamespace(proposal=proposal_of("notes/a.md"))
    hers = SimpleNamespace(proposal=replace(proposal_of("notes/a.md"), again="It has changed.", draft="mine"))
    assert not line.add(plain)  # type: ignore[arg-type]
    assert line.add(hers)  # type: ignore[arg-type]
    assert line.pop_allowed() == []


async def test_a_question_that_ends_while_the_app_closes_is_left_alone(opened: Opening) -> None:
    async with opened() as app:
        asking = await ask(app)
        await look(app)
        screen = app.app.screen
        await screen.view.remove()
        screen.end_question(app.browse.approvals.questions.waiting[0])
        assert app.app.screen is screen
        asking.stopped.set()
