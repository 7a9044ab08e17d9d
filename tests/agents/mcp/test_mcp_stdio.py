"""`memtui mcp` line by line: its answers, its limits, and its end."""

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.core.events import Agent, Event, Outside
from memtui.fs.state import get_state_directory, get_state_home
from memtui.journal.announcements import Announcement, AnnouncementStore
from memtui.memory import connect
from memtui.store.folder import FolderStore
from tests.agents.mcp.pipe_client import HELLO, LIMIT, ROOT, Server
from tests.conftest import wait_until
from tests.contract.test_images import make_gif

Start = Callable[..., Server]
Events = Callable[[], list[Event]]


def create(path: str, text: str) -> dict[str, str]:
    return {"command": "create", "path": f"/memories/{path}", "file_text": text}


def test_the_memory_tool_is_flat_and_requires_the_command_only(start: Start) -> None:
    tools = {tool["name"]: tool for tool in start().ask("tools/list")["tools"]}
    assert set(tools) == {
        "memory", "search_memory", "recent_activity", "memory_history", "read_note", "build_context", "list_links",
    }  # fmt: skip
    schema = tools["memory"]["inputSchema"]
    assert schema["required"] == ["command"]
    assert schema["properties"]["command"]["enum"] == ["view", "create", "str_replace", "insert", "delete", "rename"]
    assert not {"anyOf", "oneOf", "allOf"} & set(schema)
    hints = {
        name: {hint: value for hint, value in tool["annotations"].items() if hint != "title"}
        for name, tool in tools.items()
    }
    assert hints.pop("memory") == {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": False,
    }
    looking = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
    assert hints == dict.fromkeys(hints, looking)
    assert "outputSchema" not in tools["memory"]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "1999-01-01"])
def test_every_version_that_shakes_hands_is_served(version: str, start: Start) -> None:
    server = start(greet=False)
    agreed = server.greet(protocolVersion=version)["protocolVersion"]
    assert agreed == (version if version != "1999-01-01" else "2025-11-25")
    assert server.call({"command": "view", "path": "/memories/prefs.md"})[1] is False


COMMANDS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories"},
    create("new.md", "one\ntwo\n"),
    {"command": "view", "path": "/memories/new.md"},
    {"command": "view", "path": "/memories/new.md", "view_range": [2, 2]},
    {"command": "str_replace", "path": "/memories/new.md", "old_str": "two", "new_str": "zwei"},
    {"command": "str_replace", "path": "/memories/new.md", "old_str": "drei", "new_str": ""},
    {"command": "insert", "path": "/memories/new.md", "insert_line": 0, "insert_text": "null\n"},
    {"command": "insert", "path": "/memories/new.md", "insert_line": 99, "insert_text": "x"},
    {"command": "rename", "old_path": "/memories/new.md", "new_path": "/memories/a/b.md"},
    {"command": "delete", "path": "/memories/a"},
    {"command": "delete", "path": "/memories"},
    {"command": "view", "path": "/memories/../etc/passwd"},
    {"command": "view", "path": "/etc/passwd"},
    {"command": "create", "path": "/memories/half"},
    {"command": "view", "path": 5},
    {"command": "view", "path": "/memories/new.md", "view_range": "all"},
    {"command": "insert", "path": "/memories/prefs.md", "insert_line": "1", "insert_text": "x"},
    {"command": "shout", "path": "/memories"},
    {"command": None},
    {"path": "/memories"},
    {},
]


def test_every_answer_is_the_engines_own(start: Start, tmp_path: Path, folder: Path) -> None:
    twin = tmp_path / "twin"
    subprocess.run(["cp", "-r", str(folder), str(twin)], check=True)
    server = start()
    with memtui.open(twin) as memory:
        for command in COMMANDS:
            ours = memory.execute(command, actor=Agent("x"))
            assert server.call(command) == (ours.text, ours.is_error), command


NO_OBJECTS: list[object] = [["view"], "view", 5, True, [], 0, ""]


def test_arguments_that_are_no_object_are_refused_in_the_engines_words(start: Start) -> None:
    server = start()
    for arguments in NO_OBJECTS:
        assert server.call(arguments) == ("Error: the input must be an object with a `command`", True), arguments


