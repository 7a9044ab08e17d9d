"""Draw the pictures that the README shows, by driving the real application.

`python -m screenshots.make` draws them beside this file; `python -m screenshots.make DIRECTORY [NAME …]` draws all
scenes, or those named, elsewhere, to be looked at. Both work in a temporary home directory, play the demo's story
through the real engine, press keys and write PNGs. They need `pip install '.[screenshots]'` and a monospaced font
(DejaVu Sans Mono is asked for first).
"""

import asyncio
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual._context import visible_screen_stack
from textual.app import App
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import OptionList

import memtui
from memtui.agents.chat.events import ChatOptions
from memtui.agents.demo import play_story, prepare_folder
from memtui.core.approvals import ApprovalPolicy
from memtui.core.settings import AuditSettings
from memtui.engine import Engine
from memtui.fs.exports import ExportWriter
from memtui.fs.landlock import SandboxStatus
from memtui.fs.write_helper import LocalWriter
from memtui.memory import observe
from memtui.places.claude_code import encode_path
from memtui.review.folder_inspection import FolderInspection, ReviewOptions
from memtui.review.inspection import AuditCallbacks
from memtui.ui.app import MemtuiApp
from memtui.ui.audit_app import AuditApp
from memtui.ui.chat_app import ChatApp
from memtui.ui.screens.audit import AuditScreen
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.chat import ChatScreen
from memtui.ui.screens.conflict import ConflictScreen
from memtui.ui.screens.edit import EditScreen
from memtui.ui.screens.places import FolderPickerScreen
from tests.ui.chat.acting import Do, Play, Say, Step, Think
from tests.ui.screens.audit.made import secret

HERE = Path(__file__).parent
WAIT_SECONDS = 20.0


@dataclass(frozen=True)
class Picture:
    """One picture: its file's name, the size of the terminal, the theme, and what is pressed before."""

    name: str
    size: tuple[int, int] = (120, 36)
    theme: str = "memtui-dark"
    keys: Sequence[str] = ()
    empty: bool = False
    read_only: bool = False
    wiped: bool = False
    """Whether somebody outside deletes everything at the end."""
    meanwhile: bool = False
    """Whether an agent rewrites the line that is being edited, and the person saves then."""
    live: bool = True
    """Whether the browser is open while the agent works; else it is opened afterwards, and always looks the same."""
    linked: bool = False
    """Whether the folder holds notes that link each other, and nothing else."""
    chat: str = ""
    """Whether it is a chat: `talk` after a turn, `ask` while a question is open."""
    audit: bool = False
    """Whether it is an audit, some time after the last review."""
    home: bool = False
    """Whether it is the home, with the folders of several agents."""


