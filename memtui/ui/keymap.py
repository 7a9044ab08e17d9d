"""Other keys for what can be done, as the settings say.

Textual has a key map of its own. It is not used: it is laid over the bindings after those have been left out that a
text box takes as text, so that what has a letter by default has no key while somebody types, whatever the map says.
Here each widget's own bindings are changed, once, when it is put on the screen.
"""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from textual.app import App
from textual.binding import Binding, BindingsMap
from textual.dom import DOMNode
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, _character_to_key
from textual.screen import ModalScreen

from memtui.ui.frame import SHOWN_KEYS, key_name

if TYPE_CHECKING:
    from memtui.config import Loaded, Problem

Keymap = Mapping[str, tuple[str, ...]]
"""Keys by the id of what they do; none means that it has none."""

_MODIFIERS = ("alt", "ctrl", "hyper", "meta", "shift", "super")
_ALIASES = {
    "esc": "escape", "return": "enter", "pgup": "pageup", "pgdn": "pagedown", "pgdown": "pagedown", "del": "delete",
    "ins": "insert", "bs": "backspace", "control": "ctrl", "option": "alt", "cmd": "super", "minus": "minus",
}  # fmt: skip
_NAMED = frozenset(
    {key.value for key in Keys if "+" not in key.value and not key.value.startswith("<")}
    | {f"f{number}" for number in range(1, 25)}
    | set(SHOWN_KEYS)
    | set(KEY_NAME_REPLACEMENTS.values())
    | {_character_to_key(chr(code)) for code in range(33, 127) if not chr(code).isalnum()}
)
_SHOWN = {shown.casefold(): key for key, shown in SHOWN_KEYS.items() if len(shown) > 1}


def keymap_of(keys: Mapping[str, str]) -> Keymap:
    """The key map that settings mean; what cannot be understood is left out."""
    found: dict[str, tuple[str, ...]] = {}
    for name, given in keys.items():
        known = tuple(key for _, key in _read(given) if key is not None)
        if known or not given.strip():
            found[name] = known
    return found


def key_of(given: str) -> str | None:
    """A key as Textual calls it, from how a person writes it: `r`, `F2`, `Ctrl+R`, `?`, `PgUp`; `None` for no key."""
    given = given.strip()
    if len(given) == 1:
        return given if given.isalnum() else _character_to_key(given)
    if not given:
        return None
    if len(given) == 2 and given[0] == "^":
        given = f"ctrl+{given[1]}"
    *before, last = given.replace("-", "+").split("+") if not given.endswith(("+", "-")) else (given[:-2], given[-1])
    modifiers = sorted({_ALIASES.get(each.strip().casefold(), each.strip().casefold()) for each in before if each})
    if any(each not in _MODIFIERS for each in modifiers):
        return None
    folded = last.strip().casefold()
    key = _ALIASES.get(folded) or _SHOWN.get(folded) or (key_of(last) if len(last) == 1 else folded)
    if key is None or (len(key) > 1 and key not in _NAMED):
        return None
    if modifiers == ["shift"] and len(key) == 1:
        return key.upper()
    return "+".join([*modifiers, key.lower() if modifiers and len(key) == 1 else key])


def rebind(bindings: BindingsMap, keymap: Keymap) -> None:
    """Give what a widget binds the keys of a key map, and take its own from it; it keeps its place in the key line.

    Args:
        bindings: Those of one widget; they are changed.
        keymap: The key map.
    """
    before = list(bindings.key_to_bindings.items())
    if not any(each.id in keymap for _, held in before for each in held):
        return
    after: dict[str, list[Binding]] = {}
    moved: set[str] = set()
    for key, held in before:
        for each in held:
            if each.id is None or each.id not in keymap:
                after.setdefault(key, []).append(each)
            elif each.id not in moved:
                moved.add(each.id)
                for new in keymap[each.id]:
                    after[new] = [each.with_key(key=new, key_display=None), *after.get(new, ())]
    bindings.key_to_bindings.clear()
    bindings.key_to_bindings.update(after)


def _read(given: str) -> list[tuple[str, str | None]]:
    """The keys in a value, each as it was written and as Textual calls it; a comma of its own is `comma`."""
    return [(each.strip(), key_of(each)) for each in given.split(",") if each.strip()]


# What is wrong with a key map: for that, every screen there is has to be known