def test_no_arguments_at_all_are_refused_in_the_engines_words(start: Start) -> None:
    result = start().ask("tools/call", {"name": "memory"})
    assert result["isError"]
    assert "object with a `command`" in result["content"][0]["text"]


UNCLEAR: list[tuple[str, object, str]] = [
    ("search_memory", {}, "`query` is required"),
    ("search_memory", {"query": 5}, "`query` is required"),
    ("search_memory", {"query": "x\ny"}, "on one line"),
    ("search_memory", {"query": "x", "limit": 0}, "`limit` must be a whole number"),
    ("search_memory", {"query": "x", "limit": "ten"}, "`limit` must be a whole number"),
    ("search_memory", {"query": "x", "limit": True}, "`limit` must be a whole number"),
    ("recent_activity", {"path": "/etc"}, "Path must start with /memories"),
    ("recent_activity", {"path": ["/memories"]}, "`path` is required"),
    ("memory_history", {}, "`path` is required"),
    ("memory_history", {"path": "/memories"}, "name a memory"),
    ("memory_history", {"path": "/memories/../x"}, "would escape"),
    ("memory_history", {"path": "/memories/never.md"}, "nothing was ever recorded"),
    ("memory_history", {"path": "/memories/prefs.md", "to": 1}, "`to` needs `from`"),
    ("memory_history", {"path": "/memories/prefs.md", "from": 999}, "there is no event #999"),
]


def test_what_a_looking_tool_cannot_understand_is_an_answer(start: Start) -> None:
    server = start()
    for tool, arguments, said in UNCLEAR:
        text, is_error = server.call(arguments, tool)
        assert is_error, (tool, arguments)
        assert said in text


def test_a_tool_or_prompt_that_was_invented_is_named_with_those_there_are(start: Start) -> None:
    server = start()
    error = server.refused("tools/call", {"name": "forget\x1b[2J\n", "arguments": {}})
    assert error["code"] == -32602
    assert error["message"] == (
        "There is no tool 'forget\\\\x1b[2J\\\\n', only: memory, search_memory, recent_activity, memory_history, "
        "read_note, build_context, list_links."
    )
    assert "only: memory_guide" in server.refused("prompts/get", {"name": "x"})["message"]
    assert server.refused("no/such/method")["code"] == -32601


NO_MESSAGES = [
    (b"garbage", -32700),
    (b"{", -32700),
    (b'"text"', -32600),
    (b"null", -32600),
    (b"[]", -32600),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
    (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600),
    (b'{"id":7}', -32600),
    (b"\xff\xfe{}", -32700),
    (b"[" * 100_000, -32700),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
]


def test_a_line_that_is_no_message_is_answered_and_the_next_one_works(start: Start) -> None:
    server = start()
    for line, code in NO_MESSAGES:
        server.write(line + b"\n\n   \n")
        error = server.wait(lambda message: "error" in message)
        assert error["error"]["code"] == code, line[:80]
        assert error["id"] in (None, 7)
        assert server.ask("ping") == {}


def test_a_line_without_end_is_given_up_before_it_fills_the_memory(start: Start) -> None:
    server = start()
    for _ in range(34):
        server.write(b"x" * 1_000_000)
    server.write(b"\n")
    assert "32,000,000" in server.answer(None)["error"]["message"]
    assert server.ask("ping") == {}


def test_half_a_character_reaches_the_engine_which_refuses_it(start: Start) -> None:
    server = start()
    line = '{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"memory","arguments":%s}}\n'
    server.write((line % '{"command":"create","path":"/memories/x","file_text":"\\ud800"}').encode())
    answer = server.wait(lambda message: message.get("id") == "s")["result"]
    assert answer["content"][0]["text"] == "Error: `file_text` is not valid Unicode text"
    server.write((line % '{"command":"view","path":"/memories/\\udcff"}').encode())
    assert server.wait(lambda message: message.get("id") == "s")["result"]["isError"]


NO_URIS: list[dict[str, Any]] = [{}, {"uri": 5}, {"uri": None}, {"name": 5}, {"cursor": 5}]


def test_parameters_without_the_protocols_shape_are_an_error_that_says_so(start: Start) -> None:
    server = start()
    for params in NO_URIS:
        error = server.refused("resources/read", params)
        assert error["code"] == -32602, params
        assert "uri" in error["message"]


