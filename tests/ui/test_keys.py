"""Bindings are the only registry of what a person can do: each has an id, words, a tooltip, and does something."""

from collections import defaultdict

import pytest
from textual.actions import parse
from textual.dom import DOMNode

from memtui.ui.activity.view import ActivityView
from memtui.ui.app import MemtuiApp
from memtui.ui.audit.changes_view import ChangesView
from memtui.ui.audit.findings_view import FindingsView
from memtui.ui.chat.composer import Composer
from memtui.ui.chat.question import QuestionView
from memtui.ui.chat.question_parts import ProposalDiff, ProposedText, ReasonLine
from memtui.ui.chat.transcript import TranscriptView
from memtui.ui.conflict.differences import DifferencesScreen
from memtui.ui.deleted_rows import DeletedView
from memtui.ui.edit.area import EditArea
from memtui.ui.edit.finding import Field, FindBar
from memtui.ui.files.view import FilesView
from memtui.ui.find_line import FindLine
from memtui.ui.frame import key_name
from memtui.ui.linking.outside import OutsideScreen
from memtui.ui.managing.buffer import BufferScreen
from memtui.ui.managing.line import LineScreen
from memtui.ui.managing.progress import ProgressScreen
from memtui.ui.managing.summary import SummaryRows, SummaryScreen
from memtui.ui.note.view import NoteView
from memtui.ui.screens.ask import AskScreen, PromptScreen
from memtui.ui.screens.audit import AuditScreen
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.chat import ChatScreen
from memtui.ui.screens.chat_commands import ChatCommands
from memtui.ui.screens.chat_review import ReviewScreen
from memtui.ui.screens.conflict import ConflictScreen
from memtui.ui.screens.deleted import DeletedScreen
from memtui.ui.screens.details import DetailsScreen
from memtui.ui.screens.edit import EditScreen
from memtui.ui.screens.edit_diff import EditDiffScreen
from memtui.ui.screens.find import FindScreen, QueryLine
from memtui.ui.screens.help import HelpScreen
from memtui.ui.screens.lines import LinesScreen
from memtui.ui.screens.menu import MenuScreen
from memtui.ui.screens.past import PastScreen
from memtui.ui.screens.places import PlacesScreen
from tests.ui.declared import declared

BROWSING: tuple[type[DOMNode], ...] = (
    MemtuiApp, BrowseScreen, FilesView, NoteView, ActivityView, FindLine, HelpScreen, MenuScreen, PlacesScreen,
    PastScreen, DeletedScreen, DeletedView, AskScreen, PromptScreen, FindScreen, QueryLine, DetailsScreen,
    OutsideScreen, LineScreen, ProgressScreen, SummaryScreen, SummaryRows, BufferScreen, ConflictScreen,
    DifferencesScreen, AuditScreen, FindingsView, ChangesView,
)  # fmt: skip
EDITING: tuple[type[DOMNode], ...] = (EditScreen, EditDiffScreen, EditArea, FindBar, Field)
CHATTING: tuple[type[DOMNode], ...] = (
    ChatScreen, Composer, TranscriptView, QuestionView, ProposalDiff, ProposedText, ReasonLine, ReviewScreen,
    LinesScreen,
)  # fmt: skip
NODES = (*BROWSING, *EDITING, *CHATTING)


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.__name__)
def test_every_binding_has_an_id_words_and_a_tooltip(node: type[DOMNode]) -> None:
    bindings = list(declared(node))
    assert bindings
    for binding in bindings:
        assert binding.id, binding
        assert "." in binding.id
        assert binding.description, binding
        assert binding.tooltip, binding
        assert binding.tooltip[0].isupper(), binding
        assert not binding.tooltip.endswith("."), binding


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.__name__)
def test_every_binding_runs_an_action_that_exists(node: type[DOMNode]) -> None:
    for binding in declared(node):
        namespace, name, _ = parse(binding.action)
        target = {"app": MemtuiApp, "": node}[namespace]
        found = any(hasattr(target, f"{prefix}action_{name}") for prefix in ("", "_"))
        assert found or (not namespace and hasattr(MemtuiApp, f"action_{name}")), binding


def test_an_id_means_one_thing() -> None:
    meanings: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for node in NODES:
        for binding in declared(node):
            assert binding.id
            meanings[binding.id].add((binding.action, binding.tooltip))
    assert {name: each for name, each in meanings.items() if len(each) > 1} == {}


@pytest.mark.parametrize("node", BROWSING, ids=lambda node: node.__name__)
def test_a_key_is_bound_once_in_a_pane(node: type[DOMNode]) -> None:
    keys = [key for binding in declared(node) for key in binding.key.split(",")]
    assert sorted(keys) == sorted(set(keys))


@pytest.mark.parametrize("node", [*CHATTING[1:], ChatCommands], ids=lambda node: node.__name__)
def test_a_class_of_the_chat_binds_a_key_once(node: type[DOMNode]) -> None:
    keys = [key for binding in node.__dict__["BINDINGS"] for key in binding.key.split(",")]
    assert sorted(keys) == sorted(set(keys))


def test_the_box_binds_no_character_and_nothing_needs_alt_or_shift_enter() -> None:
    keys = {key for binding in declared(Composer) for key in binding.key.split(",")}
    assert not {key for key in keys if len(key_name(key)) == 1}
    assert not {key for key in keys if "alt" in key or key in ("shift+enter", "ctrl+enter")}


def test_commands_are_named_as_they_are_typed() -> None:
    assert key_name("slash_undo") == "/undo"
    assert key_name("colon_chat") == ":chat"
    assert key_name("slash") == "/"


def test_no_key_of_a_pane_takes_one_of_the_screen_or_the_app() -> None:
    outer = {key for node in (BrowseScreen, MemtuiApp) for binding in declared(node) for key in binding.key.split(",")}
    for node in (FilesView, NoteView, ActivityView):
        inner = {key for binding in declared(node) for key in binding.key.split(",")}
        assert not inner & outer, f"{node.__name__} hides keys"
