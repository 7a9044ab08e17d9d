"""What the README takes from the code: the table of keys. `python -m tests.readme` writes it there.

A test compares the two, so a key that is added, moved or dropped cannot be forgotten in the document.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from textual.dom import DOMNode

from memtui.ui.actions import Action, list_declared_actions
from memtui.ui.app import MemtuiApp
from memtui.ui.controller import Controller
from memtui.ui.screens.audit import AuditScreen
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.browse_approval import ApprovalController
from memtui.ui.screens.browse_edit import EditController
from memtui.ui.screens.browse_files import FileController, SelectionController, TreeController
from memtui.ui.screens.browse_history import HistoryController, LossController, PastController
from memtui.ui.screens.browse_links import AuditController, FindController, LinkController
from memtui.ui.screens.browse_live import FollowController, LiveController
from memtui.ui.screens.browse_note import NoteController, NoteFindController
from memtui.ui.screens.browse_pins import PinController
from memtui.ui.screens.chat import ChatScreen
from memtui.ui.screens.chat_commands import CommandController
from memtui.ui.screens.chat_review import ReviewScreen
from memtui.ui.screens.conflict import ConflictScreen, MergeScreen
from memtui.ui.screens.deleted import DeletedScreen
from memtui.ui.screens.edit import EditScreen
from memtui.ui.screens.edit_save import SaveController
from memtui.ui.screens.find import FindScreen, QueryLine
from memtui.ui.screens.panes import PaneController
from memtui.ui.screens.past import PastScreen
from memtui.ui.screens.rename_many import RenameManyScreen, SummaryScreen
from memtui.ui.widgets.activity import ActivityView
from memtui.ui.widgets.approval import ApprovalView, ProposalEditor, ReasonInput
from memtui.ui.widgets.changes import ChangesView
from memtui.ui.widgets.composer import Composer
from memtui.ui.widgets.editor.area import EditorArea
from memtui.ui.widgets.editor.find_bar import FindBar, FindInput
from memtui.ui.widgets.findings import FindingsView
from memtui.ui.widgets.markdown.view import NoteView
from memtui.ui.widgets.name_line import NameLineScreen
from memtui.ui.widgets.row_list import DeletedView, RowsView
from memtui.ui.widgets.transcript.view import TranscriptView
from memtui.ui.widgets.tree.view import TreeView

README = Path(__file__).parent.parent / "README.md"
_SECTION = re.compile(r"(<!-- keys -->\n).*?(<!-- end of keys -->)", re.DOTALL)
_GROUPS: tuple[tuple[str, type[DOMNode] | type[Controller[Any]]], ...] = (
    ("everywhere", MemtuiApp),
    ("browsing", FindController),
    ("browsing", LinkController),
    ("browsing", AuditController),
    ("browsing: change", EditController),
    ("browsing: change", SelectionController),
    ("browsing: change", FileController),
    ("browsing: change", PinController),
    ("browsing", NoteFindController),
    ("browsing", HistoryController),
    ("browsing", FollowController),
    ("browsing", NoteController),
    ("browsing", PastController),
    ("browsing", LiveController),
    ("browsing", TreeController),
    ("browsing", LossController),
    ("browsing", BrowseScreen),
    ("browsing", ApprovalController),
    ("panes", PaneController),
    ("files and activity", RowsView),
    ("files", TreeView),
    ("note", NoteView),
    ("activity", ActivityView),
    ("find", QueryLine),
    ("find", FindScreen),
    ("rename, new", NameLineScreen),
    ("rename many", RenameManyScreen),
    ("rename many", SummaryScreen),
    ("editor", EditorArea),
    ("editor", EditScreen),
    ("editor", SaveController),
    ("editor: find", FindBar),
    ("editor: find", FindInput),
    ("conflict", ConflictScreen),
    ("conflict: each place", MergeScreen),
    ("time travel", PastScreen),
    ("deleted memories", DeletedScreen),
    ("deleted memories", DeletedView),
    ("audit and review", AuditScreen),
    ("audit: findings", FindingsView),
    ("audit: changes", ChangesView),
    ("chat", ChatScreen),
    ("chat", CommandController),
    ("chat: message", Composer),
    ("chat: conversation", TranscriptView),
    ("chat: question", ApprovalView),
    ("chat: question", ReasonInput),
    ("chat: edit first", ProposalEditor),
    ("chat: review", ReviewScreen),
)


def key_table() -> str:
    """The keys of the browser as a Markdown table."""
    rows = ["| where | keys | what |", "|---|---|---|"]
    for where, node_class in _GROUPS:
        rows += (
            f"| {where} | {_keys(action)} | {action.description} |"
            for action in _distinct(list_declared_actions(node_class))
        )
    return "\n".join(rows) + "\n"


def with_key_table(text: str) -> str:
    """The README with the table of keys as it is now."""
    return _SECTION.sub(lambda match: match.group(1) + key_table() + match.group(2), text)


def _keys(action: Action) -> str:
    return " ".join(f"`{key}`" for key in action.key_labels.split())


def _distinct(actions: Iterable[Action]) -> list[Action]:
    return list({action.binding.id: action for action in actions}.values())


if __name__ == "__main__":
    README.write_text(with_key_table(README.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write("README.md: keys written\n")