class _Bound(NamedTuple):
    """What a class binds."""

    owner: type[DOMNode]
    binding: Binding


def problems_of_keys(loaded: "Loaded") -> "list[Problem]":
    """What is wrong with the keys that the settings name, each as one sentence. Loads all screens."""
    return list(_problems(loaded, _all_bound()))


def _problems(loaded: "Loaded", bound: Mapping[str, list[_Bound]]) -> "Iterator[Problem]":
    from memtui.config import Problem  # deferred: only where keys are named
    from memtui.config.nearest import nearest

    keymap = keymap_of(loaded.config.keys)
    for name, given in loaded.config.keys.items():
        origin, line = loaded.origin(f"keys.{name}"), loaded.line(f"keys.{name}")
        where = f"{origin.rpartition(':')[0]}, line {line}: " if line else ""
        if name not in bound:
            meant = nearest(name, bound)
            hint = f'Did you mean "{meant}"?' if meant else "? in memtui tells the ids."
            yield Problem(f'{where}nothing that keys do is called "{name}". {hint} It is not used.', name, line)
            continue
        for written, key in _read(given):
            if key is None:
                meant = _nearest_key(written)
                hint = f" Did you mean {key_name(meant)}?" if meant else ""
                stays = "" if keymap.get(name) else " It keeps the keys that it had."
                yield Problem(f'{where}"{name}": there is no key "{written}".{hint}{stays}', name, line)
        clashes: dict[str, list[str]] = {}
        for key, other in _clashes(name, keymap, bound):
            clashes.setdefault(key, []).append(f'"{other}"')
        for key, clashing in clashes.items():
            words = f'{where}"{name}": {key_name(key)} is a key of {", ".join(clashing)} as well'
            yield Problem(f"{words}, and only one of them answers. Give one of them another key.", name, line)


def _nearest_key(written: str) -> str | None:
    """The key that a mistyped one is likely to mean."""
    from memtui.config.nearest import nearest  # deferred, as above

    *before, last = written.replace("-", "+").split("+")
    modifiers = [nearest(each, (*_MODIFIERS, *_ALIASES)) or each for each in before]
    meant = last if key_of(last) is not None else nearest(last, (*_SHOWN, *_NAMED)) or last
    return key_of("+".join([*modifiers, meant]))


def _clashes(name: str, keymap: Keymap, bound: Mapping[str, list[_Bound]]) -> Iterator[tuple[str, str]]:
    """The new keys of something that are keys of something else at the same time."""
    for key in keymap.get(name, ()):
        for other, others in bound.items():
            if other == name or (other in keymap and (key not in keymap[other] or other < name)):
                continue
            own = other in keymap or any(key in each.binding.key.split(",") for each in others)
            if own and any(_together(one.owner, two.owner) for one in bound[name] for two in others):
                yield key, other


def _together(one: type[DOMNode], two: type[DOMNode]) -> bool:
    """Whether what two classes bind can be in force at the same time."""
    from memtui.ui.screens.browse import BrowseScreen  # deferred: it is there by now

    if issubclass(one, two) or issubclass(two, one):
        return True
    modal = any(issubclass(each, ModalScreen) for each in (one, two))
    if any(issubclass(each, App) for each in (one, two)):
        return not modal
    family = [issubclass(BrowseScreen, each) or each.__name__ in _PANES for each in (one, two)]
    return all(family) and not all(each.__name__ in _PANES for each in (one, two))


_PANES = ("FilesView", "NoteView", "ActivityView", "RowsView")


def _all_bound() -> dict[str, list[_Bound]]:
    """All that has an id, with the classes that bind it."""
    import memtui.ui

    for module in pkgutil.walk_packages(memtui.ui.__path__, "memtui.ui."):
        importlib.import_module(module.name)
    found: dict[str, list[_Bound]] = {}
    for node in _below(DOMNode):
        if node.__module__.startswith("memtui."):
            for binding in node.__dict__.get("BINDINGS", ()):
                if isinstance(binding, Binding) and binding.id:
                    found.setdefault(binding.id, []).append(_Bound(node, binding))
    return found


def _below(node: type[DOMNode]) -> Iterable[type[DOMNode]]:
    seen: dict[type[DOMNode], None] = {}
    todo = [node]
    while todo:
        for each in todo.pop().__subclasses__():
            if each not in seen:
                seen[each] = None
                todo.append(each)
    return seen
