"""Browse: the folder, the note under the cursor and the activity side by side.

A key is bound where its action is, in one of the controllers:

- `browse_files.py`: Space, `*` (select), `a`, `r`, `c`, `d` (new, rename, copy, delete), `.`, `,`, `R` (list, rescan)
- `browse_rearrange.py`: `:merge`, `:split` (merge notes, split one)
- `browse_pins.py`: `b` and `'` (pin, pinned memories), `:protect`
- `browse_edit.py`: `e`, `E`, F4 (edit here or elsewhere)
- `browse_note.py`: Ctrl+F (find in the note), `t`, `B` (view, blame)
- `browse_history.py`: `v`, `V` (diff, history), `u`, `U`, `Z` (undo), `T`, `D` (past, deleted), Ctrl+R, `x` (mass loss)
- `browse_live.py`: `f`, `P` (follow, pause), `]`, `[`, `m`, `M` (unseen changes)
- `browse_links.py`: `/`, `i`, `y`, Backspace, `:origin`, `A`, `:review` (find, details, copy, back, audit)
- `browse_graph.py`: `w`, `W`, `O` (links of the note, graph, observations), suggestions
- `browse_relink.py`: `:relink` (links behind a rename by others)
- `browse_approval.py`: F9 (answer an agent)
- `panes.py`: `z`, `+`, `_`, `<`, `>`, `=`, Tab (room of the panes, focus)

The screen itself has `1`, `2`, `3`, `o`, `:chat` and Escape. The order of `CONTROLLERS` is that of the help.
"""

import time
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.events import Key, ScreenResume
from textual.widget import Widget
from textual.widgets import Static

from memtui.config import Config
from memtui.core.unicode import to_one_line
from memtui.ui.controller import Controller, set_size_classes
from memtui.ui.frame import Header, KeyLine, MessageLine
from memtui.ui.messages import ChatRequested, FolderRequested
from memtui.ui.screen_state import capture_view_state, restore_view
from memtui.ui.screens.browse_approval import ApprovalController
from memtui.ui.screens.browse_edit import EditController
from memtui.ui.screens.browse_files import FileController, SelectionController, TreeController
from memtui.ui.screens.browse_graph import GraphController
from memtui.ui.screens.browse_history import LOSS_ACTIONS, HistoryController, LossController, PastController
from memtui.ui.screens.browse_links import AuditController, FindController, LinkController
from memtui.ui.screens.browse_live import LAST_SEQ_KEY, FollowController, LiveController
from memtui.ui.screens.browse_note import NoteController, NoteFindController
from memtui.ui.screens.browse_pins import PinController
from memtui.ui.screens.browse_rearrange import RearrangeController
from memtui.ui.screens.browse_relink import RelinkController
from memtui.ui.screens.folder import FolderScreen
from memtui.ui.screens.panes import PaneController
from memtui.ui.textual_private import get_key_bindings
from memtui.ui.widgets.activity import ActivityView
from memtui.ui.widgets.age_timer import AgeTimer
from memtui.ui.widgets.change import ChangeView
from memtui.ui.widgets.empty import EmptyFolderView
from memtui.ui.widgets.markdown.view import NoteView
from memtui.ui.widgets.tree.changes import EventMarks
from memtui.ui.widgets.tree.view import TreeView

_NEED_A_NOTE = frozenset(
    {
        "find_in_note",
        "neighbourhood",
        "switch_view",
        "next_change",
        "mark_seen",
        "mark_all_seen",
        "sort",
        "copy",
        "zoom",
        "blame",
    }
    | {"rename", "copy_to", "delete", "toggle_selection", "select_all_files", "pin", "pins", "protect"}
    | {"merge", "split"}
)
_CHANGING = frozenset(
    {"new", "rename", "copy_to", "delete", "merge", "split", "pin", "protect", "edit", "edit_elsewhere"}
    | {"undo", "redo", "undo_since", "relink", *LOSS_ACTIONS}
)
"""Actions that change the folder or its record."""


