"""The SDK's own tool loop drives our tools, against a model's server that shares nothing with ours."""

import asyncio
import gc
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anthropic
import anyio
import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)
from hypothesis import given
from hypothesis import strategies as st
from llmock.pytest_plugin import LLMock

import memtui
from memtui.agents.claude import AsyncMemoryTool, MemoryTool
from memtui.core.approvals import Allow, Deny, Edit, Proposal
from memtui.core.events import Agent
from memtui.engine import Engine

LIMIT = 30.0
"""Seconds that anything may take before a test gives up on it."""
ASKING_FAILED = (
    "Error: could not create /memories/n.md: the user has to approve it, and asking failed. Nothing was changed"
)
DECLINED = "Error: the user declined to create /memories/n.md. Nothing was changed"
CREATE = {"command": "create", "path": "/memories/n.md", "file_text": "n\n"}
VIEW = {"command": "view", "path": "/memories/n.md"}
REQUEST: dict[str, Any] = {
    "model": "a-model",
    "max_tokens": 500,
    "messages": [{"role": "user", "content": "Remember."}],
}


@pytest.fixture
def memory() -> Iterator[Engine]:
    with memtui.open_in_memory() as memory:
        yield memory


# Ways to run a conversation


def _sync(tool: Any, *, stream: bool) -> None:
    with anthropic.Anthropic(max_retries=0) as client:
        if stream:
            for reply in client.beta.messages.tool_runner(**REQUEST, tools=[tool], thread=False, stream=True):
                for _ in reply:
                    pass
        else:
            client.beta.messages.tool_runner(**REQUEST, tools=[tool], thread=False).until_done()


async def _async(tool: Any, *, stream: bool) -> None:
    async with anthropic.AsyncAnthropic(max_retries=0) as client:
        if stream:
            runner = client.beta.messages.tool_runner(**REQUEST, tools=[tool], thread=False, stream=True)
            async for reply in runner:
                async for _ in reply:
                    pass
        else:
            await client.beta.messages.tool_runner(**REQUEST, tools=[tool], thread=False).until_done()


