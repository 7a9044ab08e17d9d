"""Find, links, details, the clipboard and the audit."""

import asyncio
import os
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.binding import Binding, BindingType

from memtui.config import Config
from memtui.core.paths import ROOT_NAME
from memtui.core.unicode import to_one_line
from memtui.flows.dialog import Choice
from memtui.ui.controller import controller_work
from memtui.ui.key_names import label_key
from memtui.ui.messages import EntryRead, HomeRequested, report_errors
from memtui.ui.screens.browse_edit import EditController
from memtui.ui.screens.browse_note import NoteController
from memtui.ui.screens.folder import FolderController, FolderScreen
from memtui.ui.widgets.markdown.view import NoteView

if TYPE_CHECKING:  # loaded when a key asks for it, behind the first paint
    from memtui.engine import Engine
    from memtui.notes.links import ExternalLink, InternalLink, Link, LinkTarget
    from memtui.review.folder_inspection import FolderInspection
    from memtui.search.finder import Finder
    from memtui.ui.links import FolderTexts


_TRAIL = 100
"""Places that are kept to go back to."""


class TrailEntry(NamedTuple):
    """A position that a link was followed from."""

    path: str
    row: int
    """The first row in view."""
    link: int
    """The index of the link."""


_SCOPE = "find.scope"


