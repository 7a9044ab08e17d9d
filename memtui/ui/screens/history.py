"""The history of one path: its versions at the left, and at the right what one of them changed.

The screen routes. Threads read, compare, restore and take back; what they find comes as messages, and the engine
tells when something new was recorded, so that the list grows while the person reads.
"""

import time
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Key, Resize
from textual.widgets import Static
from textual.worker import get_current_worker

from memtui.core.diffs import Hunk
from memtui.core.errors import Closed, MemtuiError
from memtui.core.events import Event, Person
from memtui.core.history import PathVersion
from memtui.core.restoring import Restored
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.diff.view import DIFF_KEYS, DiffView
from memtui.ui.frame import Header, KeyLine, MessageLine, Status
from memtui.ui.history import comparing
from memtui.ui.history.about import AboutPair
from memtui.ui.history.messages import Compared, Done, Recorded, VersionsRead
from memtui.ui.history.row import Key as VersionKey
from memtui.ui.history.row import key_of
from memtui.ui.history.view import VersionsView
from memtui.ui.screens.beside_diff import BesideDiff

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine
    from memtui.ui.taking_back import Said

_SMALLEST = (60, 15)
_FIRST = 200
"""Versions that are read before all others, so that a path with thousands is on screen at once."""
_NEW = 32
"""Versions that are read when something was recorded, before all are."""
_LOOK_SECONDS = 2.0
"""How often it is asked whether another program has recorded something: the engine tells of this one only."""
_ANSWER_SECONDS = 5.0
"""For how long what came of a key stays on the message line, whatever else happens."""
_CHANGING = frozenset({"restore", "take_back", "undo", "redo"})
_WELCOME = "Restore makes a new version; nothing is lost."


class HistoryKeys(KeyLine):
    """The keys, with the way back last."""

    LAST: ClassVar[tuple[str, ...]] = ("app.commands", "app.help", "history.back")


