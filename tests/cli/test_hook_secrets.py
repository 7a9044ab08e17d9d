"""`memtui hook --ask` and keys that may not be written: left out of what Claude Code writes, or refused."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.remote_approval import ApprovalQuestion
from memtui.core.approvals import Allow, Deny, Edit, Verdict
from memtui.core.events import Agent
from memtui.fs.state import get_state_directory
from memtui.scan.samples import make_sample
from tests.cli.test_hook import decision, events, person, told
from tests.cli.test_hook_shell import FINE, home, shell
from tests.conftest import fill, wait_until

__all__ = ["home"]
Run = Callable[..., Any]

KEY, OTHER = make_sample("aws-key"), make_sample("github-token")
LEFT_OUT = "[redacted: an AWS access key]"
NOTES = {"prefs.md": "- tea\n- Berlin\n", "old.md": f"the key is {KEY}\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A memory folder that memtui knows."""
    path = fill(tmp_path / "memories", NOTES)
    memtui.open(path).close()
    return path


@pytest.fixture
def hook(run: Run, tmp_path: Path) -> Callable[..., Any]:
    """Run the hook under a policy."""

    def start(policy: str, data: bytes, *words: str) -> Any:
        config = tmp_path / "config.toml"
        config.write_text(f'[memory]\nsecrets = "{policy}"\n')
        return run("--config", config, "hook", *(words or ("--ask",)), stdin=data)

    return start


def asked_at(folder: Path, *verdicts: Verdict) -> Any:
    return person(get_state_directory(str(folder)), *verdicts)


def assert_refused(said: dict[str, Any], asked: list[ApprovalQuestion], path: str = "prefs.md") -> None:
    assert asked == []
    assert said["permissionDecision"] == "deny"
    assert "updatedInput" not in said
    assert said["permissionDecisionReason"].startswith(
        f"{path} was not written: it holds what looks like an AWS access key. Store a reference instead of the value"
    )


WRITES = {
    "Write": ({"tool": "Write", "content": f"key {KEY}\n"}, {"content": f"key {LEFT_OUT}\n"}),
    "Edit": (
        {"tool": "Edit", "old_string": "tea", "new_string": f"key {KEY}"},
        {"old_string": "tea", "new_string": f"key {LEFT_OUT}"},
    ),
    "replace all": (
        {"tool": "Edit", "old_string": "- ", "new_string": f"{KEY} ", "replace_all": True},
        {"old_string": "- ", "new_string": f"{LEFT_OUT} ", "replace_all": True},
    ),
    "MultiEdit": (
        {
            "tool": "MultiEdit",
            "edits": [
                {"old_string": "tea", "new_string": f"key {KEY}"},
                {"old_string": "Berlin", "new_string": "Rome"},
            ],
        },
        {
            "edits": [
                {"old_string": "tea", "new_string": f"key {LEFT_OUT}"},
                {"old_string": "Berlin", "new_string": "Rome"},
            ]
        },
    ),
}


@pytest.mark.parametrize("more", [more for more, _ in WRITES.values()], ids=WRITES)
def test_a_key_that_may_not_be_written_is_refused_before_anybody_is_asked(
    hook: Run, folder: Path, more: dict[str, Any]
) -> None:
    with asked_at(folder) as asked:
        said = decision(hook("block", told("PreToolUse", folder / "prefs.md", **more)))
    assert_refused(said, asked)
    wait_until(lambda: [event for event in events(folder) if event.is_error])
    (refused,) = (event for event in events(folder) if event.is_error)
    assert KEY not in f"{refused.arguments}{refused.answer}"