PICTURES = (
    Picture("browse"),
    Picture("browse-80x24", (80, 24)),
    Picture("browse-200x50", (200, 50)),
    Picture("browse-light", theme="memtui-light"),
    Picture("model-view", (80, 24), keys=("t", "t")),
    Picture("history", keys=("G", "V")),
    Picture("history-80x24", (80, 24), keys=("G", "V")),
    Picture("past", keys=("T", *["left_square_bracket"] * 4)),
    Picture("blame", (100, 30), keys=("j", "B", "2", "z")),
    Picture("loss", (100, 30), wiped=True),
    Picture("deleted", (80, 24), keys=("D",), wiped=True),
    Picture("links", keys=("g", "j", "j", "w"), linked=True),
    Picture("graph", keys=("W", "G", "k", "k"), linked=True),
    Picture("map", keys=("W", "m"), linked=True),
    Picture("observations", keys=("O",), linked=True),
    Picture("suggestions", keys=("W", "s", "j"), linked=True),
    Picture("help", keys=("question_mark",)),
    Picture("palette", (100, 30), keys=("colon",)),
    Picture("find", keys=("slash", *"remind")),
    Picture("find-80x24", (80, 24), keys=("slash", *"remind")),
    Picture("find-past", (100, 30), keys=("slash", *"scratch", "tab", "tab", "tab")),
    Picture("edit", keys=("e", "end", *" (all of them)")),
    Picture("edit-80x24", (80, 24), keys=("e", "end", *" (all of them)")),
    Picture("conflict", keys=("e", "end", *" (all of them)"), meanwhile=True),
    Picture("conflict-80x24", (80, 24), keys=("e", "end", *" (all of them)"), meanwhile=True),
    Picture("details", (100, 30), keys=("i",)),
    Picture("event", (100, 30), keys=("3", "k", "k", "i")),
    Picture("new", (80, 24), keys=("a", *"people/ana.md", "enter")),
    Picture("rename", (100, 30), keys=("r",)),
    Picture("rename-many", (100, 30), keys=("asterisk", "r", "e")),
    Picture("empty", (80, 24), empty=True),
    Picture("read-only", (100, 30), read_only=True),
    Picture("chat", chat="talk"),
    Picture("chat-80x24", (80, 24), chat="talk"),
    Picture("chat-200x50", (200, 50), chat="talk"),
    Picture("chat-question", chat="ask"),
    Picture("chat-question-80x24", (80, 24), chat="ask"),
    Picture("chat-question-light", theme="memtui-light", chat="ask"),
    Picture("chat-commands", (100, 30), keys=("slash",), chat="talk"),
    Picture("chat-review", keys=("ctrl+r",), chat="talk"),
    Picture("audit", audit=True),
    Picture("audit-80x24", (80, 24), audit=True),
    Picture("audit-200x50", (200, 50), audit=True),
    Picture("audit-light", theme="memtui-light", audit=True),
    Picture("review", keys=("3", "j", "j"), audit=True),
    Picture("review-80x24", (80, 24), keys=("3", "j", "j"), audit=True),
    Picture("review-run", keys=("3",), audit=True),
    Picture("home", home=True),
    Picture("find-everywhere", keys=("slash", *"deploy"), home=True),
)

_MEMORIES = {
    "user_preferences.md": (
        "# User preferences\n\n- Prefers **concise** answers\n- Timezone: Europe/Berlin\n- Likes `ruff` over flake8\n"
    ),
    "project/README.md": "# Importer\n\nReads the suppliers' price lists. Release on Tuesday.\n",
    "notes/2026-11-20-session.md": "# Thursday\n\n- the importer stops at rows without a price\n",
}
_FIRST = "Keep it shorter please. And remember that I moved to Lisbon."
_SECOND = "Note the standup: release on Tuesday, Ana reviews the importer. And I like *very* short answers."


def story() -> list[list[Step]]:
    """What the model says and does in the pictures of the chat."""
    prefs = "/memories/user_preferences.md"
    standup = "# Standup\n\n- Release on Tuesday\n- Ana reviews the importer\n"
    return [
        [
            Think("They moved, and want shorter answers. I look at what is known and change it."),
            Do({"command": "view", "path": "/memories"}),
            Do({"command": "str_replace", "path": prefs, "old_str": "**concise**", "new_str": "**short**"}),
            Do({"command": "str_replace", "path": prefs, "old_str": "Europe/Berlin", "new_str": "Europe/Lisbon"}),
            Do({"command": "create", "path": "/memories/people/me.md", "file_text": "# Me\n\n- Moved to Lisbon\n"}),
            Do({"command": "create", "path": "/memories/../notes.md", "file_text": standup}),
            Say("Noted: shorter answers, and your timezone is now Europe/Lisbon."),
        ],
        [
            Say("I will write that down."),
            Do({"command": "str_replace", "path": prefs, "old_str": "**short** answers",
                "new_str": "**very short** answers\n- Standup at 9:30, release on Tuesday"}),
        ],
    ]  # fmt: skip


