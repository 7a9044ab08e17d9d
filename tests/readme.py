"""What the README takes from the code: the table of keys. `python -m tests.readme` writes it there.

A test compares the two, so a key that is added, moved or dropped cannot be forgotten in the document.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from textual.dom import DOMNode

from memtui.ui.actions import Action, declared
from memtui.ui.activity.view import ActivityView
from memtui.ui.app import MemtuiApp
from memtui.ui.audit.changes_view import ChangesView
from memtui.ui.audit.findings_view import FindingsView
from memtui.ui.chat.composer import Composer
from memtui.ui.chat.question import QuestionView
from memtui.ui.chat.question_parts import ProposedText, ReasonLine
from memtui.ui.chat.transcript import TranscriptView
from memtui.ui.deleted_rows import DeletedView
from memtui.ui.edit.area import EditArea
from memtui.ui.edit.finding import Field, FindBar
from memtui.ui.files.view import FilesView
from memtui.ui.managing.buffer import BufferScreen
from memtui.ui.managing.line import LineScreen
from memtui.ui.managing.summary import SummaryScreen
from memtui.ui.note.following import Following
from memtui.ui.note.view import NoteView
from memtui.ui.questions.answering import Answering
from memtui.ui.rows import RowsView
from memtui.ui.screens.audit import AuditScreen
from memtui.ui.screens.auditing import Auditing
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.chat import ChatScreen
from memtui.ui.screens.chat_commands import ChatCommands
from memtui.ui.screens.chat_review import ReviewScreen
from memtui.ui.screens.choosing import Choosing
from memtui.ui.screens.conflict import ConflictScreen
from memtui.ui.screens.deleted import DeletedScreen
from memtui.ui.screens.edit import EditScreen
from memtui.ui.screens.edit_course import EditCourse
from memtui.ui.screens.editing import Editing
from memtui.ui.screens.find import FindScreen, QueryLine
from memtui.ui.screens.finding import Finding
from memtui.ui.screens.guarding import Guarding
from memtui.ui.screens.linking import Linking
from memtui.ui.screens.managing import Managing
from memtui.ui.screens.panes import PanedScreen
from memtui.ui.screens.past import PastScreen

README = Path(__file__).parent.parent / "README.md"
_SECTION = re.compile(r"(<!-- keys -->\n).*?(<!-- end of keys -->)", re.DOTALL)
_GROUPS: tuple[tuple[str, type[DOMNode]], ...] = (
    ("everywhere", MemtuiApp),
    ("browsing", Finding),
    ("browsing", Linking),
    ("browsing", Auditing),
    ("browsing: change", Editing),
    ("browsing: change", Choosing),
    ("browsing: change", Managing),
    ("browsing: change", Guarding),
    ("browsing", BrowseScreen),
    ("browsing", Answering),
    ("panes", PanedScreen),
    ("files and activity", RowsView),
    ("files", FilesView),
    ("note", NoteView),
    ("note", Following),
    ("activity", ActivityView),
    ("find", QueryLine),
    ("find", FindScreen),
    ("rename, new", LineScreen),
    ("rename many", BufferScreen),
    ("rename many", SummaryScreen),
    ("editor", EditArea),
    ("editor", EditScreen),
    ("editor", EditCourse),
    ("editor: find", FindBar),
    ("editor: find", Field),
    ("conflict", ConflictScreen),
    ("time travel", PastScreen),
    ("deleted memories", DeletedScreen),
    ("deleted memories", DeletedView),
    ("audit and review", AuditScreen),
    ("audit: findings", FindingsView),
    ("audit: changes", ChangesView),
    ("chat", ChatScreen),
    ("chat", ChatCommands),
    ("chat: message", Composer),
    ("chat: conversation", TranscriptView),
    ("chat: question", QuestionView),
    ("chat: question", ReasonLine),
    ("chat: edit first", ProposedText),
    ("chat: review", ReviewScreen),
)


def key_table() -> str:
    """The keys of the browser as a Markdown table."""
    rows = ["| where | keys | what |", "|---|---|---|"]
    for where, node_class in _GROUPS:
        rows += (f"| {where} | {_keys(action)} | {action.words} |" for action in _distinct(declared(node_class)))
    return "\n".join(rows) + "\n"


def with_key_table(text: str) -> str:
    """The README with the table of keys as it is now."""
    return _SECTION.sub(lambda match: match.group(1) + key_table() + match.group(2), text)


def _keys(action: Action) -> str:
    return " ".join(f"`{key}`" for key in action.shown_keys.split())


def _distinct(actions: Iterable[Action]) -> list[Action]:
    return list({action.binding.id: action for action in actions}.values())


if __name__ == "__main__":
    README.write_text(with_key_table(README.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write("README.md: keys written\n")
