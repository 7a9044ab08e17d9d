"""The private parts of Textual and watchfiles are those of the versions that were checked."""

import ast
import re
from importlib.metadata import version
from pathlib import Path

import pytest
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import OptionList, TextArea

import memtui
from memtui import watch
from memtui.ui import textual_private

OVERRIDDEN = [
    (Widget, "_get_component_classes"),
    (Screen, "_screen_resized"),
    (OptionList, "_get_option_render"),
    *(
        (App, name)
        for name in (
            "_handle_exception", "_print_error_renderables", "_register_child", "_display", "_check_action_state",
        )
    ),
    *((LinuxDriver, name) for name in ("_sigtstp_application", "_sigcont_application")),
    *(
        (TextArea, name)
        for name in (
            "_set_document", "_build_highlight_map", "_refresh_size", "_undo_batch", "_redo_batch",
            "_yield_character_locations", "_yield_character_locations_reverse", "_replace_via_keyboard",
            "_rewrap_and_refresh_virtual_size",
        )
    ),
]  # fmt: skip
"""Private methods that a class of memtui overrides or calls on itself."""
ADAPTERS = {"ui/textual_drawing.py", "ui/textual_private.py", "ui/widgets/editor/textual_document.py", "watch.py"}


def test_the_private_parts_were_checked_with_these_versions() -> None:
    assert version("textual") == textual_private.CHECKED_WITH, (
        "Run all tests of the screens, then name the new version."
    )
    assert version("watchfiles") == watch.CHECKED_WITH, "Run the tests of watching, then name the new version."


@pytest.mark.parametrize(("owner", "name"), OVERRIDDEN)
def test_a_private_method_that_is_overridden_is_there(owner: type, name: str) -> None:
    assert callable(getattr(owner, name))


def test_private_modules_and_names_are_imported_by_adapters_only() -> None:
    root = Path(memtui.__file__).parent
    found = set()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not re.match(r"(textual|watchfiles|rich)\b", node.module or ""):
                continue
            if "._" in str(node.module) or any(each.name.startswith("_") for each in node.names):
                found.add(path.relative_to(root).as_posix())
    assert found == ADAPTERS
