"""What is not loaded by the time the first frame is up: a heavy import there is time that a person waits."""

import os
import subprocess
import sys
from collections.abc import Set
from pathlib import Path

import pytest

import memtui

FORBIDDEN = {
    # What opens, records and watches a folder: threads do that, behind the first frame.
    "memtui.engine",
    "memtui.journal",
    "memtui.memory",
    "memtui.store",
    "memtui.watch",
    "anyio",  # comes with watchfiles
    "ctypes",
    "multiprocessing",  # comes with watchfiles
    "sqlite3",
    "watchfiles",
    # What draws notes, searches and highlights: only once there is something to draw.
    "markdown_it",
    "mdit_py_plugins",
    "pygments",
    "rapidfuzz",
    "rich.markdown",
    "rich.syntax",
    "rich.traceback",
    # Screens and widgets that a person has to ask for.
    "memtui.agents",
    "memtui.audit",
    "memtui.review",
    "memtui.ui.widgets.diff.layout",
    "memtui.ui.widgets.versions",
    "memtui.ui.widgets.find_line",
    "memtui.ui.widgets.markdown.blame",
    "memtui.ui.widgets.markdown.chunks",
    "memtui.ui.widgets.markdown.inline",
    "memtui.ui.widgets.markdown.links",
    "memtui.ui.widgets.markdown.render",
    "memtui.notes",
    "memtui.ui.actions",
    "memtui.ui.screens.audit",
    "memtui.ui.screens.audit_lists",
    "memtui.ui.screens.deleted",
    "memtui.ui.screens.dialogs",
    "memtui.ui.screens.help",
    "memtui.ui.screens.history",
    "memtui.ui.screens.past",
    "memtui.ui.screens.places",
    "memtui.ui.flows.undo",
    "textual.command",  # and with it a seventh of Textual
    "textual.widgets._data_table",
    "textual.widgets._input",
    "textual.widgets._markdown",
    "textual.widgets._option_list",
    "textual.widgets._select",
    "textual.widgets._text_area",
    "textual.widgets._tree",
    # What nothing here needs.
    "anthropic",
    "hashlib",  # opens OpenSSL
    "httpx",
    "json",
    "numpy",
    "pydantic",
    "yaml",
}
"""A name stands for the modules inside it as well. What Textual itself loads (asyncio, rich.table) cannot be here."""

_IN_A_CHAT = {"json", "memtui.agents", "textual.widgets._text_area"}
"""What the first frame of a conversation needs."""

FOR_A_CHAT = (FORBIDDEN - _IN_A_CHAT) | {
    # The conversation, its sessions and the SDK: threads load them, behind the first frame.
    "memtui.agents.chat.conversation",
    "memtui.agents.chat.sessions.records",
    "memtui.agents.chat.sessions.store",
    "memtui.agents.claude",
    "memtui.agents.gate",
    "memtui.agents.mcp",
    "memtui.ui.screens.chat_review",
    # Questions: their place is made before the first one can come.
    "memtui.ui.widgets.approval",
    "memtui.ui.widgets.diff",
}

FOR_AN_AUDIT = (
    FORBIDDEN
    - {
        "ctypes",  # which Landlock is called by
        "memtui.agents",
        "memtui.audit",
        "memtui.review",
        "memtui.ui.screens.audit",
        "memtui.ui.screens.audit_lists",
        "memtui.ui.screens.dialogs",
        "memtui.ui.widgets.diff.layout",
        "textual.widgets._input",
    }
) | {
    # Who opens, audits and reviews: a thread loads them, behind the first frame.
    "memtui.agents.opinions",
    "memtui.audit.masking",
    "memtui.audit.registry",
    "memtui.audit.rule_files",
    "memtui.audit.runner",
    "memtui.knowledge",
    "memtui.places",
    "memtui.review.inbox_builder",
    "memtui.review.marks",
    "memtui.review.verdicts",
    "memtui.scan.secrets",
    # The browser, its tree and its notes.
    "memtui.ui.screens.browse",
    "memtui.ui.screens.folder",
    "memtui.ui.session",
    "tomllib",
}

_PROGRAM = """
import asyncio
import sys

import memtui.cli.browser  # the way that `memtui DIR` takes
from memtui.ui.startup import load_textual

load_textual()
from memtui.ui.app import MemtuiApp
from memtui.ui.session import FolderSession as SessionFolderSession

painted = []
SessionFolderSession.start = lambda self: painted.extend(sys.modules)  # called right after the first frame


async def paint():
    app = MemtuiApp(sys.argv[1], state=sys.argv[2])
    async with app.run_test(size=(120, 36)) as pilot:
        while not painted:
            await pilot.pause()
        assert app.screen.query("#files, #note, #activity")


asyncio.run(paint())
sys.stdout.write("\\n".join(painted))
"""

_CHAT = (
    _PROGRAM.replace("import memtui.cli.browser  # the way that `memtui DIR` takes\n", "")
    .replace(
        "from memtui.ui.app import MemtuiApp",
        "from memtui.agents.chat.events import ChatOptions\nfrom memtui.ui.chat_app import ChatApp",
    )
    .replace("MemtuiApp(sys.argv[1], ", "ChatApp(sys.argv[1], ChatOptions(), ")
)