_LINKED = {
    "billing.md": (
        "---\ntitle: Billing service\ntype: project\ntags: [money, backend]\nstatus: active\n---\n# Billing service\n\n"
        "Reads prices from the [[importer]], see [Ana](people/ana.md) and [[Price lists]].\n\n"
        "- [decision] Invoices are sent on Monday #money (agreed)\n- [risk] The licence ends in March #urgent\n"
        "- depends_on [[importer]] (nightly)\n- owned_by [[Ana Souza]]\n"
    ),
    "importer.md": (
        "---\ntype: project\ntags: [backend]\n---\n# Importer\n\nThe billing service asks it every night.\n\n"
        "- [tech] Written in Rust #backend\n- part_of [[Billing service]]\n"
    ),
    "people/ana.md": (
        "---\ntitle: Ana Souza\ntype: person\ntags: [team]\n---\n# Ana Souza\n\nOwns the billing service.\n"
    ),
    "MEMORY.md": "# Memory\n\n- [Billing](billing.md): invoices and reminders\n- [[importer]]\n",
    "scratch.md": "Nobody links here.\n",
}


class _CountingExecutor(ThreadPoolExecutor):
    """Runs what screens do in threads, and knows what has not ended: a screen is drawn after it."""

    def __init__(self) -> None:
        super().__init__()
        self.running = set[Future[Any]]()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = super().submit(fn, *args, **kwargs)
        self.running.add(future)
        future.add_done_callback(self.running.discard)
        return future


@asynccontextmanager
async def scene(picture: Picture) -> AsyncIterator[App[int]]:
    """The application, driven to where the picture is taken."""
    with own_home() as folder:
        play = _chatting if picture.chat else _auditing if picture.audit else _at_home if picture.home else _browsing
        async with play(picture, folder) as pilot:
            for key in picture.keys:
                await pilot.press(key)
                await settled(pilot)
            if picture.meanwhile:
                await _write_meanwhile(pilot, folder)
            await settled(pilot)
            yield pilot.app


@contextmanager
def own_home() -> Iterator[Path]:
    """An empty memory folder in a temporary home directory; what runs in threads is counted from here on."""
    asyncio.get_running_loop().set_default_executor(_CountingExecutor())
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = home
        for name in ("VISUAL", "EDITOR"):
            os.environ.pop(name, None)
        os.environ["XDG_STATE_HOME"] = str(Path(home, "state"))
        os.environ["XDG_CONFIG_HOME"] = str(Path(home, "config"))
        folder = Path(home, "app", "memories")
        folder.mkdir(parents=True)
        yield folder


def _wipe(folder: Path) -> None:
    """Somebody outside deletes everything."""
    for entry in folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


async def _write_meanwhile(pilot: Pilot[int], folder: Path) -> None:
    """An agent rewrites the first line of the note that is being edited; then the person saves."""
    screen = pilot.app.screen
    assert isinstance(screen, EditScreen)
    path = folder / screen.drafts.basis.path
    line = path.read_text().splitlines()[0]
    with memtui.open(folder) as memory:
        place = f"/memories/{screen.drafts.basis.path}"
        command = {"command": "str_replace", "path": place, "old_str": line, "new_str": f"{line}s"}
        answer = await asyncio.to_thread(memory.execute, command, actor=memtui.Agent("Claude"))
        assert not answer.is_error, answer.text
    await until(pilot, lambda: screen.saver.external_change is not None)
    await pilot.press("ctrl+s")
    await until(pilot, lambda: isinstance(pilot.app.screen, ConflictScreen))
    await settled(pilot)


