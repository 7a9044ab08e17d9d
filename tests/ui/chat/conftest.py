"""What the tests of the chat screen share: a chat over a folder, with a conversation that is played."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

import memtui
from memtui.agents.chat.events import ChatOptions
from memtui.core.approvals import ApprovalPolicy
from memtui.engine import Engine
from memtui.ui.chat_app import ChatApp
from memtui.ui.chat_start import MakeChat, SessionRequest
from memtui.ui.screens.chat import ChatScreen
from tests.ui.chat.acting import Play, Step
from tests.ui.conftest import ScreenDriver, fill, wait_for

FILES: Mapping[str, str] = {
    "prefs.md": "# Preferences\n\n- short answers\n- Timezone: Berlin\n",
    "notes/old.md": "# Old\n\nlong ago\n",
    "notes/older.md": "# Older\n\nlonger ago\n",
}


class Chatting(ScreenDriver):
    """A chat over a folder."""

    def __init__(self, app: ChatApp, pilot: Pilot[int], folder: Path, state: Path, play: Play) -> None:
        super().__init__(app, pilot, ChatScreen)
        self.folder = folder
        self.state = state
        self.play = play
        self.messages: list[str] = []

    @property
    def written(self) -> str:
        """What stands in the box."""
        return self.screen.composer.text

    @property
    def said(self) -> str:
        """What the transcript holds, folded or not."""
        return "\n".join(str(getattr(item, "text", "")) for item in self.screen.transcript.items)

    def memory(self, name: str) -> str | None:
        """A memory as it stands on the disk; `None` if it is not there."""
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else None

    def engine(self) -> Engine:
        """Another engine over the same folder and journal, as another program would have it."""
        return memtui.open(self.folder, state=self.state)

    async def type(self, text: str) -> None:
        """Type a text, key by key."""
        names = {
            " ": "space",
            "/": "slash",
            ".": "full_stop",
            "\n": "ctrl+j",
            "-": "minus",
            ",": "comma",
            "?": "question_mark",
        }
        await self.pilot.press(*(names.get(character, character) for character in text))

    async def say(self, text: str) -> None:
        """Type a message and send it."""
        await self.type(text)
        await self.press("enter")

    async def message_says(self, words: str) -> None:
        """Wait until the message line says something, if only for a moment."""
        first = len(self.messages) - 1
        await self.wait_for(lambda: any(words in text for text in self.messages[first:]), f"the message {words!r}")

    def record_messages(self) -> None:
        """Keep what the message line says from now on, however soon the next sentence takes its place."""
        self.messages.append(self.message)

        def record(text: str) -> None:
            self.messages.append(text)

        self.screen.watch(self.screen.message, "text", record, init=False)

    async def ended(self, turn: int) -> None:
        """Wait until a turn has ended and all that it did is on screen."""
        await self.wait_for(lambda: turn in self.screen.chat_state.turns, f"the end of turn {turn}")

    async def asked(self, number: int = 1) -> None:
        """Wait until a question takes keys."""
        question = self.screen.question_view
        await self.wait_for(
            lambda: question.question is not None and question.question.number == number and question.is_armed,
            f"question {number}",
        )


Chats = Callable[..., AbstractAsyncContextManager[Chatting]]


@pytest.fixture
def chatting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Chats:
    """Opens a chat: `async with chatting([Say("Hello.")]) as chat`, a list of steps for each turn."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg-state"))
    monkeypatch.chdir(tmp_path)

    @asynccontextmanager
    async def open_chat(
        *turns: list[Step],
        files: Mapping[str, str | bytes] = FILES,
        size: tuple[int, int] = (120, 36),
        policy: ApprovalPolicy = ApprovalPolicy.ALLOW,
        read_only: bool = False,
        request: SessionRequest | None = None,
        ready: bool = True,
        make: MakeChat | None = None,
        play: Play | None = None,
        options: Any = None,
    ) -> AsyncIterator[Chatting]:
        folder, state = tmp_path / "memories", tmp_path / "state"
        folder.mkdir(exist_ok=True)
        fill(folder, {name: text for name, text in files.items() if not (folder / name).exists()})
        play = play or Play(*turns)
        app = ChatApp(
            str(folder), options or ChatOptions(policy=policy), state=str(state), read_only=read_only, request=request,
            make=make or play.make,
        )  # fmt: skip
        async with app.run_test(size=size) as pilot:
            chat = Chatting(app, pilot, folder, state, play)
            await wait_for(app, pilot, lambda: isinstance(app.screen, ChatScreen), "the screen")
            chat.record_messages()
            if ready:
                await chat.wait_for(lambda: chat.screen.status.live in ("LIVE", "POLLING"), "LIVE")
                await chat.wait_for(
                    lambda: chat.screen.chat_state.is_ready or chat.screen.no_chat_reason, "the conversation"
                )
                await chat.wait_for(lambda: chat.screen.session._watch is not None, "the watcher")
                await chat.wait_for(
                    lambda: chat.screen.session.engine and chat.screen.session.engine.is_baseline_recorded,
                    "the first look",
                )
            yield chat

    return open_chat
