"""Keys in sentences: `u takes it back` names the key that the person has for it, not the one that others have."""

from collections.abc import Mapping

from memtui.ui.frame import key_name

_own: dict[str, str] = {}


def use(keymap: Mapping[str, tuple[str, ...]]) -> None:
    """From now on sentences name the keys of this map; what it leaves without a key keeps its usual name.

    Args:
        keymap: Keys by the id of what they do.
    """
    _own.clear()
    _own.update({name: key_name(keys[0]) for name, keys in keymap.items() if keys})


def said(name: str, usual: str) -> str:
    """How a key is called in a sentence.

    Args:
        name: The id of what it does.
        usual: The key that it has by default.
    """
    return _own.get(name, usual)


def undo() -> str:
    """The key that takes back."""
    return said("browse.undo", "u")


def redo() -> str:
    """The key that does again what was taken back."""
    return said("browse.redo", "U")


def deleted() -> str:
    """The key that lists what is gone."""
    return said("browse.deleted", "D")


def rename() -> str:
    """The key that renames."""
    return said("file.rename", "r")