_NOISY = """
import os
import subprocess
import sys
import logging
from memtui.engine import engine
execute = engine.Engine.execute
def noisy(self, *words, **named):
    print("printed")
    sys.__stdout__.write("written\\n"); sys.__stdout__.flush()
    os.write(1, b"below Python\\n")
    subprocess.run(["echo", "by a child"])
    logging.getLogger().addHandler(logging.StreamHandler(sys.stdout))
    logging.error("logged")
    return execute(self, *words, **named)
engine.Engine.execute = noisy
from memtui.cli import main
sys.exit(main())
"""


def test_nothing_but_the_protocol_reaches_standard_output(start: Start) -> None:
    server = start(program=("-c", _NOISY))
    assert server.call(create("a.md", "x")) == ("File created successfully at: /memories/a.md", False)
    assert server.end() == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in server.lines)
    for said in ("printed", "written", "below Python", "by a child", "logged"):
        assert said in server.errors


def test_what_was_asked_before_the_input_ended_is_done_and_answered(start: Start, events: Events) -> None:
    server = start()
    numbers = [server.begin_call(**create(f"{number}.md", "x")) for number in range(20)]
    assert server.end() == 0
    assert all(server.answer(number)["result"]["isError"] is False for number in numbers)
    assert [event.path for event in events()] == [f"/memories/{number}.md" for number in range(20)]


def test_what_one_client_asks_for_is_done_in_the_order_in_which_it_asks(start: Start, folder: Path) -> None:
    server = start()
    server.begin_call(**create("log.md", ""))
    for number in range(60):
        server.begin_call(command="insert", path="/memories/log.md", insert_line=number, insert_text=f"{number}\n")
    server.answer(61 + 1)
    assert (folder / "log.md").read_text().split() == [str(number) for number in range(60)]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_cleanly(number: signal.Signals, code: int, start: Start) -> None:
    program = f"import signal, sys; signal.signal({int(signal.SIGINT)}, signal.default_int_handler)\n"
    server = start(program=("-c", program + "from memtui.cli import main; sys.exit(main())"))
    server.call({"command": "view", "path": "/memories"})
    assert server.signal(number) == code
    assert "Traceback" not in server.errors


