"""`memtui hook` and the shell of Claude Code: its only way to delete and move memories."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.core.approvals import Allow, Deny
from memtui.core.events import Agent, Outside, Result
from memtui.fs.state import get_state_directory
from tests.cli.test_hook import decision, events, person, told
from tests.conftest import fill, wait_until

Run = Callable[..., Any]

NOTES = {"a.md": "alpha\n", "b.md": "beta\n", "d/c.md": "gamma\n", "d/e.md": "delta\n"}
FINE = {"stdout": "", "stderr": "", "interrupted": False, "isImage": False}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "home"
    (path / ".claude").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(path))
    for name in ("CLAUDE_CONFIG_DIR", "MEMTUI_DIR"):
        monkeypatch.delenv(name, raising=False)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A memory folder that memtui knows."""
    path = fill(tmp_path / "memories", NOTES)
    memtui.open(path).close()
    return path


def shell(event: str, command: str, where: Path | str = "/", **more: Any) -> bytes:
    record = json.loads(told(event, "/", "Bash", cwd=str(where), **more))
    return json.dumps({**record, "tool_input": {"command": command}}).encode()


def run_by_claude(run: Run, folder: Path, command: str, *, seen: bool = False) -> list[Any]:
    """What happens when Claude Code runs a command: the hook, the command, a look of memtui at times, the hook."""
    known = len(events(folder))
    before = run("hook", stdin=shell("PreToolUse", command, folder))
    assert (before.code, before.out, before.err) == (0, b"", b"")
    subprocess.run(["bash", "-c", command], cwd=folder, check=True)
    if seen:
        memtui.open(folder).close()
    after = run("hook", stdin=shell("PostToolUse", command, folder, tool_response=FINE))
    assert (after.code, after.out, after.err) == (0, b"", b"")
    wait_until(lambda: any(event.call_id == "toolu_1" for event in events(folder)))
    return [event for event in events(folder)[known:] if event.command != "found"]


COMMANDS = {
    "rm": ("rm a.md", {"a.md"}),
    "rm -f of two": ("rm -f a.md b.md", {"a.md", "b.md"}),
    "rm -r": ("rm -r d", {"d/c.md", "d/e.md"}),
    "mv": ("mv a.md z.md", {"a.md", "z.md"}),
    "mv over another": ("mv a.md b.md", {"a.md", "b.md"}),
    "mv into a directory": ("mv a.md d/", {"a.md", "d/a.md"}),
    "cp": ("cp a.md z.md", {"z.md"}),
    "echo": ("echo new > a.md", {"a.md"}),
    "append": ("echo more >> a.md", {"a.md"}),
    "here-document": ("cat > z.md <<'EOF'\nnew\nEOF", {"z.md"}),
    "tee": ("tee -a a.md <<'EOF'\nmore\nEOF", {"a.md"}),
    "one after the other": ("rm a.md && echo new > b.md", {"a.md", "b.md"}),
}


@pytest.mark.parametrize("seen", [False, True], ids=["alone", "memtui open"])
@pytest.mark.parametrize(("command", "paths"), COMMANDS.values(), ids=COMMANDS)
def test_what_a_shell_command_changes_is_claude_codes(
    run: Run, folder: Path, command: str, paths: set[str], seen: bool
) -> None:
    made = run_by_claude(run, folder, command, seen=seen)
    assert {event.actor for event in made} == {Agent("Claude Code", session="a-session")}
    files = {change.path for event in made for change in event.changes if "." in change.path}
    assert files == paths
    assert all(event.note.startswith("Bash: ") and event.call_id == "toolu_1" for event in made)


def test_what_a_shell_command_was_seen_to_do_before_the_hook_spoke_is_claimed(run: Run, folder: Path) -> None:
    for command in ("rm a.md", "mv b.md z.md", "echo x | tee -a d/c.md > /dev/null && echo new > d/e.md"):
        subprocess.run(["bash", "-c", command], cwd=folder, check=True)
        memtui.open(folder).close()
        found = events(folder)[-1]
        assert found.actor == Outside()
        run("hook", stdin=shell("PostToolUse", command, folder, tool_response=FINE, tool_use_id=command))
        wait_until(lambda found=found: events(folder)[-1].seq > found.seq)
        said = events(folder)[-1]
        assert (said.actor.name, said.command) == ("Claude Code", "claimed")
        assert said.note.startswith(f"#{found.seq} was its Bash: ")


def test_a_deletion_that_never_was_seen_before_can_be_taken_back(run: Run, folder: Path) -> None:
    (folder / "late.md").write_text("written while nobody looked\n")
    made = run_by_claude(run, folder, "rm late.md")
    assert run("undo", str(made[-1].seq), "--dir", str(folder), "--yes").code == 0
    assert (folder / "late.md").read_text() == "written while nobody looked\n"


def test_somebody_elses_deletion_is_not_claude_codes(run: Run, folder: Path) -> None:
    run("hook", stdin=shell("PreToolUse", "rm a.md", folder))
    (folder / "b.md").unlink()
    memtui.open(folder).close()
    assert events(folder)[-1].actor == Outside()


def test_in_its_real_folder_a_deletion_is_claude_codes(run: Run, home: Path) -> None:
    folder = fill(home / ".claude" / "projects" / "-work" / "memory", {"wrong.md": "wrong\n", "MEMORY.md": "x\n"})
    made = run_by_claude(run, folder, "rm ~/.claude/projects/-work/memory/wrong.md")
    assert [(event.actor.name, event.command, event.path) for event in made] == [
        ("Claude Code", "deleted", "/memories/wrong.md")
    ]


# Asking


