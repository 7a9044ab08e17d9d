"""The lines around the panes: header, message line, key line, banners and titles."""

import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from rich.cells import cell_len
from textual.app import RenderResult
from textual.binding import ActiveBinding, Binding
from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.reactive import reactive
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from memtui.core import wording
from memtui.core.approvals import EVERYWHERE, format_scope
from memtui.core.events import Agent, Event, LastChange, format_actor_in_sentence, format_actor_name
from memtui.core.lazy_dataclass import dataclass
from memtui.core.settings import AuditSettings, Budget, Settings, compute_budgets
from memtui.core.unicode import to_one_line
from memtui.core.wording import estimate_token_count_from_length
from memtui.ui.key_names import format_key
from memtui.ui.textual_private import set_border_titles
from memtui.ui.theme import truncate, truncate_middle
from memtui.ui.widgets.activity import ActivityCounters
from memtui.ui.widgets.tree.outline import Outline, SortOrder
from memtui.ui.widgets.tree.row_state import RowChange

HELD_SECONDS = 2.0
"""Seconds for which no news replaces an answer to the person."""
_GAP = 2
"""Cells between two keys."""
_WORK_SECONDS = 4.0
"""For how long an agent is said to be at work after an event."""
_TURN_SECONDS = 0.25
_SIGNS = "▖▘▝▗"
_NAME_WIDTH = 20
_FOLDER_WIDTH = 12
"""Least cells of the folder's name, where others can make room."""


@dataclass(frozen=True, slots=True)
class HeaderItem:
    """An item at the right of the header.

    Attributes:
        style: Of the theme.
        spared: Where there is little room, the lowest number goes first; 0 never goes.
    """

    text: str
    style: str = ""
    spared: int = 0


@dataclass(frozen=True, slots=True)
class HeaderStatus:
    """The content of the header.

    Attributes:
        label: The kind of session, such as `scripted demo`; empty for an ordinary one.
        agent: The agent whose folder it is; empty for none in particular.
        files: The number and size of the files, in words.
        live: `LIVE`, `POLLING`, `PAUSED`, `GONE`, `OFFLINE` or `opening`; empty while there is no folder.
        follow: Whether the screen follows events; `None` if it does not apply.
        words: Items between the label and the counts.
        meter: The use of a budget, behind the counts.
        consents: What agents may change without a question.
    """

    folder: str
    label: str = ""
    agent: str = ""
    files: str = ""
    read_only: bool = False
    live: str = "opening"
    follow: bool | None = True
    program: str = "memtui"
    words: tuple[HeaderItem, ...] = ()
    meter: tuple[HeaderItem, ...] = ()
    consents: tuple[str, ...] = ()


class Header(Widget):
    """The first line: the program and its folder at the left, the state at the right."""

    DEFAULT_CSS = """
    Header { height: 1; dock: top; background: $panel; color: $foreground; }
    """

    status: reactive[HeaderStatus] = reactive(HeaderStatus(""))
    _working: Mapping[str, tuple[str, float]] = MappingProxyType({})
    """What agents do, each with the time until which it is shown."""
    _timer: Timer | None = None
    _frame = 0

    def show_work(self, events: Sequence[Event]) -> None:
        """Show for a moment what agents do by these events."""
        until = time.monotonic() + _WORK_SECONDS
        verbs = {
            format_actor_name(event.actor): ("reading" if event.command == "view" else "writing", until)
            for event in events
            if isinstance(event.actor, Agent)
        }
        if verbs:
            self._working = {**self._working, **verbs}
            self.refresh()
            if self._timer is None:
                self._timer = self.set_interval(_TURN_SECONDS, self._turn)

    def _turn(self) -> None:
        """Turn the sign of work, and stop with the work."""
        now, before = time.monotonic(), self._working
        self._frame += 1
        self._working = {name: (verb, until) for name, (verb, until) in before.items() if until > now}
        if not self._working and self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._working != before or self.app.animation_level != "none":
            self.refresh()

    def _describe_work(self) -> str:
        """`Claude is writing`, with a sign that turns where motion is wanted; empty if no agent is at work."""
        if not self._working:
            return ""
        name, more = next(reversed(list(self._working))), len(self._working) - 1
        verb, _ = self._working[name]
        sign = "" if self.app.animation_level == "none" else f"{_SIGNS[self._frame % len(_SIGNS)]} "
        others = f" +{more}" if more else ""
        return f"{sign}{truncate(to_one_line(name), _NAME_WIDTH)} is {verb}{others}"

    def render(self) -> RenderResult:
        """The line; where there is little room, words go one by one, then the folder is shortened."""
        status, width = self.status, self.size.width
        program = f" {status.program}"
        if not status.live:
            return Content.assemble((program, "bold $text-primary"), "  ", to_one_line(status.folder))
        folder = to_one_line(status.folder)
        words = [word for word in _list_items(status, self._describe_work()) if word.text]
        while True:
            right = Content("  ").join([Content.styled(word.text, word.style) for word in words])
            room = width - cell_len(right.plain) - cell_len(program) - 5
            spared = min((word.spared for word in words if word.spared), default=0)
            if room >= min(cell_len(folder), _FOLDER_WIDTH) or not spared:
                break
            words = [word for word in words if word.spared != spared]
        folder = truncate_middle(folder, max(room, 0))
        left = Content.assemble((program, "bold $text-primary"), "  ", folder)
        gap = max(width - cell_len(left.plain) - cell_len(right.plain) - 1, 1)
        return Content.assemble(left, " " * gap, right, " ").truncate(width)


