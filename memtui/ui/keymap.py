"""The person's changes of keys, applied to bindings.

The keys themselves are bound in the controllers of a screen; `screens/browse.py` lists those of the main screen.

Textual's own key map is not used: it is applied after a text box has taken its characters out of the bindings, so an
action with a letter by default would have no key while a text box has the focus, whatever the map says. Here each
widget's own bindings are changed, once, when it is mounted.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from textual.app import App
from textual.binding import Binding, BindingsMap
from textual.dom import DOMNode
from textual.keys import KEY_NAME_REPLACEMENTS, Keys
from textual.screen import ModalScreen

from memtui.config import ConfigProblem, LoadedConfig
from memtui.core.suggestion import find_nearest, format_suggestion
from memtui.ui.key_names import SHOWN_KEYS, format_key, label_key, load_screens
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.textual_private import character_to_key

Keymap = Mapping[str, tuple[str, ...]]
"""Keys by the id of their binding; an empty tuple means that it has none."""

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
    | {character_to_key(chr(code)) for code in range(33, 127) if not chr(code).isalnum()}
)
_SHOWN = {shown.casefold(): key for key, shown in SHOWN_KEYS.items() if len(shown) > 1}


def build_keymap(keys: Mapping[str, str]) -> Keymap:
    """The key map of the settings, without invalid keys."""
    found: dict[str, tuple[str, ...]] = {}
    for name, given in keys.items():
        known = tuple(key for _, key in _parse_keys(given) if key is not None)
        if known or not given.strip():
            found[name] = known
    return found


def parse_key(given: str) -> str | None:
    """Textual's name of a key that a person wrote as `r`, `F2`, `Ctrl+R`, `?`, `PgUp`; `None` for no key."""
    given = given.strip()
    if len(given) == 1:
        return given if given.isalnum() else character_to_key(given)
    if not given:
        return None
    if len(given) == 2 and given[0] == "^":
        given = f"ctrl+{given[1]}"
    *before, last = given.replace("-", "+").split("+") if not given.endswith(("+", "-")) else (given[:-2], given[-1])
    modifiers = sorted({_get_key_word(each) for each in before if each})
    key = _parse_last_key(last)
    if key is None or any(each not in _MODIFIERS for each in modifiers):
        return None
    if modifiers == ["shift"] and len(key) == 1:
        return key.upper()
    return "+".join([*modifiers, key.lower() if modifiers and len(key) == 1 else key])


def _get_key_word(written: str) -> str:
    folded = written.strip().casefold()
    return _ALIASES.get(folded, folded)


def _parse_last_key(written: str) -> str | None:
    """The key behind the modifiers; `None` if there is no such key."""
    folded = written.strip().casefold()
    key = _ALIASES.get(folded) or _SHOWN.get(folded) or (parse_key(written) if len(written) == 1 else folded)
    return None if key is None or (len(key) > 1 and key not in _NAMED) else key


def rebind(bindings: BindingsMap, keymap: Keymap) -> None:
    """Replace the keys in the bindings of one widget; each binding keeps its place in the key line."""
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


def _parse_keys(given: str) -> list[tuple[str, str | None]]:
    """The keys in a value, as written and as Textual names them; a comma as a key is `comma`."""
    return [(each.strip(), parse_key(each)) for each in given.split(",") if each.strip()]


# What is wrong with a key map: for that, every screen there is has to be known


class _ClassBinding(NamedTuple):
    owner: type[DOMNode]
    binding: Binding


def find_key_problems(loaded: LoadedConfig) -> list[ConfigProblem]:
    """The errors in the key map of the settings, each as one sentence. Loads all screens."""
    return list(_iter_key_problems(loaded, _collect_bindings()))


def _iter_key_problems(loaded: LoadedConfig, bound: Mapping[str, list[_ClassBinding]]) -> Iterator[ConfigProblem]:
    keymap = build_keymap(loaded.config.keys)
    for name, given in loaded.config.keys.items():
        origin, line = loaded.get_origin(f"keys.{name}"), loaded.get_line(f"keys.{name}")
        where = f"{origin.rpartition(':')[0]}, line {line}: " if line else ""
        if name not in bound:
            hint = format_suggestion(
                name, bound, f"{label_key('app.help')} in memtui lists the ids.", shown='"{}"', dotted=True
            )
            yield ConfigProblem(f'{where}there is no key id "{name}". {hint} It is not used.', name, line)
            continue
        for written, key in _parse_keys(given):
            if key is None:
                meant = _find_nearest_key(written)
                hint = f" Did you mean {format_key(meant)}?" if meant else ""
                stays = "" if keymap.get(name) else " It keeps the keys that it had."
                yield ConfigProblem(f'{where}"{name}": there is no key "{written}".{hint}{stays}', name, line)
        clashes: dict[str, list[str]] = {}
        for key, other in _find_clashes(name, keymap, bound):
            clashes.setdefault(key, []).append(f'"{other}"')
        for key, clashing in clashes.items():
            words = f'{where}"{name}": {format_key(key)} is also a key of {", ".join(clashing)}'
            yield ConfigProblem(f"{words}. Only one of them works; give one another key.", name, line)


def _find_nearest_key(written: str) -> str | None:
    """The key that a mistyped one is likely to mean."""
    *before, last = written.replace("-", "+").split("+")
    modifiers = [find_nearest(each, (*_MODIFIERS, *_ALIASES)) or each for each in before]
    meant = last if parse_key(last) is not None else find_nearest(last, (*_SHOWN, *_NAMED)) or last
    return parse_key("+".join([*modifiers, meant]))


def _find_clashes(name: str, keymap: Keymap, bound: Mapping[str, list[_ClassBinding]]) -> Iterator[tuple[str, str]]:
    """The new keys of a binding that are keys of another one at the same time."""
    for key in keymap.get(name, ()):
        for other, others in bound.items():
            if other == name or (other in keymap and (key not in keymap[other] or other < name)):
                continue
            own = other in keymap or any(key in each.binding.key.split(",") for each in others)
            if own and any(_can_coincide(one.owner, two.owner) for one in bound[name] for two in others):
                yield key, other


def _can_coincide(one: type[DOMNode], two: type[DOMNode]) -> bool:
    """Whether the bindings of two classes can be in force at the same time."""
    if issubclass(one, two) or issubclass(two, one):
        return True
    modal = any(issubclass(each, ModalScreen) for each in (one, two))
    if any(issubclass(each, App) for each in (one, two)):
        return not modal
    family = [issubclass(BrowseScreen, each) or each.__name__ in _PANES for each in (one, two)]
    return all(family) and not all(each.__name__ in _PANES for each in (one, two))


_PANES = ("TreeView", "NoteView", "ActivityView", "RowsView")


def _collect_bindings() -> dict[str, list[_ClassBinding]]:
    """All bindings with an id, with the classes that declare them."""
    load_screens()
    found: dict[str, list[_ClassBinding]] = {}
    for node in _iter_subclasses(DOMNode):
        if node.__module__.startswith("memtui."):
            for binding in node.__dict__.get("BINDINGS", ()):
                if isinstance(binding, Binding) and binding.id:
                    found.setdefault(binding.id, []).append(_ClassBinding(node, binding))
    return found


def _iter_subclasses(node: type[DOMNode]) -> Iterable[type[DOMNode]]:
    seen: dict[type[DOMNode], None] = {}
    todo = [node]
    while todo:
        for each in todo.pop().__subclasses__():
            if each not in seen:
                seen[each] = None
                todo.append(each)
    return seen
