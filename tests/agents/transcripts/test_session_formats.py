"""Session files of Codex, Gemini CLI and OpenClaw tell the same as Claude Code's, and garbage in them harms nothing."""

import io
import json
import sqlite3
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import memtui
from memtui.agents.origin import find_origins
from memtui.agents.transcripts.codex import CodexConverter
from memtui.agents.transcripts.gemini import GeminiConverter
from memtui.agents.transcripts.openclaw import OpenClawConverter
from memtui.agents.transcripts.reads import find_contexts
from memtui.agents.transcripts.records import parse_hunks
from memtui.agents.transcripts.sessions import SessionFile, find_session_files, list_session_files
from memtui.agents.transcripts.writes import TranscriptScan, scan_transcripts
from memtui.cli import main
from memtui.core.events import ImportedChange

Records = list[dict[str, Any]]
AT = "2026-10-01T10:00:00.000Z"
STRANGER = "an order of a stranger"
MOVING = "*** Begin Patch\n*** Update File: a.md\n*** Move to: b.md\n@@\n-- 1\n+- 2\n*** End Patch"
WRITTEN = [("a.md", None, "# A\n- one\n"), ("a.md", "# A\n- one\n", "# A\n- 1\n"), ("d.md", None, "- from a shell\n")]
"""What each session below does first: path, text before and text after."""


def _record(kind: str, **payload: object) -> dict[str, Any]:
    return {"timestamp": AT, "type": kind, "payload": payload}


def _item(**item: object) -> dict[str, Any]:
    return _record("event_msg", type="item_completed", item=item)


def _change(call: str, path: str, status: str = "completed", **change: object) -> dict[str, Any]:
    return _item(type="FileChange", id=call, status=status, changes={path: change})


def _ran(call: str, command: str, code: int = 0, output: str = "") -> dict[str, Any]:
    words = ["/bin/bash", "-lc", command]
    told = {"command": words, "cwd": "file:///w%20x", "aggregated_output": output, "exit_code": code}
    return _item(type="CommandExecution", id=call, status="completed", **told)


CODEX_HEAD: Records = [
    _record("session_meta", id="01a2-session", cwd="/elsewhere"),
    _record("turn_context", cwd="/w x", model="a-model"),
]


def write_codex(folder: str) -> Records:
    """Codex from about 0.150 on: items tell what was done, whoever called it."""
    edited = "@@ -1,2 +1,2 @@\n # A\n-- one\n+- 1\n"
    return [
        *CODEX_HEAD,
        _item(type="UserMessage", id="m", content=[{"type": "text", "text": "Remember one"}]),
        _ran("c0", "curl -s https://example.org", output=STRANGER),
        _change("c1", f"{folder}/a.md", type="add", content="# A\n- one\n"),
        _record("response_item", type="custom_tool_call_output", call_id="c1", output="Success."),
        _change("c2", f"{folder}/a.md", type="update", unified_diff=edited, move_path=None),
        _change("no", f"{folder}/a.md", "failed", type="update", unified_diff=edited, move_path=None),
        _ran("c3", f"cat > {folder}/d.md <<'EOF'\n- from a shell\nEOF"),
        _change(
            "c4", f"{folder}/a.md", type="update", unified_diff="@@ -2 +2 @@\n-- 1\n+- 2\n", move_path=f"{folder}/b.md"
        ),
        _ran("c5", f"rm {folder}/b.md {folder}/none.md", code=1),
        _change("c6", f"{folder}/b.md", type="delete", content="# A\n- 2\n"),
    ]


def _called(call: str, name: str, **given: object) -> dict[str, Any]:
    return _record("response_item", type="function_call", call_id=call, name=name, arguments=json.dumps(given))


def _patched(call: str, *lines: str) -> dict[str, Any]:
    text = "\n".join(("*** Begin Patch", *lines, "*** End Patch"))
    return _record("response_item", type="custom_tool_call", call_id=call, name="apply_patch", input=text)


def _answered(call: str, output: object) -> dict[str, Any]:
    return _record("response_item", type="function_call_output", call_id=call, output=output)


