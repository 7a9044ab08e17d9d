"""The history of one path: its versions at the left, and at the right what one of them changed.

The screen routes. Threads read, compare and restore, and post messages; the engine reports new events, so that the list
grows while the person reads.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static
from textual.worker import get_current_worker

from memtui.core import wording
from memtui.core.diffs import Hunk
from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.events import EntryKind, Event, Person
from memtui.core.history import PathVersion
from memtui.core.unicode import to_one_line
from memtui.ui.frame import Header, HeaderStatus, KeyLine, MessageLine
from memtui.ui.key_names import label_key
from memtui.ui.screens.above_browser import DiffPaneScreen
from memtui.ui.screens.panes import FOCUS_BINDINGS, show_too_small
from memtui.ui.widgets import compare
from memtui.ui.widgets.compare import (
    EventRecorded,
    HistoryActionFinished,
    PairDetailView,
    VersionsCompared,
    VersionsRead,
)
from memtui.ui.widgets.diff.view import DIFF_KEYS, DiffView
from memtui.ui.widgets.versions import Key as VersionKey
from memtui.ui.widgets.versions import VersionsView, get_version_key

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine


_FIRST = 200
"""Versions that are read before all others: a path may have thousands."""
_NEW = 32
"""Versions that are read after a new event, before all are."""
_LOOK_SECONDS = 2.0
"""Seconds between two checks for events of other programs; the engine reports those of this one only."""
_ANSWER_SECONDS = 5.0
"""How long an answer to the person stays on the message line."""
_WELCOME = "Restore adds a new version; nothing is lost."


class HistoryScreen(DiffPaneScreen):
    """The versions of one path.

    Args:
        engine: The memory.
        path: Relative to the folder; it may be deleted.
        title: The name of the folder.
        diff_first: Whether the diff has the focus at first, and not the versions.
        at: The event whose version is selected at first; `None` for the newest.
        live: The state in the header.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left_square_bracket", "version(1)", "older", id="history.older", tooltip="To the older version"),
        Binding("right_square_bracket", "version(-1)", "newer", id="history.newer", tooltip="To the newer version"),
        Binding("R", "restore", "restore", id="history.restore", tooltip="Restore the selected version, or A"),
        *DIFF_KEYS[:1],
        Binding("r", "take_back", "revert hunk", id="history.take_back", tooltip="Revert only this hunk"),
        *DIFF_KEYS[1:],
        Binding("y", "copy", "copy patch", id="history.copy", tooltip="Copy the diff as a patch"),
        Binding("u", "undo", "undo", id="history.undo", tooltip="Undo the event under the cursor", show=False),
        Binding("U", "redo", "redo", id="history.redo", tooltip="Redo the event under the cursor", show=False),
        Binding("v", "other_pane", "diff", id="history.other_pane", tooltip="Versions or diff", show=False),
        *FOCUS_BINDINGS,
        Binding("1", "pane('versions')", "versions", id="history.versions", tooltip="To the versions", show=False),
        Binding("2", "pane('diff')", "diff", id="history.diff", tooltip="To the diff", show=False),
        Binding("escape", "back", "back", id="history.back", tooltip="Clear A and B, or go back"),
        Binding("q", "dismiss", "back", id="history.leave", tooltip="Back to the files", show=False),
    ]  # fmt: skip

    DEFAULT_CSS = """
    HistoryScreen {
        #history-body { height: 1fr; }
        #versions { width: 34; height: 1fr; }
        #diff { width: 1fr; height: 1fr; }

        &.-medium #versions { width: 32; }
        &.-wide #versions { width: 40; }
        &.-high PairDetailView { height: 2; }
    }
    """

    BANNER_ANCHOR = "#history-body"
    CHANGES = frozenset({"restore", "take_back", "undo", "redo"})
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-medium"), (160, "-wide")]  # noqa: RUF012 - as Textual has it
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]  # noqa: RUF012

    header = getters.query_one(Header)
    versions = getters.query_one("#versions", VersionsView)
    about = getters.query_one(PairDetailView)

    def __init__(
        self,
        engine: "Engine",
        path: str,
        *,
        title: str,
        diff_first: bool = False,
        at: int | None = None,
        live: str = "LIVE",
    ) -> None:
        super().__init__()
        self._engine, self._path, self._folder = engine, path, title
        self._diff_first, self._at, self._live = diff_first, at, live
        self._loaded = False
        self._complete = False
        self._picked: list[VersionKey] = []
        self._is_between = False
        self._pair: compare.VersionPair | None = None
        self._shown: compare.VersionComparison | None = None
        self._unsubscribe: Callable[[], None] | None = None
        self._head = -1
        self._answered_at = -_ANSWER_SECONDS
        self._reading = False
        self._stale = False

    def compose(self) -> ComposeResult:
        yield Header()
        with Horizontal(id="history-body"):
            yield VersionsView(id="versions", classes="pane")
            yield DiffView(id="diff", classes="pane")
        yield PairDetailView()
        yield MessageLine(id="message")
        words = f"READ-ONLY: nothing under {to_one_line(self._folder)} can be changed from this session."
        yield Static(Content(words), id="read-only")
        yield KeyLine("app.commands", "app.help", "history.back")
        yield Static(id="too-small", markup=False)

    def on_mount(self) -> None:
        self.set_class(self._engine.read_only, "-read-only")
        self._show_status()
        self.message.show_message("" if self._engine.read_only else _WELCOME)
        (self.diff if self._diff_first else self.versions).focus()
        self._unsubscribe = self._engine.subscribe(lambda: self.post_message(EventRecorded()))  # in any thread
        self.set_interval(1.0, self.versions.refresh_ages)
        self.set_interval(_LOOK_SECONDS, self.check_for_events)
        self._read_versions()

    def on_unmount(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()

    def on_resize(self) -> None:
        show_too_small(self, f"{label_key('history.leave')} back")

    @on(VersionsRead)
    def _show_versions(self, message: VersionsRead) -> None:
        before, view = self.versions.items, self.versions
        self._complete, self._head = message.complete, message.head
        if message.complete:
            self._reading = False
            if self._stale:
                self._read_versions()
        if self._loaded and [*map(get_version_key, before)] == [*map(get_version_key, message.versions)]:
            self._show_status()
            return
        view.show(message.versions)
        if not self._loaded or (self._at is not None and self._complete):
            self._loaded = True
            if self._at is not None:
                view.go_to(self._at)
                self._at = None if self._complete else self._at
        elif before and message.versions[0].event.seq > before[0].event.seq:
            self._report_event(message.versions[0].event)
        self._show_status()
        self._show_pair()

    @on(VersionsCompared)
    def _show_difference(self, message: VersionsCompared) -> None:
        found, pair = message.comparison, message.comparison.pair
        if pair != self._pair:
            return  # the cursor is elsewhere by now
        again = self._shown is not None and _is_same_pair(self._shown.pair, pair)
        self._shown = found
        labels, short = pair.labels, pair.short_labels
        if found.comparison is None:
            self.diff.show_notice(found.title, found.detail, labels=labels, short=short)
        else:
            self.diff.show(found.comparison, labels, short=short, remark=found.remark, keep_place=again)
        self.refresh_bindings()

    @on(HistoryActionFinished)
    def _show_result(self, message: HistoryActionFinished) -> None:
        self._answered_at = time.monotonic()
        self.message.show_message(message.words, warning=message.is_warning)

    def _report_event(self, event: Event) -> None:
        """Report an event; not over an answer that the person has just been given."""
        answered = time.monotonic() - self._answered_at < _ANSWER_SECONDS
        if not answered and not isinstance(event.actor, Person):
            self.message.show_message(f"{wording.format_event_clause(event)}.")

    @on(VersionsView.Opened)
    def _enter_diff(self) -> None:
        self.diff.focus()

    @on(VersionsView.PickRequested)
    def _pick(self, message: VersionsView.PickRequested) -> None:
        """The first pick is A, the second B; a third begins anew, a second pick of the same version drops it."""
        if message.item is None:
            return
        key = get_version_key(message.item)
        if key in self._picked:
            self._picked.remove(key)
        elif len(self._picked) == 2:
            self._picked = [key]
        else:
            self._picked.append(key)
        self._show_pair()

    @on(VersionsView.Highlighted)
    def _show_pair(self) -> None:
        """Compare and show the selected or picked versions."""
        view = self.versions
        keys = [get_version_key(version) for version in view.items]
        if not keys:
            self.diff.show_notice("No versions", f"{to_one_line(self._path)} has no history.")
            self._show_titles()
            return
        self._picked = [key for key in self._picked if key in keys]
        rows = [keys.index(key) for key in self._picked] or [view.position[0] - 1]
        if self._picked and len(rows) == 1:
            rows.append(view.position[0] - 1)
        self._is_between = len(set(rows)) == 2
        if self._is_between:
            pair = compare.get_pair_between(view.items, *rows)
        else:
            pair = compare.get_event_pair(view.items, rows[0])
        letters = {
            get_version_key(text.row): letter for letter, text in (("A", pair.older), ("B", pair.newer)) if text.row
        }
        view.set_letters(letters, frozenset(self._picked))
        self.about.pair = pair
        self._show_titles()
        if pair != self._pair:
            self._pair = pair
            self._compare_versions(pair)

    def action_version(self, step: int) -> None:
        """Move back in time by versions, or forwards if negative."""
        self.versions.action_rows(step)

    def action_other_pane(self) -> None:
        (self.versions if self.focused is self.diff else self.diff).focus()

    def action_pane(self, name: str) -> None:
        (self.diff if name == "diff" else self.versions).focus()

    def action_back(self) -> None:
        """Drop A and B; without them, go back."""
        if self._picked:
            self._picked = []
            self._show_pair()
        else:
            self.dismiss(None)

    def action_copy(self) -> None:
        shown = self._shown
        if shown is None or shown.comparison is None:
            self.message.show_message("No diff to copy.", warning=True)
            return
        from memtui.ui.clipboard import copy_and_report  # noqa: PLC0415 - start-up: only for a copy

        names = [text.path if text.version else None for text in (shown.pair.older, shown.pair.newer)]
        patch = shown.comparison.difference.format_patch(*names)
        text = compare.as_bytes(patch).decode("utf-8", "surrogateescape")
        name = f"the patch, {patch.count(chr(10)):,} lines"
        copy_and_report(self.app, text, name, lambda words, warning: self.message.show_message(words, warning=warning))

    def action_restore(self) -> None:
        """Restore the selected version, or A, as a new version."""
        versions = self.versions.items
        chosen = self._pair.older.row if self._is_between and self._pair else self.versions.cursor_item
        if chosen is not None and versions:
            self._restore(chosen, versions[0])

    def action_take_back(self) -> None:
        """Revert only the hunk under the cursor, in the present text."""
        shown, hunk, versions = self._shown, self.diff.hunk, self.versions.items
        if shown is None or shown.pair != self._pair or hunk is None or not versions:
            self.message.show_message("No hunk to revert.", warning=True)
            return
        kinds = {text.version.kind for text in (shown.pair.older, shown.pair.newer) if text.version}
        if kinds != {EntryKind.FILE}:
            words = f"Not reverted: only lines of files can be. {label_key('history.restore')} restores the version."
            self.message.show_message(words, warning=True)
            return
        self._revert_hunk(versions[0], shown, hunk, self.diff.position)

    def action_undo(self) -> None:
        self._run_flow("undo")

    def action_redo(self) -> None:
        """Redo the event under the cursor, or the one that it undid."""
        self._run_flow("redo")

    @work(exclusive=True, group="undo")
    async def _run_flow(self, name: Literal["undo", "redo"]) -> None:
        from memtui.ui.flows import undo  # noqa: PLC0415 - start-up: loads the flows

        flow = undo.undo if name == "undo" else undo.redo
        try:
            version = self.versions.cursor_item
            outcome = await flow(self.app, self._engine, version.event.seq) if version is not None else None
        except (MemtuiError, OSError) as error:
            self.post_message(HistoryActionFinished(str(error), is_warning=True))
        else:
            if outcome is not None:
                self.post_message(HistoryActionFinished(outcome.words, is_warning=outcome.is_warning))

    def check_for_events(self) -> None:
        if not self._reading:
            self._check_head(self._head)

    @work(thread=True, exclusive=True, group="look", exit_on_error=False)
    def _check_head(self, known: int) -> None:
        try:
            if self._engine.get_head()[0] != known:
                self.post_message(EventRecorded())
        except (MemtuiError, OSError):
            return  # it is asked again soon; whatever is wrong shows when something is done

    @on(EventRecorded)
    def _read_versions(self) -> None:
        """Read the versions; if that is under way, once more when it is over."""
        if self._reading:
            self._stale = True
        else:
            self._reading, self._stale = True, False
            self._read_versions_in_thread(list(self.versions.items))

    @work(thread=True, group="versions", exit_on_error=False)
    def _read_versions_in_thread(self, known: Sequence[PathVersion]) -> None:
        try:
            head = self._engine.get_head()[0]
            versions = self._engine.history.versions_of(self._path, limit=_NEW if known else _FIRST, imported=True)
            if not known and len(versions) == _FIRST:
                self.post_message(VersionsRead(versions, head, complete=False))
            whole = _merge_versions(versions, known) if known else versions if len(versions) < _FIRST else None
            if whole is None:
                whole = self._engine.history.versions_of(self._path, imported=True)
        except MemoryClosed:
            return
        except (MemtuiError, OSError) as error:
            self.post_message(HistoryActionFinished(str(error), is_warning=True))
            self.post_message(VersionsRead(known, self._head, complete=True))
        else:
            self.post_message(VersionsRead(whole, head, complete=True))

    @work(thread=True, exclusive=True, group="compare", exit_on_error=False)
    def _compare_versions(self, pair: compare.VersionPair) -> None:
        worker = get_current_worker()
        try:
            found = compare.compare_versions(self._engine.history, pair, cancelled=lambda: worker.is_cancelled)
        except MemoryClosed:
            return
        except (MemtuiError, OSError) as error:
            found = compare.VersionComparison(pair, None, "Cannot compare", str(error))
        if found is not None and not worker.is_cancelled:
            self.post_message(VersionsCompared(found))

    @work(exclusive=True, group="change")
    async def _restore(self, chosen: PathVersion, newest: PathVersion) -> None:
        from memtui.ui.flows import undo  # noqa: PLC0415 - start-up: loads the flows

        clock = compare.format_clock(chosen.at_us)
        moment = f"as it was before {clock}" if chosen.after is None else f"as of {clock}"
        try:
            outcome = await undo.restore_version(self.app, self._engine, self._path, chosen, newest, moment)
            if outcome.event and not outcome.is_warning:
                await asyncio.to_thread(self._report_new_version, outcome.words)
                return
        except (MemtuiError, OSError) as error:
            outcome = undo.FlowOutcome(str(error), is_warning=True)
        self.post_message(HistoryActionFinished(outcome.words, is_warning=outcome.is_warning))

    @work(thread=True, exclusive=True, group="change", exit_on_error=False)
    def _revert_hunk(
        self, newest: PathVersion, shown: compare.VersionComparison, hunk: Hunk, position: tuple[int, int]
    ) -> None:
        row = shown.pair.newer.row
        note = f"hunk {position[0]} of {position[1]}" + (f" of #{row.event.seq}" if row else "")
        try:
            restored = compare.revert_hunk(self._engine, newest, shown, hunk, note)
            if restored.problem:
                self.post_message(HistoryActionFinished(restored.problem, is_warning=True))
            else:
                self._report_new_version(f"Reverted hunk {position[0]} in {to_one_line(self._path)}.")
        except (MemtuiError, OSError) as error:
            self.post_message(HistoryActionFinished(str(error), is_warning=True))

    def _report_new_version(self, words: str) -> None:
        """From a thread: report the new version by its number."""
        number = len(self._engine.history.versions_of(self._path, imported=True))
        self.post_message(HistoryActionFinished(f"{words} New version {number:,}; nothing was lost."))

    def _show_status(self) -> None:
        count = len(self.versions.items)
        words = wording.format_count(count, "version") if self._complete else ""
        self.header.status = HeaderStatus(
            f"history  {self._path}", files=words, read_only=self._engine.read_only, live=self._live, follow=None
        )

    def _show_titles(self) -> None:
        view = self.versions
        row, total = view.position
        view.border_title = Content(f"1 Versions  {row:,} of {total:,}" if total else "1 Versions")
        if len(self._picked) == 2:
            words = f"A and B picked   {label_key('history.back')}: clear"
        else:
            words = f"{label_key('versions.pick')}: pick {'B' if self._picked else 'A, then B'}"
        view.border_subtitle = Content(words if total > 1 else "")


def _merge_versions(versions: Sequence[PathVersion], known: Sequence[PathVersion]) -> list[PathVersion] | None:
    """New versions before the known ones; `None` where something else changed, as a rename does."""
    newest = get_version_key(known[0])
    fresh: list[PathVersion] = []
    for version in versions:
        if get_version_key(version) == newest:
            return [*fresh, *known]
        if version.moved_from is not None:
            return None
        fresh.append(version)
    return None


def _is_same_pair(one: compare.VersionPair, other: compare.VersionPair) -> bool:
    texts = ((one.older, other.older), (one.newer, other.newer))
    return all(a.version == b.version and _get_row_key(a) == _get_row_key(b) for a, b in texts)


def _get_row_key(text: compare.VersionText) -> VersionKey | None:
    return get_version_key(text.row) if text.row is not None else None
