"""What a person can do now: the bindings that are in force, as one list.

The key line, the help, the command palette and the README's key table are all made from bindings; there is no
second list of commands that could disagree with the keys.
"""

from dataclasses import dataclass, replace

from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen

from memtui.ui.frame import key_name


@dataclass(frozen=True, slots=True)
class Action:
    """One binding with all of its keys, and the node whose action it runs."""

    node: DOMNode
    binding: Binding
    keys: tuple[str, ...]

    @property
    def words(self) -> str:
        """What it does, in a few words."""
        return self.binding.tooltip or self.binding.description

    @property
    def names(self) -> tuple[str, ...]:
        """What can be typed for it behind the colon."""
        return tuple(key.removeprefix("colon_") for key in self.keys if key.startswith("colon_"))

    @property
    def shown_keys(self) -> str:
        """Its keys as people write them."""
        return " ".join(map(key_name, self.keys))


def actions_of(screen: Screen[object]) -> list[Action]:
    """The actions that can be run on a screen, those of the focused widget first; each id once.

    Bindings without an id are Textual's own and not offered.
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


def declared(node_class: type[DOMNode]) -> list[Action]:
    """What a class declares, without a node to run it on: for tables in documents."""
    bindings = [binding for binding in node_class.__dict__.get("BINDINGS", ()) if isinstance(binding, Binding)]
    return [Action(DOMNode(), binding, tuple(binding.key.split(","))) for binding in bindings]
