"""The modules of memtui that can be imported in every installation of the tests."""

import pkgutil
from collections.abc import Iterator

_NEEDS_EXTRA = "memtui.agents.adapters."
"""What imports frameworks that the extra `test` leaves out."""


def iter_module_names() -> Iterator[str]:
    """Their names, without those of programs."""
    import memtui  # noqa: PLC0415 - a process that is started for tests sets Python's options first

    for module in pkgutil.walk_packages(memtui.__path__, "memtui."):
        if not module.name.endswith("__main__") and not module.name.startswith(_NEEDS_EXTRA):
            yield module.name
