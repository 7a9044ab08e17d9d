"""The application: one folder at a time, the keys that work everywhere, and a clean end whatever happens."""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard

from textual import work
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.driver import Driver
from textual.events import Event, InputEvent, Key, MouseDown, Paste
from textual.screen import Screen
from textual.theme import Theme
from textual.widget import Widget
from textual.worker import get_current_worker

from memtui.config import Config, LoadedConfig
from memtui.core.errors import MemtuiError
from memtui.core.paths import format_path, resolve_place
from memtui.core.unicode import to_one_line
from memtui.ui import key_names, palettes
from memtui.ui.controller import ControlledScreen
from memtui.ui.frame import HELD_SECONDS
from memtui.ui.garbage import GarbageSchedule
from memtui.ui.key_names import label_key
from memtui.ui.key_queue import KeyQueue
from memtui.ui.messages import ChatRequested, FolderRequested
from memtui.ui.startup import get_query
from memtui.ui.terminal import BackgroundDetected, TerminalDriver, TerminalSanitizer
from memtui.ui.textual_drawing import draw_faster
from memtui.ui.textual_private import (
    add_line_filter,
    add_styles_ahead,
    can_suspend,
    get_bindings,
    get_key_bindings,
    keep_parsed_styles,
    suppress_error_output,
)
from memtui.ui.theme import AUTO, choose_theme, find_theme_problems, keep_theme, load_kept_theme

if TYPE_CHECKING:
    from memtui.agents.chat.events import ChatOptions
    from memtui.ui.home_state import EverywhereHit, HomeState
    from memtui.ui.keymap import Keymap
    from memtui.ui.screens.browse import BrowseScreen


