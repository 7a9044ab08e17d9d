"""The hook in Codex: calls of the same form, patches of several files, and no question that Codex can ask for us."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.hooks.payload import CODEX_MATCHER
from memtui.agents.hooks.prefilter import is_foreign_call
from memtui.agents.remote_approval import ApprovalQuestion
from memtui.agents.transcripts.patch import UnclearPatch, parse_patch
from memtui.core.approvals import Allow, Deny
from memtui.core.events import Agent
from memtui.fs.state import get_state_directory
from tests.agents.approver import open_approver
from tests.conftest import wait_until

Run = Callable[..., Any]

PATCH = """\
*** Begin Patch
*** Add File: {folder}/new.md
+hello
+there
*** Update File: {folder}/prefs.md
*** Move to: {folder}/likes.md
@@
-- tea
+- coffee
*** Delete File: {folder}/old.md
*** End Patch
"""
DONE = "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess. Updated the following files:\nA new.md\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with nothing in it."""
    path = tmp_path / "home"
    path.mkdir()
    monkeypatch.setenv("HOME", str(path))
    for name in ("CODEX_HOME", "MEMTUI_DIR", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A memory folder that memtui knows."""
    path = tmp_path / "memories"
    path.mkdir()
    (path / "prefs.md").write_text("- tea\n- Berlin\n")
    (path / "old.md").write_text("old\n")
    memtui.open(path).close()
    return path


def _tell(event: str, command: str, tool: str = "apply_patch", **more: Any) -> bytes:
    """What Codex tells a hook."""
    record = {
        "session_id": "a-thread",
        "turn_id": "a-turn",
        "transcript_path": "/somewhere/rollout.jsonl",
        "cwd": "/",
        "hook_event_name": event,
        "model": "a-model",
        "permission_mode": "default",
        "tool_name": tool,
        "tool_input": {"command": command},
        "tool_use_id": "call_1",
        **more,
    }
    return json.dumps(record).encode()


def _apply(folder: Path) -> None:
    (folder / "new.md").write_text("hello\nthere\n")
    (folder / "prefs.md").rename(folder / "likes.md")
    (folder / "likes.md").write_text("- coffee\n- Berlin\n")
    (folder / "old.md").unlink()


def _find_events(folder: Path) -> list[Any]:
    with memtui.memory.connect(folder) as memory:
        return [event for event in memory.events() if event.actor == Agent("Codex", session="a-thread")]


def test_each_file_of_a_patch_is_recorded_as_codexs(run: Run, folder: Path) -> None:
    patch = PATCH.format(folder=folder)
    before = run("hook", stdin=_tell("PreToolUse", patch))
    assert (before.code, before.out, before.err) == (0, b"", b"")
    _apply(folder)
    after = run("hook", stdin=_tell("PostToolUse", patch, tool_response=DONE))
    assert (after.code, after.out, after.err) == (0, b"", b"")
    wait_until(lambda: len(_find_events(folder)) >= 3)
    events = _find_events(folder)
    assert {event.path for event in events} >= {"/memories/new.md", "/memories/old.md"}
    assert any(event.path == "/memories/likes.md" or event.new_path == "/memories/likes.md" for event in events)
    assert {event.call_id for event in events} == {"call_1"}


def test_a_patch_that_cannot_be_told_beforehand_is_recorded_when_it_was_applied(run: Run, folder: Path) -> None:
    patch = f"*** Begin Patch\n*** Update File: {folder}/prefs.md\n@@\n-  - tea \n+- coffee\n*** End Patch\n"
    assert run("hook", stdin=_tell("PreToolUse", patch)).out == b""
    (folder / "prefs.md").write_text("- coffee\n- Berlin\n")
    run("hook", stdin=_tell("PostToolUse", patch, tool_response=DONE))
    wait_until(lambda: [event.path for event in _find_events(folder)] == ["/memories/prefs.md"])


def test_a_patch_that_the_shell_is_given_is_one(run: Run, folder: Path) -> None:
    command = f"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {folder}/new.md\n+x\n*** End Patch\nEOF\n"
    run("hook", stdin=_tell("PreToolUse", command, "Bash"))
    (folder / "new.md").write_text("x\n")
    run("hook", stdin=_tell("PostToolUse", command, "Bash", tool_response=DONE))
    wait_until(lambda: [event.path for event in _find_events(folder)] == ["/memories/new.md"])


def test_codexs_shell_is_recorded_too(run: Run, folder: Path) -> None:
    command = f"rm {folder}/old.md"
    run("hook", stdin=_tell("PreToolUse", command, "Bash"))
    (folder / "old.md").unlink()
    run("hook", stdin=_tell("PostToolUse", command, "Bash", tool_response=""))
    wait_until(lambda: [event.path for event in _find_events(folder)] == ["/memories/old.md"])


def test_a_person_declines_and_codex_hears_why_and_nothing_is_said_where_she_allows(run: Run, folder: Path) -> None:
    asked: list[ApprovalQuestion] = []
    verdicts = [Deny("not today"), Allow()]

    def answer(question: ApprovalQuestion) -> None:
        asked.append(question)
        question.answer(verdicts[len(asked) - 1])

    patch = PATCH.format(folder=folder)
    with open_approver(get_state_directory(str(folder)), answer):
        refused = run("hook", "--ask", stdin=_tell("PreToolUse", patch))
        allowed = run("hook", "--ask", stdin=_tell("PreToolUse", patch, tool_use_id="call_2"))
    told = json.loads(refused.out)["hookSpecificOutput"]
    assert told["permissionDecision"] == "deny"
    assert "not today" in told["permissionDecisionReason"]
    assert (allowed.code, allowed.out) == (0, b""), "Codex refuses to read `allow`"
    assert {change.path for change in asked[0].proposal.files} >= {"new.md", "likes.md", "old.md"}


@pytest.mark.parametrize(("words", "denied"), [((), False), (("--strict",), True)])
def test_where_nobody_can_be_asked_codex_goes_on_by_its_own_rules_unless_it_is_strict(
    run: Run, folder: Path, words: tuple[str, ...], denied: bool
) -> None:
    done = run("hook", "--ask", *words, stdin=_tell("PreToolUse", PATCH.format(folder=folder)))
    assert (b'"deny"' in done.out, bool(done.out)) == (denied, denied)


def test_it_is_put_into_codexs_hooks_and_taken_out(run: Run, home: Path) -> None:
    installed = run("hook", "install", "--codex", "-y")
    assert installed.code == 0, installed.err
    assert b"/hooks" in installed.out
    hooks = json.loads((home / ".codex/hooks.json").read_text())["hooks"]
    assert {event: groups[0]["matcher"] for event, groups in hooks.items()} == {
        "PreToolUse": CODEX_MATCHER,
        "PostToolUse": CODEX_MATCHER,
    }
    assert b"codex     installed" in run("hook", "status").out
    assert run("hook", "uninstall", "--codex", "-y").code == 0
    assert json.loads((home / ".codex/hooks.json").read_text()) == {}
    assert not (home / ".claude").exists()


def test_a_patch_of_other_files_is_passed_over_at_the_first_look(folder: Path, tmp_path: Path) -> None:
    told = _tell("PreToolUse", f"*** Begin Patch\n*** Add File: {tmp_path}/code/a b.py\n+memories\n*** End Patch\n")
    assert is_foreign_call(told)
    inside = _tell("PreToolUse", f"*** Begin Patch\n*** Add File: {folder}/a b.md\n+x\n*** End Patch\n")
    assert not is_foreign_call(inside)


@pytest.mark.parametrize(
    ("before", "hunks", "after"),
    [
        ("a\nb\nc\n", "@@\n a\n-b\n+B\n c", "a\nB\nc\n"),
        ("a\nb\nc\n", " a\n-b\n+B", "a\nB\nc\n"),
        ("x\na\ny\na\n", "@@ y\n-a\n+A", "x\na\ny\nA\n"),
        ("a\na\n", "@@\n-a\n+A\n*** End of File", "a\nA\n"),
        ("a\nb\nc\nd\n", "@@\n-a\n+A\n@@\n-c\n-d", "A\nb\n"),
        ("a", "@@\n+b", "a\nb\n"),
        ("a\n\nb\n", "@@\n a\n\n-b\n+c", "a\n\nc\n"),
    ],
)
def test_what_a_file_holds_after_a_patch(before: str, hunks: str, after: str) -> None:
    (file,) = parse_patch(f"*** Begin Patch\n*** Update File: f\n{hunks}\n*** End Patch\n")
    assert file.apply(before.encode()) == after.encode()


@pytest.mark.parametrize("before", [b"b\n", b"\xff\n", b"a \n", None])
def test_what_cannot_be_told_is_unclear(before: bytes | None) -> None:
    (file,) = parse_patch("*** Begin Patch\n*** Update File: f\n@@\n-a\n+A\n*** End Patch")
    with pytest.raises(UnclearPatch):
        file.apply(before)