@pytest.mark.parametrize(("more", "given"), WRITES.values(), ids=WRITES)
def test_a_key_is_left_out_of_what_is_asked_about_and_written(
    hook: Run, folder: Path, more: dict[str, Any], given: dict[str, Any]
) -> None:
    path = folder / "prefs.md"
    with asked_at(folder, Allow()) as asked:
        said = decision(hook("redact", told("PreToolUse", path, **more)))
    assert said["permissionDecision"] == "allow"
    assert said["updatedInput"] == {"file_path": str(path), **given}
    assert "an AWS access key" in said["additionalContext"]
    assert KEY not in json.dumps(said)
    (question,) = asked
    shown = question.proposal.text(question.proposal.changes[0].after)
    assert shown is not None
    assert LEFT_OUT in shown
    assert KEY not in shown
    path.write_text(shown)  # as Claude Code does it with that input
    after = {"tool_response": {"filePath": str(path), "originalFile": NOTES["prefs.md"]}, **more, **given}
    assert hook("redact", told("PostToolUse", path, **after)).out == b""
    wait_until(lambda: events(folder)[-1].call_id == "toolu_1")
    event = events(folder)[-1]
    assert (event.actor, event.note) == (
        Agent("Claude Code", session="a-session"),
        f"{more['tool']}, redacted: an AWS access key",
    )
    assert "redacted: an AWS access key" in memtui.core.wording.format_event_clause(event)


def test_what_is_left_out_grants_nothing(hook: Run, folder: Path) -> None:
    path = folder / "prefs.md"
    call = told("PreToolUse", path, content=f"key {KEY}\n")
    assert decision(hook("redact", call))["permissionDecision"] == "ask"
    assert decision(hook("redact", call))["updatedInput"]["content"] == f"key {LEFT_OUT}\n"
    path.write_text(f"key {LEFT_OUT}\n")  # then nothing changes, and nobody is asked
    said = decision(hook("redact", call))
    assert said["updatedInput"]["content"] == f"key {LEFT_OUT}\n"
    assert "permissionDecision" not in said
    with asked_at(folder, Deny()):
        path.write_text("another\n")
        said = decision(hook("redact", call))
    assert (said["permissionDecision"], "updatedInput" in said) == ("deny", False)
    assert decision(hook("redact", call, "--ask", "--strict"))["permissionDecision"] == "deny"


def test_a_person_may_edit_what_a_key_was_left_out_of(hook: Run, folder: Path) -> None:
    with asked_at(folder, Edit("hers\n")):
        said = decision(hook("redact", told("PreToolUse", folder / "prefs.md", content=f"key {KEY}\n")))
    assert said["updatedInput"]["content"] == "hers\n"


UNSURE = {
    "two halves": {"tool": "Edit", "old_string": "<rest>", "new_string": KEY[9:]},
    "no such place": {"tool": "Edit", "old_string": "nowhere", "new_string": f"key {KEY}"},
    "of several edits": {
        "tool": "MultiEdit",
        "edits": [
            {"old_string": "<rest>", "new_string": KEY},
            {"old_string": KEY, "new_string": f"{KEY} is the key"},
        ],
    },
}


@pytest.mark.parametrize("more", UNSURE.values(), ids=UNSURE)
@pytest.mark.parametrize("policy", ["block", "redact"])
def test_where_a_file_could_hold_a_key_all_the_same_its_change_is_refused(
    hook: Run, folder: Path, more: dict[str, Any], policy: str
) -> None:
    path = folder / "prefs.md"
    path.write_text(f"- {KEY[:9]}<rest>\n" if "new_string" in more else "- <rest>\n")
    with asked_at(folder) as asked:
        said = decision(hook(policy, told("PreToolUse", path, **more)))
    assert_refused(said, asked)


def test_only_a_new_key_is_left_out(hook: Run, folder: Path) -> None:
    given = {"tool": "Edit", "old_string": "the key", "new_string": f"as {OTHER} is, the key"}
    said = decision(hook("redact", told("PreToolUse", folder / "old.md", **given)))
    assert said["updatedInput"]["new_string"] == "as [redacted: a GitHub token] is, the key"
    given = {"tool": "Edit", "old_string": KEY, "new_string": f"{KEY} (old)"}
    said = decision(hook("redact", told("PreToolUse", folder / "old.md", **given)))
    assert "updatedInput" not in said