class HistoryScreen(BesideDiff):
    """What one path has been through.

    Args:
        engine: The memory; its `read_only` tells whether anything can be restored.
        path: Relative to the folder; it may be gone by now.
        title: How the folder is called.
        diff_first: Whether the diff has the focus at first, and not the versions.
        at: The number of the event whose version is selected at first; `None` for the newest.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "left_square_bracket", "version(1)", "older", id="history.older", tooltip="To the version before",
        ),
        Binding(
            "right_square_bracket", "version(-1)", "newer", id="history.newer", tooltip="To the version after",
        ),
        Binding(
            "R", "restore", "restore", id="history.restore",
            tooltip="Restore the selected version, or A",
        ),
        *DIFF_KEYS[:1],
        Binding("r", "take_back", "hunk back", id="history.take_back", tooltip="Take back only this hunk"),
        *DIFF_KEYS[1:],
        Binding("y", "copy", "copy patch", id="history.copy", tooltip="Copy what is shown as a patch"),
        Binding("u", "undo", "undo", id="history.undo", tooltip="Take back the event under the cursor", show=False),
        Binding("U", "redo", "redo", id="history.redo", tooltip="Do it again", show=False),
        Binding("v", "other_pane", "diff", id="history.other_pane", tooltip="Versions or diff", show=False),
        Binding("tab", "app.focus_next", "next pane", id="browse.next_pane", tooltip="To the next pane", show=False),
        Binding(
            "shift+tab", "app.focus_previous", "previous pane", id="browse.previous_pane",
            tooltip="To the pane before", show=False,
        ),
        Binding("1", "pane('versions')", "versions", id="history.versions", tooltip="To the versions", show=False),
        Binding("2", "pane('diff')", "diff", id="history.diff", tooltip="To the diff", show=False),
        Binding("escape", "back", "back", id="history.back", tooltip="Let go of A and B; without them, back"),
        Binding("q", "dismiss", "back", id="history.leave", tooltip="Back to the files", show=False),
    ]  # fmt: skip

    DEFAULT_CSS = """
    HistoryScreen {
        layout: vertical;

        #history-body { height: 1fr; }
        .pane {
            border: round $foreground 35%; background: $background;
            border-title-color: $foreground; border-subtitle-color: $foreground;
        }
        .pane:focus { border: round $accent; border-title-color: $text-accent; border-title-style: bold; }
        #versions { width: 34; height: 1fr; }
        #diff { width: 1fr; height: 1fr; }
        #read-only { display: none; height: 1; padding: 0 1; color: $text-warning; }
        #too-small { display: none; }

        &.-medium #versions { width: 32; }
        &.-wide #versions { width: 40; }
        &.-high AboutPair { height: 2; }

        &.-read-only #read-only { display: block; }
        &.-read-only .pane { border: double $foreground 35%; }
        &.-read-only .pane:focus { border: double $accent; }

        &.-too-small > * { display: none; }
        &.-too-small #too-small { display: block; width: 1fr; height: 1fr; }
    }
    """

    BANNERS_BEFORE = "#history-body"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-medium"), (160, "-wide")]  # noqa: RUF012 - as Textual has it
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]  # noqa: RUF012

    header = getters.query_one(Header)
    versions = getters.query_one("#versions", VersionsView)
    about = getters.query_one(AboutPair)

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
        self._engine = engine
        self._path = path
        self._folder = title
        self._diff_first = diff_first
        self._at = at
        self._live = live
        self._loaded = False
        self._complete = False
        self._picked: list[VersionKey] = []
        self._is_between = False
        self._pair: comparing.Pair | None = None
        self._shown: comparing.Compared | None = None
        self._unsubscribe: Callable[[], None] | None = None
        self._head = -1
        self._answered_at = -_ANSWER_SECONDS
        self._reading = False
        self._stale = False

    def compose(self) -> ComposeResult:
        """The panes of the sketch."""
        yield Header()
        with Horizontal(id="history-body"):
            yield VersionsView(id="versions", classes="pane")
            yield DiffView(id="diff", classes="pane")
        yield AboutPair()
        yield MessageLine(id="message")
        words = f"READ-ONLY: nothing under {one_line(self._folder)} can be changed from this session."
        yield Static(Content(words), id="read-only")
        yield HistoryKeys()
        yield Static(id="too-small", markup=False)

    def on_mount(self) -> None:
        """Paint first, load after."""
        self.set_class(self._engine.read_only, "-read-only")
        self._show_status()
        self.message.say("" if self._engine.read_only else _WELCOME)
        (self.diff if self._diff_first else self.versions).focus()
        self._unsubscribe = self._engine.subscribe(self._hear)
        self.set_interval(1.0, self.versions.pass_time)
        self.set_interval(_LOOK_SECONDS, self.look_again)
        self._read_versions()

    def on_unmount(self) -> None:
        """Hear no more of the engine."""
        if self._unsubscribe is not None:
            self._unsubscribe()

    def on_resize(self, event: Resize) -> None:
        """Say it where the terminal is too small, and recover."""
        too_small = event.size.width < _SMALLEST[0] or event.size.height < _SMALLEST[1]
        self.set_class(too_small, "-too-small")
        if too_small:
            words = f"memtui needs {_SMALLEST[0]}x{_SMALLEST[1]} (now {event.size.width}x{event.size.height}). q back"
            self.query_one("#too-small", Static).update(words)

    # What threads tell

    def _hear(self) -> None:
        """Something was recorded; called in whichever thread did it."""
        self.post_message(Recorded())

    @on(Recorded)
    def _read_again(self) -> None:
        self._read_versions()

    @on(VersionsRead)
    def _show_versions(self, message: VersionsRead) -> None:
        before, view = self.versions.versions, self.versions
        self._complete, self._head = message.complete, message.head
        if message.complete:
            self._reading = False
            if self._stale:
                self._read_versions()
        if self._loaded and [*map(key_of, before)] == [*map(key_of, message.versions)]:
            self._show_status()
            return
        view.show(message.versions)
        if not self._loaded or (self._at is not None and self._complete):
            self._loaded = True
            if self._at is not None:
                view.go_to(self._at)
                self._at = None if self._complete else self._at
        elif before and message.versions[0].event.seq > before[0].event.seq:
            self._tell_news(message.versions[0].event)
        self._show_status()
        self._show_pair()

    @on(Compared)
    def _show_difference(self, message: Compared) -> None:
        found = message.compared
        if found.pair != self._pair:
            return  # the cursor is elsewhere by now
        again = self._shown is not None and _same(self._shown.pair, found.pair)
        self._shown = found
        if found.comparison is None:
            self.diff.show_notice(found.title, found.detail, labels=found.pair.labels, short=found.pair.short)
        else:
            self.diff.show(
                found.comparison, found.pair.labels, short=found.pair.short, remark=found.remark, keep_place=again
            )
        self.refresh_bindings()

    @on(Done)
    def _show_done(self, message: Done) -> None:
        self._answer(message.words, is_warning=message.is_warning)

    def _answer(self, words: str, *, is_warning: bool) -> None:
        """Say what came of something that the person did."""
        self._answered_at = time.monotonic()
        self.message.say(words, warning=is_warning)

    def _tell_news(self, event: Event) -> None:
        """Say what somebody did meanwhile; not over an answer that the person has just been given."""
        answered = time.monotonic() - self._answered_at < _ANSWER_SECONDS
        if not answered and not isinstance(event.actor, Person):
            self.message.say(f"{wording.clause(event)}.")

    # What the person does in the panes

    @on(VersionsView.Highlighted)
    def _select(self) -> None:
        self._show_pair()

    @on(VersionsView.Opened)
    def _enter_diff(self) -> None:
        self.diff.focus()

    @on(VersionsView.Picked)
    def _pick(self, message: VersionsView.Picked) -> None:
        """The first is A, the second B; the next one begins anew. Picked twice, it is let go."""
        key = key_of(message.version)
        if key in self._picked:
            self._picked.remove(key)
        elif len(self._picked) == 2:
            self._picked = [key]
        else:
            self._picked.append(key)
        self._show_pair()

    def _show_pair(self) -> None:
        """Show what is selected or picked, as soon as it is compared."""
        view = self.versions
        keys = [key_of(version) for version in view.versions]
        if not keys:
            self.diff.show_notice("No versions", f"Nothing is recorded of {one_line(self._path)}.")
            self._entitle()
            return
        self._picked = [key for key in self._picked if key in keys]
        rows = [keys.index(key) for key in self._picked] or [view.position[0] - 1]
        if self._picked and len(rows) == 1:
            rows.append(view.position[0] - 1)
        self._is_between = len(set(rows)) == 2
        if not self._is_between:
            pair = comparing.change_of(view.versions, rows[0])
        else:
            pair = comparing.between(view.versions, *rows)
        letters = {key_of(text.row): letter for letter, text in (("A", pair.older), ("B", pair.newer)) if text.row}
        view.mark(letters, frozenset(self._picked))
        self.about.pair = pair
        self._entitle()
        if pair != self._pair:
            self._pair = pair
            self._compare(pair)

    # Actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What changes something is not offered where nothing can be changed."""
        if self._engine.read_only and action in _CHANGING:
            return False
        return super().check_action(action, parameters)

    def on_key(self, event: Key) -> None:
        """A key that would change something says why it does not."""
        bound = self._bindings.key_to_bindings.get(event.key, ())
        if self._engine.read_only and any(binding.action in _CHANGING for binding in bound):
            event.stop()
            self.message.say(self.why_read_only, warning=True)

    def action_version(self, step: int) -> None:
        """Some versions back in time, or forwards if negative."""
        view = self.versions
        (view.action_down if step > 0 else view.action_up)()

    def action_other_pane(self) -> None:
        """From the versions to the diff, and back."""
        (self.versions if self.focused is self.diff else self.diff).focus()

    def action_pane(self, name: str) -> None:
        """Focus a pane."""
        (self.diff if name == "diff" else self.versions).focus()

    def action_back(self) -> None:
        """Let go of A and B; without them, back."""
        if self._picked:
            self._picked = []
            self._show_pair()
        else:
            self.dismiss(None)

    def action_copy(self) -> None:
        """Copy what is shown as a patch."""
        shown = self._shown
        if shown is None or shown.comparison is None:
            self.message.say("There is no difference to copy.", warning=True)
            return
        older, newer = shown.pair.older, shown.pair.newer
        names = (older.path if older.version else None, newer.path if newer.version else None)
        patch = shown.comparison.difference.patch(*names)
        from memtui.ui.clipboard import copy_and_say  # deferred: only where somebody copies

        text = comparing.as_bytes(patch).decode("utf-8", "surrogateescape")
        copy_and_say(
            self.app, text, f"the patch, {patch.count(chr(10)):,} lines",
            lambda words, warning: self.message.say(words, warning=warning),
        )  # fmt: skip

    def action_restore(self) -> None:
        """Restore the selected version, or A, as a new version."""
        versions = self.versions.versions
        chosen = self._pair.older.row if self._is_between and self._pair else self.versions.cursor_version
        if chosen is None or not versions:
            return
        if chosen is versions[0] and chosen.after is not None:
            self.message.say("This is what stands now: there is nothing to restore. [ goes to older versions.")
            return
        self._restore(chosen, versions[0])

    def action_take_back(self) -> None:
        """Take back only the hunk that the person is at, in the text that stands now."""
        shown, hunk, versions = self._shown, self.diff.hunk, self.versions.versions
        if shown is None or shown.pair != self._pair or hunk is None or not versions:
            self.message.say("There is no hunk to take back.", warning=True)
            return
        kinds = {text.version.kind for text in (shown.pair.older, shown.pair.newer) if text.version}
        if kinds != {Kind.FILE}:
            self.message.say("Not taken back: only lines of files can be. R restores the whole.", warning=True)
            return
        self._take_back(versions[0], shown, hunk, self.diff.position)

    @work(exclusive=True, group="undo")
    async def action_undo(self) -> None:
        """Take back the event under the cursor."""
        from memtui.ui import taking_back  # deferred: loaded when such a key is pressed

        if (version := self.versions.cursor_version) is not None:
            await self._tell(taking_back.undo(self.app, self._engine, version.event.seq))

    @work(exclusive=True, group="undo")
    async def action_redo(self) -> None:
        """Do again what the event under the cursor did, or what it took back."""
        from memtui.ui import taking_back  # deferred: loaded when such a key is pressed

        if (version := self.versions.cursor_version) is not None:
            await self._tell(taking_back.redo(self.app, self._engine, version.event.seq))

    async def _tell(self, course: Coroutine[object, object, "Said | None"]) -> None:
        """Say what came of something that the person asked for."""
        try:
            said = await course
        except (MemtuiError, OSError) as error:
            self._answer(str(error), is_warning=True)
        else:
            if said is not None:
                self._answer(said.words, is_warning=said.is_warning)

    # Work in threads

    def look_again(self) -> None:
        """There may be something new: another program's doing, of which the engine does not tell."""
        if not self._reading:
            self._look(self._head)

    @work(thread=True, exclusive=True, group="look", exit_on_error=False)
    def _look(self, known: int) -> None:
        try:
            if self._engine.head()[0] != known:
                self.post_message(Recorded())
        except (MemtuiError, OSError):
            return  # it is asked again soon; whatever is wrong shows when something is done

    def _read_versions(self) -> None:
        """Read them, unless that is under way: then once more when it is over."""
        if self._reading:
            self._stale = True
        else:
            self._reading, self._stale = True, False
            self._read_in_thread(list(self.versions.versions))

    @work(thread=True, group="versions", exit_on_error=False)
    def _read_in_thread(self, known: Sequence[PathVersion]) -> None:
        try:
            head = self._engine.head()[0]
            versions = self._engine.history.versions_of(self._path, limit=_NEW if known else _FIRST, told=True)
            if not known and len(versions) == _FIRST:
                self.post_message(VersionsRead(versions, head, complete=False))
            whole = _joined(versions, known) if known else versions if len(versions) < _FIRST else None
            if whole is None:
                whole = self._engine.history.versions_of(self._path, told=True)
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            self.post_message(Done(str(error), is_warning=True))
            self.post_message(VersionsRead(known, self._head, complete=True))
        else:
            self.post_message(VersionsRead(whole, head, complete=True))

    @work(thread=True, exclusive=True, group="compare", exit_on_error=False)
    def _compare(self, pair: comparing.Pair) -> None:
        worker = get_current_worker()
        try:
            found = comparing.compared(self._engine.history, pair, cancelled=lambda: worker.is_cancelled)
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            found = comparing.Compared(pair, None, "The two cannot be compared", str(error))
        if found is not None and not worker.is_cancelled:
            self.post_message(Compared(found))

    @work(thread=True, exclusive=True, group="change", exit_on_error=False)
    def _restore(self, chosen: PathVersion, newest: PathVersion) -> None:
        gone = chosen.after is None
        version = chosen.before if gone else chosen.after
        clock = comparing.clock(chosen.at_us)
        then = f"as it was before {clock}" if gone else f"as of {clock}"
        standing = newest.after if newest.told is None or newest.told_by is not None else None  # else only told of
        try:
            restored = self._engine.restore(
                {self._path: version}, expected={self._path: standing}, note=f"as of #{chosen.event.seq}"
            )
            self._tell_restored(restored, f"Restored {one_line(self._path)} {then}.")
        except (MemtuiError, OSError) as error:
            self.post_message(Done(str(error), is_warning=True))

    @work(thread=True, exclusive=True, group="change", exit_on_error=False)
    def _take_back(self, newest: PathVersion, shown: comparing.Compared, hunk: Hunk, position: tuple[int, int]) -> None:
        row = shown.pair.newer.row
        note = f"hunk {position[0]} of {position[1]}" + (f" of #{row.event.seq}" if row else "")
        try:
            restored = comparing.take_back(self._engine, newest, shown, hunk, note)
            self._tell_restored(restored, f"Took back hunk {position[0]} in {one_line(self._path)}.")
        except (MemtuiError, OSError) as error:
            self.post_message(Done(str(error), is_warning=True))

    def _tell_restored(self, restored: Restored, words: str) -> None:
        """From a thread: what was done, and which version it made."""
        if restored.event is None or restored.problem:
            problem = restored.problem or f"{one_line(self._path)} holds this text already. Nothing was restored."
            self.post_message(Done(problem, is_warning=True))
            return
        number = len(self._engine.history.versions_of(self._path, told=True))
        self.post_message(Done(f"{words} It is version {number:,}; nothing was lost."))

    # Words around the panes

    def _show_status(self) -> None:
        count = len(self.versions.versions)
        words = f"{count:,} {'version' if count == 1 else 'versions'}" if self._complete else ""
        self.header.status = Status(
            f"history  {self._path}", files=words, read_only=self._engine.read_only, live=self._live, follow=None
        )

    def _entitle(self) -> None:
        """What the edges of the versions say: how many, and which two are picked."""
        view = self.versions
        row, total = view.position
        view.border_title = Content(f"1 Versions  {row:,} of {total:,}" if total else "1 Versions")
        if len(self._picked) == 2:
            words = "A and B picked   Esc: let go"
        else:
            words = "Space: pick the other" if self._picked else "Space: pick A, then B"
        view.border_subtitle = Content(words if total > 1 else "")


def _joined(versions: Sequence[PathVersion], known: Sequence[PathVersion]) -> list[PathVersion] | None:
    """New versions before those that are known; `None` where something else changed, as a rename does."""
    newest = key_of(known[0])
    fresh: list[PathVersion] = []
    for version in versions:
        if key_of(version) == newest:
            return [*fresh, *known]
        if version.moved_from is not None:
            return None
        fresh.append(version)
    return None


def _same(one: comparing.Pair, other: comparing.Pair) -> bool:
    """Whether two pairs are about the same two versions."""
    ends = [(text.version, text.row and key_of(text.row)) for pair in (one, other) for text in (pair.older, pair.newer)]
    return ends[:2] == ends[2:]