class Way:
    """One of the four ways in which the SDK runs tools."""

    def __init__(self, name: str, llmock: LLMock) -> None:
        self.is_async, self.stream = name.startswith("async"), name.endswith("streaming")
        self.llmock = llmock

    def tool(self, memory: Engine, **options: Any) -> Any:
        """Our tool for it."""
        return (AsyncMemoryTool if self.is_async else MemoryTool)(memory, **options)

    def run(self, tool: Any, *inputs: dict[str, Any]) -> list[tuple[str, bool]]:
        """Have a model call the tool again and again; returns what it was answered, as it arrived at the server."""
        for input in inputs:
            self.llmock.call_tool("memory", input)
        if inputs:
            self.llmock.reply("Done.")
        if self.is_async:
            asyncio.run(_async(tool, stream=self.stream))
        else:
            _sync(tool, stream=self.stream)
        return self.results()

    def results(self) -> list[tuple[str, bool]]:
        """What the model has been answered by now."""
        blocks = [
            block
            for message in self.llmock.last_request.body["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
            if block["type"] == "tool_result"
        ]
        return [(block["content"], block.get("is_error", False)) for block in blocks]


@pytest.fixture(params=("sync", "sync streaming", "async", "async streaming"))
def way(request: pytest.FixtureRequest, llmock: LLMock) -> Way:
    """Each of the four in turn."""
    return Way(request.param, llmock)


def called(tool: Any, input: object, **options: Any) -> str:
    """Call a tool of either kind, by hand."""
    if isinstance(tool, AsyncMemoryTool):
        return asyncio.run(tool.call(input, **options))
    answer: str = tool.call(input, **options)
    return answer


@pytest.fixture(params=(MemoryTool, AsyncMemoryTool))
def make(request: pytest.FixtureRequest) -> Any:
    """Either class."""
    return request.param


def done(tool: Any, act: Callable[[Any], Any]) -> Any:
    """What comes of something that a tool of either kind does."""

    async def awaited() -> Any:
        return await act(tool)

    return asyncio.run(awaited()) if isinstance(tool, AsyncMemoryTool) else act(tool)


# What a tool is made with


@pytest.mark.parametrize("form", [str, Path, os.fsencode])
def test_a_path_is_opened_as_the_sdks_own_class_takes_one(
    make: Any, form: Callable[[Path], Any], tmp_path: Path
) -> None:
    if form is os.fsencode:
        with pytest.raises(TypeError, match="not a bytes"):
            make(form(tmp_path))
        return
    folder = tmp_path / "memories"
    with pytest.raises(memtui.MemtuiError, match="No folder at"):
        make(form(folder))
    assert not folder.exists()
    folder.mkdir()
    tool = make(form(folder))
    assert called(tool, CREATE) == "File created successfully at: /memories/n.md"
    del tool
    gc.collect()
    with memtui.open(folder) as memory:
        assert [event.command for event in memory.events()] == ["create"]


@pytest.mark.parametrize("given", [None, 7, {}, memtui.open, memtui.Agent("a")])
def test_anything_else_is_refused_where_the_tool_is_made(make: Any, given: object) -> None:
    with pytest.raises(TypeError, match="an open memory or the path of a folder"):
        make(given)


# Conversations


def test_a_conversation_writes_memory_step_by_step(way: Way, memory: Engine) -> None:
    tool = way.tool(memory, actor=Agent("Clerk", "a-model", "session-1"))
    found = way.run(
        tool,
        {"command": "view", "path": "/memories"},
        {"command": "create", "path": "/memories/people/ada.md", "file_text": "likes tea\nlives in Berlin\n"},
        {"command": "str_replace", "path": "/memories/people/ada.md", "old_str": "tea", "new_str": "coffee"},
        {"command": "insert", "path": "/memories/people/ada.md", "insert_line": 0, "insert_text": "# Ada"},
        {"command": "rename", "old_path": "/memories/people", "new_path": "/memories/friends"},
        {"command": "view", "path": "/memories/friends/ada.md"},
        {"command": "create", "path": "/memories/passing.md", "file_text": "x"},
        {"command": "delete", "path": "/memories/passing.md"},
    )
    assert found == [
        ("Here're the files and directories up to 2 levels deep in /memories, "
         "excluding hidden items and node_modules:\n0B\t/memories", False),
        ("File created successfully at: /memories/people/ada.md", False),
        ("The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
         "     1\tlikes coffee\n     2\tlives in Berlin\n     3\t", False),
        ("The file /memories/people/ada.md has been edited.", False),
        ("Successfully renamed /memories/people to /memories/friends", False),
        ("Here's the content of /memories/friends/ada.md with line numbers:\n"
         "     1\t# Ada\n     2\tlikes coffee\n     3\tlives in Berlin\n     4\t", False),
        ("File created successfully at: /memories/passing.md", False),
        ("Successfully deleted /memories/passing.md", False),
    ]  # fmt: skip
    assert memory.inspect_path("friends/ada.md").data == b"# Ada\nlikes coffee\nlives in Berlin\n"
    events = list(memory.events())
    assert [event.command for event in events] == [
        "view", "create", "str_replace", "insert", "rename", "view", "create", "delete"
    ]  # fmt: skip
    assert {event.actor for event in events} == {Agent("Clerk", "a-model", "session-1")}
    for record in way.llmock.requests:
        assert record.body["tools"] == [{"type": "memory_20250818", "name": "memory"}]
        assert "thread" not in record.body
        assert record.stream is way.stream


def test_a_refusal_is_an_error_in_exactly_our_words_and_the_conversation_goes_on(way: Way, memory: Engine) -> None:
    inputs: list[dict[str, Any]] = [
        {"command": "view", "path": "/memories/nope.md"},
        {"command": "create", "path": "/etc/passwd", "file_text": "x"},
        {"command": "create", "path": "/memories/../x", "file_text": "x"},
        {"command": "create", "path": "/memories/n.md"},
        {"command": "format", "path": "/memories"},
        {"path": "/memories/n.md"},
        {},
        {"command": "insert", "path": "/memories/n.md", "insert_line": "1", "insert_text": "x"},
        {"command": "create", "path": "/memories/n.md", "file_text": "n\n", "mode": "0777", "force": True},
    ]
    assert way.run(way.tool(memory), *inputs) == [
        ("The path /memories/nope.md does not exist. Please provide a valid path.", True),
        ("Error: Path must start with /memories, got: /etc/passwd", True),
        ("Error: Path /memories/../x would escape /memories directory", True),
        ("Error: `file_text` is required for create", True),
        ("Error: unknown command format", True),
        ("Error: the input must be an object with a `command`", True),
        ("Error: the input must be an object with a `command`", True),
        ("Error: `insert_line` must be an integer, got: 1", True),
        ("File created successfully at: /memories/n.md", False),
    ]


def test_input_that_is_cut_off_writes_nothing_and_is_answered(way: Way, memory: Engine) -> None:
    way.llmock.call_tool("memory", CREATE).break_tool_call("malformed_arguments").reply("Done.")
    [(text, is_error)] = way.run(way.tool(memory))
    assert is_error
    assert text in ("Error: `path` is required for create", "Error: the input must be an object with a `command`")
    assert memory.get_totals().files == 0
    assert [event.is_error for event in memory.events()] == [True]


def test_a_tool_that_the_model_invented_is_not_ours(way: Way, memory: Engine) -> None:
    way.llmock.call_tool("memory", CREATE).break_tool_call("unknown_tool").reply("Done.")
    with pytest.warns(UserWarning, match="not found in tool runner"):
        [(_, is_error)] = way.run(way.tool(memory))
    assert is_error
    assert list(memory.events()) == []


@pytest.mark.sweep(each="chunks")
@pytest.mark.parametrize("chunks", range(1, 7))
@pytest.mark.parametrize("fault", ["truncate", "corrupt", "disconnect"])
@pytest.mark.parametrize("name", ["sync streaming", "async streaming"])
def test_a_stream_that_breaks_writes_all_or_nothing_and_the_next_conversation_works(
    name: str, fault: str, chunks: int, llmock: LLMock, memory: Engine
) -> None:
    way = Way(name, llmock)
    tool = way.tool(memory)
    getattr(llmock, fault)(after_chunks=chunks)
    try:
        way.run(tool, CREATE)
    except (anthropic.APIError, json.JSONDecodeError, *_transport_errors()):
        pass  # how the SDK tells it is the SDK's affair
    data = memory.inspect_path("n.md").data
    assert data in (None, b"n\n")
    assert len(list(memory.events())) == (data is not None)
    llmock.reset()
    assert way.run(tool, VIEW)[-1][1] is (data is None)


def _transport_errors() -> tuple[type[Exception], ...]:
    """What the SDK lets through when a connection goes; it brings its own copy of httpx in some versions."""
    return tuple(sys.modules[name].HTTPError for name in ("httpx", "httpx2") if name in sys.modules)


def test_both_tools_work_on_one_memory_at_once(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    rounds = 15
    with memtui.open(tmp_path / "m", state=tmp_path / "s") as memory:
        memory.execute({**CREATE, "file_text": "first\n"}, actor=Agent("Setup"))
        one, other = MemoryTool(memory, actor=Agent("One")), AsyncMemoryTool(memory, actor=Agent("Other"))

        def insert(name: str, number: int) -> dict[str, Any]:
            return {"command": "insert", "path": "/memories/n.md", "insert_line": 0, "insert_text": f"{name}-{number}"}

        async def both() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(
                    asyncio.to_thread(lambda: [one.call(insert("one", number)) for number in range(rounds)])
                )
                for number in range(rounds):
                    group.create_task(other.call(insert("other", number)))

        asyncio.run(both())
        lines = (tmp_path / "m" / "n.md").read_text().split()
        assert sorted(lines) == sorted(["first", *(f"{who}-{n}" for who in ("one", "other") for n in range(rounds))])
        assert {event.actor.name for event in memory.events()} == {"Setup", "One", "Other"}


# What is sent


def test_the_definition_is_the_sdks_and_holds_where_to_cache(make: Any, memory: Engine) -> None:
    assert make(memory).to_dict() == {"type": "memory_20250818", "name": "memory"}
    tool = make(memory, cache_control={"type": "ephemeral"})
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory", "cache_control": {"type": "ephemeral"}}
    assert tool.name == "memory"


def test_who_acts_is_recorded_and_the_call_where_it_is_told(make: Any, memory: Engine) -> None:
    called(make(memory), CREATE)
    called(make(memory, actor=Agent("Clerk", "m", "s")), VIEW, call_id="toolu_1")
    first, second = memory.events()
    assert (first.actor, first.call_id) == (Agent("Claude"), None)
    assert (second.actor, second.call_id) == (Agent("Clerk", "m", "s"), "toolu_1")


# Approval


@pytest.mark.parametrize("verdict", [True, Allow()])
def test_a_change_that_is_approved_is_made(way: Way, memory: Engine, verdict: object) -> None:
    asked: list[Proposal] = []

    def approve(proposal: Proposal) -> Any:
        asked.append(proposal)
        return verdict

    tool = way.tool(memory, approve=approve)
    assert way.run(tool, CREATE, VIEW)[0] == ("File created successfully at: /memories/n.md", False)
    [proposal] = asked  # of views nobody is asked
    assert (proposal.command, proposal.path, proposal.raw) == ("create", "/memories/n.md", CREATE)


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (False, DECLINED),
        (Deny("Not now."), f"{DECLINED}. Their reason: Not now."),
        ("yes", ASKING_FAILED),
        (None, ASKING_FAILED),
        (1, ASKING_FAILED),
    ],
)  # fmt: skip
def test_a_change_that_is_not_approved_is_not_made(way: Way, memory: Engine, verdict: object, words: str) -> None:
    tool = way.tool(memory, approve=lambda _: verdict)
    assert way.run(tool, CREATE) == [(words, True)]
    assert memory.get_totals().files == 0


