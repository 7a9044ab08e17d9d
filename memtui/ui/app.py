"""The application: one folder at a time, the keys that work everywhere, and a clean end whatever happens."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import PurePath
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.widget import Widget

from memtui.core.visible import one_line
from memtui.places import short
from memtui.ui.driver import TerminalDriver
from memtui.ui.gate import Gate
from memtui.ui.messages import ChatWanted, FolderWanted
from memtui.ui.screens.browse import BrowseScreen

_QUIT_SECONDS = 2.0
_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class MemtuiApp(App[int]):
    """memtui on a terminal.

    Args:
        folder: An existing directory; `None` asks which.
        state: Where the journal lies, if not in its usual place.
        read_only: Whether nothing can be changed.
        label: A word on what this session is, such as `scripted demo`; empty for an ordinary one.
    """

    TITLE = "memtui"
    CSS_PATH: ClassVar[str | PurePath | list[str | PurePath] | None] = "app.tcss"
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    COMMANDS: ClassVar = {lambda: _actions_provider()}  # noqa: PLW0108 - defined below, called later
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("colon,ctrl+p", "command_palette", "commands", id="app.commands", tooltip="All commands"),
        Binding("question_mark,f1", "help", "help", id="app.help", tooltip="The keys of this pane, then all"),
        Binding("q", "back", "quit", id="app.back", tooltip="Back, or quit at the top"),
        Binding("ctrl+q", "quit", "Quit", id="app.quit", tooltip="Quit at once", show=False, priority=True),
        Binding("ctrl+c", "copy_or_quit", "Copy", id="app.copy", tooltip="Copy what is selected", show=False),
        Binding("ctrl+t", "change_theme", "theme", id="app.theme", tooltip="Choose the colours", show=False),
    ]

    def __init__(
        self, folder: str | None, *, state: str | None = None, read_only: bool = False, label: str = ""
    ) -> None:
        super().__init__()
        self._filters.append(Gate())
        self._folder = folder
        self._state = state
        self._read_only = read_only
        self._label = label
        self._asked_to_quit = 0.0
        self.when_opened: Callable[[], object] | None = None
        """Called once, when the first folder is on screen."""
        self.last_words: list[str] = []
        """What is said on the terminal once the screen is gone."""
        self.bug: Exception | None = None
        """What ended the application, if nobody meant it to end."""
        if "TEXTUAL_THEME" not in os.environ:
            self.theme = _theme(os.environ.get("COLORFGBG", ""))

    def on_mount(self) -> None:
        """Open the folder, or ask for one."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self.exit, 128 + number, 128 + number)
        if self._folder is None:
            self.action_places()
        else:
            self.open_folder(self._folder)

    def on_folder_shown(self) -> None:
        """The first folder is on screen: whoever waited for it may begin."""
        when_opened, self.when_opened = self.when_opened, None
        if when_opened is not None:
            when_opened()

    def on_folder_wanted(self, message: FolderWanted) -> None:
        """A screen asks for another folder."""
        self.open_folder(message.path)

    def open_folder(self, folder: str) -> None:
        """Show a folder in place of the one that is open."""
        path = os.path.realpath(os.path.expanduser(folder))
        state, label = (self._state, self._label) if self._is_first(path) else (None, "")
        self.title = "memtui (read-only)" if self._read_only else "memtui"
        self._show(BrowseScreen(path, state=state, title=short(path), label=label, read_only=self._read_only))

    def on_chat_wanted(self, message: ChatWanted) -> None:
        """A screen asks for a chat over its folder: it takes that screen's place, and gives it back at its end."""
        from memtui.agents.chat.options import ChatOptions  # deferred: not needed for the first paint
        from memtui.ui.screens.chat import ChatScreen

        state, label = (self._state, self._label) if self._is_first(message.path) else (None, "")
        self._show(
            ChatScreen(
                message.path, ChatOptions(), state=state, title=short(message.path), label=label,
                read_only=self._read_only, over_browser=True, farewell=self.last_words.extend,
            )
        )  # fmt: skip

    def _is_first(self, path: str) -> bool:
        """Whether it is the folder that was named at the start: what was said of that one holds for no other."""
        return self._folder is not None and path == os.path.realpath(os.path.expanduser(self._folder))

    def _show(self, screen: BrowseScreen) -> None:
        """Put a screen over a folder in the place of the one that is there."""
        if isinstance(self.screen, BrowseScreen):
            self.switch_screen(screen)
        else:
            self.push_screen(screen)

    def action_places(self) -> None:
        """Choose a folder."""
        from memtui.ui.screens.places import PlacesScreen  # deferred: Input and lists are not for the first paint

        first = not any(isinstance(screen, BrowseScreen) for screen in self.screen_stack)

        def chosen(folder: str | None) -> None:
            if folder is not None:
                self.open_folder(folder)
            elif first:
                self.exit(0)

        self.push_screen(PlacesScreen(), chosen)

    def action_help(self) -> None:
        """The keys of the focused pane, then all others; Enter runs one."""
        from memtui.ui.actions import actions_of  # deferred: not needed for the first paint
        from memtui.ui.screens.help import HelpScreen

        screen = self.screen
        actions = actions_of(screen)
        focused = [action for action in actions if isinstance(action.node, Widget) and action.node is screen.focused]
        others = [action for action in actions if action not in focused]

        async def run(chosen: str | None) -> None:
            for action in actions:
                if action.binding.id == chosen:
                    await self.run_action(action.binding.action, default_namespace=action.node)

        self.push_screen(HelpScreen([("This pane", focused), ("Everywhere", others)]), run)

    async def action_back(self) -> None:
        """Back, or quit at the top."""
        if isinstance(self.screen, BrowseScreen):
            self.screen.go_back()
        elif len(self.screen_stack) <= 2:
            self.exit(0)
        else:
            self.screen.dismiss(None)

    def action_copy_or_quit(self) -> None:
        """Copy what is selected; without a selection, the second time quits."""
        selected = self.screen.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
            self._say("Copied the selection (terminal).")
        elif time.monotonic() - self._asked_to_quit < _QUIT_SECONDS:
            self.exit(130)
        else:
            self._asked_to_quit = time.monotonic()
            focused = self.screen.focused
            types = focused is not None and focused.check_consume_key("q", "q")
            self._say("Ctrl+C again quits." if types else "Press q to quit.")

    def get_driver_class(self) -> type[Driver]:
        """Textual's way to the terminal, or ours where it would be the one for Unix."""
        chosen = super().get_driver_class()
        return TerminalDriver if chosen is TerminalDriver.__base__ else chosen

    def _handle_exception(self, error: Exception) -> None:
        self.bug = self.bug or error
        super()._handle_exception(error)

    def _print_error_renderables(self) -> None:
        """Textual would print a traceback with the values of variables: the texts of notes."""
        self._exit_renderables.clear()

    def _say(self, words: str) -> None:
        if isinstance(self.screen, BrowseScreen):
            self.screen.message.say(words)


def browse(folder: str | None, *, state: str | None = None, read_only: bool = False) -> int:
    """Run the browser until the person leaves it; returns the exit code."""
    return run(MemtuiApp(folder, state=state, read_only=read_only))


def run(app: MemtuiApp) -> int:
    """Run an application until it ends; returns the exit code.

    Raises:
        Exception: What a bug raised, once the terminal is as it was before: the command line keeps it in a log.
    """
    result = app.run()
    if app.last_words:
        words = "".join(f"{one_line(line)}\n" for line in app.last_words)
        sys.stdout.buffer.write(words.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))
        sys.stdout.flush()
    if app.bug is not None:
        raise app.bug
    return (app.return_code or 0) if result is None else result


def _actions_provider() -> type:
    from memtui.ui.palette import ActionsProvider  # deferred: not needed for the first paint

    return ActionsProvider


def _theme(colours: str) -> str:
    """Light where the terminal says so (`COLORFGBG=0;15`), else dark."""
    background = colours.rpartition(";")[2]
    return "catppuccin-latte" if background in ("7", "15") else "textual-dark"
