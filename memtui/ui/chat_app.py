"""The chat as an application: the conversation and its memory, from the first frame on."""

import os
from pathlib import PurePath
from typing import ClassVar

from memtui.agents.chat.options import ChatOptions
from memtui.config import Loaded
from memtui.places import short
from memtui.ui.app import MemtuiApp, run
from memtui.ui.chat.beginning import MakeChat, Wanted, make_chat
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.chat import ChatScreen


class ChatApp(MemtuiApp):
    """A chat over a folder.

    Args:
        folder: An existing directory.
        options: How the conversation is held.
        state: Where the journal lies, if not in its usual place.
        read_only: Whether nothing can be changed.
        wanted: Which session goes on; a new one by default.
        label: A word on what this session is; empty for an ordinary one.
        make: Makes the conversation.
        loaded: The settings; the defaults if not given.
    """

    TITLE = "memtui chat"
    CSS_PATH: ClassVar[str | PurePath | list[str | PurePath] | None] = ["app.tcss", "screens/chat.tcss"]

    def __init__(
        self,
        folder: str,
        options: ChatOptions,
        *,
        state: str | None = None,
        read_only: bool = False,
        wanted: Wanted | None = None,
        label: str = "",
        make: MakeChat = make_chat,
        loaded: Loaded | None = None,
    ) -> None:
        super().__init__(folder, state=state, read_only=read_only, label=label, loaded=loaded)
        self.chat_options = lambda: options
        self._options = options
        self._wanted = wanted or Wanted()
        self._make = make

    def open_folder(self, folder: str) -> None:
        """The chat over the first folder; another one is browsed, from where a chat can be begun."""
        if any(isinstance(screen, BrowseScreen) for screen in self.screen_stack):
            super().open_folder(folder)
            return
        path = os.path.realpath(os.path.expanduser(folder))
        self.title = "memtui chat (read-only)" if self._read_only else "memtui chat"
        self.push_screen(
            ChatScreen(
                path, self._options, state=self._state, title=short(path), label=self._label,
                read_only=self._read_only, wanted=self._wanted,
                farewell=self.last_words.extend, make=self._make,
            )
        )  # fmt: skip


def chat(
    folder: str,
    options: ChatOptions,
    *,
    state: str | None = None,
    read_only: bool = False,
    resume: str | None = None,
    fork: str | None = None,
    loaded: Loaded | None = None,
) -> int:
    """Chat until the person leaves; returns the exit code.

    Args:
        folder: An existing directory, the memory.
        options: How the conversation is held.
        state: Where the journal and the sessions lie, if not in their usual place.
        read_only: Whether nothing can be changed.
        resume: A session to go on with: its id, a beginning of it, or `last`.
        fork: The same, to go on from a copy of.
        loaded: The settings.

    Raises:
        NoSession: There is no such session; nothing was opened.
    """
    if name := resume or fork:
        from memtui.agents.chat.sessions.session import CHATS, find  # deferred: a new chat does without
        from memtui.opening import state_directory

        find(state_directory(os.path.realpath(os.path.expanduser(folder)), state) / CHATS, name)
    wanted = Wanted(resume, fork)
    return run(ChatApp(folder, options, state=state, read_only=read_only, wanted=wanted, loaded=loaded))