@asynccontextmanager
async def _browsing(picture: Picture, folder: Path) -> AsyncIterator[Pilot[int]]:
    """The browser, with the demo's story in it."""
    if picture.linked:
        for name, text in _LINKED.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
    elif not picture.empty:
        prepare_folder(folder)
    if not picture.live and not picture.empty and not picture.linked:
        with memtui.open(folder) as memory:
            memory.set_metadata("seen", str(memory.get_head()[0]))
            await asyncio.to_thread(play_story, memory, speed=0)
            if picture.wiped:
                _wipe(folder)
                memory.reconcile()
    app = MemtuiApp(str(folder), read_only=picture.read_only)
    async with app.run_test(size=picture.size) as pilot:
        app.theme = picture.theme
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen) and app.screen.header.status.live == "LIVE")
        screen = app.screen
        assert isinstance(screen, BrowseScreen)
        if picture.live and not (picture.empty or picture.linked or picture.read_only):
            with memtui.open(folder) as memory:
                await asyncio.to_thread(play_story, memory, speed=0)
                last = memory.get_head()[0]
            await until(pilot, lambda: screen.last_seq == last)
        await until(
            pilot, lambda: picture.empty or (picture.wiped and not picture.live) or bool(screen.note.document.source)
        )
        await until(pilot, lambda: not picture.linked or screen.last_seq > 0)  # the graph is of what is recorded
        if picture.wiped:
            _wipe(folder)
            await until(pilot, lambda: bool(screen.query("#loss")))
        yield pilot


@asynccontextmanager
async def _chatting(picture: Picture, folder: Path) -> AsyncIterator[Pilot[int]]:
    """The chat, with a conversation that is played."""
    for name, text in _MEMORIES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with memtui.open(folder):
        pass  # known from before
    play = Play(*story())
    app = ChatApp(str(folder), ChatOptions(policy=ApprovalPolicy.ALLOW), make=play.make)
    async with app.run_test(size=picture.size) as pilot:
        app.theme = picture.theme
        await until(pilot, lambda: isinstance(app.screen, ChatScreen) and app.screen.header.status.live == "LIVE")
        screen = app.screen
        assert isinstance(screen, ChatScreen)
        await until(pilot, lambda: screen.chat_state.is_ready)
        screen.composer.set_text(_FIRST)
        await pilot.press("enter")
        await until(pilot, lambda: 1 in screen.chat_state.turns and screen.activity.counters.writes >= 3)
        await until(pilot, lambda: not screen.files.lights.letters)
        if picture.chat == "ask":
            await pilot.press("shift+tab", "shift+tab")
            await until(pilot, lambda: screen.chat_state.policy is ApprovalPolicy.ASK)
            screen.composer.set_text(_SECOND)
            await pilot.press("enter")
            await until(pilot, lambda: screen.question_view.is_armed)
        yield pilot


@asynccontextmanager
async def _auditing(picture: Picture, folder: Path) -> AsyncIterator[Pilot[int]]:
    """The audit, with what happened since the last review."""
    prepare_folder(folder)
    notes = {f"notes/2026-10-{day:02}.md": text for day, text in _OLD_NOTES.items()}
    for name, text in notes.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    confined = SandboxStatus(7, has_network=False, exceptions="its own temporary ones")
    wanted = ReviewOptions(
        folder=str(folder), title="~/app/memories", reviewer="mara",
        review=os.environ["XDG_STATE_HOME"] + "/memtui/reviews/memories.json",
        settings=AuditSettings(max_total_tokens=1_000), enforced=confined.sentence, is_confined=True,
    )  # fmt: skip
    with memtui.open(folder) as memory:
        await asyncio.to_thread(_last_review, memory, wanted)
        await asyncio.to_thread(_play_since, memory, list(notes))
    (folder / "notes" / "scratch.txt").write_text("call the bank\n")
    with LocalWriter(ExportWriter(folder, None)) as writer:
        app = AuditApp(FolderInspection(wanted, lambda: observe(folder, look=False), writer))
        async with app.run_test(size=picture.size) as pilot:
            app.theme = picture.theme
            await until(pilot, lambda: isinstance(app.screen, AuditScreen) and app.screen.lists.audit is not None)
            await settled(pilot)
            yield pilot


