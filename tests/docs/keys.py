"""The tables of keys, made from the bindings of the screens, controllers and widgets."""

from collections.abc import Iterable, Sequence
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
from memtui.ui.screens.browse_graph import GraphController
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
from memtui.ui.screens.find import FindScreen
from memtui.ui.screens.find_base import FindBase, QueryLine
from memtui.ui.screens.graph import GraphScreen
from memtui.ui.screens.graph_map import MapScreen
from memtui.ui.screens.neighbourhood import NeighbourhoodScreen
from memtui.ui.screens.neighbourhood_changes import LinkingController
from memtui.ui.screens.observations import ObservationScreen
from memtui.ui.screens.panes import PaneController
from memtui.ui.screens.past import PastScreen
from memtui.ui.screens.rename_many import RenameManyScreen, SummaryScreen
from memtui.ui.screens.suggestions import SuggestionScreen
from memtui.ui.widgets.activity import ActivityView
from memtui.ui.widgets.approval import ApprovalView, ProposalEditor, ReasonInput
from memtui.ui.widgets.changes import ChangesView
from memtui.ui.widgets.composer import Composer
from memtui.ui.widgets.editor.area import EditorArea
from memtui.ui.widgets.editor.find_bar import FindBar, FindInput
from memtui.ui.widgets.findings import FindingsView
from memtui.ui.widgets.graph_groups import GroupView
from memtui.ui.widgets.graph_map import GraphMap
from memtui.ui.widgets.markdown.view import NoteView
from memtui.ui.widgets.name_line import NameLineScreen
from memtui.ui.widgets.neighbours import NeighbourView
from memtui.ui.widgets.observations import ObservationView
from memtui.ui.widgets.row_list import DeletedView, RowsView
from memtui.ui.widgets.suggestions import SuggestionView
from memtui.ui.widgets.transcript.view import TranscriptView
from memtui.ui.widgets.tree.view import TreeView

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
    ("browsing", GraphController),
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
    ("find", FindBase),
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
    ("deleted notes", DeletedScreen),
    ("deleted notes", DeletedView),
    ("links of a note", NeighbourhoodScreen),
    ("links of a note", LinkingController),
    ("links of a note", NeighbourView),
    ("graph", GraphScreen),
    ("graph", GroupView),
    ("map", MapScreen),
    ("map", GraphMap),
    ("observations", ObservationScreen),
    ("observations", ObservationView),
    ("suggestions", SuggestionScreen),
    ("suggestions", SuggestionView),
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


_SCREENS = {
    "everywhere": "Everywhere",
    **dict.fromkeys(
        ("browsing", "browsing: change", "panes", "files and activity", "files", "note", "activity"), "Browse"
    ),
    "find": "Find",
    **dict.fromkeys(("rename, new", "rename many"), "New names"),
    **dict.fromkeys(("editor", "editor: find"), "Edit"),
    **dict.fromkeys(("conflict", "conflict: each place"), "Conflict"),
    "time travel": "The folder as it was",
    "deleted notes": "Deleted notes",
    "links of a note": "Keys of links",
    **dict.fromkeys(("graph", "map", "observations", "suggestions"), "Keys of graph, map and lists"),
    **dict.fromkeys(("audit and review", "audit: findings", "audit: changes"), "Keys of audit and review"),
    **dict.fromkeys(
        ("chat", "chat: message", "chat: conversation", "chat: question", "chat: edit first", "chat: review"),
        "Keys of the chat",
    ),
}
"""The section of the page for each place."""


def list_key_rows() -> list[tuple[str, str, str, str]]:
    """Each place with its keys, what they do and the id for `[keys]`."""
    return [
        (place, " ".join(f"`{key}`" for key in action.key_labels.split()), action.description, action.binding.id or "")
        for place, node_class in _GROUPS
        for action in _distinct(list_declared_actions(node_class))
    ]


def list_screens() -> list[str]:
    """The titles of the sections, in order."""
    return list(dict.fromkeys(_SCREENS.values()))


def render_key_tables(screens: Sequence[str]) -> str:
    """A table for each of some screens, in which the same key of several places is one row."""
    sections: dict[str, dict[tuple[str, str], tuple[list[str], list[str]]]] = {}
    for place, keys, description, name in list_key_rows():
        places, names = sections.setdefault(_SCREENS[place], {}).setdefault((keys, description), ([], []))
        places += [place] * (place not in places)
        names += [f"`{name}`"] * (f"`{name}`" not in names)
    lines: list[str] = []
    for title in screens:
        rows = sections[title]
        lines += [f"## {title}", "", "| where | keys | what | id |", "|---|---|---|---|"]
        lines += (
            f"| {_join(places)} | {keys} | {description} | {_join(names)} |"
            for (keys, description), (places, names) in rows.items()
        )
        lines.append("")
    return "\n".join(lines)


def _join(words: Sequence[str]) -> str:
    return ", ".join(words)


def _distinct(actions: Iterable[Action]) -> list[Action]:
    return list({action.binding.id: action for action in actions}.values())