def test_it_ends_when_nobody_reads_its_answers_any_more(folder: Path) -> None:
    request = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":%s}\n' % json.dumps(HELLO).encode()
    with subprocess.Popen(
        [sys.executable, "-m", "memtui", "mcp", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        bufsize=0,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(request)
        assert process.stdout.readline()
        process.stdout.close()
        process.stdin.write(b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
        assert process.wait(LIMIT) == 0
        assert process.stderr.read() == b""


def test_a_client_that_does_not_read_keeps_nothing_from_being_done_nor_the_end_from_coming(
    folder: Path, events: Events
) -> None:
    requests = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}]
    for number in range(200):
        call = {"name": "memory", "arguments": {"command": "view", "path": "/memories/big.md"}}
        requests.append({"jsonrpc": "2.0", "id": 1 + number, "method": "tools/call", "params": call})
    last = {"name": "memory", "arguments": create("last.md", "x")}
    requests.append({"jsonrpc": "2.0", "id": 999, "method": "tools/call", "params": last})
    (folder / "big.md").write_text("a line\n" * 5_000)
    with subprocess.Popen(
        [sys.executable, "-m", "memtui", "mcp", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin
        assert process.stderr
        process.stdin.write(b"".join(json.dumps(request).encode() + b"\n" for request in requests))
        process.stdin.flush()
        wait_until((folder / "last.md").exists, "the last request, behind answers that nobody reads", 3 * LIMIT)
        process.terminate()
        assert process.wait(LIMIT / 2) == 0
        assert process.stderr.read() == b""
    assert events()[-1].path == "/memories/last.md"


def test_an_actor_is_named_as_the_client_names_itself(start: Start, events: Events) -> None:
    for given, shown in (
        ("claude-code", "claude-code"),
        ("\x1b[31mred\n", "\\x1b[31mred\\n"),
        ("  two \t words ", "two \\t words"),
        ("", "mcp-client"),
        ("x" * 200, "x" * 64),
    ):
        server = start(greet=False)
        server.greet(clientInfo={"name": given, "version": "1"})
        server.call({"command": "view", "path": "/memories"})
        assert server.end() == 0
        assert events()[-1].actor == Agent(shown)


def test_a_name_and_the_models_own_number_of_the_call_are_in_the_record(start: Start, events: Events) -> None:
    server = start("--name", "desk")
    server.call(create("a.md", "x"), meta={"claudecode/toolUseId": "toolu_1", "progressToken": 3})
    number = server.begin_call(command="view", path="/memories/a.md")
    server.answer(number)
    wait_until(lambda: len(events()) == 2, "the view in the record")
    first, second = events()
    assert (first.actor, first.call_id) == (Agent("desk"), "toolu_1")
    assert second.call_id == str(number)


def test_the_session_that_claude_codes_hook_told_of_is_in_the_record(start: Start, events: Events) -> None:
    now_us = time.time_ns() // 1_000
    told = Announcement("a.md", Agent("Claude Code", session="s-1"), "toolu_9", (), "", now_us, now_us + 60_000_000)
    AnnouncementStore(get_state_home()).add(told)
    server = start()
    server.call(create("a.md", "x"), meta={"claudecode/toolUseId": "toolu_9"})
    server.call(create("b.md", "x"), meta={"claudecode/toolUseId": "toolu_10"})
    assert [event.actor for event in events()] == [Agent("by-hand", session="s-1"), Agent("by-hand")]


def test_a_client_is_never_taken_for_the_person(start: Start) -> None:
    server = start(greet=False)
    server.greet(clientInfo={"name": "you", "version": "1"})
    server.call(create("a.md", "x"))
    assert "agent:you created /memories/a.md" in server.call({}, "recent_activity")[0]


def test_read_only_refuses_changes_and_leaves_no_trace(start: Start, events: Events, folder: Path) -> None:
    before = events()
    server = start("--read-only")
    assert server.call(create("a.md", "x")) == ("Error: could not create /memories/a.md: read-only", True)
    assert server.call({"command": "view", "path": "/memories/prefs.md"})[1] is False
    assert server.end() == 0
    assert events() == before
    assert not (folder / "a.md").exists()


def test_looking_only_refuses_changes_in_the_engines_words_and_records_that(
    start: Start, events: Events, folder: Path
) -> None:
    server = start("--look-only")
    tool = server.ask("tools/list")["tools"][0]
    assert tool["annotations"]["readOnlyHint"]
    assert "read-only" in tool["description"]
    assert server.call(create("a.md", "x")) == ("Error: could not create /memories/a.md: read-only", True)
    assert server.call({"command": "view", "path": "/memories/prefs.md"})[1] is False
    wait_until(lambda: len(events()) == 2, "the refusal and the view in the record")
    assert [(event.command, event.is_error) for event in events()] == [("create", True), ("view", False)]
    assert not (folder / "a.md").exists()


def test_read_only_serves_where_nothing_can_be_recorded(start: Start, folder: Path) -> None:
    server = start("--read-only", "--state", folder / "state")
    assert server.call({"command": "view", "path": "/memories/prefs.md"})[1] is False
    assert server.call(create("a.md", "x"))[1]
    assert server.end() == 0
    assert "What clients view is not recorded." in server.errors
    assert not (folder / "state").exists()


def test_a_folder_that_vanishes_is_an_answer(start: Start, folder: Path) -> None:
    server = start()
    server.call({"command": "view", "path": "/memories"})
    folder.rename(folder.with_name("moved"))
    text, is_error = server.call(create("a.md", "x"))
    assert (text, is_error) == ("Error: The memory folder is not there", True)
    assert server.call({"command": "view", "path": "/memories/prefs.md"})[1]
    gone = "Error: The memory folder is not there"
    assert server.refused("resources/list", {})["message"] == gone
    assert server.refused("resources/read", {"uri": "memory:///prefs.md"})["message"]
    assert server.call({"query": "tea"}, "search_memory") == (gone, True)  # and not where it was
    folder.with_name("moved").rename(folder)
    assert server.call(create("a.md", "x"))[1] is False
    assert server.end() == 0


def test_a_folder_that_is_removed_and_made_again_is_served_on(start: Start, folder: Path, events: Events) -> None:
    server = start()
    for number in range(3):
        assert server.call(create(f"n{number}.md", "x"))[1] is False
        shutil.rmtree(folder)
        folder.mkdir()
        assert "n0.md" not in server.call({"command": "view", "path": "/memories"})[0]
        (folder / "outside.md").write_text("x")
        assert server.call({"command": "view", "path": "/memories/outside.md"})[1] is False
    assert [event for event in events() if "removed and created again" in event.note]
    assert server.end() == 0


def test_a_cancelled_write_that_has_begun_is_done_and_recorded(start: Start, folder: Path, events: Events) -> None:
    server = start()
    server.call({"command": "view", "path": "/memories"})
    store = FolderStore(str(folder), str(get_state_directory(str(folder))), title="x")
    try:
        with store.begin_transaction(5):
            number = server.begin_call(**create("late.md", "x"))
            server.ask("ping")
            server.tell("notifications/cancelled", {"requestId": number})
            server.ask("ping")
    finally:
        store.close()
    assert server.end() == 0
    assert (folder / "late.md").read_text() == "x"
    assert events()[-1].path == "/memories/late.md"
    assert not any(json.loads(line).get("id") == number for line in server.lines)


def test_two_servers_on_one_folder_lose_nothing(start: Start, folder: Path, events: Events) -> None:
    servers = [start("--name", name) for name in ("one", "two")]
    servers[0].call(create("log.md", "top\n"))
    for number in range(50):
        for name, server in enumerate(servers):
            line = f"{name}-{number}\n"
            server.begin_call(command="insert", path="/memories/log.md", insert_line=1, insert_text=line)
    assert [server.end() for server in servers] == [0, 0]
    lines = (folder / "log.md").read_text().split()
    assert sorted(lines[1:]) == sorted(f"{name}-{number}" for name in range(2) for number in range(50))
    for name in range(2):
        mine = [int(line.partition("-")[2]) for line in lines[1:] if line.startswith(f"{name}-")]
        assert mine == list(reversed(range(50)))
    assert not any(isinstance(event.actor, Outside) for event in events())
    with connect(folder) as memory:
        assert memory.history.blame("log.md", (folder / "log.md").read_bytes()).complete


def test_the_prompt_has_the_protocol_and_the_guidance(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "guide.md"
    file.write_text("Only birthdays.\n")
    for given in (str(file), "Only birthdays."):
        server = start("--guidance", given)
        (message,) = server.ask("prompts/get", {"name": "memory_guide"})["messages"]
        assert "str_replace" in message["content"]["text"]
        assert "Only birthdays." in message["content"]["text"]


def test_without_the_extra_it_says_what_to_install(folder: Path) -> None:
    program = "import sys; sys.modules['mcp'] = None; from memtui.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program, "mcp", str(folder)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "memtui mcp needs one more package: pip install 'memtui[mcp]'\n"


def test_a_package_of_that_name_that_cannot_be_used_is_said(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "old" / "mcp").mkdir(parents=True)
    (tmp_path / "old" / "mcp" / "__init__.py").write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "memtui", "mcp", str(folder)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": f"{tmp_path / 'old'}:{ROOT}"},
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot use the package mcp that is installed (No module named 'mcp.server')" in done.stderr


def test_its_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; from memtui.cli import main; main(['mcp', '--help']); "
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=LIMIT)
    assert "memtui mcp" in done.stdout
    assert not {"mcp", "anthropic", "textual", "pydantic", "anyio", "uvicorn"} & set(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--http", "99999"], 2, "is not a port"),
        (["--http", "x"], 2, "is not a port"),
        (["--ask-seconds", "0"], 2, "is not a number of seconds"),
        (["--ask", "--read-only"], 2, "there is nothing to ask about"),
        (["--name", " "], 2, "a name has 1 to 64 characters"),
        (["--guidance", "./nope.md"], 2, "no such file: ./nope.md"),
    ],
)
def test_what_is_wrong_with_the_command_line_is_said(words: list[str], code: int, said: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memtui", "mcp", str(folder), *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        timeout=LIMIT,
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


def test_an_image_is_shown(start: Start, folder: Path) -> None:
    (folder / "a.gif").write_bytes(make_gif(3, 4))
    result = start().ask("tools/call", {"name": "memory", "arguments": {"command": "view", "path": "/memories/a.gif"}})
    text, image = result["content"]
    assert text == {"type": "text", "text": "Here's the image /memories/a.gif (3x4, 14B):"}
    assert (image["type"], image["mimeType"]) == ("image", "image/gif")
    assert base64.b64decode(image["data"]) == make_gif(3, 4)
