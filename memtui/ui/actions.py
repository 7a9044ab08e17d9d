"""The actions of the bindings in force.

The key line, the help, the list of commands and the README's key table are all made from bindings; there is no second
list of commands that could disagree with the keys.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen

from memtui.core.lazy_dataclass import dataclass
from memtui.ui.controller import Controller
from memtui.ui.key_names import format_key


@dataclass(frozen=True, slots=True)
class Action:
    """A binding with all of its keys, and the node whose action it runs."""

    node: DOMNode
    binding: Binding
    keys: tuple[str, ...]

    @property
    def description(self) -> str:
        return self.binding.tooltip or self.binding.description

    @property
    def names(self) -> tuple[str, ...]:
        """The commands behind the colon."""
        return tuple(key.removeprefix("colon_") for key in self.keys if key.startswith("colon_"))

    @property
    def key_labels(self) -> str:
        return " ".join(map(format_key, self.keys))


def list_actions(screen: Screen[object]) -> list[Action]:
    """The enabled actions of a screen, those of the focused widget first; each id once.

    Bindings without an id are Textual's own and left out.
    """
    actions: dict[str, Action] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if not binding.id or not active.enabled:
            continue
        known = actions.get(binding.id)
        if known is None:
            actions[binding.id] = Action(active.node, binding, (binding.key,))
        else:
            actions[binding.id] = replace(known, keys=(*known.keys, binding.key))
    return list(actions.values())


def list_declared_actions(owner: type[DOMNode] | type[Controller[Any]]) -> list[Action]:
    """The actions that a class itself declares, for tables in documents."""
    declared = owner.__dict__.get("OWN_BINDINGS", owner.__dict__.get("BINDINGS", ()))
    bindings = [binding for binding in declared if isinstance(binding, Binding)]
    return [Action(DOMNode(), binding, tuple(binding.key.split(","))) for binding in bindings]


# Finding an action by what a person types: its name, its id, its synonyms, its keys.


@cache
def load_synonyms() -> Mapping[str, Sequence[str]]:
    """Other words for actions, by the id of their binding."""
    import tomllib  # noqa: PLC0415 - start-up: only for the help and the commands

    with open(os.path.join(os.path.dirname(__file__), "synonyms.toml"), "rb") as file:
        return tomllib.load(file)


def rank_action(action: Action, query: str) -> int | None:
    """How well an action matches what was typed, the smaller the better; `None` if a word is not found in it."""
    words = query.casefold().split()
    name, binding = action.binding.description.casefold(), action.binding
    synonyms = load_synonyms().get(binding.id or "", ())
    if len(query.strip()) == 1 and query.strip() in action.key_labels.split():  # which has a case: `u` is not `U`
        return -1
    if " ".join(words).removeprefix(":") in (name, *action.names):
        return -2
    named = {*name.split(), *action.names, *synonyms}
    described = action.description.casefold()
    text = " ".join([name, described, binding.id or "", *synonyms, action.key_labels.casefold()])
    ranks = [_rank_word(word.removeprefix(":") or word, named, described, text) for word in words]
    return None if None in ranks else sum(rank for rank in ranks if rank is not None)


def _rank_word(word: str, named: Collection[str], described: str, text: str) -> int | None:
    if word in named:
        return 0
    if any(each.startswith(word) for each in named):
        return 1
    if f" {word}" in f" {described}":
        return 2
    return 3 if word in text else None


def rank_actions(actions: Sequence[Action], query: str, recent: Sequence[str] = ()) -> list[Action]:
    """The actions that match, the best first; of equal ones those that were run last, then those of the key line."""
    places = {name: place for place, name in enumerate(recent)}

    def order(action: Action) -> tuple[int, int, bool]:
        return ranks[action.binding.id] or 0, places.get(action.binding.id or "", len(places)), not action.binding.show

    ranks = {action.binding.id: rank_action(action, query) for action in actions}
    return sorted((action for action in actions if ranks[action.binding.id] is not None), key=order)
