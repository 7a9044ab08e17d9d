"""The chat as an application: the conversation and its memory, from the first frame on."""

from pathlib import PurePath
from typing import ClassVar

from memtui.agents.chat.events import ChatOptions
from memtui.config import LoadedConfig
from memtui.core.paths import format_path, resolve_place
from memtui.ui.app import MemtuiApp, run
from memtui.ui.chat_start import MakeChat, SessionRequest, create_chat
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.chat import ChatScreen


class ChatApp(MemtuiApp):
    """A chat over a folder, with the arguments of a `MemtuiApp`, a `ChatScreen` and the options of the conversation."""

    TITLE = "memtui chat"
    CSS_PATH: ClassVar[str | PurePath | list[str | PurePath] | None] = ["app.tcss", "screens/chat.tcss"]

    def __init__(
        self, folder: str, options: ChatOptions, *, state: str | None = None, read_only: bool = False,
        request: SessionRequest | None = None, label: str = "", make: MakeChat = create_chat,
        loaded: LoadedConfig | None = None,
    ) -> None:  # fmt: skip
        super().__init__(folder, state=state, read_only=read_only, label=label, loaded=loaded)
        self.chat_options = lambda: options
        self._options = options
        self._session_request = request
        self._make = make

    def open_folder(self, folder: str) -> None:
        """The chat over the first folder; another one is browsed, from where a chat can be begun."""
        if any(isinstance(screen, BrowseScreen) for screen in self.screen_stack):
            super().open_folder(folder)
            return
        path = resolve_place(folder)
        self.title = "memtui chat (read-only)" if self._read_only else "memtui chat"
        self.push_screen(
            ChatScreen(
                path, self._options, state=self._state, title=format_path(path), label=self._label,
                read_only=self._read_only, request=self._session_request,
                farewell=self.last_words.extend, make=self._make,
            )
        )  # fmt: skip


def run_chat_app(
    folder: str, options: ChatOptions, *, state: str | None = None, read_only: bool = False,
    resume: str | None = None, fork: str | None = None, loaded: LoadedConfig | None = None,
    make: MakeChat = create_chat,
) -> int:  # fmt: skip
    """Chat until the person leaves; returns the exit code.

    Args:
        folder: The memory, an existing directory.
        state: The directory of the journal and the sessions, if not the usual one.
        resume: A session to go on with: its id, a beginning of it, or `last`.
        fork: The same, to go on from a copy of.
        make: Makes the conversation.

    Raises:
        NoSession: There is no such session; nothing was opened.
    """
    if name := resume or fork:
        from memtui.agents.chat.sessions.store import CHATS, find_session  # noqa: PLC0415 - start-up: no new chat needs it
        from memtui.fs.state import get_state_directory  # noqa: PLC0415 - start-up: no new chat needs it

        find_session(get_state_directory(resolve_place(folder), state) / CHATS, name)
    request = SessionRequest(resume, fork)
    return run(ChatApp(folder, options, state=state, read_only=read_only, request=request, loaded=loaded, make=make))
