"""Screens that are loaded while nobody types, so that the first key to one of them does not wait for its modules."""

import time
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

MODULES = (
    "memtui.ui.screens.dialogs",
    "memtui.ui.widgets.diff.view",
    "memtui.ui.screens.history",
    "memtui.ui.widgets.editor.area",
    "memtui.ui.screens.edit",
    "memtui.scan.invisible",
    "memtui.scan.secrets",
    "memtui.search.finder",
    "memtui.ui.screens.find",
)
"""Those of history, editor and find, in steps that are short enough for a key that comes meanwhile."""
QUIET_SECONDS = 0.3
"""How long no key came before a module is loaded."""
_STEP_SECONDS = 0.1


def load_next_screens(
    get_last_key: Callable[[], float], is_cancelled: Callable[[], bool], report: Callable[[ModuleType], object]
) -> None:
    """Load the modules one by one, from a thread, each while nobody types.

    Args:
        get_last_key: The moment of the last key, in seconds of the monotonic clock.
        is_cancelled: Whether to end.
        report: Called with each module that was loaded.
    """
    for name in MODULES:
        while (left := get_last_key() + QUIET_SECONDS - time.monotonic()) > 0 and not is_cancelled():
            time.sleep(min(left, _STEP_SECONDS))
        if is_cancelled():
            return
        report(import_module(name))
