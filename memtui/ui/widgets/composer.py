"""The box that a message is written in, with queued messages and matching commands above it."""

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from textual import getters, on
from textual.actions import SkipAction
from textual.app import ComposeResult, RenderResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import TextArea

from memtui.agents.chat.events import Attachment, Prompt
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.ui.chat_state import format_attachments
from memtui.ui.key_names import label_key
from memtui.ui.textual_private import get_key_bindings
from memtui.ui.theme import truncate
from memtui.ui.widgets.editor.keys import KEYS


class OrderedTextArea(TextArea):
    """Runs its own bindings where it handles characters, so that keys take effect in the order of typing.

    Textual runs bindings elsewhere: of keys that are typed fast, Enter may overtake the end of the sentence.
    """

    BINDINGS: ClassVar[list[BindingType]] = [each for each in KEYS if each.action.startswith("text_")]

    def action_text_start(self, select: bool = False) -> None:
        self.move_cursor((0, 0), select=select)

    def action_text_end(self, select: bool = False) -> None:
        self.move_cursor(self.document.end, select=select)

    async def _on_key(self, event: Key) -> None:
        for binding in get_key_bindings(self, event.key):
            if await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()
                return


_SHOWN_MATCHES, _SHOWN_MESSAGES = 8, 3


def _format_hints(width: int) -> str:
    """As many keys as fit."""
    send = f"{label_key('chat.send')} send"
    newline = f"{send}  {label_key('chat.newline', short=True)} newline"
    every = f"{newline}  {label_key('chat.external', short=True)} $EDITOR  / commands"
    return next((keys for keys in (every, newline, send) if len(keys) <= width), "")


class SlashCommand(NamedTuple):
    """A command of the composer: its name without the slash, and a sentence."""

    name: str
    words: str