_QUIT_SECONDS = 2.0
_READING_SECONDS = 12.0
"""How long problems of the settings stay, unless the person does something."""
_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class MemtuiApp(App[int]):
    """memtui on a terminal.

    Args:
        folder: An existing directory; `None` asks which.
        state: The directory of the journal, if not in its usual place.
        read_only: Whether nothing can be changed.
        label: The kind of session, such as `scripted demo`; empty for an ordinary one.
        loaded: The settings; the defaults if not given.
    """

    TITLE = "memtui"
    CSS_PATH: ClassVar[str | PurePath | list[str | PurePath] | None] = ["app.tcss", "screens/folder.tcss"]
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("colon,ctrl+p", "find_command", "commands", id="app.commands", tooltip="All commands"),
        Binding("question_mark,f1", "help", "help", id="app.help", tooltip="Keys of this pane, then all keys"),
        Binding("q", "back", "quit", id="app.back", tooltip="Go back; on the first screen, quit"),
        Binding("ctrl+q", "quit", "Quit", id="app.quit", tooltip="Quit at once", show=False, priority=True),
        Binding("ctrl+c", "copy_or_quit", "Copy", id="app.copy", tooltip="Copy the selection", show=False),
        Binding("ctrl+t", "choose_theme", "theme", id="app.theme", tooltip="Choose a theme", show=False),
        Binding("ctrl+z", "suspend_process", "Suspend", id="app.suspend", tooltip="Suspend to the shell; `fg` resumes",
                show=False),
    ]  # fmt: skip

    def __init__(
        self,
        folder: str | None,
        *,
        state: str | None = None,
        read_only: bool = False,
        label: str = "",
        loaded: LoadedConfig | None = None,
    ) -> None:
        if os.environ.get("NO_COLOR") == "":
            del os.environ["NO_COLOR"]  # which means nothing when it is empty; Textual takes it for a yes
        self._loaded = loaded or LoadedConfig()
        self.config = self._loaded.config
        self._keymap_of_person: Keymap = {}
        if self.config.keys:
            from memtui.ui.keymap import build_keymap, rebind  # noqa: PLC0415 - start-up: only for own keys

            self._keymap_of_person, self._rebind = build_keymap(self.config.keys), rebind
        key_names.set_keymap(self._keymap_of_person)
        draw_faster()
        super().__init__()
        keep_parsed_styles(self)
        if self._keymap_of_person:
            self._rebind(get_bindings(self), self._keymap_of_person)
        add_line_filter(self, TerminalSanitizer())
        for theme in palettes.OWN:
            self.register_theme(theme)
        self._folder = folder
        self._state = state
        self._read_only = read_only
        self._label = label
        self._asked_to_quit = 0.0
        self.key_queue = KeyQueue(self, super().on_event)
        self._garbage = GarbageSchedule(self)
        self._recent_commands: list[str] = []
        self.when_opened: Callable[[], object] | None = None
        """Called once, when the first folder is on screen."""
        self.last_words: list[str] = []
        """Printed once the screen is gone."""
        self.chat_options: Callable[[], ChatOptions] | None = None
        """The options of a conversation that is begun from the browser; the defaults if not set."""
        self._settings_reported = False
        self.home: HomeState | None = None
        """What is known of all folders, once the person came by the home."""
        self.wants_demo = False
        """Whether the person asked for the demo, which is shown in place of this."""
        self.bug: Exception | None = None
        """The exception that ended the application."""
        question = get_query()
        self._is_light = question.is_light() if question is not None and "TEXTUAL_THEME" not in os.environ else None
        self._chosen_theme = AUTO
        if "TEXTUAL_THEME" in os.environ:
            self._chosen_theme = self.theme
        else:
            if self.config.theme != AUTO or self.config.ui.remember:
                self._chosen_theme = self.config.theme if self.config.theme != AUTO else load_kept_theme()
            self._show_theme(self._chosen_theme)
        if not self.config.ui.animations:
            self.animation_level = "none"

    def on_mount(self) -> None:
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self.exit, 128 + number, 128 + number)
            signal.signal(number, self._handle_signal)  # beside the loop, which is woken up all the same
        self.call_later(self._open_first)  # not in the batch that Textual mounts in: it draws a frame that it drops

    def on_unmount(self) -> None:
        self._garbage.stop()

    def _open_first(self) -> None:
        if self._folder is None:
            self.action_places()
        else:
            self.open_folder(self._folder)

    def _handle_signal(self, number: int, _: object) -> None:
        if isinstance(self._driver, TerminalDriver):
            self._driver.end_if_stuck(128 + number)

    def on_background_detected(self, message: BackgroundDetected) -> None:
        """Apply a late answer about the background; a theme chosen meanwhile stays."""
        self._is_light = message.light
        if self._chosen_theme == AUTO:
            self._show_theme(AUTO)

    def on_folder_shown(self) -> None:
        """Run `when_opened`, report problems of the settings once, and hand on the keys that waited for the folder."""
        self._garbage.plan()
        when_opened, self.when_opened = self.when_opened, None
        if when_opened is not None:
            when_opened()
        if not self._settings_reported:
            self._garbage.start()
            self._garbage.note_input()  # not at once: somebody may be about to press a key
            self._load_next_screens()
            self._settings_reported = True
            self._report_settings_problems()
        self.call_next(self.key_queue.resume)

    @work(thread=True, group="next screens", exit_on_error=False)
    def _load_next_screens(self) -> None:
        from memtui.ui.preload import load_next_screens  # noqa: PLC0415 - start-up: behind the first paint

        worker = get_current_worker()
        load_next_screens(
            lambda: self._garbage.input_at,
            lambda: worker.is_cancelled,
            lambda module: self.call_later(add_styles_ahead, self, module),
        )

    @work(thread=True, group="settings", exit_on_error=False)
    def _report_settings_problems(self) -> None:
        """Report unusable settings. Only the screens know the names of keys and themes."""
        loaded = self._loaded
        problems = [problem.sentence for problem in loaded.problems]
        problems += [problem.sentence for problem in find_theme_problems(loaded)]
        if loaded.config.keys:
            from memtui.ui.keymap import find_key_problems  # noqa: PLC0415 - start-up: only for own keys

            problems += [problem.sentence for problem in find_key_problems(loaded)]
        if problems:
            words = problems[0].replace(format_path(loaded.path or ""), os.path.basename(loaded.path or ""), 1)
            if len(problems) > 1:
                words = f"{len(problems)} settings cannot be used (memtui config show lists them). {words}"
            self.call_from_thread(self._show_warning, words, held=_READING_SECONDS)

    def on_folder_requested(self, message: FolderRequested) -> None:
        self.open_folder(message.path)

    def open_folder(self, folder: str) -> None:
        """Show a folder in place of the one that is open."""
        from memtui.ui.screens.browse import BrowseScreen  # noqa: PLC0415 - start-up: an audit by itself has none

        path = resolve_place(folder)
        state, label = (self._state, self._label) if self._is_initial_folder(path) else (None, "")
        self.title = "memtui (read-only)" if self._read_only else "memtui"
        self._switch_folder_screen(
            BrowseScreen(path, state=state, title=format_path(path), label=label, read_only=self._read_only)
        )

    def on_chat_requested(self, message: ChatRequested) -> None:
        """Replace the screen by a chat over its folder; the chat gives it back at its end."""
        from memtui.agents.chat.events import ChatOptions  # noqa: PLC0415 - start-up: loads the chat
        from memtui.ui.screens.chat import ChatScreen  # noqa: PLC0415 - start-up: loads the chat

        try:
            options = (self.chat_options or ChatOptions)()
        except MemtuiError as error:
            self._show_warning(str(error))
            return

        state, label = (self._state, self._label) if self._is_initial_folder(message.path) else (None, "")
        self._switch_folder_screen(
            ChatScreen(
                message.path, options, state=state, title=format_path(message.path), label=label,
                read_only=self._read_only, over_browser=True,
                farewell=self.last_words.extend,
            )
        )  # fmt: skip

    def _is_initial_folder(self, path: str) -> bool:
        """Whether it is the folder named at the start, to which `state` and `label` belong."""
        return self._folder is not None and path == resolve_place(self._folder)

    def _switch_folder_screen(self, screen: "BrowseScreen") -> None:
        if is_browser(self.screen):
            self.switch_screen(screen)
        else:
            self.push_screen(screen)

    def on_home_requested(self) -> None:
        """Back to the home, if the person came from there."""
        if self.home is None:
            self._show_message("Cannot go back: no link was followed.")
        else:
            self.action_places()

    def action_places(self) -> None:
        """The home: all folders of this machine, with the cursor on the one that was opened last."""
        from memtui.ui.home_state import HomeState  # noqa: PLC0415 - start-up: only where no folder is named
        from memtui.ui.screens.places import (  # noqa: PLC0415 - start-up: loads Input and lists
            DEMO,
            FolderChoice,
            FolderPickerScreen,
        )

        first = not any(is_browser(screen) for screen in self.screen_stack)
        self.home = self.home or HomeState(watches=self.config.ui.watch_home)

        def chosen(choice: FolderChoice | None) -> None:
            self.key_queue.discard()  # keys behind a choice are of the path, and no commands in the folder
            if choice is not None and choice.folder == DEMO:
                self.wants_demo = True
                self.exit(0)
            elif choice is not None:
                if choice.hit is not None:
                    self.when_opened = partial(self._go_to_hit, choice.hit)
                self.open_folder(choice.folder)
            elif first:
                self.exit(0)

        self.push_screen(FolderPickerScreen(self.home, offers_demo=first, read_only=self._read_only), chosen)

    def _go_to_hit(self, hit: "EverywhereHit") -> None:
        for screen in self.screen_stack:
            if is_browser(screen):
                screen.note_view.open_at(hit.path, hit.line, hit.text)

    def action_help(self) -> None:
        """The keys of the focused pane, then all others; Enter runs one."""
        from memtui.ui.actions import list_actions  # noqa: PLC0415 - start-up: only when a key asks for it
        from memtui.ui.screens.help import HelpScreen  # noqa: PLC0415 - start-up: loads the help

        screen = self.screen
        actions = list_actions(screen)
        around = [node for node in screen.focused.ancestors_with_self if node is not screen] if screen.focused else []
        focused = [action for action in actions if action.node in around and action.node is not self]
        others = sorted((each for each in actions if each not in focused), key=lambda each: not each.binding.show)
        self.push_screen(HelpScreen([*focused, *others]), partial(self._run_chosen, screen))

    def action_find_command(self) -> None:
        """Find a command by its name, its key or another word for it."""
        from memtui.ui.actions import list_actions  # noqa: PLC0415 - start-up: only when a key asks for it
        from memtui.ui.screens.commands import CommandScreen  # noqa: PLC0415 - start-up: loads Input and lists

        screen = self.screen
        actions = [action for action in list_actions(screen) if action.binding.id != "app.commands"]
        self.push_screen(CommandScreen(actions, self._recent_commands), partial(self._run_chosen, screen))

    async def _run_chosen(self, screen: Screen[Any], chosen: str | None) -> None:
        """Run the action of a binding, if it is still one of the topmost screen."""
        from memtui.ui.actions import list_actions  # noqa: PLC0415 - start-up: only when a key asks for it

        if chosen is None or self.screen is not screen:
            return
        for action in list_actions(screen):
            if action.binding.id == chosen:
                self._recent_commands = [chosen, *(each for each in self._recent_commands if each != chosen)]
                await self.run_action(action.binding.action, default_namespace=action.node)

    def action_choose_theme(self) -> None:
        """Choose the colours; each theme is shown while the cursor is on it."""
        from memtui.ui.screens.commands import ThemeScreen  # noqa: PLC0415 - start-up: loads Input and lists

        self.push_screen(ThemeScreen((AUTO, *palettes.OFFERED), self._chosen_theme, self._show_theme), self._keep_theme)

    def get_theme(self, theme_name: str) -> Theme | None:
        """The first theme of a name, or of several behind commas, with legible texts; `None` if there is none."""
        names = (each.strip() for each in theme_name.split(","))
        return next((palettes.get_theme(each) for each in names if each in palettes.NAMES), None)

    def _show_theme(self, name: str) -> None:
        self.theme = choose_theme(name, light=self._is_light, no_color=self.no_color)

    def _keep_theme(self, name: str | None) -> None:
        """Use a theme from now on; `None` for the one before."""
        if name is None:
            return
        self._chosen_theme = name
        self._show_theme(name)
        if self.config.theme != AUTO or "TEXTUAL_THEME" in os.environ:
            self._show_message(f'Theme "{name}" until you quit. The settings say "{self.config.theme}".')
        elif self.config.ui.remember:
            keep_theme(name)

    async def action_back(self) -> None:
        if is_browser(self.screen):
            self.screen.go_back()
        elif len(self.screen_stack) <= 2:
            self.exit(0)
        else:
            self.screen.dismiss(None)

    def action_copy_or_quit(self) -> None:
        """Copy what is selected; without a selection, the second time quits."""
        selected = self.screen.get_selected_text()
        if selected:
            self._copy_text(selected, "the selection")
        elif time.monotonic() - self._asked_to_quit < _QUIT_SECONDS:
            self.exit(130)
        else:
            self._asked_to_quit = time.monotonic()
            focused = self.screen.focused
            types = focused is not None and focused.check_consume_key("q", "q")
            self._show_message(
                f"Press {label_key('app.copy')} again to quit." if types else f"Press {label_key('app.back')} to quit."
            )

    def on_key(self, event: Key) -> None:
        """Let the key that copies, or quits, do so in dialogs too: bindings of the application do not reach there."""
        if not self.screen_stack:
            return  # it ends
        if self.screen.is_modal and any(each.id == "app.copy" for each in get_key_bindings(self, event.key)):
            event.stop()
            self.action_copy_or_quit()

    def action_suspend_process(self) -> None:
        """Stop, and leave the terminal to the shell until it brings memtui back."""
        if not can_suspend(self):
            return  # there is no terminal
        if os.getpgrp() == os.getsid(0):  # whoever owns the terminal is one of us: nobody would wake us
            self._show_warning("Cannot suspend: there is no shell to return to.")
            return
        self._suspend_signal()
        os.killpg(os.getpgrp(), signal.SIGTSTP)  # with what started us, such as a script

    def pop_screen(self) -> AwaitComplete:
        self._garbage.plan(self.screen)
        return super().pop_screen()

    async def on_event(self, event: Event) -> None:
        """As Textual does, but no key before the one that came first has been handled, and a controller that wants the
        mouse has it before the next event, which may be there already; none at the very end, when no screen is left."""
        if isinstance(event, InputEvent):
            if not self.screen_stack:
                return
            self._garbage.note_input()
        if isinstance(event, Key | Paste) and not event.is_forwarded:
            await self.key_queue.put(event)
            return
        if isinstance(event, MouseDown) and not event.is_forwarded:
            controllers = self.screen.controllers if isinstance(self.screen, ControlledScreen) else ()
            if any(controller.wants_mouse(event) for controller in controllers):
                self.screen.capture_mouse()
        await super().on_event(event)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy by any way that works here; Textual knows only that of the terminal."""
        self._copy_text(text, "")

    def _copy_text(self, text: str, name: str) -> None:
        from memtui.ui.clipboard import copy_and_report  # noqa: PLC0415 - start-up: only for a copy

        copy_and_report(
            self, text, name, lambda words, warning: (self._show_warning if warning else self._show_message)(words)
        )

    def get_driver_class(self) -> type[Driver]:
        """Textual's driver, or ours where that would be the one for Unix."""
        chosen = super().get_driver_class()
        return TerminalDriver if chosen is TerminalDriver.__base__ else chosen

    def _handle_exception(self, error: Exception) -> None:
        self.bug = self.bug or error
        super()._handle_exception(error)

    def _print_error_renderables(self) -> None:
        """Suppress Textual's traceback with the values of variables: the texts of notes."""
        suppress_error_output(self)

    def _register_child(self, parent: DOMNode, child: Widget, before: int | None, after: int | None) -> None:
        if self._keymap_of_person:
            self._rebind(get_bindings(child), self._keymap_of_person)
        super()._register_child(parent, child, before, after)

    def _show_message(self, words: str) -> None:
        if is_browser(self.screen):
            self.screen.message.show_message(words)

    def _show_warning(self, words: str, *, held: float = HELD_SECONDS) -> None:
        for screen in reversed(self.screen_stack):
            if is_browser(screen):
                screen.message.show_message(words, warning=True, held=held)
                return


