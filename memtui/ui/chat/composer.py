"""The box that a message is written in, with what waits and what can be typed shown above it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import getters, on
from textual.actions import SkipAction
from textual.app import ComposeResult, RenderResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import TextArea

from memtui.agents.chat.events import Attachment, Prompt
from memtui.core.visible import one_line
from memtui.ui.chat.ordered import OrderedTextArea
from memtui.ui.chat.talk import named
from memtui.ui.text import fit

_SHOWN = 8
"""Rows of completions that are shown at once."""
_QUEUED = 3
"""Waiting messages that are shown, each in a row."""
HINTS = ("Enter send  ^J newline  ^G $EDITOR  / commands", "Enter send  ^J newline", "Enter send")


@dataclass(frozen=True, slots=True)
class Command:
    """What can be typed after a slash.

    Attributes:
        name: Without the slash.
        words: What it does.
    """

    name: str
    words: str


class Composer(OrderedTextArea):
    """A text that grows with what is typed; Enter sends it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter", "send", "send", id="chat.send", tooltip="Send the message, or run the command",
            show=False,
        ),
        Binding(
            "ctrl+j", "newline", "newline", id="chat.newline", tooltip="A new line in the message",
            show=False,
        ),
        Binding(
            "escape", "leave", "stop/panes", id="chat.leave",
            tooltip="Stop the turn; if none runs, leave the box",
        ),
        Binding(
            "shift+tab", "policy", "policy", id="chat.next_policy", show=False,
            tooltip="Writes to memory: ask first, allow, read-only",
        ),
        Binding(
            "tab", "complete", "complete", id="chat.complete", show=False,
            tooltip="Complete the command; otherwise to the next pane",
        ),
        Binding("up", "older", "older", id="chat.older", tooltip="The message before", show=False),
        Binding("down", "newer", "newer", id="chat.newer", tooltip="The message after", show=False),
        Binding(
            "ctrl+g", "external", "$EDITOR", id="chat.external", tooltip="Write in $VISUAL or $EDITOR",
            show=False,
        ),
        Binding("ctrl+c", "copy_or_quit", "copy", id="chat.copy_selected", tooltip="Copy what is selected", show=False),
    ]  # fmt: skip

    DEFAULT_CSS = """
    Composer {
        height: auto; min-height: 3; max-height: 10; padding: 0 1; scrollbar-size-vertical: 1;
        border: round $foreground 35%; background: $background;
        border-title-color: $foreground; border-subtitle-color: $foreground;
    }
    Composer:focus { border: round $accent; border-title-color: $text-accent; border-title-style: bold; }
    Composer .text-area--placeholder { color: $foreground 75%; }
    """

    class Said(Message):
        """Something that the person wants of the box's screen."""

    class Sent(Said):
        """She sends what is written."""

        def __init__(self, text: str) -> None:
            """Tell what."""
            super().__init__()
            self.text = text

    class Left(Said):
        """She pressed Esc."""

    class PolicyWanted(Said):
        """She wants another policy."""

    class ExternalWanted(Said):
        """She wants her own editor."""

    class QueuedWanted(Said):
        """She wants the last message that waits back in the box."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            id=id, highlight_cursor_line=False, tab_behavior="focus", soft_wrap=True, compact=False,
            placeholder=Content("Write to Claude, or / for commands"),
        )  # fmt: skip
        self.cursor_blink = False
        self.earlier: Sequence[str] = ()
        """What was said before, oldest first."""
        self.has_queued = False
        """Whether messages wait."""
        self._at: int | None = None
        self._stashed = ""

    @property
    def box(self) -> "MessageBox":
        """What it stands in."""
        box = self.parent
        assert isinstance(box, MessageBox)
        return box

    def put(self, text: str) -> None:
        """Put a text into the box, with the cursor at its end."""
        self.load_text(text)
        self.move_cursor(self.document.end)
        self._at = None

    def action_send(self) -> None:
        """Send it. Half a command is completed first, unless there is only one that it can be."""
        completed = self.box.completed(self.text)
        if completed is not None and not self.box.is_sure(self.text):
            self.put(completed)
            return
        text = self.text if completed is None else completed
        if text.strip() or self.box.attachments:
            self.put("")  # at once: what is typed from now on belongs to the next message
            self.post_message(self.Sent(text))

    def action_newline(self) -> None:
        """A new line."""
        self.insert("\n")

    def action_leave(self) -> None:
        """Stop, or leave; an open list of commands is closed first."""
        if self.box.has_matches(self.text):
            self.box.dismiss()
        else:
            self.post_message(self.Left())

    def action_policy(self) -> None:
        """Another policy."""
        self.post_message(self.PolicyWanted())

    def action_external(self) -> None:
        """Another editor."""
        self.post_message(self.ExternalWanted())

    def action_complete(self) -> None:
        """Complete the command, or go on."""
        completed = self.box.completed(self.text)
        if completed is not None:
            self.put(completed)
        else:
            self.box.go_on()

    def action_older(self) -> None:
        """One row up; from the first one to what was said before, or to what waits."""
        if self.box.has_matches(self.text):
            self.box.move(-1)
        elif not self.navigator.is_first_wrapped_line(self.cursor_location):
            self.action_cursor_up()
        elif not self.text and self.has_queued:
            self.post_message(self.QueuedWanted())
        else:
            self._go(len(self.earlier) - 1 if self._at is None else self._at - 1)

    def action_newer(self) -> None:
        """One row down; from the last one back towards what was being written."""
        if self.box.has_matches(self.text):
            self.box.move(1)
        elif not self.navigator.is_last_wrapped_line(self.cursor_location):
            self.action_cursor_down()
        elif self._at is not None:
            self._go(self._at + 1)

    def _go(self, at: int) -> None:
        """To a message of earlier; behind the last one is what was being written."""
        if at < 0 or (self._at is None and not self.earlier):
            return
        if self._at is None:
            self._stashed = self.text
        if at >= len(self.earlier):
            self.put(self._stashed)
        else:
            self.put(self.earlier[at])
            self._at = at

    def action_copy_or_quit(self) -> None:
        """Copy what is selected; with nothing selected, the second time quits."""
        if self.selected_text:
            self.action_copy()
        else:
            raise SkipAction


class Above(Widget):
    """The rows above the box: commands that match what is typed, and messages that wait."""

    DEFAULT_CSS = """
    Above { height: auto; padding: 0 2; background: $panel; color: $foreground; display: none; }
    """

    rows: reactive[tuple[Content, ...]] = reactive((), layout=True)

    def watch_rows(self, rows: tuple[Content, ...]) -> None:
        """Where there is nothing to say, there is no room taken."""
        self.display = bool(rows)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """A row each."""
        del container, viewport, width
        return len(self.rows)

    def render(self) -> RenderResult:
        """The rows, cut to the line."""
        width = self.content_size.width
        return Content("\n").join([row.truncate(width, ellipsis=True) for row in self.rows])


class MessageBox(Vertical):
    """The box with what stands above it.

    Args:
        commands: What can be typed after a slash.
        id: The widget's id in the DOM.
    """

    DEFAULT_CSS = """
    MessageBox { height: auto; }
    """

    composer = getters.query_one(Composer)
    above = getters.query_one(Above)

    class GoOn(Message):
        """The person wants to go to the next pane."""

    def __init__(self, commands: Sequence[Command], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._commands = commands
        self._queue: list[tuple[str, Prompt]] = []
        self._chosen = 0
        self._moved = False
        self._matched = ""
        self.matches: list[Command] = []
        """Commands that begin as what is typed does."""
        self.attachments: tuple[Attachment, ...] = ()
        """Files that go with the message."""

    def compose(self) -> ComposeResult:
        """Rows, then the box."""
        yield Above()
        yield Composer(id="composer")

    def on_mount(self) -> None:
        """Say what this is."""
        self.entitle()

    def on_resize(self) -> None:
        """As many hints as fit."""
        self.entitle()

    def entitle(self) -> None:
        """What goes along, and the keys."""
        if not self.is_mounted:
            return
        width = self.size.width - 6
        title = f"Message  with {named(self.attachments)}" if self.attachments else "Message"
        self.composer.border_title = Content(fit(title, width))
        self.composer.border_subtitle = Content(next((hint for hint in HINTS if len(hint) <= width), ""))

    def attach(self, attachments: tuple[Attachment, ...]) -> None:
        """These files go with the message."""
        self.attachments = attachments
        self.entitle()

    def show_queue(self, queue: Sequence[Prompt], *, kept: Sequence[Prompt] = ()) -> None:
        """These messages wait.

        Args:
            queue: They are sent one after the other.
            kept: They are not sent by themselves; there was no room for them in the box.
        """
        self._queue = [*(("kept", prompt) for prompt in kept), *(("queued", prompt) for prompt in queue)]
        self.composer.has_queued = bool(self._queue)
        self._show()

    def go_on(self) -> None:
        """To the next pane."""
        self.post_message(self.GoOn())

    # Commands

    @on(TextArea.Changed)
    def _find_commands(self) -> None:
        self._match(self.composer.text)
        self._show()

    def _match(self, text: str) -> None:
        """Find the commands that begin as a text does. What is typed may be ahead of what is shown."""
        if text == self._matched:
            return
        self._matched, self._chosen, self._moved, self.matches = text, 0, False, []
        if text == "/" or (text.startswith("/") and text[1:].isalpha()):
            self.matches = [each for each in self._commands if each.name.startswith(text[1:].lower())]

    def has_matches(self, text: str) -> bool:
        """Whether commands are offered for a text."""
        self._match(text)
        return bool(self.matches)

    def dismiss(self) -> None:
        """Close the list of commands."""
        self.matches = []
        self._show()

    def move(self, step: int) -> None:
        """Choose another command."""
        self._chosen, self._moved = (self._chosen + step) % len(self.matches), True
        self._show()

    def completed(self, text: str) -> str | None:
        """The chosen command in full; `None` where there is nothing to complete."""
        self._match(text)
        if not self.matches or text == f"/{self.matches[self._chosen].name}":
            return None
        return f"/{self.matches[self._chosen].name}"

    def is_sure(self, text: str) -> bool:
        """Whether what is typed can mean only the chosen command."""
        return len(text) > 1 and (self._moved or len(self.matches) == 1)

    def _show(self) -> None:
        rows = [_queued(word, prompt) for word, prompt in self._queue[-_QUEUED:]]
        if len(self._queue) > _QUEUED:
            rows.insert(0, Content(f"{len(self._queue) - _QUEUED} more wait"))
        first = max(0, min(self._chosen - _SHOWN + 2, len(self.matches) - _SHOWN))
        for number, command in enumerate(self.matches[first : first + _SHOWN], start=first):
            mark, style = (">", "bold $text-accent") if number == self._chosen else (" ", "$text-accent")
            rows.append(Content.assemble(f"{mark} ", (f"/{command.name:<10}", style), command.words))
        if len(self.matches) > _SHOWN:
            rows.append(Content(f"  {self._chosen + 1} of {len(self.matches)}, Up and Down show the others"))
        self.above.rows = tuple(rows)


def _queued(word: str, prompt: Prompt) -> Content:
    files = f"  (with {named(prompt.attachments)})" if prompt.attachments else ""
    return Content.assemble((f"{word}: ", "bold $text-warning"), one_line(prompt.text) + files)