def format_consents(scopes: Sequence[str]) -> str:
    """Where agents need not ask, for the header; empty for nowhere."""
    if not scopes:
        return ""
    first = truncate_middle(format_scope(EVERYWHERE if EVERYWHERE in scopes else scopes[0]), 28)
    return f"allowed: {first}" + (f" +{len(scopes) - 1}" if len(scopes) > 1 else "")


_LIVE = {"LIVE": "", "POLLING": "not live", "GONE": "missing", "OFFLINE": "offline"}
"""What the header says of how changes are noticed: nothing of the ordinary way."""


def _list_items(status: HeaderStatus, working: str) -> list[HeaderItem]:
    is_plain = status.live.startswith(("snapshot", "watching")) or status.live == "opening"
    return [
        HeaderItem(working, "$text-secondary", 1),
        HeaderItem(status.label, "$text-warning bold"),
        HeaderItem(status.agent, "$text-muted", 1),
        *status.words,
        HeaderItem(format_consents(status.consents), "$text-warning bold"),
        HeaderItem("following" if status.follow else "", "$text-accent", 2),
        HeaderItem(status.files, "", 1),
        *status.meter,
        HeaderItem("READ-ONLY" if status.read_only else "", "$text-warning bold"),
        HeaderItem(_LIVE.get(status.live, status.live), "" if is_plain else "$text-warning bold"),
    ]


