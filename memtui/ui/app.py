"""The application: one folder at a time, the keys that work everywhere, and a clean end whatever happens."""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.driver import Driver
from textual.widget import Widget

from memtui.config import Config, Loaded
from memtui.core.errors import MemtuiError
from memtui.core.visible import one_line
from memtui.places import short
from memtui.ui import background, said_keys
from memtui.ui.driver import BackgroundTold, TerminalDriver
from memtui.ui.frame import HELD_SECONDS
from memtui.ui.gate import Gate
from memtui.ui.messages import ChatWanted, FolderWanted
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.themes import AUTO, OURS, problems_of_theme, theme_for

if TYPE_CHECKING:
    from memtui.agents.chat.options import ChatOptions
    from memtui.ui.keymap import Keymap

_QUIT_SECONDS = 2.0
_READING_SECONDS = 12.0
"""For how long what is wrong with the settings stays, unless the person does something."""
_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class MemtuiApp(App[int]):
    """memtui on a terminal.

    Args:
        folder: An existing directory; `None` asks which.
        state: Where the journal lies, if not in its usual place.
        read_only: Whether nothing can be changed.
        label: A word on what this session is, such as `scripted demo`; empty for an ordinary one.
        loaded: The settings; the defaults if not given.
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
        Binding(
            "ctrl+z", "suspend_process", "Suspend", id="app.suspend", tooltip="To the shell; fg comes back", show=False
        ),
    ]

    def __init__(
        self,
        folder: str | None,
        *,
        state: str | None = None,
        read_only: bool = False,
        label: str = "",
        loaded: Loaded | None = None,
    ) -> None:
        if os.environ.get("NO_COLOR") == "":
            del os.environ["NO_COLOR"]  # which means nothing when it is empty; Textual takes it for a yes
        self._loaded = loaded or Loaded()
        self.config = self._loaded.config
        """The settings."""
        self._keymap_of_person: Keymap = {}
        if self.config.keys:
            from memtui.ui.keymap import keymap_of, rebind  # deferred: most have the keys that there are

            self._keymap_of_person, self._rebind = keymap_of(self.config.keys), rebind
        said_keys.use(self._keymap_of_person)
        super().__init__()
        if self._keymap_of_person:
            self._rebind(self._bindings, self._keymap_of_person)
        self._filters.append(Gate())
        for theme in OURS:
            self.register_theme(theme)
        self._folder = folder
        self._state = state
        self._read_only = read_only
        self._label = label
        self._asked_to_quit = 0.0
        self.when_opened: Callable[[], object] | None = None
        """Called once, when the first folder is on screen."""
        self.last_words: list[str] = []
        """What is said on the terminal once the screen is gone."""
        self.chat_options: Callable[[], ChatOptions] | None = None
        """Tells how a conversation is held that is begun from the browser; as by default if nobody does."""
        self._judged = False
        self.bug: Exception | None = None
        """What ended the application, if nobody meant it to end."""
        self._theme_of_terminal = ""
        if "TEXTUAL_THEME" not in os.environ:
            question = background.asked()
            light = question.is_light() if question is not None else None
            self.theme = self._theme_of_terminal = theme_for(self.config.theme, light=light, no_color=self.no_color)
        if not self.config.ui.animations:
            self.animation_level = "none"

    def on_mount(self) -> None:
        """Open the folder, or ask for one."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self.exit, 128 + number, 128 + number)
        if self._folder is None:
            self.action_places()
        else:
            self.open_folder(self._folder)

    def on_background_told(self, message: BackgroundTold) -> None:
        """The terminal took its time to say whether it is light. What the person chose meanwhile stays."""
        if self.config.theme == AUTO and self.theme == self._theme_of_terminal:
            self.theme = self._theme_of_terminal = theme_for(AUTO, light=message.light, no_color=self.no_color)

    def on_folder_shown(self) -> None:
        """The first folder is on screen: whoever waited for it may begin."""
        when_opened, self.when_opened = self.when_opened, None
        if when_opened is not None:
            when_opened()
        if not self._judged:
            self._judged = True
            self._judge_settings()

    @work(thread=True, group="settings", exit_on_error=False)
    def _judge_settings(self) -> None:
        """Say once what in the settings cannot be used. Only the screens know the names of keys and themes."""
        loaded = self._loaded
        problems = [problem.sentence for problem in loaded.problems]
        problems += [problem.sentence for problem in problems_of_theme(loaded)]
        if loaded.config.keys:
            from memtui.ui.keymap import problems_of_keys  # deferred: it loads every screen there is

            problems += [problem.sentence for problem in problems_of_keys(loaded)]
        if problems:
            all_of_them = f"{len(problems)} things in the settings cannot be used: memtui config show. "
            first = problems[0].replace(short(loaded.path or ""), os.path.basename(loaded.path or ""), 1)
            words = f"{all_of_them if len(problems) > 1 else ''}{first}"
            self.call_from_thread(self._warn, words, held=_READING_SECONDS)

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

        try:
            options = (self.chat_options or ChatOptions)()
        except MemtuiError as error:
            self._warn(str(error))
            return

        state, label = (self._state, self._label) if self._is_first(message.path) else (None, "")
        self._show(
            ChatScreen(
                message.path, options, state=state, title=short(message.path), label=label,
                read_only=self._read_only, over_browser=True,
                farewell=self.last_words.extend,
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
        around = [node for node in screen.focused.ancestors_with_self if node is not screen] if screen.focused else []
        focused = [action for action in actions if action.node in around and action.node is not self]
        others = sorted((each for each in actions if each not in focused), key=lambda each: not each.binding.show)

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
            self._copy(selected, "the selection")
        elif time.monotonic() - self._asked_to_quit < _QUIT_SECONDS:
            self.exit(130)
        else:
            self._asked_to_quit = time.monotonic()
            focused = self.screen.focused
            types = focused is not None and focused.check_consume_key("q", "q")
            self._say("Ctrl+C again quits." if types else "Press q to quit.")

    def action_suspend_process(self) -> None:
        """Stop, and leave the terminal to the shell until it brings memtui back."""
        if self._driver is None or not self._driver.can_suspend:
            return  # there is no terminal
        if os.getpgrp() == os.getsid(0):  # whoever owns the terminal is one of us: nobody would wake us
            self._warn("There is no shell to go back to.")
            return
        self._suspend_signal()
        os.killpg(os.getpgrp(), signal.SIGTSTP)  # with what started us, such as a script

    def copy_to_clipboard(self, text: str) -> None:
        """Copy in whichever way works here; Textual knows only that of the terminal."""
        self._copy(text, "")

    def _copy(self, text: str, name: str) -> None:
        from memtui.ui.clipboard import copy_and_say  # deferred: not needed for the first paint

        copy_and_say(self, text, name, lambda words, is_warning: (self._warn if is_warning else self._say)(words))

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

    def _register_child(self, parent: DOMNode, child: Widget, before: int | None, after: int | None) -> None:
        if self._keymap_of_person:
            self._rebind(child._bindings, self._keymap_of_person)
        super()._register_child(parent, child, before, after)

    def _say(self, words: str) -> None:
        if isinstance(self.screen, BrowseScreen):
            self.screen.message.say(words)

    def _warn(self, words: str, *, held: float = HELD_SECONDS) -> None:
        for screen in reversed(self.screen_stack):
            if isinstance(screen, BrowseScreen):
                screen.message.say(words, warning=True, held=held)
                return


def browse(
    folder: str | None,
    *,
    state: str | None = None,
    read_only: bool = False,
    loaded: Loaded | None = None,
    chat_options: "Callable[[], ChatOptions] | None" = None,
) -> int:
    """Run the browser until the person leaves it; returns the exit code.

    Args:
        folder: An existing directory; `None` asks which.
        state: Where the journal lies, if not in its usual place.
        read_only: Whether nothing can be changed.
        loaded: The settings.
        chat_options: Tells how a conversation is held that is begun from here.
    """
    app = MemtuiApp(folder, state=state, read_only=read_only, loaded=loaded)
    app.chat_options = chat_options
    return run(app)


def screen_only(loaded: Loaded | None) -> Loaded:
    """Settings as far as they are about the screen: for folders that are there for a while, and the same for everyone.

    Args:
        loaded: All of them; `None` for the defaults.
    """
    loaded = loaded or Loaded()
    plain = Config()
    ui = replace(loaded.config.ui, follow=True, remember=False, view=plain.ui.view, sort=plain.ui.sort)
    return replace(loaded, config=replace(loaded.config, ui=ui, memory=plain.memory, dir=plain.dir))


def run(app: MemtuiApp) -> int:
    """Run an application until it ends; returns the exit code.

    Raises:
        Exception: What a bug raised, once the terminal is as it was before: the command line keeps it in a log.
    """
    result = app.run(mouse=app.config.ui.mouse)
    if app.last_words:
        words = "".join(f"{one_line(line)}\n" for line in app.last_words)
        with contextlib.suppress(OSError):  # the terminal is gone: nobody is there to be told
            sys.stdout.buffer.write(words.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))
            sys.stdout.flush()
    if app.bug is not None:
        raise app.bug
    return (app.return_code or 0) if result is None else result


def _actions_provider() -> type:
    from memtui.ui.palette import ActionsProvider  # deferred: not needed for the first paint

    return ActionsProvider