_AUDIT = """
import asyncio
import sys

from memtui.cli.audit_screen import audit_on_screen  # the way that `memtui audit DIR` takes
from memtui.cli.options import Options
from memtui.config import LoadedConfig
from memtui.ui.startup import load_textual

sys.dont_write_bytecode = True  # or the first audit ever loads all, to keep it compiled
load_textual()
from memtui.ui import app as app_module
from memtui.ui.screens.audit_run import RunController

painted = []
RunController.start_audit = lambda self: painted.extend(sys.modules)  # called right after the first frame


async def paint(app):
    async with app.run_test(size=(120, 36)) as pilot:
        while not painted:
            await pilot.pause()
        assert app.screen.query("#findings, #changes, #page")
    return 0


app_module.run = lambda app: asyncio.run(paint(app))
assert audit_on_screen(sys.argv[1], LoadedConfig(), Options(state=sys.argv[2])) == 0
sys.stdout.write("\\n".join(painted))
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Set[str]:
    """The modules that are there when the first screen has been drawn, in a process of its own."""
    return _loaded(_PROGRAM, tmp_path_factory.mktemp("first-paint"))


@pytest.fixture(scope="module")
def loaded_for_a_chat(tmp_path_factory: pytest.TempPathFactory) -> Set[str]:
    """The same for a chat."""
    return _loaded(_CHAT, tmp_path_factory.mktemp("first-paint-of-a-chat"))


@pytest.fixture(scope="module")
def loaded_for_an_audit(tmp_path_factory: pytest.TempPathFactory) -> Set[str]:
    """The same for an audit."""
    return _loaded(_AUDIT, tmp_path_factory.mktemp("first-paint-of-an-audit"))


def _loaded(program: str, scratch: Path) -> Set[str]:
    (scratch / "folder").mkdir()
    (scratch / "folder" / "note.md").write_text("# A note\n")
    words = [sys.executable, "-c", program, str(scratch / "folder"), str(scratch / "state")]
    environment = {**os.environ, "PYTHONPATH": str(Path(memtui.__file__).parents[1])}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize("name", sorted(FORBIDDEN))
def test_it_is_not_loaded_before_the_first_paint(name: str, loaded: Set[str]) -> None:
    assert not {module for module in loaded if module == name or module.startswith(name + ".")}


def test_the_first_screen_was_really_there(loaded: Set[str]) -> None:
    assert {"memtui.ui.screens.browse", "memtui.ui.widgets.markdown.view", "textual.screen"} <= loaded


@pytest.mark.parametrize("name", sorted(FOR_A_CHAT))
def test_it_is_not_loaded_before_the_first_paint_of_a_chat(name: str, loaded_for_a_chat: Set[str]) -> None:
    assert not {module for module in loaded_for_a_chat if module == name or module.startswith(name + ".")}


def test_the_chat_was_really_there(loaded_for_a_chat: Set[str]) -> None:
    assert {
        "memtui.ui.screens.chat",
        "memtui.ui.widgets.transcript.view",
        "memtui.ui.widgets.composer",
    } <= loaded_for_a_chat


@pytest.mark.parametrize("name", sorted(FOR_AN_AUDIT))
def test_it_is_not_loaded_before_the_first_paint_of_an_audit(name: str, loaded_for_an_audit: Set[str]) -> None:
    assert not {module for module in loaded_for_an_audit if module == name or module.startswith(name + ".")}


def test_the_audit_was_really_there(loaded_for_an_audit: Set[str]) -> None:
    assert {"memtui.ui.screens.audit", "memtui.ui.widgets.findings", "memtui.fs.landlock"} <= loaded_for_an_audit


def test_the_first_frame_makes_the_styles_of_no_role_that_it_does_not_draw(tmp_path: Path) -> None:
    program = _PROGRAM.replace('sys.stdout.write("\\n".join(painted))', "").replace(
        'assert app.screen.query("#files, #note, #activity")',
        'sys.stdout.write("\\n".join(role for each in app.screen.query("*") for role in each._component_styles))',
    )
    assert "noteview--h1" not in _loaded(program, tmp_path)


def test_the_palette_that_is_left_out_can_still_be_loaded(tmp_path: Path) -> None:
    program = (
        "from memtui.ui.startup import load_textual; load_textual()\n"
        "from textual.command import CommandPalette, Provider\n"
        "from textual.system_commands import SystemCommandsProvider\n"
        "assert issubclass(SystemCommandsProvider, Provider) and CommandPalette.is_open"
    )
    _loaded(program, tmp_path)


def test_no_style_is_parsed_twice_before_the_first_frame(tmp_path: Path) -> None:
    program = "\n".join(
        [
            "import os; os.environ |= {'TERM': 'xterm', 'COLORTERM': ''}  # another theme than Textual's",
            "from collections import Counter",
            "from textual.css import stylesheet",
            "parsed, parse = Counter(), stylesheet.parse",
            "def count(scope, css, read_from, *arguments, **options):",
            "    parsed[css] += 1",
            "    return parse(scope, css, read_from, *arguments, **options)",
            "stylesheet.parse = count",
            _PROGRAM.replace("import memtui.cli.browser", "import sys, memtui.cli.browser"),
            "ours = [times for css, times in parsed.items() if 'NoteView' in css or 'FolderScreen' in css]",
            "assert len(ours) > 1 and set(ours) == {1}, parsed",
        ]
    )
    _loaded(program, tmp_path)
