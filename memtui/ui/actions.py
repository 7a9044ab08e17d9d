"""The actions of the bindings in force.

The key line, the help, the command palette and the README's key table are all made from bindings; there is no second
list of commands that could disagree with the keys.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from textual.binding import Binding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.dom import DOMNode
from textual.screen import Screen

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


# The command palette, made from the bindings that are in force.

_BY_NAME = 1_000.0
"""The score of a command whose name is typed: above any fuzzy match."""


class ActionsProvider(Provider):
    """The command palette: every action of the screen below it."""

    async def discover(self) -> Hits:
        for action in sorted(list_actions(self.screen), key=lambda action: not action.binding.show):
            yield DiscoveryHit(action.description, self._make_runner(action), help=action.key_labels)

    async def search(self, query: str) -> Hits:
        """The actions that match by description, or by name."""
        matcher = self.matcher(query)
        for action in list_actions(self.screen):
            typed = query.strip().removeprefix(":").casefold()
            is_named = bool(typed) and any(name.startswith(typed) for name in action.names)
            score = _BY_NAME if is_named else matcher.match(action.description)
            if score > 0:
                yield Hit(
                    score, matcher.highlight(action.description), self._make_runner(action), help=action.key_labels
                )

    def _make_runner(self, action: Action) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            await self.app.run_action(action.binding.action, default_namespace=action.node)

        return run
