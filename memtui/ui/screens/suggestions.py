"""Suggestions for the notes of a folder, as a list: each is done with one key, or set aside."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual import getters, on, work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import get_current_worker

from memtui.core.lazy_dataclass import dataclass
from memtui.core.settings import AuditSettings
from memtui.core.wording import format_count
from memtui.engine import Engine
from memtui.flows.suggestions import accept_suggestion, find_suggestions
from memtui.knowledge.source import GraphStopped
from memtui.knowledge.suggestions import Suggestion, describe_suggestion
from memtui.ui.flows.dialog import PHRASES
from memtui.ui.key_names import label_key
from memtui.ui.messages import report_errors
from memtui.ui.screens.graph_base import GraphOverlayScreen, OpenAt
from memtui.ui.widgets.suggestions import SuggestionView

_SET_ASIDE = "suggestions"
"""The key of the ids of what was set aside, among the words that are remembered of a folder."""
_MOST_SET_ASIDE = 5_000


class SuggestionScreen(GraphOverlayScreen):
    """What may be done so that notes tie together.

    Args:
        title: The folder's title.
        open_at: Leaves for the files.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "set_aside", "set aside", id="suggestions.set_aside", tooltip="Suggest this no more"),
        Binding("D", "restore_all", "set aside", id="suggestions.restore_all",
                tooltip="Suggest again what was set aside", show=False),
        Binding("o", "open_note", "open", id="suggestions.open_note", tooltip="Open the note in the files"),
        Binding("slash", "narrow", "filter", id="suggestions.narrow", tooltip="Filter by kind: and words"),
        Binding("u", "undo_here", "undo", id="suggestions.undo", tooltip="Undo the last change made here", show=False),
        Binding("U", "redo_here", "redo", id="suggestions.redo", tooltip="Redo it", show=False),
        Binding("escape,q", "leave", "back", id="suggestions.leave", tooltip="Clear the filter, or go back"),
    ]  # fmt: skip

    AUTO_FOCUS = "#suggestions"  # a key that is typed at once is none of the filter's text
    CHANGES = frozenset({"undo_here", "redo_here"})
    LIVE = "SUGGESTIONS"
    REST = 5.0
    LEAVE = "suggestions.leave"
    PLACEHOLDER = "kind:  or words"

    listed = getters.query_one(SuggestionView)

    @dataclass(eq=False)
    class _SuggestionsRead(Message):
        found: Sequence[Suggestion]
        again: bool

    def __init__(self, engine: Engine, *, title: str, open_at: OpenAt | None = None) -> None:
        super().__init__(engine, title=title, open_at=open_at)
        self._found: Sequence[Suggestion] = ()

    def compose_body(self) -> Iterator[Widget]:
        with Horizontal(id="body"):
            yield SuggestionView(id="suggestions", classes="pane")

    def focus_list(self) -> None:
        self.listed.focus()

    # Reading

    def read(self, *, again: bool = False) -> None:
        browser = self.browser
        self._read_in_thread(again, browser.audit_settings if browser is not None else AuditSettings())

    @work(thread=True, exclusive=True, group="suggestions", exit_on_error=False)
    def _read_in_thread(self, again: bool, settings: AuditSettings) -> None:
        worker = get_current_worker()
        with report_errors(self.post_message), self.progress.measure_read():
            try:
                found = find_suggestions(self._engine, settings=settings, stop=lambda: worker.is_cancelled)
            except GraphStopped:
                return
            if not worker.is_cancelled:
                self.post_message(self._SuggestionsRead(found, again))

    @on(_SuggestionsRead)
    def _show_found(self, message: _SuggestionsRead) -> None:
        self._found, self._is_loaded = message.found, True
        do, aside = label_key("suggestions.accept"), label_key("suggestions.set_aside")
        words = f"{do} does it, {aside} sets it aside, {label_key('suggestions.open_note')} opens the note."
        self.progress.show_state(words if message.found else "Nothing to suggest.")
        self._apply_filter()

    @on(Input.Changed)
    def _apply_filter(self) -> None:
        aside = self._get_set_aside()
        left = [each for each in self._found if each.id not in aside]
        words = self.typed.casefold().split()
        shown = [each for each in left if _is_wanted(each, words)]
        total = format_count(len(left), "suggestion")
        hidden = len(self._found) - len(left)
        count = total if len(shown) == len(left) else f"{len(shown):,} of {total}"
        self.show_count(f"{count}, {hidden:,} set aside" if hidden else count)
        notice = ("", "No matches.") if left else ("", "Nothing to suggest.")
        self.listed.show(shown, notice=notice if self._is_loaded and self.progress.is_scanned else ())
        self._show_titles()

    @on(SuggestionView.Highlighted)
    def _show_titles(self) -> None:
        row, total = self.listed.position
        item = self.listed.cursor_item
        name = describe_suggestion(item) if item is not None else "Suggestions"
        self._titles.set_title(self.listed, name[:1].upper() + name[1:], f"{row:,} of {total:,}" if total else "")

    # What was set aside is remembered with the state of the folder's screen

    def _get_set_aside(self) -> set[str]:
        browser = self.browser
        return set(browser.remembered_words.get(_SET_ASIDE, "").split()) if browser is not None else set()

    def _keep_set_aside(self, ids: Sequence[str]) -> None:
        if (browser := self.browser) is not None:
            browser.remembered_words[_SET_ASIDE] = " ".join(ids[-_MOST_SET_ASIDE:])

    def action_set_aside(self) -> None:
        item = self.listed.cursor_item
        if item is None:
            return
        self._keep_set_aside([*sorted(self._get_set_aside()), item.id])
        again = label_key("suggestions.restore_all")
        self.message.show_message(f"Set aside: {describe_suggestion(item)}. {again} suggests all of them again.")
        self._apply_filter()

    def action_restore_all(self) -> None:
        count = len(self._get_set_aside())
        self._keep_set_aside(())
        words = f"Suggested again: {count:,}." if count else "Nothing was set aside."
        self.message.show_message(words)
        self._apply_filter()

    # What is done

    def action_open_note(self) -> None:
        item = self.listed.cursor_item
        self.open_in_files(item.notes[0] if item is not None else "", (item.line or None) if item is not None else None)

    @on(SuggestionView.Opened)
    def _accept_opened(self, message: SuggestionView.Opened) -> None:
        if isinstance(message.item, Suggestion):
            self._accept(message.item)

    @work(group="change")
    async def _accept(self, item: Suggestion) -> None:
        if self.is_read_only:
            self.message.show_message(self.read_only_reason, warning=True)
            return
        async with self.change_lock:
            with report_errors(self.post_message):
                outcome = await asyncio.to_thread(accept_suggestion, PHRASES, self._engine, item)
                self.last_event_seq = outcome.event or self.last_event_seq
                self.message.show_message(outcome.words, warning=outcome.is_warning)
                if outcome.event:
                    self._found = [each for each in self._found if each.id != item.id]
                    self._apply_filter()
                    self.read(again=True)


def _is_wanted(item: Suggestion, words: Sequence[str]) -> bool:
    """Whether all words are found, `kind:` among them."""
    text = f"{describe_suggestion(item)} {item.reason}".casefold()
    kinds = [word.removeprefix("kind:") for word in words if word.startswith("kind:")]
    is_kind = any(item.kind.startswith(kind) for kind in kinds) or not kinds
    return is_kind and all(word in text for word in words if not word.startswith("kind:"))
