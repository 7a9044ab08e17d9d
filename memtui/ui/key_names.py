"""Labels of keys.

A sentence that names a key asks `label_key`, so that it names the key of the person's own key map.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import key_to_character

SHOWN_KEYS = {
    "question_mark": "?", "colon": ":", "slash": "/", "full_stop": ".", "comma": ",", "right_square_bracket": "]",
    "left_square_bracket": "[", "less_than_sign": "<", "greater_than_sign": ">", "equals_sign": "=", "plus": "+",
    "minus": "-", "number_sign": "#", "asterisk": "*", "underscore": "_", "enter": "Enter", "escape": "Esc",
    "tab": "Tab", "space": "Space", "up": "Up", "down": "Down", "left": "Left", "right": "Right", "pageup": "PgUp",
    "pagedown": "PgDn", "home": "Home", "end": "End", "backspace": "Backspace", "delete": "Del", "insert": "Ins",
}  # fmt: skip
"""Labels by Textual's names."""

_TYPED = {"slash_": "/", "colon_": ":"}
"""Prefixes of typed commands, which are bound as keys that no keyboard has: bindings stay the only list of actions."""


def format_key(key: str) -> str:
    """The label of a key: `Ctrl+P`, `PgUp`, `?`; of a typed command `/undo`."""
    for start, sign in _TYPED.items():
        if key.startswith(start):
            return sign + key.removeprefix(start)
    *modifiers, last = key.split("+")
    name = SHOWN_KEYS.get(last) or key_to_character(last) or last
    if len(name) > 1 and name[0] == "f" and name[1:].isdecimal():
        name = name.upper()
    if not modifiers:
        return name
    return "+".join([*(each.capitalize() for each in modifiers), name.upper() if len(name) == 1 else name])


ENTER = "Enter"
"""Submits a line and chooses in a list: bindings of Textual's own, which no key map reaches."""

_own: dict[str, tuple[str, ...]] = {}
_usual: dict[str, tuple[str, ...]] = {}


def set_keymap(keymap: Mapping[str, tuple[str, ...]]) -> None:
    """Use the keys of this map in sentences; a binding without a key there keeps its default label."""
    _own.clear()
    _own.update({name: tuple(map(format_key, keys)) for name, keys in keymap.items() if keys})


def label_key(name: str, *, short: bool = False) -> str:
    """The label of the first key of a binding: `f`, `Esc`, `Ctrl+S`; `short` writes control keys as `^S`."""
    label = list_labels(name)[0]
    return f"^{label[-1]}" if short and label[:-1] == "Ctrl+" else label


def join_labels(name: str, most: int = 3) -> str:
    """Several keys of a binding in a sentence, letters last: `Enter, Esc or n`."""
    *first, last = sorted(list_labels(name)[:most], key=lambda label: len(label) == 1)
    return f"{', '.join(first)} or {last}" if first else last


def list_labels(name: str) -> tuple[str, ...]:
    """The labels of all keys of a binding; loads the screens if it is not known yet."""
    if name in _own:
        return _own[name]
    if name not in _usual:
        _usual.update(_iter_usual_labels(DOMNode))
    if name not in _usual:
        load_screens()
        _usual.update(_iter_usual_labels(DOMNode))
    return _usual[name]


def load_screens() -> None:
    import memtui.ui  # noqa: PLC0415 - incomplete while this module loads

    for module in pkgutil.walk_packages(memtui.ui.__path__, "memtui.ui."):
        importlib.import_module(module.name)


def _iter_usual_labels(node: type[DOMNode]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for each in node.__subclasses__():
        yield from _iter_usual_labels(each)
        for binding in each.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id:
                yield binding.id, tuple(map(format_key, binding.key.split(",")))
