"""The lines around the panes: what this is, what just happened, which keys there are."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual.app import RenderResult
from textual.binding import ActiveBinding, Binding
from textual.content import Content
from textual.events import Click
from textual.keys import key_to_character
from textual.reactive import reactive
from textual.widget import Widget

from memtui.core.visible import one_line
from memtui.ui.text import fit, fit_middle

SHOWN_KEYS = {
    "question_mark": "?",
    "colon": ":",
    "slash": "/",
    "full_stop": ".",
    "comma": ",",
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "equals_sign": "=",
    "plus": "+",
    "minus": "-",
    "number_sign": "#",
    "asterisk": "*",
    "underscore": "_",
    "enter": "Enter",
    "escape": "Esc",
    "tab": "Tab",
    "space": "Space",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "backspace": "Backspace",
    "delete": "Del",
    "insert": "Ins",
}
"""Keys by Textual's names, as people write them."""

HELD_SECONDS = 2.0
"""For how long an answer to the person is not overwritten by news."""
_GAP = 2
"""Cells between two keys of the key line."""
_FOLDER_WIDTH = 12
"""Cells that the folder's name has at least, where others can make room."""


_TYPED = {"slash_": "/", "colon_": ":"}
"""Commands that are typed, as keys that no keyboard has: so that bindings stay the only list of what can be done."""


def key_name(key: str) -> str:
    """How a key is written for people: `Ctrl+P`, `PgUp`, `?`; a command that is typed, as it is typed: `/undo`."""
    for start, sign in _TYPED.items():
        if key.startswith(start):
            return sign + key.removeprefix(start)
    *modifiers, last = key.split("+")
    name = SHOWN_KEYS.get(last) or key_to_character(last) or last
    if len(name) > 1 and name[0] == "f" and name[1:].isdecimal():
        name = name.upper()
    if not modifiers:
        return name
    return "+".join([*(each.capitalize() for each in modifiers), name.upper() if len(name) == 1 else name])


@dataclass(frozen=True, slots=True)
class Word:
    """A piece of what the header says at its right.

    Attributes:
        text: In plain words; empty for nothing.
        style: Of the theme.
        spared: Where there is little room, what has the lowest number goes first; 0 never goes.
    """

    text: str
    style: str = ""
    spared: int = 0


@dataclass(frozen=True, slots=True)
class Status:
    """What the header says.

    Attributes:
        folder: As a person writes it.
        label: A word on what this session is, such as `scripted demo`; empty for an ordinary one.
        files: How many files there are, with their bytes, in words.
        read_only: Whether nothing can be changed.
        live: `LIVE`, `POLLING`, `PAUSED`, `GONE` or `opening`; empty while there is no folder.
        follow: Whether the screen goes where something happens; `None` where nothing happens.
        program: What this is.
        words: What is said besides, between the label and the counts.
        meter: How much of a budget is used, behind the counts; nothing where nobody set one.
    """

    folder: str
    label: str = ""
    files: str = ""
    read_only: bool = False
    live: str = "opening"
    follow: bool | None = True
    program: str = "memtui"
    words: tuple[Word, ...] = ()
    meter: tuple[Word, ...] = ()


class Header(Widget):
    """The first line: the program and its folder at the left, the state at the right."""

    DEFAULT_CSS = """
    Header { height: 1; dock: top; background: $panel; color: $foreground; }
    """

    status: reactive[Status] = reactive(Status(""))

    def render(self) -> RenderResult:
        """The line; where there is little room, words go one by one, then the folder is shortened."""
        status, width = self.status, self.size.width
        program = f" {status.program}"
        if not status.live:
            return Content.assemble((program, "bold $text-primary"), "  ", one_line(status.folder))
        folder = one_line(status.folder)
        words = [word for word in _words(status) if word.text]
        while True:
            right = Content("  ").join([Content.styled(word.text, word.style) for word in words])
            room = width - cell_len(right.plain) - cell_len(program) - 5
            spared = min((word.spared for word in words if word.spared), default=0)
            if room >= min(cell_len(folder), _FOLDER_WIDTH) or not spared:
                break
            words = [word for word in words if word.spared != spared]
        folder = fit_middle(folder, max(room, 0))
        left = Content.assemble((program, "bold $text-primary"), "  ", folder)
        gap = max(width - cell_len(left.plain) - cell_len(right.plain) - 1, 1)
        return Content.assemble(left, " " * gap, right, " ").truncate(width)