class FindController(FolderController):
    """Finds names and texts."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", "find", id="browse.find", tooltip="Find in names, text and history")
    ]

    def __init__(self, screen: FolderScreen, note: NoteController, edit: EditController) -> None:
        super().__init__(screen)
        self._note, self._edit = note, edit
        self._finder: Finder | None = None
        self._text = ""

    def make_finder(self, engine: "Engine") -> "Finder":
        """The finder over the texts of the folder; they stay in memory from one search to the next."""
        from memtui.search.finder import Finder  # noqa: PLC0415 - start-up: loads the search

        if self._finder is None or self._finder.engine is not engine:
            self._finder = Finder(engine)
        return self._finder

    def action_find(self) -> None:
        engine = self.get_engine()
        if engine is None:
            return
        from memtui.search.results import Scope  # noqa: PLC0415 - start-up: loads the search
        from memtui.ui.screens.find import FindScreen  # noqa: PLC0415 - start-up: loads the search

        last = self.screen.remembered_words.get(_SCOPE, "")
        scope = Scope(last) if last in list(Scope) else Scope.ALL

        def remember(text: str, scope: Scope) -> None:
            self._text, self.screen.remembered_words[_SCOPE] = text, scope.value

        self.app.push_screen(
            FindScreen(
                self.make_finder(engine), title=self.screen.folder_title, text=self._text, scope=scope,
                open_at=self._note.open_at, edit_at=self._edit.edit_externally_at, remember=remember,
            )
        )  # fmt: skip


class LinkController(FolderController):
    """Follows links, and shows details of a note."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "details", "details", id="browse.details", tooltip="Details of the note, or of the event",
                show=False),
        Binding("colon_origin", "origin", "origin", id="browse.origin",
                tooltip="Origin of these lines: session, prompt and call", show=False),
        Binding("backspace", "go_back_along", "back", id="browse.link_back", tooltip="Back from a link, or to the home",
                show=False),
        Binding("y", "copy", "copy", id="browse.copy", tooltip="Copy path, content, diff or call", show=False),
    ]  # fmt: skip

    def __init__(self, screen: FolderScreen, find: FindController, note: NoteController) -> None:
        super().__init__(screen)
        self._find, self._note = find, note
        self._trail: deque[TrailEntry] = deque(maxlen=_TRAIL)
        self._requested_position: TrailEntry | None = None

    # Along links, and back

    @on(NoteView.LinkSelected)
    def _show_link_target(self, message: NoteView.LinkSelected) -> None:
        """Show the target of the selected link."""
        link = message.link
        if link is None:
            self.message.show_message("No links in this note.")
            return
        from memtui.notes.links import shorten_target  # noqa: PLC0415 - start-up: only for a link

        kind = "Web" if link.kind == "url" else "To"
        others = f"{label_key('note.next_link')} {label_key('note.previous_link')} others"
        self.message.show_message(
            f"Link {message.number:,} of {message.count:,}. {kind}: {shorten_target(link.target)}",
            hint=f"{label_key('note.follow_link')} follow  {others}  {label_key('browse.link_back')} back",
        )

    @on(NoteView.LinkRequested)
    def _follow_link(self, message: NoteView.LinkRequested) -> None:
        path = self.files.cursor_path
        if path is not None:
            self._resolve_and_follow(message.link, message.source, path)

    @controller_work(exclusive=True, group="follow link")
    async def _resolve_and_follow(self, link: "Link", source: str, path: str) -> None:
        """Resolve a link, and go to its target."""
        from memtui.notes.links import (  # noqa: PLC0415 - start-up: only for a link
            ExternalLink,
            InternalLink,
            UnresolvedLink,
            resolve_link_target,
        )

        engine = self.session.engine
        if engine is None:
            return

        def resolve() -> "LinkTarget":
            texts = self._get_texts(engine)
            places, text_of = texts.index_notes, texts.read_text
            return resolve_link_target(link, source=source, path=path, places=places, text_of=text_of)

        with report_errors(self.screen.post_message):
            match await asyncio.to_thread(resolve):
                case InternalLink() as target:
                    self._follow_internal_link(target, path)
                case ExternalLink() as target:
                    await self._confirm_external_link(target)
                case UnresolvedLink(words):
                    self.message.show_message(words, warning=True)

    def _get_texts(self, engine: "Engine") -> "FolderTexts":
        """The texts of the folder; shared with find, so that they are in memory once. From a thread."""
        from memtui.ui.links import FolderTexts  # noqa: PLC0415 - start-up: loads the scan

        return FolderTexts(self._find.make_finder(engine))

    def _follow_internal_link(self, goal: "InternalLink", path: str) -> None:
        """Go to a note, or to another place in this one."""
        self._push_trail(path)
        if goal.path == path and goal.line is not None:
            self.screen.note.reveal_line(goal.line)
        elif goal.path != path:
            self._note.open_at(goal.path, goal.line, "")
        if goal.words:
            self.message.show_message(goal.words, warning=True)
        elif goal.path != path:
            self._show_arrival(goal.path)

    def _show_arrival(self, path: str) -> None:
        self.message.show_message(f"{to_one_line(path)}.", hint=f"{label_key('browse.link_back')} goes back")

    def _push_trail(self, path: str) -> None:
        note = self.screen.note
        self._trail.append(TrailEntry(path, note.scroll_offset.y, note.links.number))

    async def _confirm_external_link(self, goal: "ExternalLink") -> None:
        """Show the address, and open it only if the person confirms."""
        from memtui.ui.screens import external_link  # noqa: PLC0415 - start-up: loads a screen

        answer = await self.app.push_screen_wait(external_link.ExternalLinkScreen(goal))
        if answer == "open" and await asyncio.to_thread(external_link.open_external_link, goal.address):
            self.message.show_message(f"Opened in another program: {goal.host}.")
        elif answer:
            problem = "No program can open it. " if answer == "open" else ""
            self.copy_text(goal.address, "the address", before=problem)

    def action_go_back_along(self) -> None:
        """Back along the links that were followed; from the first note to the home, where one came from there."""
        if not self._trail:
            self.app.post_message(HomeRequested())
            return
        place = self._trail.pop()
        self.message.show_message(f"Back in {to_one_line(place.path)}.")
        if place.path == self.files.cursor_path:
            self._scroll_to_trail_entry(place)
            return
        self._requested_position = place
        self._note.open_at(place.path, None, "")

    @on(EntryRead)
    def _restore_position(self, message: EntryRead) -> None:
        """The note is shown again: the same rows, and the link that was followed."""
        place, self._requested_position = self._requested_position, None
        if place is not None and place.path == message.path:
            self.screen.call_after_refresh(self._scroll_to_trail_entry, place)

    def _scroll_to_trail_entry(self, place: TrailEntry) -> None:
        self.screen.note.scroll_to(y=place.row, animate=False)
        self.screen.note.links.select(place.link)

    # Details

    @controller_work()
    async def action_details(self) -> None:
        engine, path, activity = self.get_engine(), self.files.cursor_path, self.screen.activity
        if engine is None:
            return
        from memtui.ui.screens.info import DetailsScreen, EventScreen  # noqa: PLC0415 - start-up: loads the scan

        if activity.has_focus and (row := activity.cursor_item) is not None:
            self.app.push_screen(EventScreen(engine, row.seq))
            return
        if path is None:
            return
        outline = self.files.outline
        marks = ["pinned"] if outline.is_pinned(path) else []
        marks += ["protected from agents"] if self.files.is_protected(path) else []
        screen = DetailsScreen(
            engine, path, folder=self.session.folder, marks=tuple(marks), texts=lambda: self._get_texts(engine)
        )
        chosen = await self.app.push_screen_wait(screen)
        from memtui.notes.links import Backlink  # noqa: PLC0415 - start-up: loaded by the screen of the details

        if isinstance(chosen, Backlink):
            self._push_trail(path)
            self._note.open_at(chosen.path, chosen.link.line, "")
            self._show_arrival(chosen.path)
        elif chosen is not None:
            seen = await asyncio.to_thread(engine.inspect_path, path)
            self._resolve_and_follow(chosen, (seen.data or b"").decode("utf-8", "replace"), path)

    def action_origin(self) -> None:
        engine, path = self.get_engine(), self.files.cursor_path
        if engine is None or path is None:
            return
        from memtui.ui.screens.info import OriginScreen  # noqa: PLC0415 - start-up: loads the scan

        line, folder, state = self.screen.note.first_line, self.session.folder, self.session.state
        self.app.push_screen(OriginScreen(engine, path, line, folder=folder, state=state))

    # Copying

    @controller_work()
    async def action_copy(self) -> None:
        path = self.files.cursor_path
        if path is None:
            return
        engine, at = self.session.engine, self.screen.get_event_seq()
        event = await asyncio.to_thread(engine.history.get_event, at) if engine is not None and at is not None else None
        change = self.screen.change.change
        if event is None and change is not None:
            event = change.event
        diff = "".join(f"{line}\n" for line in change.diff or ()) if change is not None else ""
        stem = path.rpartition(".")[0] or path
        what = {
            "p": ("path for the agent", "path", f"{ROOT_NAME}/{path}"),
            "c": ("content of the note", "content", self.screen.preview.text),
            "d": ("diff of the last change", "diff", diff),
            "i": ("id of the last call", "call id", (event.call_id if event else "") or ""),
            "r": ("path of the file", "path of the file", f"{self.session.folder}/{path}"),
            "l": (f"link to it: [[{stem}]]", "link", f"[[{stem}]]"),
            "t": ("target of the selected link", "target", self.screen.note.links.target),
        }
        choices = tuple(Choice(key, label, key) for key, (label, _, text) in what.items() if text)
        chosen = await self.choose("Copy", choices)
        if chosen:
            _, name, text = what[chosen]
            self.copy_text(text, name)