def is_browser(screen: Screen[Any]) -> TypeGuard["BrowseScreen"]:
    """Whether a screen is a browser or a chat; none is before their module is loaded: an audit alone does without."""
    module = sys.modules.get("memtui.ui.screens.browse")
    return module is not None and isinstance(screen, module.BrowseScreen)


def browse(
    folder: str | None,
    *,
    state: str | None = None,
    read_only: bool = False,
    loaded: LoadedConfig | None = None,
    chat_options: "Callable[[], ChatOptions] | None" = None,
    run_demo: Callable[[], int] | None = None,
) -> int:
    """Run the browser until the person leaves it, and then the demo if she asked for it; returns the exit code.

    Arguments as of `MemtuiApp`.
    """
    app = MemtuiApp(folder, state=state, read_only=read_only, loaded=loaded)
    app.chat_options = chat_options
    code = run(app)
    return run_demo() if app.wants_demo and run_demo is not None else code


def filter_screen_settings(loaded: LoadedConfig | None) -> LoadedConfig:
    """The settings of the screen only: for temporary folders, the same for everyone; `None` for the defaults."""
    loaded = loaded or LoadedConfig()
    plain = Config()
    ui = replace(loaded.config.ui, follow=True, remember=False, view=plain.ui.view, sort=plain.ui.sort)
    return replace(loaded, config=replace(loaded.config, ui=ui, memory=plain.memory, dir=plain.dir))


def run(app: MemtuiApp) -> int:
    """Run an application until it ends; returns the exit code.

    Raises:
        Exception: A bug, once the terminal is restored: the command line logs it.
    """
    result = app.run(mouse=app.config.ui.mouse)
    if app.last_words:
        words = "".join(f"{to_one_line(line)}\n" for line in app.last_words)
        with contextlib.suppress(OSError):  # the terminal is gone: nobody is there to be told
            sys.stdout.buffer.write(words.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))
            sys.stdout.flush()
    if app.bug is not None:
        raise app.bug
    return (app.return_code or 0) if result is None else result