def _words(status: Status) -> list[Word]:
    """All that is said at the right."""
    follow = Word("FOLLOW", "$text-accent bold", 2) if status.follow else Word("follow off", "", 2)
    live = Word(status.live, "$text-warning bold")
    if status.live.startswith("snapshot"):
        live = Word(status.live)
    elif status.live == "LIVE":
        live = Word("LIVE", "$text-success bold", 2 if status.words else 0)
    return [
        Word(status.label, "$text-warning bold"),
        *status.words,
        Word(status.files, "", 1),
        *status.meter,
        Word("READ-ONLY", "$text-warning bold") if status.read_only else Word("[RW]"),
        live,
        Word("") if status.follow is None else follow,
    ]


class MessageLine(Widget):
    """One line for what just happened; as many as it takes, up to three, for what went wrong and what became of it."""

    DEFAULT_CSS = """
    MessageLine { height: 1; padding: 0 1; color: $foreground; }
    MessageLine.-warning { height: auto; max-height: 3; color: $text-warning; }
    """

    text: reactive[str] = reactive("")
    hint: reactive[str] = reactive("")

    _held_until = 0.0
    _waiting: tuple[str, str, bool] | None = None

    def say(
        self, text: str, *, hint: str = "", warning: bool = False, is_news: bool = False, held: float = HELD_SECONDS
    ) -> None:
        """Show a sentence until the next one.

        Args:
            text: The sentence.
            hint: Keys that go with it; left out where there is no room.
            warning: Whether it is one.
            is_news: Whether nobody asked for it: it waits until the person has had time to read what she was answered.
            held: Seconds for which no news takes its place.
        """
        now = time.monotonic()
        if is_news and now < self._held_until:
            if self._waiting is None:
                self.set_timer(self._held_until - now, self._show_waiting)
            self._waiting = text, hint, warning
            return
        if not is_news:
            self._held_until, self._waiting = now + held, None
        grows = warning or self.has_class("-warning")
        self.set_class(warning, "-warning")
        self.text, self.hint = text, hint
        if grows:
            self.refresh(layout=True)

    def _show_waiting(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            text, hint, warning = waiting
            self.say(text, hint=hint, warning=warning, is_news=True)

    def render(self) -> RenderResult:
        """The sentence, cut to the line where it is no warning."""
        width = self.content_size.width
        if self.has_class("-warning") and cell_len(one_line(self.text)) > width:
            return Content(one_line(self.text))
        words = Content(fit(one_line(self.text), width))
        if self.hint and words.cell_length + 2 + cell_len(self.hint) <= width:
            return Content.assemble(words, "  ", (self.hint, "$text-accent"))
        return words


class KeyLine(Widget):
    """The keys of the focused pane, as far as there is room, with help and quit always last; a click presses one."""

    DEFAULT_CSS = """
    KeyLine { height: 1; padding: 0 1; background: $panel; color: $foreground; }
    """

    LAST: ClassVar[tuple[str, ...]] = ("app.commands", "app.help", "app.back", "past.leave", "deleted.leave")
    """Keys that are never left out: among them each screen's way back."""

    _shown: Sequence[ActiveBinding] = ()

    def on_mount(self) -> None:
        """Follow the focus."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.refresh())

    def render(self) -> RenderResult:
        """As many keys as fit."""
        shown: list[ActiveBinding] = []
        seen: set[str | None] = set()
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if not (binding.show and active.enabled and self.offers(binding)):
                continue
            if not self._is_typed(binding) and binding.id not in seen:
                seen.add(binding.id)
                shown.append(active)
        last = [active for name in self.LAST for active in shown if active.binding.id == name]
        others = [active for active in shown if active not in last]
        room = self.content_size.width + _GAP - sum(_width(active.binding) for active in last)
        fitting: list[ActiveBinding] = []
        for active in others:
            room -= _width(active.binding)
            if room < 0:
                break
            fitting.append(active)
        self._shown = (*fitting, *last)
        return Content(" " * _GAP).join([_key(active.binding) for active in self._shown])

    def offers(self, binding: Binding) -> bool:
        """Whether a key that works is worth its room where the person is."""
        del binding
        return True

    async def on_click(self, event: Click) -> None:
        """Do what the key under the mouse does."""
        event.stop()
        at = event.get_content_offset(self)
        start = 0
        for active in self._shown if at is not None else ():
            end = start + _width(active.binding)
            if at is not None and start <= at.x < end - _GAP:
                await self.app.run_action(active.binding.action, default_namespace=active.node)
                return
            start = end

    def _is_typed(self, binding: Binding) -> bool:
        """Whether the focused text box takes the key as text. Textual itself does not know `slash` as a character."""
        focused, name = self.screen.focused, key_name(binding.key)
        return focused is not None and len(name) == 1 and focused.check_consume_key(binding.key, name)


def _key(binding: Binding) -> Content:
    name = key_name(binding.key_display or binding.key.split(",")[0])
    return Content.assemble((name, "bold $text-accent"), " ", binding.description)


def _width(binding: Binding) -> int:
    return cell_len(_key(binding).plain) + _GAP