class AuditController(FolderController):
    """Leads to the audit and the review of the folder."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("A,colon_audit", "audit(False)", "audit", id="browse.audit",
                tooltip="Audit the folder", show=False),
        Binding("colon_review", "audit(True)", "review", id="browse.review",
                tooltip="Review the changes since the last review", show=False),
    ]  # fmt: skip

    @controller_work(exclusive=True, group="audit")
    async def action_audit(self, on_changes: bool) -> None:
        engine = self.get_engine()
        if engine is None:
            return
        from memtui.ui.screens.audit import AuditScreen  # noqa: PLC0415 - start-up: loads the audit

        with report_errors(self.screen.post_message):
            inspection = await asyncio.to_thread(self._make_inspection, engine)
            self.app.push_screen(AuditScreen(inspection, on_changes=on_changes, stands_alone=False))

    def _make_inspection(self, engine: "Engine") -> "FolderInspection":
        """The folder as it is audited here; from a thread."""
        from memtui import memory  # noqa: PLC0415 - start-up: loads the engine
        from memtui.agents.opinion_askers import LocalAsker  # noqa: PLC0415 - start-up: for the audit only
        from memtui.fs.exports import ExportWriter  # noqa: PLC0415 - start-up: for the audit only
        from memtui.fs.state import CLEAN_NOTES, get_state_directory  # noqa: PLC0415 - start-up: for the audit only
        from memtui.fs.write_helper import LocalWriter  # noqa: PLC0415 - start-up: for the audit only
        from memtui.review.folder_inspection import FolderInspection, ReviewOptions  # noqa: PLC0415 - start-up: loads the audit

        session, config = self.session, getattr(self.app, "config", None)
        config = config if isinstance(config, Config) else Config()
        folder = session.folder
        state = get_state_directory(folder, session.state)
        cache = None if engine.read_only else state / CLEAN_NOTES
        options = ReviewOptions(
            folder=folder, title=self.screen.folder_title,
            state=None if session.state is None else os.fspath(session.state),
            settings=config.audit, memory=config.memory, cache=cache,
        )  # fmt: skip
        look = partial(memory.observe, folder, state=session.state, settings=config.memory, look=False)
        chat, keeps = config.chat, not engine.read_only
        asker = LocalAsker(folder, model=chat.model or None, provider=chat.provider, keeps=keeps)
        writer = LocalWriter(ExportWriter(folder, state), kept=[cache] if cache is not None else [])
        own = None if engine.read_only else engine
        return FolderInspection(options, look, writer, engine=own, asker=asker)