def test_a_change_that_is_edited_is_told_as_it_stands(way: Way, memory: Engine) -> None:
    tool = way.tool(memory, approve=lambda _: Edit("mine\n"))
    [(text, is_error)] = way.run(tool, CREATE)
    assert not is_error
    assert text.endswith("     1\tmine\n     2\t")
    assert memory.inspect_path("n.md").data == b"mine\n"


def test_always_is_not_asked_again(make: Any, memory: Engine) -> None:
    verdicts = [Allow("notes")]
    tool = make(memory, approve=lambda _: verdicts.pop())
    for name in ("a", "b"):
        called(tool, {"command": "create", "path": f"/memories/notes/{name}", "file_text": name})
    assert verdicts == []


def test_a_coroutine_function_may_approve(memory: Engine) -> None:
    async def approve(proposal: Proposal) -> bool:
        await asyncio.sleep(0)
        return proposal.path.endswith("n.md")

    class Person:
        async def __call__(self, proposal: Proposal) -> bool:
            return await approve(proposal)

    for person in (approve, Person(), partial(approve)):
        tool = AsyncMemoryTool(memory, approve=person)
        assert called(tool, {**CREATE, "file_text": repr(person)}).startswith("File created")
        with pytest.raises(ToolError, match="declined"):
            called(tool, {**CREATE, "path": "/memories/other"})