class MessageLine(Widget):
    """One line for the last message; up to three for a warning."""

    DEFAULT_CSS = """
    MessageLine { height: 1; padding: 0 1; color: $foreground; }
    MessageLine.-warning { height: auto; max-height: 3; color: $text-warning; }
    """

    text: reactive[str] = reactive("")
    hint: reactive[str] = reactive("")

    _held_until = 0.0
    _waiting: tuple[str, str, bool, bool] | None = None

    def show_message(
        self, text: str, *, hint: str = "", warning: bool = False, is_news: bool = False, is_offer: bool = False,
        held: float = HELD_SECONDS,
    ) -> None:  # fmt: skip
        """Show a sentence until the next one.

        Args:
            text: The sentence.
            hint: Keys that go with it; left out where there is no room.
            warning: Whether it is one.
            is_news: Whether the person did not ask for it: it waits until an answer has been read.
            is_offer: Whether it is news that the person may want to act on: other news does not take its place.
            held: Seconds for which no news takes its place.
        """
        now = time.monotonic()
        if is_news and now < self._held_until:
            if self._waiting is None:
                self.set_timer(self._held_until - now, self._show_pending)
            if is_offer or self._waiting is None or not self._waiting[-1]:
                self._waiting = text, hint, warning, is_offer
            return
        if is_offer or not is_news:
            self._held_until, self._waiting = now + held, None
        grows = warning or self.has_class("-warning")
        self.set_class(warning, "-warning")
        self.text, self.hint = text, hint
        if grows:
            self.refresh(layout=True)

    def _show_pending(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            text, hint, warning, is_offer = waiting
            self.show_message(text, hint=hint, warning=warning, is_news=True, is_offer=is_offer)

    def render(self) -> RenderResult:
        """The sentence, cut to the line where it is no warning."""
        width = self.content_size.width
        if self.has_class("-warning") and cell_len(to_one_line(self.text)) > width:
            return Content(to_one_line(self.text))
        words = Content(truncate(to_one_line(self.text), width))
        if self.hint and words.cell_length + 2 + cell_len(self.hint) <= width:
            return Content.assemble(words, "  ", (self.hint, "$text-accent"))
        return words


class KeyLine(Widget):
    """The keys of the focused pane that have room, with `LAST_BINDINGS` always at the end; a click presses one."""

    DEFAULT_CSS = """
    KeyLine { height: 1; padding: 0 1; background: $panel; color: $foreground; }
    """

    LAST_BINDINGS: ClassVar[tuple[str, ...]] = ("app.commands", "app.help", "app.back", "past.leave", "deleted.leave")
    """Ids of bindings that are never left out, such as each screen's way back."""

    _shown: Sequence[ActiveBinding] = ()

    def __init__(self, *last: str) -> None:
        """Show the bindings with these ids last, instead of those of `LAST_BINDINGS`."""
        super().__init__()
        self._last = last or self.LAST_BINDINGS

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.refresh())

    def render(self) -> RenderResult:
        shown: list[ActiveBinding] = []
        seen: set[str | None] = set()
        for active in self.screen.active_bindings.values():
            binding = active.binding
            is_shown = binding.show and active.enabled and self.should_show(binding)
            if is_shown and not self._is_text_input(binding) and binding.id not in seen:
                seen.add(binding.id)
                shown.append(active)
        last = [active for name in self._last for active in shown if active.binding.id == name]
        others = [active for active in shown if active not in last]
        room = self.content_size.width + _GAP - sum(_measure_binding(active.binding) for active in last)
        fitting: list[ActiveBinding] = []
        for active in others:
            room -= _measure_binding(active.binding)
            if room < 0:
                break
            fitting.append(active)
        self._shown = (*fitting, *last)
        return Content(" " * _GAP).join([_format_binding(active.binding) for active in self._shown])

    def should_show(self, binding: Binding) -> bool:
        """Whether an enabled key is worth its room here."""
        del binding
        return True

    async def on_click(self, event: Click) -> None:
        """Run the action of the key under the mouse."""
        event.stop()
        at = event.get_content_offset(self)
        start = 0
        for active in self._shown if at is not None else ():
            end = start + _measure_binding(active.binding)
            if at is not None and start <= at.x < end - _GAP:
                await self.app.run_action(active.binding.action, default_namespace=active.node)
                return
            start = end

    def _is_text_input(self, binding: Binding) -> bool:
        """Whether the focused text box takes the key as text. Textual itself does not know `slash` as a character."""
        focused, name = self.screen.focused, format_key(binding.key)
        return focused is not None and len(name) == 1 and focused.check_consume_key(binding.key, name)


def _format_binding(binding: Binding) -> Content:
    name = format_key(binding.key_display or binding.key.split(",")[0])
    return Content.assemble((name, "bold $text-accent"), " ", binding.description)


def _measure_binding(binding: Binding) -> int:
    return cell_len(_format_binding(binding).plain) + _GAP


# What must not be overlooked: a loud line above the panes, for as long as it is the case.