_NEED_AN_EVENT = frozenset(
    {"note.edit", "browse.diff", "browse.history", "browse.undo", "browse.past", "browse.deleted"}
    | {"browse.find", "browse.follow", "browse.pause"}
)
"""Ids of bindings without an effect in a folder that never had a note."""


class _BrowseKeyLine(KeyLine):
    def should_show(self, binding: Binding) -> bool:
        """In a folder that never had a note, leave out keys that need one."""
        screen = self.screen
        assert isinstance(screen, BrowseScreen)
        return not (screen.has_class("-empty") and not screen.activity.counters.all and binding.id in _NEED_AN_EVENT)


class BrowseScreen(FolderScreen):
    """The panes over one memory folder, and the controllers behind its keys."""

    CONTROLLERS: ClassVar[tuple[type[Controller[Any]], ...]] = (
        PaneController, ApprovalController, AuditController, LinkController, FindController, EditController,
        SelectionController, PinController, FileController, RearrangeController, NoteFindController, HistoryController,
        FollowController, NoteController, GraphController, RelinkController, PastController, LiveController,
        TreeController, LossController,
    )  # fmt: skip
    PANE_CONTROLLER: ClassVar[type[PaneController[Any]]] = PaneController

    # The other keys are bound in the controllers: the docstring of this module lists them.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "pane('files')", "files", id="browse.files", tooltip="To the files", show=False),
        Binding("2", "pane('note')", "note", id="browse.note", tooltip="To the note", show=False),
        Binding("3", "pane('activity')", "activity", id="browse.activity", tooltip="To the activity", show=False),
        Binding("o", "app.places", "open folder", id="app.places", tooltip="Open another folder", show=False),
        Binding("colon_chat", "chat", "chat", id="browse.chat", tooltip="Chat with Claude over this folder",
                show=False),
        Binding("escape", "leave", "leave", id="browse.leave", tooltip="Leave find, zoom or the pane", show=False),
    ]  # fmt: skip

    def __init__(
        self, folder: str, *, title: str, state: str | None = None, label: str = "", read_only: bool = False
    ) -> None:
        super().__init__(folder, title=title, state=state, label=label, read_only=read_only)
        self.holds_keys = True
        self._age_timer = AgeTimer(self, self.show_titles)
        self.panes = self.attach(self.PANE_CONTROLLER(self))
        self.approvals = self.attach(ApprovalController(self))
        self.edit = self.attach(EditController(self))
        self.selection = self.attach(SelectionController(self))
        self.tree_list = self.attach(TreeController(self))
        self.note_view = self.attach(NoteController(self))
        self.find = self.attach(FindController(self, self.note_view, self.edit))
        self.attach(LinkController(self, self.find, self.note_view))
        self.attach(AuditController(self))
        self.attach(PinController(self, self.selection))
        self.attach(FileController(self, self.selection, self.edit))
        self.attach(RearrangeController(self, self.selection))
        self.attach(NoteFindController(self))
        self.attach(HistoryController(self))
        self.attach(GraphController(self, self.note_view))
        self.attach(RelinkController(self))
        self.attach(PastController(self))
        self.attach(LossController(self))
        self.attach(FollowController(self))
        self.live = self.attach(LiveController(self, self.note_view, self.tree_list, self.panes, self.edit))

    def compose(self) -> ComposeResult:
        set_size_classes(self)
        yield Header()
        with Horizontal(id="body"):
            yield TreeView(id="files", classes="pane")
            with Container(id="right"):
                yield NoteView(id="note", classes="pane")
                yield ChangeView(id="change", classes="pane")
            yield EmptyFolderView()
        yield ActivityView(id="activity", classes="pane")
        yield from self.compose_footer()

    def compose_footer(self) -> ComposeResult:
        """The lines below the panes."""
        yield MessageLine(id="message")
        words = f"READ-ONLY: nothing under {to_one_line(self.status.folder)} can be changed from this session."
        yield Static(Content(words), id="read-only")
        yield _BrowseKeyLine()
        yield Static(id="too-small", markup=False)

    def on_mount(self) -> None:
        self.event_marks = EventMarks(self.files, self.live.show_remaining_rows)
        self.set_class(self.status.read_only, "-read-only")
        self.show_status()
        self.files.border_title, self.note.border_title, self.activity.border_title = self.TITLES
        self.change.border_title = "last change"
        self.note.links.is_enabled = True
        self.message.show_message(f"Opening {self.status.folder}", is_news=True)
        self.query_one(self.FIRST).focus()
        self._load_settings()
        self.call_after_refresh(self.session.start)

    async def on_unmount(self) -> None:
        if self.is_opened and self.ui_settings.remember:
            files, view = self._mounted_files, self.note_view.view_to_remember
            self.remembered_words[LAST_SEQ_KEY] = str(self.last_seq)
            state = capture_view_state(
                files.outline, files.cursor_path, view, self.panes.dividers, self.remembered_words
            )
            self.session.save_view_state(state)
        self.session.stop()

    @on(ScreenResume)
    def _let_ages_pass(self) -> None:
        """Have ages pass again; see `show_titles`."""
        if self.is_opened:
            self.show_titles()

    def show_titles(self) -> None:
        super().show_titles()
        if self.app.screen is not self:
            return  # behind another screen no age is read, and each repaint would be of that one
        if self.blame is not None:
            self._age_timer.expect(0)  # of the line on top, whichever it is by then
        elif (change := self.change.change) is not None:
            self._age_timer.expect(time.time() - change.event.at_us / 1e6)

    def _load_settings(self) -> None:
        config = getattr(self.app, "config", None)
        if isinstance(config, Config):
            self.ui_settings, self.session.settings = config.ui, config.memory
            self.audit_settings = config.audit
            self.preview.audit = config.audit
        self.preview.view = restore_view(None, self.ui_settings)
        self._mounted_files = self.files
        self.follow = self.ui_settings.follow

    # Actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A read-only session offers no changes, and an empty folder nothing that needs a note."""
        if self.has_class("-empty") and action in _NEED_A_NOTE:
            return False
        if self.status.read_only and action in _CHANGING:
            return False
        return self.selection.can_manage(action) and super().check_action(action, parameters)

    def action_chat(self) -> None:
        self.app.post_message(ChatRequested(self.session.folder))

    def go_back(self) -> object:
        """This screen is the first one: leave."""
        self.app.exit(0)
        return None

    def action_pane(self, name: str) -> None:
        pane = self.query_one(f"#{name}", Widget)
        if self.panes.size:
            self.panes.set_size("")
        if name == "activity" and self.has_class("-flat"):
            self.remove_class("-flat")
        pane.focus()

    def action_leave(self) -> None:
        if self.selection.deselect_all():
            return
        if self.panes.size:
            self.panes.set_size("")
        elif self.focused is not self.files:
            self.files.focus()

    def on_key(self, event: Key) -> None:
        """Say why a key does nothing here; a number opens one of the folders that the empty state offers."""
        bound = get_key_bindings(self, event.key)
        if self.status.read_only and any(
            binding.action in _CHANGING and (binding.action not in LOSS_ACTIONS or self.loss) for binding in bound
        ):
            event.stop()
            self.message.show_message(self.read_only_reason, warning=True)
            return
        if words := self.selection.explain_unavailable_key(event.key):
            event.stop()
            self.message.show_message(words)
            return
        places = [place for empty in self.query(EmptyFolderView) for place in empty.places]
        if self.has_class("-empty") and event.character and event.character in "123456789"[: len(places)]:
            event.stop()
            self.app.post_message(FolderRequested(places[int(event.character) - 1].path))