def write_old_codex(folder: str) -> Records:
    """Codex until about 0.150: only calls and their results."""
    done = json.dumps({"output": "Success. Updated the following files:\nA a.md\n", "metadata": {"exit_code": 0}})
    ended = "Wall time: 0.1 seconds\nProcess exited with code {}\nOutput:\n{}"
    return [
        *CODEX_HEAD,
        _record("event_msg", type="user_message", message="Remember one"),
        _called("c0", "exec_command", cmd="curl -s https://example.org"),
        _answered("c0", ended.format(0, STRANGER)),
        _patched("c1", f"*** Add File: {folder}/a.md", "+# A", "+- one"),
        _answered("c1", done),
        _patched("c2", f"*** Update File: {folder}/a.md", "@@", " # A", "-- one", "+- 1"),
        _answered("c2", done),
        _patched("no", f"*** Update File: {folder}/a.md", "@@", "-- nowhere", "+- 1"),
        _answered("no", "apply_patch verification failed: no such lines"),
        _called("c3", "shell", command=["bash", "-lc", "cat > d.md <<'EOF'\n- from a shell\nEOF"], workdir=folder),
        _answered("c3", json.dumps({"output": "", "metadata": {"exit_code": 0}})),
        _called("c4", "exec_command", cmd=f"apply_patch <<'EOF'\n{MOVING}\nEOF", workdir=folder),
        _answered("c4", done),
        _called("c5", "exec_command", cmd=f"rm {folder}/b.md {folder}/none.md"),
        _answered("c5", ended.format(1, "rm: cannot remove")),
        _called("refused", "shell_command", command=f"rm {folder}/d.md"),
        _answered("refused", "unsupported call: shell_command"),
        _called("waiting", "exec_command", cmd=f"rm {folder}/d.md"),
        _answered("waiting", "Process running with session ID 7"),
        _patched("c6", f"*** Delete File: {folder}/b.md"),
        _answered("c6", done),
    ]  # fmt: skip


def write_gemini(folder: str) -> Records:
    """Gemini CLI: a message of the model is written again with each of its calls."""

    def call(
        number: str, name: str, display: object = "", *, output: str = "", status: str = "success", **given: object
    ) -> dict[str, Any]:
        result = [{"functionResponse": {"id": number, "name": name, "response": {"output": output}}}]
        return {
            "id": number,
            "name": name,
            "args": given,
            "result": result,
            "status": status,
            "resultDisplay": display,
            "timestamp": AT,
        }

    def model(*calls: dict[str, Any]) -> dict[str, Any]:
        name = calls[0]["id"] if calls else "m"
        return {
            "id": name,
            "timestamp": AT,
            "type": "gemini",
            "content": "",
            "model": "a-model",
            "toolCalls": list(calls),
        }

    path = f"{folder}/a.md"
    made = {"filePath": path, "originalContent": "", "newContent": "# A\n- one\n", "isNewFile": True}
    edited = {"filePath": path, "originalContent": "# A\n- one\n", "newContent": "# A\n- 1\n", "isNewFile": False}
    context = {"id": "0", "timestamp": AT, "type": "user", "content": [{"text": "<session_context>\nall of it"}]}
    return [
        {"sessionId": "d940bcde-whole", "projectHash": "0", "startTime": AT, "kind": "main"},
        {"$set": {"messages": [context], "lastUpdated": AT}},
        {"id": "1", "timestamp": AT, "type": "user", "content": [{"text": "Remember one"}]},
        model(call("c0", "web_fetch", output=STRANGER, prompt="https://example.org")),
        model(call("c1", "write_file", made, file_path="a.md", content="not what was written")),
        {"$set": {"messages": [context, model(call("c1", "write_file", made, file_path="a.md", content="again"))]}},
        model(call("c2", "replace", edited, file_path=path, old_string="- one", new_string="- 1")),
        model(call("no", "replace", "Error", status="error", file_path=path, old_string="x", new_string="y")),
        model(call("c3", "run_shell_command", command="cat > d.md <<'EOF'\n- from a shell\nEOF", dir_path=folder)),
        model(call("c4", "run_shell_command", command=f"mv {path} {folder}/b.md")),
        model(call("c5", "run_shell_command", output="Output: rm: no\nExit Code: 1", command=f"rm {folder}/d.md")),
        model(call("bg", "run_shell_command", command=f"rm {folder}/d.md", is_background=True)),
        model(call("c6", "run_shell_command", output="Exit Code: 0", command=f"rm {folder}/b.md")),
    ]  # fmt: skip


