"""What a person can do in a chat is in its bindings, and nowhere else: each has an id, words and an action, once."""

from collections import defaultdict
from collections.abc import Iterator

import pytest
from textual.actions import parse
from textual.binding import Binding
from textual.dom import DOMNode

from memtui.ui.app import MemtuiApp
from memtui.ui.chat.composer import Composer
from memtui.ui.chat.question import QuestionView
from memtui.ui.chat.question_parts import ProposalDiff, ProposedText, ReasonLine
from memtui.ui.chat.transcript import TranscriptView
from memtui.ui.frame import key_name
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.chat import ChatScreen
from memtui.ui.screens.chat_commands import ChatCommands
from memtui.ui.screens.chat_review import ReviewScreen
from memtui.ui.screens.lines import LinesScreen

NODES: tuple[type[DOMNode], ...] = (
    ChatScreen, Composer, TranscriptView, QuestionView, ProposalDiff, ProposedText, ReasonLine, ReviewScreen,
    LinesScreen,
)  # fmt: skip


def declared(node: type[DOMNode]) -> Iterator[Binding]:
    """The bindings that memtui declares for a class, its own bases included."""
    for base in node.__mro__:
        if base.__module__.startswith("memtui."):
            for binding in base.__dict__.get("BINDINGS", ()):
                assert isinstance(binding, Binding), f"{base.__name__} binds {binding!r}, which has no id"
                yield binding


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.__name__)
def test_every_binding_has_an_id_words_a_tooltip_and_an_action(node: type[DOMNode]) -> None:
    bindings = list(declared(node))
    assert bindings
    for binding in bindings:
        assert binding.id, binding
        assert "." in binding.id
        assert binding.description, binding
        assert binding.tooltip, binding
        assert binding.tooltip[0].isupper(), binding
        assert not binding.tooltip.endswith("."), binding
        namespace, name, _ = parse(binding.action)
        target = {"app": MemtuiApp, "": node}[namespace]
        found = any(hasattr(target, f"{prefix}action_{name}") for prefix in ("", "_"))
        assert found or (not namespace and hasattr(MemtuiApp, f"action_{name}")), binding


def test_an_id_means_one_thing() -> None:
    meanings: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for node in (*NODES, MemtuiApp, BrowseScreen):
        for binding in declared(node):
            assert binding.id
            meanings[binding.id].add((binding.action, binding.tooltip))
    assert {name: each for name, each in meanings.items() if len(each) > 1} == {}


@pytest.mark.parametrize("node", [*NODES[1:], ChatCommands], ids=lambda node: node.__name__)
def test_a_key_is_bound_once_in_a_pane(node: type[DOMNode]) -> None:
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