_HOME = {
    ".claude/projects/{shop}/memory/MEMORY.md": (2, "# Shop\n\n- [Deploying](deploying.md): from main, on Tuesdays\n"),
    ".claude/projects/{shop}/memory/deploying.md": (2, "# Deploying\n\nDeploy from `main`, after Ana has looked.\n"),
    ".claude/projects/{shop}/s.jsonl": (2, '{{"cwd": "{home}/src/shop"}}\n'),
    ".claude/projects/{importer}/memory/MEMORY.md": (50, "# Importer\n\nPrice lists come on the first Monday.\n"),
    ".claude/projects/{importer}/s.jsonl": (50, '{{"cwd": "{home}/src/importer"}}\n'),
    ".codex/memories/memory_summary.md": (5, "v1\nRuns `make deploy` itself; asks before it pushes.\n"),
    ".codex/memories/rollout_summaries/one.md": (6, "# The release of Tuesday\n\nmake deploy, then the smoke test\n"),
    ".gemini/tmp/shop/memory/MEMORY.md": (120, "- The staging server is deployed each night\n"),
    ".gemini/tmp/shop/.project_root": (120, "{home}/src/shop\n"),
    ".hermes/memories/MEMORY.md": (9, "Prefers short answers.\n§\nThe deploy key is in the vault.\n"),
    ".hermes/memories/USER.md": (9, "Mara, Lisbon.\n"),
    ".openclaw/workspace/SOUL.md": (30, "You are careful.\n"),
    ".openclaw/workspace/memory/2026-11-20.md": (30, "# Friday\n\n- Helped with the deploy of the shop\n"),
    "src/shop/.serena/memories/style.md": (700, "# Style\n\nShort functions.\n"),
    ".serena/serena_config.yml": (700, "projects:\n- {home}/src/shop\n"),
}
"""Files of a home: how many hours ago each was written, and its text."""
_FOLDERS = 7


@asynccontextmanager
async def _at_home(picture: Picture, folder: Path) -> AsyncIterator[Pilot[int]]:
    """The home, with the folders of several agents, some of which wrote since the person looked."""
    home = folder.parent.parent
    folder.rmdir()
    projects = {name: home / "src" / name for name in ("shop", "importer")}
    encoded = {name: encode_path(str(project)) for name, project in projects.items()}
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "HERMES_HOME", "MEMTUI_DIR"):
        os.environ.pop(name, None)
    for project in projects.values():
        project.mkdir(parents=True)
    for name, (hours, text) in _HOME.items():
        path = home / name.format(**encoded)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(home=home, **encoded), encoding="utf-8")
        written = time.time() - hours * 3600
        os.utime(path, (written, written))
    with memtui.open(home / ".codex/memories") as memory:
        memory.set_metadata("seen", str(memory.get_head()[0]))
        note = {"command": "create", "path": "/memories/rollout_summaries/two.md", "file_text": "# The fix\n"}
        memory.execute(note, actor=memtui.Agent("Codex"))
    app = MemtuiApp(None)
    before = Path.cwd()
    os.chdir(home)
    try:
        async with app.run_test(size=picture.size) as pilot:
            app.theme = picture.theme
            await until(pilot, lambda: isinstance(app.screen, FolderPickerScreen))
            await until(pilot, lambda: app.screen.query_one(OptionList).option_count == _FOLDERS)
            rows = app.screen.query_one(OptionList)
            await until(pilot, lambda: any("unseen" in str(option.prompt) for option in rows.options))
            yield pilot
    finally:
        os.chdir(before)


_OLD_NOTES = {
    7: "# 7 October\n\n- The licence of the importer is renewed every March, by Ana\n"
    "- The queue is called `billing.reminders`\n",
    9: "# 9 October\n\n- Suppliers send prices on the first Monday\n",
}


def _last_review(memory: Engine, wanted: ReviewOptions) -> None:
    """Everything up to here was reviewed."""
    with LocalWriter(ExportWriter(wanted.folder, None)) as writer:
        inspection = FolderInspection(wanted, lambda: memory, writer, engine=memory)
        nobody = AuditCallbacks(lambda *_: None, lambda _: None, lambda _: None, lambda: False)
        audit = inspection.run_audit(nobody)
        assert audit.inbox is not None
        inspection.finish(audit.inbox, audit)