@pytest.mark.parametrize(
    "fault", [ValueError("at /host/path"), EOFError(), StopIteration(), ExceptionGroup("g", [OSError()])]
)
def test_a_fault_of_whoever_approves_is_told_to_its_owner_and_not_to_the_model(
    make: Any, memory: Engine, fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[object] = []
    monkeypatch.setattr(sys, "excepthook", lambda *seen: told.append(seen[1]))

    def approve(_: Proposal) -> bool:
        raise fault

    with pytest.raises(ToolError) as refused:
        called(make(memory, approve=approve), CREATE)
    assert str(refused.value) == ASKING_FAILED
    assert len(told) == 1
    assert memory.get_totals().files == 0


# Nothing else escapes

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
_FIELDS = (
    "path",
    "old_path",
    "new_path",
    "file_text",
    "old_str",
    "new_str",
    "insert_line",
    "insert_text",
    "view_range",
)
_PATHS = st.sampled_from(
    ["/memories", "/memories/f", "/memories/d/f", "/memories/..", "/etc/f", "", "/memories/\ud800"]
)
_COMMANDS = st.fixed_dictionaries(
    {"command": st.sampled_from(["view", "create", "str_replace", "insert", "delete", "rename"]) | _JSON},
    optional={field: (_PATHS if field.endswith("path") else st.text()) | _JSON for field in _FIELDS} | {"extra": _JSON},
)


@given(inputs=st.lists(_JSON | _COMMANDS, max_size=6))
def test_whatever_comes_in_a_text_or_a_refusal_goes_out(inputs: list[object]) -> None:
    with memtui.open_in_memory() as memory:
        tools = [MemoryTool(memory), MemoryTool(memory, approve=lambda _: True)]
        for input in inputs:
            for tool in tools:
                try:
                    said = tool.call(input)
                except ToolError as refused:
                    said = str(refused)
                assert isinstance(said, str)
                said.encode()


@given(inputs=st.lists(_JSON | _COMMANDS, min_size=1, max_size=4))
def test_whatever_comes_in_concurrently_a_text_or_a_refusal_goes_out(inputs: list[object]) -> None:
    async def all_at_once() -> list[object]:
        with memtui.open_in_memory() as memory:
            tool = AsyncMemoryTool(memory, approve=lambda _: True)
            return list(await asyncio.gather(*(tool.call(input) for input in inputs), return_exceptions=True))

    for said in asyncio.run(all_at_once()):
        assert isinstance(said, str | ToolError)
        str(said).encode()


def deep() -> object:
    nested: object = "x"
    for _ in range(100_000):
        nested = [nested]
    return nested


class Hostile(dict[str, object]):
    """A mapping that raises."""

    def get(self, *_: object) -> object:
        raise RuntimeError("at /host/path")


@pytest.mark.parametrize(
    "input",
    [
        None, 7, "view", b"view", [], [CREATE], object(), {"command": object()}, {"command": []},
        {"command": "view", "path": object()}, {1: 2}, {**CREATE, "file_text": "\ud800"}, {**VIEW, "path": "\0"},
        {**VIEW, "path": "/memories/" + "x" * 100_000}, {**VIEW, "view_range": float("nan")},
        {"command": "insert", "path": "/memories/n.md", "insert_line": 10**400, "insert_text": ""},
    ],
)  # fmt: skip
def test_hostile_input_is_refused(make: Any, memory: Engine, input: object) -> None:
    with pytest.raises(ToolError) as refused:
        called(make(memory), input)
    assert "Traceback" not in str(refused.value)
    assert "0x" not in str(refused.value) or "object at" in repr(input)


def test_input_without_a_bottom_is_refused(make: Any, memory: Engine) -> None:
    for input in (deep(), {"command": deep()}, {**VIEW, "path": deep()}, {**VIEW, "view_range": deep()}):
        with pytest.raises(ToolError):
            called(make(memory), input)


def test_a_fault_that_nobody_foresaw_is_a_sentence_for_the_model_and_told_to_the_owner(
    make: Any, memory: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[object] = []
    monkeypatch.setattr(sys, "excepthook", lambda *seen: told.append(seen[1]))
    with pytest.raises(ToolError) as refused:
        called(make(memory), Hostile(CREATE))
    assert str(refused.value) == (
        "Error: the memory failed unexpectedly, and it is not known whether anything was changed. "
        "View it before going on"
    )
    assert [str(fault) for fault in told] == ["at /host/path"]


def test_a_closed_memory_is_a_sentence(make: Any) -> None:
    memory = memtui.open_in_memory()
    tool = make(memory)
    memory.close()
    for act in (lambda tool: tool.call(CREATE), lambda tool: tool.clear_all_memory()):
        with pytest.raises(ToolError) as refused:
            done(tool, act)
        assert str(refused.value) == "Error: the memory is closed"


def test_a_folder_that_has_gone_is_a_sentence_without_its_place(make: Any, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    with memtui.open(folder, state=tmp_path / "s") as memory:
        folder.rmdir()
        with pytest.raises(ToolError) as refused:
            called(make(memory), CREATE)
    assert str(refused.value) == "Error: The memory folder is not there"


# Commands of the SDK's types


def test_commands_of_the_sdks_types_work_as_well(make: Any, memory: Engine) -> None:
    tool = make(memory)
    path = "/memories/n.md"
    create = BetaMemoryTool20250818CreateCommand(command="create", path=path, file_text="1\n")
    assert done(tool, lambda tool: tool.create(create)) == f"File created successfully at: {path}"
    insert = BetaMemoryTool20250818InsertCommand(command="insert", path=path, insert_line=1, insert_text="2")
    assert done(tool, lambda tool: tool.insert(insert)) == f"The file {path} has been edited."
    replace = BetaMemoryTool20250818StrReplaceCommand(command="str_replace", path=path, old_str="1", new_str="one")
    assert "     1\tone" in done(tool, lambda tool: tool.str_replace(replace))
    view = BetaMemoryTool20250818ViewCommand(command="view", path=path, view_range=[2, 2])
    assert done(tool, lambda tool: tool.view(view)).endswith(":\n     2\t2")
    rename = BetaMemoryTool20250818RenameCommand(command="rename", old_path=path, new_path="/memories/m.md")
    assert done(tool, lambda tool: tool.rename(rename)).endswith("to /memories/m.md")
    delete = BetaMemoryTool20250818DeleteCommand(command="delete", path="/memories/m.md")
    assert done(tool, lambda tool: tool.execute(delete)) == "Successfully deleted /memories/m.md"
    with pytest.raises(ToolError, match="does not exist"):
        done(tool, lambda tool: tool.delete(delete))


def test_a_typed_command_with_fields_missing_is_refused(make: Any, memory: Engine) -> None:
    half = BetaMemoryTool20250818CreateCommand.construct(path="/memories/n.md")
    for act in (lambda tool: tool.create(half), lambda tool: tool.view(None), lambda tool: tool.execute("view")):
        with pytest.raises(ToolError):
            done(make(memory), act)
    assert memory.get_totals().files == 0
    nameless = BetaMemoryTool20250818ViewCommand.construct(path="/memories")
    assert "0B\t/memories" in done(make(memory), lambda tool: tool.view(nameless))


def test_a_typed_command_is_asked_about_as_well(make: Any, memory: Engine) -> None:
    tool = make(memory, approve=lambda _: False)
    create = BetaMemoryTool20250818CreateCommand(command="create", path="/memories/n.md", file_text="1\n")
    for act in (lambda tool: tool.create(create), lambda tool: tool.execute(create)):
        with pytest.raises(ToolError, match="declined"):
            done(tool, act)


# Clearing


def test_all_memory_is_cleared_without_asking_and_can_be_had_again(make: Any, memory: Engine) -> None:
    tool = make(memory, actor=Agent("Clerk"), approve=lambda _: False)
    memory.execute(CREATE, actor=Agent("Setup"))
    assert done(tool, lambda tool: tool.clear_all_memory()) == "All memory cleared"
    assert memory.get_totals().files == 0
    event = list(memory.events())[-1]
    assert (event.command, event.actor) == ("clear", Agent("Clerk"))
    memory.undo([event.seq])
    assert memory.inspect_path("n.md").data == b"n\n"


def test_a_read_only_memory_is_not_cleared(make: Any, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "n.md").write_text("n\n")
    with memtui.open(folder, state=tmp_path / "s", read_only=True) as memory:
        with pytest.raises(ToolError) as refused:
            done(make(memory), lambda tool: tool.clear_all_memory())
        assert str(refused.value) == "Error: could not clear /memories: read-only"
    assert (folder / "n.md").exists()


# The event loop


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something, with the event loop free."""
    async with asyncio.timeout(LIMIT):
        while not condition():
            await asyncio.sleep(0.001)


async def turns() -> None:
    """Let the event loop go round more often than it takes for a cancelled task to end."""
    for _ in range(100):
        await asyncio.sleep(0)


def notice_calls(memory: Engine) -> list[object]:
    """Have a list grow with each command that the engine begins to execute."""
    begun: list[object] = []
    execute = memory.execute

    def noticed(*arguments: Any, **options: Any) -> Any:
        begun.append(arguments)
        return execute(*arguments, **options)

    memory.execute = noticed  # type: ignore[method-assign]
    return begun


def commands(memory: Engine) -> list[tuple[str, str]]:
    return [(event.command, event.note) for event in memory.events()]


async def test_the_loop_goes_on_while_a_person_thinks_and_while_somebody_holds_the_lock(memory: Engine) -> None:
    thinking, decided = threading.Event(), threading.Event()
    begun = notice_calls(memory)

    def approve(_: Proposal) -> bool:
        thinking.set()
        return decided.wait(LIMIT)

    call = asyncio.create_task(AsyncMemoryTool(memory, approve=approve).call(CREATE))
    await until(thinking.is_set)
    assert not call.done()
    with memory.store.begin_transaction(1):
        decided.set()
        other = asyncio.create_task(AsyncMemoryTool(memory).call({**CREATE, "path": "/memories/m.md"}))
        await until(lambda: len(begun) == 2)
        await turns()
        assert not call.done()
        assert not other.done()
        assert memory.get_totals().files == 0
    assert [await call, await other] == [f"File created successfully at: /memories/{name}.md" for name in "nm"]


@pytest.mark.parametrize("by", ["task", "scope"])
@pytest.mark.parametrize("is_coroutine", [True, False])
async def test_cancelled_while_a_person_thinks_nothing_is_changed_and_it_is_recorded(
    memory: Engine, is_coroutine: bool, by: str
) -> None:
    thinking, end, scope = threading.Event(), threading.Event(), anyio.CancelScope()

    def approve(_: Proposal) -> bool:
        thinking.set()
        return end.wait(LIMIT)

    async def approve_later(_: Proposal) -> bool:
        thinking.set()
        await asyncio.sleep(LIMIT)
        return True

    tool = AsyncMemoryTool(memory, approve=approve_later if is_coroutine else approve)

    async def work() -> None:
        with scope:
            await tool.call(CREATE)

    call = asyncio.create_task(work())
    await until(thinking.is_set)
    if by == "task":
        call.cancel()
    else:
        scope.cancel()
    await asyncio.wait([call], timeout=LIMIT / 3)
    assert call.done()
    assert call.cancelled() is (by == "task")
    assert scope.cancelled_caught is (by == "scope")
    assert commands(memory) == [("create", "stopped")]
    end.set()  # a "yes" that comes too late changes nothing
    assert await AsyncMemoryTool(memory).call({"command": "view", "path": "/memories"})
    assert memory.get_totals().files == 0


@pytest.mark.parametrize("by", ["task", "scope"])
async def test_cancelled_once_it_has_begun_a_command_is_completed_and_recorded(memory: Engine, by: str) -> None:
    tool = AsyncMemoryTool(memory)
    begun, scope = notice_calls(memory), anyio.CancelScope()

    async def work() -> None:
        with scope:
            await tool.call(CREATE)
            await anyio.lowlevel.checkpoint()

    with memory.store.begin_transaction(1):
        call = asyncio.create_task(work())
        await until(lambda: bool(begun))
        if by == "task":
            call.cancel()
        else:
            scope.cancel()
        await turns()
        assert not call.done()
    await asyncio.wait([call], timeout=LIMIT)
    assert call.cancelled() is (by == "task")
    assert scope.cancelled_caught is (by == "scope")
    assert commands(memory) == [("create", "")]
    assert memory.inspect_path("n.md").data == b"n\n"


async def test_cancelled_while_another_question_is_open_it_does_not_wait_for_it(memory: Engine) -> None:
    answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    asked: list[str] = []

    async def approve(proposal: Proposal) -> bool:
        asked.append(proposal.path)
        return await answer

    tool = AsyncMemoryTool(memory, approve=approve)
    first = asyncio.create_task(tool.call(CREATE))
    await until(lambda: bool(asked))
    second = asyncio.create_task(tool.call({**CREATE, "path": "/memories/m.md"}))
    await until(lambda: tool._asking.statistics().tasks_waiting == 1)
    second.cancel()
    await asyncio.wait([second], timeout=LIMIT)
    assert second.cancelled()
    assert asked == ["/memories/n.md"]
    answer.set_result(True)
    assert await first
    assert memory.get_totals().files == 1


async def test_what_the_person_was_asked_with_may_be_cancelled_without_ending_the_conversation(memory: Engine) -> None:
    answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    asked = asyncio.Event()

    async def approve(_: Proposal) -> bool:
        asked.set()
        return await answer

    call = asyncio.create_task(AsyncMemoryTool(memory, approve=approve).call(CREATE))
    await asked.wait()
    answer.cancel()
    with pytest.raises(ToolError, match="the user stopped before it was done"):
        await call
    assert memory.get_totals().files == 0


async def test_more_people_may_think_at_once_than_the_pool_of_threads_has_threads(memory: Engine) -> None:
    """The pool that a whole program shares has forty."""
    count = 45
    all_asked = threading.Barrier(count)

    def approve(_: Proposal) -> bool:
        return all_asked.wait(LIMIT) >= 0

    tools = [AsyncMemoryTool(memory, approve=approve) for _ in range(count)]
    calls = (tool.call({**CREATE, "path": f"/memories/{number}"}) for number, tool in enumerate(tools))
    said = await asyncio.gather(*calls)
    assert len(said) == memory.get_totals().files == count


# Against the SDK's own class

SAME: list[dict[str, Any]] = [
    {"command": "create", "path": "/memories/a.md", "file_text": "one\ntwo\nthree\n"},
    {"command": "view", "path": "/memories/a.md"},
    {"command": "view", "path": "/memories/a.md", "view_range": [2, 3]},
    {"command": "view", "path": "/memories/a.md", "view_range": [2, -1]},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "two", "new_str": "zwei"},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "nope", "new_str": "x"},
    {"command": "str_replace", "path": "/memories/nope.md", "old_str": "a", "new_str": "b"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": "one and a half"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 99, "insert_text": "far"},
    {"command": "insert", "path": "/memories/nope.md", "insert_line": 0, "insert_text": "far"},
    {"command": "create", "path": "/memories/d/b.md", "file_text": "a\na\n"},
    {"command": "str_replace", "path": "/memories/d/b.md", "old_str": "a", "new_str": "b"},
    {"command": "rename", "old_path": "/memories/d/b.md", "new_path": "/memories/e/c.md"},
    {"command": "rename", "old_path": "/memories/nope.md", "new_path": "/memories/x.md"},
    {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/e/c.md"},
    {"command": "view", "path": "/memories/nope.md"},
    {"command": "delete", "path": "/memories/e"},
    {"command": "delete", "path": "/memories/e"},
    {"command": "delete", "path": "/memories"},
    {"command": "create", "path": "/memories/é ñ.md", "file_text": "Füße 👣\r\nx\u2028y"},
    {"command": "view", "path": "/memories/é ñ.md"},
]


@pytest.mark.parametrize("name", ["sync", "sync streaming"])
def test_a_conversation_goes_as_with_the_sdks_own_class(name: str, llmock: LLMock, tmp_path: Path) -> None:
    """Through the SDK's loop both say the same where the contract says so: also whether it was an error."""
    theirs = Way(name, llmock).run(BetaLocalFilesystemMemoryTool(str(tmp_path / "theirs")), *SAME)
    llmock.reset()
    (tmp_path / "ours").mkdir()
    settings = memtui.Settings(messages="sdk")
    with memtui.open(tmp_path / "ours", state=tmp_path / "s", settings=settings) as memory:
        ours = Way(name, llmock).run(MemoryTool(memory), *SAME)
    assert len(ours) == len(theirs) == len(SAME)
    for command, mine, other in zip(SAME, ours, theirs, strict=True):
        assert (mine[0].removeprefix("Error: "), mine[1]) == (other[0].removeprefix("Error: "), other[1]), command
    assert _files(tmp_path / "ours") == _files(tmp_path / "theirs" / "memories")


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