def write_openclaw(folder: str) -> Records:
    """OpenClaw: messages with calls, and messages with their results."""

    def said(role: str, **message: object) -> dict[str, Any]:
        return {"type": "message", "id": "m", "timestamp": AT, "message": {"role": role, **message}}

    def call(
        number: str, name: str, details: dict[str, Any], text: str = "done", *, failed: bool = False, **given: object
    ) -> Records:
        block = {"type": "toolCall", "id": number, "name": name, "arguments": given}
        result = {
            "toolCallId": number,
            "content": [{"type": "text", "text": text}],
            "details": details,
            "isError": failed,
        }
        return [said("assistant", content=[block], model="a-model"), said("toolResult", **result)]

    ran = {"status": "completed", "exitCode": 0, "cwd": folder}
    patch = "--- a.md\n+++ a.md\n@@ -1,2 +1,2 @@\n # A\n-- one\n+- 1\n"
    return [
        {"type": "session", "version": 4, "id": "01a2-session", "timestamp": AT, "cwd": folder},
        said("user", content="Remember one"),
        *call("c0", "web_fetch", {}, STRANGER, url="https://example.org"),
        *call("c1", "write", {"created": True}, path="a.md", content="# A\n- one\n"),
        *call("c2", "edit", {"patch": patch}, path="a.md", edits=[{"oldText": "- one", "newText": "- 1"}]),
        *call("no", "edit", {"status": "error"}, failed=True, path="a.md", oldText="x", newText="y"),
        *call("c3", "exec", ran, command="cat > d.md <<'EOF'\n- from a shell\nEOF"),
        *call("c4", "apply_patch", {}, input=MOVING),
        *call("c5", "exec", ran | {"exitCode": 1}, command="rm b.md none.md"),
        *call("bg", "exec", {"status": "running"}, command="rm d.md"),
        *call("c6", "exec", ran, command="rm b.md"),
    ]  # fmt: skip


WRITERS: dict[str, Callable[[str], Records]] = {
    "Codex": write_codex, "Codex 0.110": write_old_codex, "Gemini CLI": write_gemini, "OpenClaw": write_openclaw,
}  # fmt: skip
PLACES = {
    "Codex": ".codex/sessions/2026/10/01/rollout-2026-10-01T10-00-00-01a2-session.jsonl",
    "Gemini CLI": ".gemini/tmp/app/chats/session-2026-10-01T10-00-d940bcde.jsonl",
    "OpenClaw": ".openclaw/agents/main/sessions/01a2-session.jsonl",
}