@pytest.mark.parametrize(("command", "paths"), COMMANDS.values(), ids=COMMANDS)
def test_a_person_is_shown_all_that_a_shell_command_changes(
    run: Run, folder: Path, command: str, paths: set[str]
) -> None:
    with person(get_state_directory(str(folder)), Allow()) as asked:
        ran = run("hook", "--ask", stdin=shell("PreToolUse", command, folder))
    assert decision(ran)["permissionDecision"] == "allow"
    proposal = asked[0].proposal
    assert {change.path for change in proposal.changes} == paths
    assert proposal.editable_change is None
    assert all(proposal.text(version) is not None for each in proposal.changes for version in (each.before, each.after))
    subprocess.run(["bash", "-c", command], cwd=folder, check=True)
    for change in proposal.changes:
        path = folder / change.path
        assert (path.read_text() if path.exists() else "") == proposal.text(change.after)


def test_a_shell_command_that_does_more_is_left_to_claude_codes_own_rules_after_a_yes(run: Run, folder: Path) -> None:
    for command in ("rm a.md && cat /etc/hostname", "rm a.md && rm /tmp/other"):
        with person(get_state_directory(str(folder)), Allow()) as asked:
            ran = run("hook", "--ask", stdin=shell("PreToolUse", command, folder))
        assert (ran.code, ran.out, len(asked)) == (0, b"", 1)


def test_a_no_to_a_shell_command_is_a_no_and_recorded(run: Run, folder: Path) -> None:
    with person(get_state_directory(str(folder)), Deny("keep it")):
        said = decision(run("hook", "--ask", stdin=shell("PreToolUse", "rm a.md && mv b.md c.md", folder)))
    assert said["permissionDecision"] == "deny"
    assert "keep it" in said["permissionDecisionReason"]
    wait_until(lambda: len(events(folder)) > 2)
    refused = [event for event in events(folder) if event.result is Result.REFUSED]
    assert [(event.command, event.path) for event in refused] == [
        ("delete", "/memories/a.md"), ("rename", "/memories/b.md"),
    ]  # fmt: skip


def test_files_that_change_while_the_person_looks_are_asked_about_again(run: Run, folder: Path) -> None:
    change: Callable[[], object] = lambda: (folder / "a.md").write_text("another\n")  # noqa: E731 - a short callback
    with person(get_state_directory(str(folder)), Allow(), Deny(), meanwhile=change) as asked:
        said = decision(run("hook", "--ask", stdin=shell("PreToolUse", "rm a.md", folder)))
    assert said["permissionDecision"] == "deny"
    assert asked[1].proposal.text(asked[1].proposal.changes[0].before) == "another\n"


UNCLEAR = [
    "rm *.md", "for f in *.md; do rm $f; done", "sed -i s/a/b/ a.md", "python3 clean.py ./a.md", "rm -i a.md",
    "date > a.md", "cd d; rm c.md", "find . -name '*.md' -delete", "ls | xargs rm", "x=1 rm a.md", "git checkout .",
    "mkdir new && mv a.md new", "rm a.md || true",
]  # fmt: skip


@pytest.mark.parametrize("is_open", [False, True], ids=["nobody there", "memtui open"])
@pytest.mark.parametrize("command", UNCLEAR)
def test_a_command_that_cannot_be_foretold_is_asked_about_in_claude_codes_terminal(
    run: Run, folder: Path, command: str, is_open: bool
) -> None:
    if not is_open:
        said = decision(run("hook", "--ask", stdin=shell("PreToolUse", command, folder)))
    else:
        with person(get_state_directory(str(folder))) as asked:
            said = decision(run("hook", "--ask", stdin=shell("PreToolUse", command, folder)))
        assert asked == []
    assert said["permissionDecision"] == "ask"
    assert "cannot tell" in said["permissionDecisionReason"]
    strict = run("hook", "--ask", "--strict", stdin=shell("PreToolUse", command, folder))
    assert decision(strict)["permissionDecision"] == "deny"


READING = [
    "ls", "cat a.md b.md", "grep -rn tea . | head -3", "find . -name '*.md'", "wc -l *.md", "cd d && ls -la",
    "cat a.md 2>/dev/null", "echo done", "diff a.md b.md",
]  # fmt: skip


@pytest.mark.parametrize("command", READING)
def test_a_command_that_only_reads_is_not_asked_about(run: Run, folder: Path, command: str) -> None:
    ran = run("hook", "--ask", "--strict", stdin=shell("PreToolUse", command, folder))
    assert (ran.code, ran.out, ran.err) == (0, b"", b"")


@pytest.mark.parametrize("command", ["rm a.md", "mv a.md z.md", "echo x >> a.md"])
def test_with_nobody_there_a_shell_command_is_asked_about_in_claude_codes_terminal(
    run: Run, folder: Path, command: str
) -> None:
    ran = run("hook", "--ask", stdin=shell("PreToolUse", command, folder))
    assert decision(ran)["permissionDecision"] == "ask"
    subprocess.run(["bash", "-c", command], cwd=folder, check=True)  # the person allowed it there
    memtui.open(folder).close()
    assert events(folder)[-1].actor.name == "Claude Code"


def test_a_command_elsewhere_leaves_no_trace(run: Run, tmp_path: Path, folder: Path) -> None:
    other = fill(tmp_path / "other", {"a.md": "x\n"})
    seen = sorted(os.listdir(get_state_directory(str(folder))))
    for command in ("rm a.md", "echo x > b.md", "git status", "for f in *; do rm $f; done", "python3 x.py"):
        for event in ("PreToolUse", "PostToolUse"):
            ran = run("hook", "--ask", "--strict", stdin=shell(event, command, other, tool_response=FINE))
            assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    assert sorted(os.listdir(get_state_directory(str(folder)))) == seen