def test_a_note_that_claude_code_stamps_keeps_what_the_log_says_of_it(hook: Run, folder: Path) -> None:
    path, front = folder / "new.md", "---\nname: x\ndescription: y\nmetadata:\n  type: user\n---\n\n"
    decision(hook("redact", told("PreToolUse", path, content=f"{front}{KEY}\n")))
    text = front.replace("  type", "  node_type: memory\n  type") + f"{LEFT_OUT}\n"
    path.write_text(text)
    response = {"type": "create", "filePath": str(path), "content": text}
    ran = hook("redact", told("PostToolUse", path, content=f"{front}{LEFT_OUT}\n", tool_response=response))
    assert ran.out == b""
    wait_until(lambda: events(folder)[-1].call_id == "toolu_1")
    assert events(folder)[-1].note == "Write, redacted: an AWS access key"


def test_a_key_that_is_written_all_the_same_is_noted_and_said(hook: Run, folder: Path) -> None:
    path, content = folder / "prefs.md", f"key {KEY}\n"
    hook("redact", told("PreToolUse", path, content=content))
    path.write_text(content)  # a Claude Code that takes no other input, or another hook's
    response = {"type": "update", "filePath": str(path), "content": content, "originalFile": NOTES["prefs.md"]}
    said = json.loads(hook("redact", told("PostToolUse", path, content=content, tool_response=response)).out)
    assert said["decision"] == "block"
    assert said["reason"].startswith(
        "prefs.md holds what looks like an AWS access key, which may not be written there."
    )
    wait_until(lambda: events(folder)[-1].call_id == "toolu_1")
    event = events(folder)[-1]
    assert (event.actor.name, event.note) == ("Claude Code", "Write, holds what looks like an AWS access key")


# Commands of the shell

COMMANDS = {
    "echo": (f"echo key {KEY} > prefs.md", "prefs.md"),
    "append": (f"echo key {KEY} >> prefs.md", "prefs.md"),
    "here-document": (f"cat > new.md <<'EOF'\nkey {KEY}\nEOF", "new.md"),
    "tee": (f"tee -a prefs.md <<'EOF'\nkey {KEY}\nEOF", "prefs.md"),
    "cp": ("cp ../secret.md new.md", "new.md"),
    "cp of a memory": ("cp old.md new.md", "new.md"),
    "mv": ("mv ../secret.md new.md", "new.md"),
    "the second of two": (f"echo new > prefs.md && echo {KEY} > d.md", "d.md"),
    "over a moved one": (f"mv prefs.md p.md && echo {KEY} >> p.md", "p.md"),
}


@pytest.mark.parametrize(("command", "path"), COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("policy", ["block", "redact"])
def test_a_shell_command_that_writes_a_key_is_refused(
    hook: Run, folder: Path, policy: str, command: str, path: str
) -> None:
    (folder.parent / "secret.md").write_text(f"key {KEY}\n")
    with asked_at(folder) as asked:
        said = decision(hook(policy, shell("PreToolUse", command, folder)))
    assert_refused(said, asked, path)
    wait_until(lambda: [event for event in events(folder) if event.is_error])
    assert not any(KEY in f"{event.arguments}{event.answer}" for event in events(folder))


@pytest.mark.parametrize("command", ["mv old.md new.md", "mv old.md n.md && echo more >> n.md", "echo more >> old.md"])
def test_a_key_that_was_there_is_no_new_one(hook: Run, folder: Path, command: str) -> None:
    with asked_at(folder, Allow()) as asked:
        said = decision(hook("block", shell("PreToolUse", command, folder)))
    assert (said["permissionDecision"], len(asked)) == ("allow", 1)


@pytest.mark.parametrize("command", [command for command, path in COMMANDS.values() if path == "prefs.md"])
def test_a_key_that_a_shell_command_writes_is_noted(hook: Run, folder: Path, command: str) -> None:
    assert decision(hook("flag", shell("PreToolUse", command, folder)))["permissionDecision"] == "ask"
    subprocess.run(["bash", "-c", command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    hook("flag", shell("PostToolUse", command, folder, tool_response=FINE))
    wait_until(lambda: events(folder)[-1].call_id == "toolu_1")
    event = events(folder)[-1]
    assert event.actor.name == "Claude Code"
    assert event.note.endswith(", holds what looks like an AWS access key")
    assert "holds what looks like an AWS access key" in memtui.core.wording.format_event_clause(event)
