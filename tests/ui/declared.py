"""What memtui's own classes bind, for the tests of keys."""

from collections.abc import Iterator

from textual.binding import Binding
from textual.dom import DOMNode


def declared(node: type[DOMNode]) -> Iterator[Binding]:
    """The bindings that memtui declares for a class, its own bases included."""
    for base in node.__mro__:
        if base.__module__.startswith("memtui."):
            for binding in base.__dict__.get("BINDINGS", ()):
                assert isinstance(binding, Binding), f"{base.__name__} binds {binding!r}, which has no id"
                yield binding