class Banner(Widget):
    """An alarm over the whole width; on a narrow screen the remedy stands below the case."""

    DEFAULT_CSS = """
    Banner {
        height: auto; padding: 0 1; background: $error; color: auto 95%; text-style: bold;
        &.-warning { background: $warning; }
        &:ansi { background: ansi_red; color: ansi_bright_white; }
        &.-warning:ansi { background: ansi_yellow; color: ansi_black; }
    }
    """

    case: reactive[str] = reactive("", layout=True)
    """The alarm; may hold names from outside."""
    remedy: reactive[str] = reactive("", layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        del container, viewport
        return self._build_lines(width).plain.count("\n") + 1

    def render(self) -> RenderResult:
        """What is the case, then what can be done."""
        return self._build_lines(self.content_size.width)

    def _build_lines(self, width: int) -> Content:
        case = to_one_line(self.case)
        whole = f"{case} {self.remedy}".rstrip()
        if cell_len(whole) <= width or not self.remedy:
            return Content(truncate(whole, width))
        return Content("\n".join([*_wrap_lines(case, width), truncate(self.remedy, width)]))


def _wrap_lines(case: str, width: int) -> list[str]:
    """At most two rows."""
    head, last = case, ""
    while cell_len(head) > width and " " in head:
        head, _, word = head.rpartition(" ")
        last = f"{word} {last}".rstrip()
    return [truncate_middle(row, width) for row in (head, last) if row]


def show_banner(screen: Screen[None], name: str, case: str, remedy: str, *, before: str) -> None:
    """Put a banner above the widget `before`, or remove it where `case` is empty; `loss` is the loudest one."""
    known = screen.query(f"#{name}")
    if not case:
        known.remove()
        return
    if known:
        banner = known.first(Banner)
    else:
        banner = Banner(id=name, classes="" if name == "loss" else "-warning")
        screen.mount(banner, before=before)
    banner.case, banner.remedy = case, remedy


# How much of a folder's budget is used, as the header says it: only where somebody set one, or where it is near.

_CELLS = 6


def build_budget_items(files: int, size: int | None, memory: Settings, audit: AuditSettings) -> tuple[HeaderItem, ...]:
    """The budget that is used up most, if one is set or nearly used up.

    Args:
        files: The number of files.
        size: Their bytes; `None` if not known. Tokens are estimated from them.
        memory: The limits for agents.
        audit: The limits for audits.
    """
    if size is None:
        return ()
    budgets = compute_budgets(
        files=files, bytes=size, tokens=estimate_token_count_from_length(size), memory=memory, audit=audit
    )
    shown = [budget for budget in budgets if budget.is_near or budget.name == "tokens"]
    if not shown:
        return ()
    worst = max(shown, key=lambda budget: budget.share)
    filled = "#" * round(min(worst.share, 1.0) * _CELLS)
    style = "$text-error bold" if worst.is_over else "$text-warning" if worst.is_near else ""
    used = "over" if worst.share >= 2 else f"{worst.percent} of"
    return (HeaderItem(f"[{filled:-<{_CELLS}}] {used} {_format_limit(worst)}", style, 1),)


def _format_limit(budget: Budget) -> str:
    match budget.name:
        case "bytes":
            return wording.format_size(budget.limit)
        case "tokens":
            return f"{wording.format_short_count(budget.limit)} tok".replace(".0", "")
        case _:
            return f"{budget.limit:,} {budget.name}"


# The words in the edges of the panes.


_EDGE = 6
"""Cells of an edge that are not for its words."""


class PaneTitles:
    """The titles in the edges of the panes."""

    def __init__(self) -> None:
        self._shown: dict[str | None, tuple[str, str]] = {}

    def set_title(self, pane: Widget, title: str, subtitle: str = "") -> None:
        """Set the titles of a pane, if they changed: each time costs a repaint. A long title is cut in its middle."""
        if pane.outer_size.width > _EDGE:
            title = truncate_middle(title, pane.outer_size.width - _EDGE)
        if self._shown.get(pane.id) != (title, subtitle):
            self._shown[pane.id] = (title, subtitle)
            set_border_titles(pane, title, subtitle)


def format_files_title(title: str, outline: Outline, unseen: Mapping[RowChange, int], selected: int = 0) -> str:
    """The sort order, unless by name, the number of selected files, and those of unseen changes: `+1 ~3 -39`."""
    sort = "" if outline.sort is SortOrder.NAME and not outline.reverse else f"  by {outline.sort.value}"
    kinds = " ".join(f"{change.value}{unseen[change]:,}" for change in RowChange if unseen.get(change))
    return f"{title}{sort}" + (f"  selected {selected:,}" if selected else "") + (f"  {kinds}" if kinds else "")


def format_note_subtitle(words: Mapping[str, str], width: int) -> str:
    """The words in the lower edge of a pane of so many cells; the size gives way first, then the change, the lines."""
    left = {name: to_one_line(word) for name, word in words.items() if word}
    for name in ("size", "change", "lines"):
        if cell_len("   ".join(left.values())) > width - _EDGE:
            left.pop(name, None)
    return "   ".join(left.values())


def format_activity_title(title: str, counters: ActivityCounters) -> str:
    rare = [(name, count) for name, count in (("refused", counters.refused), ("others", counters.outside)) if count]
    counts = [("all", counters.all), ("writes", counters.writes), *rare]
    return "  ".join([title, *(f"{name} {count:,}" for name, count in counts)])


def format_last_change(change: LastChange | None) -> str:
    """The author and age of a note's last change; empty if there is none."""
    if change is None:
        return ""
    seconds = time.time() - change.event.at_us / 1e6
    return f"{format_actor_in_sentence(change.event.actor)} {wording.format_age(seconds)} ago"