def _play_since(memory: Engine, old: Sequence[str]) -> None:
    """What Claude did since, a clean-up among it."""
    play_story(memory, speed=0)
    claude, dream = memtui.Agent("Claude", session="demo"), memtui.Agent("Claude", session="dream-7")
    status = json.dumps({"phase": "build", "token": secret(), "open": ["a", "b"]}, indent=2) + "\n"
    memory.execute({"command": "create", "path": "/memories/projects/status.json", "file_text": status}, actor=claude)
    for path in old:
        memory.execute({"command": "delete", "path": f"/memories/{path}"}, actor=dream)
    summary = "# October\n\n- Suppliers send prices on the first Monday\n"
    memory.execute({"command": "create", "path": "/memories/notes/october.md", "file_text": summary}, actor=dream)


async def draw(picture: Picture, directory: Path) -> None:
    """Take a picture, and write it as a PNG."""
    async with scene(picture) as app:
        image = take_png(app, title="memtui chat" if picture.chat else "memtui")
    path = directory / f"{picture.name}.png"
    path.write_bytes(image)
    print(path.name)


def take_png(app: App[int], *, title: str = "memtui", zoom: float = 1.0) -> bytes:
    """What the screen shows now, as a PNG."""
    import resvg_py  # noqa: PLC0415 - the tests draw no pictures

    return bytes(resvg_py.svg_to_bytes(svg_string=tidy(app.export_screenshot(title=title)), zoom=zoom))


def tidy(svg: str) -> str:
    """The picture without fonts from elsewhere, so that it shows the same with and without a network."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code, monospace", "'DejaVu Sans Mono', monospace")


async def until(pilot: Pilot[int], condition: Callable[[], bool]) -> None:
    """Wait for a condition, with a bound."""
    deadline = asyncio.get_running_loop().time() + WAIT_SECONDS
    while not condition():
        if asyncio.get_running_loop().time() > deadline:
            raise TimeoutError("the application did not come to where the picture is taken")
        await pilot.pause(0.02)


async def settled(pilot: Pilot[int]) -> None:
    """Wait until the screen has stopped changing."""
    executor = asyncio.get_running_loop()._default_executor  # type: ignore[attr-defined]
    assert isinstance(executor, _CountingExecutor)
    before: list[Strip] = []
    same = 0

    def quiet() -> bool:
        nonlocal before, same
        for box in pilot.app.screen.query("Input, TextArea"):
            box.cursor_blink = False  # type: ignore[attr-defined]
        visible_screen_stack.set(pilot.app._background_screens)  # or rows are kept without what is below them
        now = pilot.app.screen._compositor.render_strips()
        reading = sum(
            isinstance(worker.node, FolderPickerScreen) and worker._thread_worker and not worker.is_finished
            for worker in pilot.app.workers  # the home reads its folders as long as it is open
        )
        is_over = len(executor.running) <= reading
        before, same = now, same + 1 if is_over and now == before else 0
        return same >= 5

    await until(pilot, quiet)


def list_shown() -> set[str]:
    """The names of the pictures that the README shows."""
    return set(re.findall(r"screenshots/([a-z0-9-]+)[.]png", (HERE.parent / "README.md").read_text(encoding="utf-8")))


def main(arguments: Sequence[str]) -> int:
    """Draw the pictures of the README, or those named into a directory."""
    directory = Path(arguments[0]) if arguments else HERE
    names = set(arguments[1:]) or ({picture.name for picture in PICTURES} if arguments else list_shown())
    unknown = names - {picture.name for picture in PICTURES}
    if unknown or not directory.is_dir():
        print(f"No picture or directory called {', '.join(sorted(unknown) or [str(directory)])}.", file=sys.stderr)
        return 2
    for picture in PICTURES:
        if picture.name in names:
            asyncio.run(draw(picture, directory))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