class Composer(OrderedTextArea):
    """A box that grows with its text; Enter sends it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "send", id="chat.send", tooltip="Send the message, or run the command", show=False),
        Binding("ctrl+j", "newline", "newline", id="chat.newline", tooltip="New line", show=False),
        Binding("escape", "leave", "stop/panes", id="chat.leave", tooltip="Stop the turn, or leave the box"),
        Binding(
            "shift+tab", "policy", "policy", id="chat.next_policy", show=False,
            tooltip="Memory writes: ask first, allow, read-only",
        ),
        Binding(
            "tab", "complete", "complete", id="chat.complete", show=False,
            tooltip="Complete the command, or go to the next pane",
        ),
        Binding("up", "older", "older", id="chat.older", tooltip="Previous message", show=False),
        Binding("down", "newer", "newer", id="chat.newer", tooltip="Next message", show=False),
        Binding("ctrl+g", "external", "$EDITOR", id="chat.external", tooltip="Write in $VISUAL or $EDITOR", show=False),
        Binding("ctrl+c", "copy_or_quit", "copy", id="chat.copy_selected", tooltip="Copy the selection", show=False),
    ]  # fmt: skip

    DEFAULT_CSS = """
    Composer {
        height: auto; min-height: 3; max-height: 10; padding: 0 1; scrollbar-size-vertical: 1;
        border: round $foreground 35%; background: $background;
        border-title-color: $foreground; border-subtitle-color: $foreground;
    }
    Composer:focus { border: round $accent; border-title-color: $text-accent; border-title-style: bold; }
    Composer .text-area--placeholder { color: $foreground-muted; }
    """

    @dataclass
    class Submitted(Message):
        """The text is sent."""

        text: str

    class EscapePressed(Message):
        """The person pressed Esc."""

    class PolicyRequested(Message):
        """The person wants another policy."""

    class ExternalEditorRequested(Message):
        """The person wants the external editor."""

    class QueuedRequested(Message):
        """The person wants the last queued message back in the box."""

    class NextPaneRequested(Message):
        """The person wants to go to the next pane."""

    def __init__(self, agent: str = "Claude", *, id: str | None = None) -> None:
        placeholder = Content(f"Write to {agent}, or / for commands")
        super().__init__(id=id, highlight_cursor_line=False, placeholder=placeholder)
        self.cursor_blink = False
        self.earlier: Sequence[str] = ()
        """The messages before, oldest first."""
        self.has_queued = False
        self._at: int | None = None
        self._stashed = ""

    @property
    def box(self) -> "ComposerBox":
        """The box around it."""
        box = self.parent
        assert isinstance(box, ComposerBox)
        return box

    def set_text(self, text: str) -> None:
        """Put a text into the box, with the cursor at its end."""
        self.load_text(text)
        self.move_cursor(self.document.end)
        self._at = None

    def action_send(self) -> None:
        """Send the text. Half a command is completed first, unless it is unambiguous."""
        completed = self.box.get_completion(self.text)
        if completed is not None and not self.box.is_unambiguous(self.text):
            self.set_text(completed)
            return
        text = self.text if completed is None else completed
        if text.strip() or self.box.attachments:
            self.set_text("")  # at once: further keys belong to the next message
            self.post_message(self.Submitted(text))

    def action_newline(self) -> None:
        self.insert("\n")

    def action_leave(self) -> None:
        """Close the list of commands if it is open; else stop, or leave."""
        if self.box.has_matches(self.text):
            self.box.close_matches()
        else:
            self.post_message(self.EscapePressed())

    def action_policy(self) -> None:
        self.post_message(self.PolicyRequested())

    def action_external(self) -> None:
        self.post_message(self.ExternalEditorRequested())

    def action_complete(self) -> None:
        completed = self.box.get_completion(self.text)
        if completed is not None:
            self.set_text(completed)
        else:
            self.post_message(self.NextPaneRequested())

    def action_older(self) -> None:
        """One row up; from the first one to the message before, or to a queued one."""
        if self.box.has_matches(self.text):
            self.box.move_choice(-1)
        elif not self.navigator.is_first_wrapped_line(self.cursor_location):
            self.action_cursor_up()
        elif not self.text and self.has_queued:
            self.post_message(self.QueuedRequested())
        else:
            self._recall_message(len(self.earlier) - 1 if self._at is None else self._at - 1)

    def action_newer(self) -> None:
        """One row down; from the last one back to the next message."""
        if self.box.has_matches(self.text):
            self.box.move_choice(1)
        elif not self.navigator.is_last_wrapped_line(self.cursor_location):
            self.action_cursor_down()
        elif self._at is not None:
            self._recall_message(self._at + 1)

    def _recall_message(self, at: int) -> None:
        """Show an earlier message; behind the last one is the unfinished text."""
        if at < 0 or (self._at is None and not self.earlier):
            return
        if self._at is None:
            self._stashed = self.text
        if at >= len(self.earlier):
            self.set_text(self._stashed)
        else:
            self.set_text(self.earlier[at])
            self._at = at

    def action_copy_or_quit(self) -> None:
        """Copy what is selected; with nothing selected, the second time quits."""
        if self.selected_text:
            self.action_copy()
        else:
            raise SkipAction


class SuggestionRows(Widget):
    """The rows above the box: matching commands, and queued messages."""

    DEFAULT_CSS = """
    SuggestionRows { height: auto; padding: 0 2; background: $panel; color: $foreground; display: none; }
    """

    rows: reactive[tuple[Content, ...]] = reactive((), layout=True)

    def watch_rows(self, rows: tuple[Content, ...]) -> None:
        self.display = bool(rows)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        del container, viewport, width
        return len(self.rows)

    def render(self) -> RenderResult:
        width = self.content_size.width
        return Content("\n").join([row.truncate(width, ellipsis=True) for row in self.rows])


class ComposerBox(Vertical):
    """The composer with the rows above it."""

    DEFAULT_CSS = """
    ComposerBox { height: auto; }
    """

    composer = getters.query_one(Composer)
    suggestions = getters.query_one(SuggestionRows)

    def __init__(self, commands: Sequence[SlashCommand], agent: str = "Claude", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._agent = agent
        self._commands = self._own_commands = tuple(commands)
        self._queue: list[tuple[str, Prompt]] = []
        self._chosen = 0
        self._moved = False
        self._matched = ""
        self.matches: list[SlashCommand] = []
        """Commands that begin like the text."""
        self.attachments: tuple[Attachment, ...] = ()

    def compose(self) -> ComposeResult:
        yield SuggestionRows()
        yield Composer(self._agent, id="composer")

    def on_mount(self) -> None:
        self.update_title()

    def on_resize(self) -> None:
        self.update_title()

    def update_title(self) -> None:
        """Write the attachments and the keys into the edge."""
        if not self.is_mounted:
            return
        width = self.size.width - 6
        title = f"Message  with {format_attachments(self.attachments)}" if self.attachments else "Message"
        self.composer.border_title = Content(truncate(title, width))
        self.composer.border_subtitle = Content(_format_hints(width))

    def attach(self, attachments: tuple[Attachment, ...]) -> None:
        """Set the attachments of the message."""
        self.attachments = attachments
        self.update_title()

    def show_queue(self, queue: Sequence[Prompt], *, kept: Sequence[Prompt] = ()) -> None:
        """Show the queued messages, and those that are kept: there was no room for them in the box."""
        self._queue = [*(("kept", prompt) for prompt in kept), *(("queued", prompt) for prompt in queue)]
        self.composer.has_queued = bool(self._queue)
        self._show_rows()

    # Commands

    def offer(self, commands: Iterable[SlashCommand]) -> None:
        """List commands of the agent's behind the chat's own, which come first where both have a name."""
        own = {command.name for command in self._own_commands}
        self._commands = (*self._own_commands, *(command for command in commands if command.name not in own))
        self._matched = ""

    @on(TextArea.Changed)
    def _update_matches(self) -> None:
        self._match_commands(self.composer.text)
        self._show_rows()

    def _match_commands(self, text: str) -> None:
        """Find the commands that begin like a text. The text may be ahead of the shown rows."""
        if text == self._matched:
            return
        self._matched, self._chosen, self._moved, self.matches = text, 0, False, []
        if text == "/" or (text.startswith("/") and not any(character.isspace() for character in text)):
            begun = text[1:].lower()
            found = [each for each in self._commands if each.name.lower().startswith(begun)]
            self.matches = sorted(found, key=lambda each: each.name != begun)  # the whole name comes first

    def has_matches(self, text: str) -> bool:
        """Whether commands match a text."""
        self._match_commands(text)
        return bool(self.matches)

    def close_matches(self) -> None:
        """Close the list of commands."""
        self.matches = []
        self._show_rows()

    def move_choice(self, step: int) -> None:
        """Choose another command."""
        self._chosen, self._moved = (self._chosen + step) % len(self.matches), True
        self._show_rows()

    def get_completion(self, text: str) -> str | None:
        """The chosen command in full; `None` where there is nothing to complete."""
        command = f"/{self.matches[self._chosen].name}" if self.has_matches(text) else text
        return command if command != text else None

    def is_unambiguous(self, text: str) -> bool:
        """Whether a text can mean only the chosen command."""
        return len(text) > 1 and (self._moved or len(self.matches) == 1)

    def _show_rows(self) -> None:
        rows = [_format_queued(word, prompt) for word, prompt in self._queue[-_SHOWN_MESSAGES:]]
        if len(self._queue) > _SHOWN_MESSAGES:
            rows.insert(0, Content(f"{len(self._queue) - _SHOWN_MESSAGES} more queued"))
        first = max(0, min(self._chosen - _SHOWN_MATCHES + 2, len(self.matches) - _SHOWN_MATCHES))
        for number, command in enumerate(self.matches[first : first + _SHOWN_MATCHES], start=first):
            mark, style = (">", "bold $text-accent") if number == self._chosen else (" ", "$text-accent")
            rows.append(Content.assemble(f"{mark} ", (f"/{command.name:<10}", style), command.words))
        if len(self.matches) > _SHOWN_MATCHES:
            rows.append(Content(f"  {self._chosen + 1} of {len(self.matches)}, Up/Down show more"))
        self.suggestions.rows = tuple(rows)


def _format_queued(word: str, prompt: Prompt) -> Content:
    files = f"  (with {format_attachments(prompt.attachments)})" if prompt.attachments else ""
    return Content.assemble((f"{word}: ", "bold $text-warning"), to_one_line(prompt.text) + files)


class ComposerDrafts:
    """The unsent texts of one folder, beside its sessions, so that a crash or a closed terminal loses nothing.

    Each process has a file of its own, so that two chats over one folder do not overwrite each other's.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._own = directory / f"draft-{os.getpid()}.txt"
        self._saved = ""

    def claim(self) -> str:
        """The drafts of processes that have ended; they belong to this process from now on."""
        texts = []
        for path in sorted(self._directory.glob("draft-*.txt")):
            number = path.name.removeprefix("draft-").removesuffix(".txt")
            if number.isdecimal() and (int(number) == os.getpid() or not _is_running(int(number))):
                with contextlib.suppress(OSError):
                    text = path.read_text(encoding="utf-8", errors="replace")
                    texts.append(text)
                    if path == self._own:
                        self._saved = text
                    else:
                        self.save("\n\n".join(filter(None, texts)))
                        path.unlink()
        return "\n\n".join(filter(None, texts))

    def save(self, text: str) -> None:
        """Replace the draft; an empty text removes it.

        Raises:
            OSError: It cannot be written.
        """
        if text == self._saved:
            return
        if text:
            from memtui.editing.external_editor import write_private  # noqa: PLC0415 - start-up: for a draft only

            write_private(self._own, text.encode("utf-8", "replace"))
        else:
            with contextlib.suppress(FileNotFoundError):
                self._own.unlink()
        self._saved = text


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True