def save(path: Path, records: Iterable[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "OPENCLAW_STATE_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def _tell(change: ImportedChange) -> tuple[str, str | None, str | None]:
    return change.path, *(None if text is None else text.decode() for text in (change.before, change.after))


@pytest.mark.parametrize("agent", WRITERS)
def test_each_agents_session_tells_its_writes(agent: str, folder: Path, tmp_path: Path) -> None:
    scan = scan_transcripts(str(folder), [str(save(tmp_path / "s.jsonl", WRITERS[agent](str(folder))))])
    assert [_tell(each) for each in scan.writes[:3]] == WRITTEN
    assert {each.agent.model for each in scan.writes} == {"a-model"}
    assert {each.agent.name for each in scan.writes} == {agent.removesuffix(" 0.110")}
    assert {each.prompt for each in scan.writes} == {"Remember one"}
    assert all(each.line and each.at_us and each.agent.session for each in scan.writes)
    moved, *_, gone = scan.writes[3:]
    assert {(each.path, each.moved_from, each.moved_to) for each in scan.writes if each.call_id == "c4"} == {
        ("a.md", "", "b.md"), ("b.md", "a.md", ""),
    }  # fmt: skip
    assert (moved.call_id, gone.path, gone.is_gone, gone.call_id) == ("c4", "b.md", True, "c6")
    assert "d.md" not in {each.path for each in scan.writes if each.is_gone}
    assert (scan.broken, bool(scan.failed)) == (0, True)


def test_a_database_of_openclaw_is_read_as_its_lines_are(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "openclaw-agent.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB)"
        )
        rows = [("s", at, json.dumps(each), None) for at, each in enumerate(write_openclaw(str(folder)))]
        database.executemany("INSERT INTO transcript_events VALUES (?, ?, ?, ?)", [*rows, ("s", 99, None, b"zstd")])
    before = {each.name: each.stat().st_mtime_ns for each in tmp_path.iterdir()}
    scan = scan_transcripts(str(folder), [str(path)])
    assert [_tell(each) for each in scan.writes[:3]] == WRITTEN
    assert {each.name: each.stat().st_mtime_ns for each in tmp_path.iterdir()} == before
    assert list(SessionFile(str(path), lambda _: True, "another")) == []


def test_a_compressed_session_is_read_where_something_unpacks_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = "".join(f"{json.dumps(each)}\n" for each in write_codex(str(folder)))
    path = tmp_path / "rollout-1.jsonl.zst"
    path.write_bytes(zlib.compress(plain.encode()))

    class Unpacked(io.BytesIO):
        def __init__(self, file: Any) -> None:
            super().__init__(zlib.decompress(file.read()))

    monkeypatch.setitem(sys.modules, "compression.zstd", SimpleNamespace(ZstdFile=Unpacked))
    assert [_tell(each) for each in scan_transcripts(str(folder), [str(path)]).writes[:3]] == WRITTEN
    path.write_bytes(b"no archive")
    ((_, reason),) = scan_transcripts(str(folder), [str(path)]).unreadable
    assert reason == "it is damaged: it cannot be unpacked"


def test_what_is_no_database_or_compressed_is_unreadable(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "x.sqlite").write_bytes(b"no database" * 100)
    (tmp_path / "rollout-1.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    files = [str(tmp_path / name) for name in ("x.sqlite", "rollout-1.jsonl.zst", "missing.sqlite", "missing.json")]
    scan = scan_transcripts(str(folder), files)
    assert [path for path, _ in scan.unreadable] == files
    assert scan.unreadable[1][1] == "it is compressed; unpack it with zstd -d"


def test_an_older_session_of_gemini_is_one_object(folder: Path, tmp_path: Path) -> None:
    head, *rest = write_gemini(str(folder))
    messages = [each for each in rest if "$set" not in each]
    (tmp_path / "session.json").write_text(json.dumps({**head, "messages": messages}, indent=2))
    scan = scan_transcripts(str(folder), [str(tmp_path / "session.json")])
    assert [_tell(each) for each in scan.writes[:3]] == WRITTEN


def test_relative_files_of_gemini_are_in_the_project(folder: Path, tmp_path: Path) -> None:
    chats = tmp_path / "tmp" / "app" / "chats"
    head = write_gemini("")[:3]
    call = {"id": "c", "name": "write_file", "args": {"file_path": "r.md", "content": "r\n"}, "status": "success"}
    record = {"id": "g", "timestamp": AT, "type": "gemini", "toolCalls": [call]}
    path = save(chats / "s.jsonl", [*head, record])
    assert scan_transcripts(str(folder), [str(path)]).writes == []
    (chats.parent / ".project_root").write_text(f"{folder}\n")
    assert [each.path for each in scan_transcripts(str(folder), [str(path)]).writes] == ["r.md"]


@pytest.mark.parametrize("agent", PLACES)
def test_the_session_files_of_an_agent_are_found(agent: str, folder: Path, home: Path) -> None:
    path = save(home / PLACES[agent], WRITERS[agent](str(folder)))
    save(home / "elsewhere.jsonl", [])
    assert list_session_files(str(folder)) == [str(path)]
    session = scan_transcripts(str(folder), [str(path)]).writes[0].agent.session or ""
    assert find_session_files(session) == [str(path)]
    assert find_session_files("another-session") == []


@pytest.mark.parametrize("agent", PLACES)
def test_the_prompt_and_what_strangers_said_before_a_call_is_known(agent: str, folder: Path, home: Path) -> None:
    path = save(home / PLACES[agent], WRITERS[agent](str(folder)))
    session = scan_transcripts(str(folder), [str(path)]).writes[0].agent.session or ""
    context = find_contexts([(session, "c2")], most_bytes=1_000_000)[session, "c2"]
    assert (context.prompt, context.turn) == ("Remember one", 1)
    assert [(each.text, each.turn) for each in context.read] == [(STRANGER, 1)]
    assert "https://example.org" in context.read[0].source


@pytest.mark.parametrize("agent", PLACES)
def test_imported_lines_name_their_agent(agent: str, folder: Path, home: Path, tmp_path: Path) -> None:
    save(home / PLACES[agent], WRITERS[agent](str(folder)))
    (folder / "d.md").write_text("- from a shell\n")
    state = tmp_path / "state"
    assert main(["import-transcripts", "--dir", str(folder), "--state", str(state)]) == 0
    with memtui.open(folder, state=state) as memory:
        (origin,) = find_origins(memory, "d.md", b"- from a shell\n", state=state)
        assert main(["import-transcripts", "--dir", str(folder), "--state", str(state), "--dry-run"]) == 0
    assert origin.event is not None
    assert isinstance(origin.event.actor, memtui.Agent)
    assert (origin.event.actor.name, origin.asked.prompt) == (agent, "Remember one")
    assert origin.asked.source.startswith(Path(PLACES[agent]).name)


def _mutate(value: Any) -> Iterator[Any]:
    """A value with each of its parts in turn replaced by what nobody expects there."""
    yield from (None, 7, "x", [], {}, [None, 1, ["x"]], {"type": 1}, "\ud800")
    if isinstance(value, dict):
        for key in value:
            yield {other: value[other] for other in value if other != key}
            yield from ({**value, key: each} for each in _mutate(value[key]))
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from ([*value[:at], other, *value[at + 1 :]] for other in _mutate(each))


@pytest.mark.parametrize("agent", WRITERS)
def test_garbage_in_a_session_is_passed_over(agent: str, folder: Path, tmp_path: Path) -> None:
    records = WRITERS[agent](str(folder))
    makers = {"Gemini CLI": GeminiConverter, "OpenClaw": OpenClawConverter}
    tried = 0
    for at, record in enumerate(records):
        for wrong in _mutate(record):
            if isinstance(wrong, dict):
                converter = makers.get(agent, CodexConverter)()
                for each in (*records[max(0, at - 2) : at], wrong, *records[at + 1 : at + 2]):
                    assert all(isinstance(json.loads(line), dict) for line in converter.convert(each))
                tried += 1
    assert tried > 300
    some = [wrong for record in records for wrong in _mutate(record)][::7]
    path = save(tmp_path / "s.jsonl", [records[0], *some])
    with path.open("ab") as file:
        file.write(b'{"type": "message", "user": \n\xff\xfe\n' + b"[" * 100_000 + b'"message"\n' + b'{"unfinished')
    scan = scan_transcripts(str(folder), [str(path)])
    assert isinstance(scan, TranscriptScan)
    assert scan.files == 1


@pytest.mark.parametrize(
    ("diff", "starts"),
    [
        ("@@ -1,2 +1,3 @@\n a\n+b\n", [1]),
        ("--- a\n+++ a\n@@ -0,0 +1 @@\n+a\n", [0]),
        ("@@ -5,0 +6,2 @@\n+a\n+b\n", [6]),  # behind line 5
        ("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", []),
        ("no diff", []),
        ("", []),
    ],
)
def test_hunks_of_a_diff(diff: str, starts: list[int]) -> None:
    assert [hunk["oldStart"] for hunk in parse_hunks(diff)] == starts


def test_a_patch_that_would_take_too_long_is_left_out(folder: Path, tmp_path: Path) -> None:
    lines = "".join(f"+{number}\n" for number in range(10_000))
    update = f"*** Update File: {folder}/a.md\n" + "@@\n+x\n" * 10_000
    done = "Success. Updated the following files:"
    records = [*CODEX_HEAD]
    for call, patch in (("1", f"*** Add File: {folder}/a.md\n{lines}"), ("2", update)):
        records += [_patched(call, patch.rstrip("\n")), _answered(call, done)]
    first, second = scan_transcripts(str(folder), [str(save(tmp_path / "s.jsonl", records))]).writes
    assert first.after is not None
    assert second.after is None
