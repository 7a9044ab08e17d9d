"""Bindings are the only registry of what a person can do: each has an id, words, a tooltip, and does something."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from textual.actions import parse
from textual.binding import Binding
from textual.dom import DOMNode
from textual.widgets import TextArea

from memtui.ui.app import MemtuiApp
from memtui.ui.controller import Controller
from memtui.ui.flows.dialog import ProgressScreen
from memtui.ui.key_names import format_key
from memtui.ui.screens.audit import AuditScreen
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.chat import ChatScreen
from memtui.ui.screens.chat_commands import CommandController
from memtui.ui.screens.chat_review import ReviewScreen
from memtui.ui.screens.commands import CommandScreen, ThemeScreen
from memtui.ui.screens.conflict import ConflictScreen, EditDiffScreen, MergeScreen
from memtui.ui.screens.deleted import DeletedScreen
from memtui.ui.screens.dialogs import ConfirmScreen, LinesScreen, MenuScreen, PromptScreen
from memtui.ui.screens.edit import EditScreen
from memtui.ui.screens.external_link import ExternalLinkScreen
from memtui.ui.screens.find import FindScreen
from memtui.ui.screens.find_base import FindBase, QueryLine
from memtui.ui.screens.graph import GraphScreen
from memtui.ui.screens.graph_map import MapScreen
from memtui.ui.screens.help import HelpScreen
from memtui.ui.screens.info import DetailsScreen, EventScreen
from memtui.ui.screens.neighbourhood import NeighbourhoodScreen
from memtui.ui.screens.observations import ObservationScreen
from memtui.ui.screens.past import PastScreen
from memtui.ui.screens.places import FolderPickerScreen
from memtui.ui.screens.rename_many import NamesBox, RenameManyScreen, SummaryRows, SummaryScreen
from memtui.ui.screens.suggestions import SuggestionScreen
from memtui.ui.widgets.activity import ActivityView
from memtui.ui.widgets.approval import ApprovalView, ProposalDiff, ProposalEditor, ReasonInput
from memtui.ui.widgets.changes import ChangesView
from memtui.ui.widgets.composer import Composer
from memtui.ui.widgets.conflict import ConflictDiffScreen
from memtui.ui.widgets.editor.area import EditorArea
from memtui.ui.widgets.editor.find_bar import FindBar, FindInput
from memtui.ui.widgets.find_line import FindLine
from memtui.ui.widgets.findings import FindingsView
from memtui.ui.widgets.graph_groups import GroupView
from memtui.ui.widgets.graph_map import GraphMap
from memtui.ui.widgets.markdown.view import NoteView
from memtui.ui.widgets.name_line import NameLineScreen
from memtui.ui.widgets.neighbours import NeighbourView
from memtui.ui.widgets.observations import ObservationView
from memtui.ui.widgets.row_list import DeletedView
from memtui.ui.widgets.suggestions import SuggestionView
from memtui.ui.widgets.transcript.view import TranscriptView
from memtui.ui.widgets.tree.view import TreeView
from tests.ui.declared import declared

BROWSING: tuple[type[DOMNode], ...] = (
    MemtuiApp, BrowseScreen, TreeView, NoteView, ActivityView, FindLine, HelpScreen, MenuScreen, FolderPickerScreen,
    NeighbourhoodScreen, NeighbourView, GraphScreen, GroupView, ObservationScreen, ObservationView,
    MapScreen, GraphMap, SuggestionScreen, SuggestionView,
    PastScreen, DeletedScreen, DeletedView, ConfirmScreen, PromptScreen, FindScreen, FindBase, QueryLine, DetailsScreen,
    EventScreen, ExternalLinkScreen, NameLineScreen, ProgressScreen, SummaryScreen, SummaryRows, RenameManyScreen,
    ConflictScreen, ConflictDiffScreen, MergeScreen, AuditScreen, FindingsView, ChangesView, CommandScreen, ThemeScreen,
)  # fmt: skip
EDITING: tuple[type[DOMNode], ...] = (EditScreen, EditDiffScreen, EditorArea, FindBar, FindInput)
CHATTING: tuple[type[DOMNode], ...] = (
    ChatScreen, Composer, TranscriptView, ApprovalView, ProposalDiff, ProposalEditor, ReasonInput, ReviewScreen,
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
        controllers = [held for base in target.__mro__ for held in base.__dict__.get("CONTROLLERS", ())]
        found = any(hasattr(each, f"{prefix}action_{name}") for each in (target, *controllers) for prefix in ("", "_"))
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


@pytest.mark.parametrize("node", [*CHATTING[1:], CommandController], ids=lambda node: node.__name__)
def test_a_class_of_the_chat_binds_a_key_once(node: type[DOMNode]) -> None:
    keys = [key for binding in node.__dict__["BINDINGS"] for key in binding.key.split(",")]
    assert sorted(keys) == sorted(set(keys))


def test_the_box_binds_no_character_and_nothing_needs_alt_or_shift_enter() -> None:
    keys = {key for binding in declared(Composer) for key in binding.key.split(",")}
    assert not {key for key in keys if len(format_key(key)) == 1}
    assert not {key for key in keys if "alt" in key or key in ("shift+enter", "ctrl+enter")}


def test_commands_are_named_as_they_are_typed() -> None:
    assert format_key("slash_undo") == "/undo"
    assert format_key("colon_chat") == ":chat"
    assert format_key("slash") == "/"


def test_no_key_of_a_pane_takes_one_of_the_screen_or_the_app() -> None:
    outer = {key for node in (BrowseScreen, MemtuiApp) for binding in declared(node) for key in binding.key.split(",")}
    for node in (TreeView, NoteView, ActivityView):
        inner = {key for binding in declared(node) for key in binding.key.split(",")}
        assert not inner & outer, f"{node.__name__} hides keys"


@pytest.mark.parametrize("controller", BrowseScreen.CONTROLLERS, ids=lambda controller: controller.__name__)
def test_a_controller_runs_the_actions_of_its_bindings(controller: type[Controller[Any]]) -> None:
    actions = [parse(binding.action) for binding in controller.BINDINGS if isinstance(binding, Binding)]
    assert [name for namespace, name, _ in actions if not namespace and not hasattr(controller, f"action_{name}")] == []


def test_the_browse_screen_binds_only_actions_of_its_own() -> None:
    actions = [parse(binding.action) for binding in BrowseScreen.OWN_BINDINGS if isinstance(binding, Binding)]
    assert [
        name for namespace, name, _ in actions if not namespace and not hasattr(BrowseScreen, f"action_{name}")
    ] == []


def _list_areas(of: type[TextArea]) -> Iterator[type[TextArea]]:
    for each in of.__subclasses__():
        yield each
        yield from _list_areas(each)


def test_every_text_that_is_edited_has_the_keys_to_its_ends() -> None:
    areas = [each for each in _list_areas(TextArea) if each.__module__.startswith("memtui.")]
    assert {Composer, ProposalEditor, NamesBox, EditorArea} <= set(areas)
    for area in areas:
        keys = {key for each in declared(area) for key in each.key.split(",")}
        assert {"ctrl+home", "ctrl+end", "ctrl+shift+home", "ctrl+shift+end"} <= keys, area
