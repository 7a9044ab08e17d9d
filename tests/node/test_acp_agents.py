"""Conversations with agents of somebody else's over the Agent Client Protocol: its own example, opencode, Gemini CLI,
Claude Code and Codex.

The programs talk to a scripted model on this machine: no key, no network.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memtui.agents.acp.catalog import list_known_agents
from memtui.agents.chat import events
from memtui.agents.chat.events import TurnOutcome
from memtui.agents.chat.sessions.store import ChatSession
from memtui.core.approvals import Allow, ApprovalPolicy, Deny, Edit
from tests.agents.acp.conftest import Talk, talking
from tests.agents.approver import open_approver
from tests.agents.chat import listener
from tests.node.programs import LIMIT, native_programs, package, run
from tests.node.responses_server import serve_responses

Begin = Callable[..., Any]


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Begin:
    """Starts a conversation with an agent's program, which may be slow."""
    monkeypatch.setattr(listener, "SECONDS", LIMIT)
    (tmp_path / "log").touch()
    (tmp_path / "memories").mkdir()

    @contextmanager
    def begin(
        name: str, *command: str, policy: ApprovalPolicy = ApprovalPolicy.ASK, session: ChatSession | None = None
    ) -> Iterator[Talk]:
        known = next((each for each in list_known_agents() if each.name == name), None)
        can_ask = policy is ApprovalPolicy.ASK
        folder, state, log = tmp_path / "memories", tmp_path / "state", tmp_path / "log"
        limits = {"connect_seconds": LIMIT}
        with (
            talking(folder, state, command, log, policy, can_ask, session, limits, None, known) as talk,
            open_approver(state, lambda asked: talk.chat.decide(asked.proposal, asked.answer)),
        ):
            yield talk

    return begin


@pytest.mark.parametrize(("verdict", "words"), [(Allow(), "successfully updated"), (Deny(), "skip the configuration")])
def test_the_protocols_example_agent_asks_and_takes_the_answer(begin: Begin, verdict: Any, words: str) -> None:
    program = package("@agentclientprotocol/sdk") / "dist" / "examples" / "agent.js"
    with begin("example", "node", str(program)) as talk:
        talk.chat.send(events.Prompt("Improve it"))
        asked = talk.heard.next(events.ApprovalNeeded)
        assert asked.proposal.permission.title == "edit Modifying critical configuration file"
        talk.chat.answer(asked.number, verdict)
        assert talk.heard.next(events.TurnEnded).end is TurnOutcome.DONE
        assert words in talk.heard.text
        talk.chat.send(events.Prompt("Once more"))
        talk.heard.next(events.TextDelta)
        talk.chat.stop()
        assert talk.heard.next(events.TurnEnded).end is TurnOutcome.STOPPED


def _call(asked: str, tool: str, **arguments: str) -> list[dict[str, Any]]:
    calls = [{"name": tool, "arguments": arguments}]
    return [
        {"match": {"userMessage": asked, "hasToolResult": False}, "response": {"content": "So.", "toolCalls": calls}},
        {"match": {"userMessage": asked, "hasToolResult": True}, "response": {"content": "Done."}},
    ]


@pytest.fixture
def opencode(tmp_path: Path, model: Callable[[list[dict[str, Any]]], str], monkeypatch: pytest.MonkeyPatch) -> str:
    """The program of opencode, with a home of its own and a model that follows a script."""
    programs = [path / "bin" / "opencode" for path in native_programs("opencode-ai")]
    program = next((path for path in programs if run(path, "--version").returncode == 0), None)
    assert program is not None, "one of them is for this processor"
    own = tmp_path / "memories" / "own.md"
    url = model(
        [
            *_call("Note tea", "memtui_memory", command="create", path="/memories/tea.md", file_text="Green.\n"),
            *_call("Write it", "write", filePath=str(own), content="one\n"),
            {"match": {}, "response": {"content": "Hello."}},
        ]
    )
    local = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Local",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"one": {"name": "One"}, "two": {"name": "Two"}},
    }
    settings = {"model": "local/one", "small_model": "local/one", "autoupdate": False, "share": "disabled"}
    config = tmp_path / "opencode.json"
    config.write_text(json.dumps({**settings, "permission": {"edit": "ask"}, "provider": {"local": local}}))
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("OPENCODE_CONFIG", str(config))
    monkeypatch.setenv("OPENCODE_DISABLE_MODELS_FETCH", "1")
    return str(program)


def test_opencode_writes_through_the_memory_and_its_session_is_resumed_and_copied(
    begin: Begin, opencode: str, tmp_path: Path
) -> None:
    chats = tmp_path / "chats"
    session = ChatSession.create(chats, folder="", kept=True)
    with begin("opencode", opencode, "acp", session=session) as talk:
        talk.chat.send(events.Prompt("Note tea"))
        asked = talk.heard.next(events.ApprovalNeeded)
        assert asked.proposal.permission is None, "the memory asks, and not the agent"
        talk.chat.answer(asked.number, Allow())
        ended = talk.heard.next(events.TurnEnded)
        assert [each.path for each in ended.memory_changes] == ["tea.md"], (
            talk.heard.text,
            talk.heard.of(events.CallEnded),
        )
        assert (talk.folder / "tea.md").read_text() == "Green.\n"
        assert [each.name for each in talk.heard.of(events.CallEnded)] == ["memory"]
        assert talk.chat.model == events.Model("local/one", "Local/One")
        talk.chat.set_model("local/two")
        talk.heard.next(events.ModelChanged)
        talk.chat.set_mode("plan")
        assert talk.heard.next(events.OffersChanged, lambda each: each.mode == "plan").modes
        talk.chat.undo_turn()
        talk.heard.next(events.TurnUndone)
        assert not (talk.folder / "tea.md").exists()
    for again in (ChatSession.resume, ChatSession.fork):
        with begin("opencode", opencode, "acp", policy=ApprovalPolicy.ALLOW, session=again(chats, session.id)) as talk:
            assert talk.say("And now?").end is TurnOutcome.DONE
            assert not [each for each in talk.heard.sentences if "began a new one" in each]
    assert len(list(chats.iterdir())) == 2


def test_what_opencode_wants_to_write_by_itself_is_allowed_or_edited_first(begin: Begin, opencode: str) -> None:
    with begin("opencode", opencode, "acp") as talk:
        for verdict, text, edited in ((Edit("mine\n"), "mine\n", True), (Allow(), "one\n", False)):
            talk.chat.send(events.Prompt("Write it"))
            asked = talk.heard.next(events.ApprovalNeeded)
            assert asked.proposal.permission is not None
            talk.chat.answer(asked.number, verdict)
            ended = talk.heard.next(events.TurnEnded)
            assert (talk.folder / "own.md").read_text() == text
            assert [(each.path, each.edited) for each in ended.memory_changes] == [("own.md", edited)]
            talk.chat.undo_turn()
            talk.heard.next(events.TurnUndone)
            assert not (talk.folder / "own.md").exists()


@pytest.fixture
def gemini(
    tmp_path: Path, model: Callable[[list[dict[str, Any]]], str], monkeypatch: pytest.MonkeyPatch
) -> tuple[str, ...]:
    """The command of Gemini CLI, with a home of its own, in which folders are trusted, and a scripted model."""
    program = package("@google/gemini-cli") / "bundle" / "gemini.js"
    url = model(
        [
            *_call("Note tea", "mcp_memtui_memory", command="create", path="/memories/tea.md", file_text="Green.\n"),
            *_call("Write it", "write_file", file_path=str(tmp_path / "memories" / "own.md"), content="one\n"),
            {"match": {}, "response": {"content": "Hello."}},
        ]
    )
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "model": {"name": "gemini-2.5-flash"},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    kept = tmp_path / "home" / ".gemini" / "settings.json"
    kept.parent.mkdir(parents=True)
    kept.write_text(json.dumps(settings))
    for name, value in (
        ("HOME", tmp_path / "home"), ("GEMINI_CLI_HOME", tmp_path / "home"), ("GEMINI_API_KEY", "none"),
        ("GOOGLE_GEMINI_BASE_URL", url),
    ):  # fmt: skip
        monkeypatch.setenv(name, str(value))
    return ("node", str(program), "--experimental-acp")


def _make_sessions_older(home: Path) -> None:
    """Gemini CLI 0.61 finds no session that was begun in the same minute: it begins its file anew before it looks."""
    for path in home.glob(".gemini/tmp/*/chats/session-2*.jsonl"):
        path.rename(path.with_name(path.name.replace("session-2", "session-1", 1)))


def test_gemini_cli_writes_through_the_memory_and_its_session_is_resumed(
    begin: Begin, gemini: tuple[str, ...], tmp_path: Path
) -> None:
    chats = tmp_path / "chats"
    session = ChatSession.create(chats, folder="", kept=True)
    with begin("gemini", *gemini, session=session) as talk:
        talk.chat.send(events.Prompt("Note tea"))
        asked = talk.heard.next(events.ApprovalNeeded)
        assert asked.proposal.permission is None, "the memory asks, and not the agent"
        talk.chat.answer(asked.number, Allow())
        ended = talk.heard.next(events.TurnEnded)
        assert [each.path for each in ended.memory_changes] == ["tea.md"]
        assert (talk.folder / "tea.md").read_text() == "Green.\n"
        talk.chat.set_model("gemini-2.5-pro")
        talk.heard.next(events.ModelChanged, lambda each: each.model.id == "gemini-2.5-pro")
        talk.chat.set_mode("plan")
        assert talk.heard.next(events.OffersChanged, lambda each: each.mode == "plan").modes
        talk.chat.undo_turn()
        talk.heard.next(events.TurnUndone)
        assert not (talk.folder / "tea.md").exists()
    _make_sessions_older(tmp_path / "home")
    with begin("gemini", *gemini, session=ChatSession.resume(chats, session.id)) as talk:
        assert talk.say("And now?").end is TurnOutcome.DONE
        assert not [each for each in talk.heard.sentences if "began a new one" in each]
    with begin("gemini", *gemini, session=ChatSession.fork(chats, session.id)) as talk:
        assert talk.say("And now?").end is TurnOutcome.DONE
        assert [each for each in talk.heard.sentences if "cannot copy its earlier session" in each]


def test_what_gemini_cli_wants_to_write_by_itself_is_allowed_first(begin: Begin, gemini: tuple[str, ...]) -> None:
    with begin("gemini", *gemini) as talk:
        talk.chat.send(events.Prompt("Write it"))
        asked = talk.heard.next(events.ApprovalNeeded)
        assert asked.proposal.permission is not None
        talk.chat.answer(asked.number, Allow())
        ended = talk.heard.next(events.TurnEnded)
        assert (talk.folder / "own.md").read_text() == "one\n"
        assert [each.path for each in ended.memory_changes] == ["own.md"]
        talk.chat.undo_turn()
        talk.heard.next(events.TurnUndone)
        assert not (talk.folder / "own.md").exists()


def _note_tea(begin: Begin, *command: str) -> None:
    """The first turn writes through the memory, which asks, and is undone."""
    with begin(*command) as talk:
        talk.chat.send(events.Prompt("Note tea"))
        asked = talk.heard.next(events.ApprovalNeeded)
        if asked.proposal.permission is not None:
            talk.chat.answer(asked.number, Allow())
            asked = talk.heard.next(events.ApprovalNeeded)
        assert asked.proposal.permission is None, "the memory asks, and not the agent"
        talk.chat.answer(asked.number, Allow())
        ended = talk.heard.next(events.TurnEnded)
        assert [each.path for each in ended.memory_changes] == ["tea.md"]
        assert (talk.folder / "tea.md").read_text() == "Green.\n"
        talk.chat.undo_turn()
        talk.heard.next(events.TurnUndone)
        assert not (talk.folder / "tea.md").exists()


def test_claude_code_has_the_memory_in_its_first_turn(
    begin: Begin, model: Callable[[list[dict[str, Any]]], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = package("@agentclientprotocol/claude-agent-acp") / "dist" / "index.js"
    assert native_programs("@anthropic-ai/claude-agent-sdk")
    write = {"command": "create", "path": "/memories/tea.md", "file_text": "Green.\n"}
    url = model([*_call("Note tea", "mcp__memtui__memory", **write), {"match": {}, "response": {"content": "Hello."}}])
    settings = tmp_path / "home" / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"permissions": {"defaultMode": "default"}}')  # it asks the person, and not another model
    for name, value in (
        ("HOME", tmp_path / "home"), ("ANTHROPIC_BASE_URL", url), ("ANTHROPIC_API_KEY", "none"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("IS_SANDBOX", "1"),  # or it does not start for root
    ):  # fmt: skip
        monkeypatch.setenv(name, str(value))
    _note_tea(begin, "claude-code", "node", str(program))


def test_codex_has_the_memory_in_its_first_turn(begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = package("@agentclientprotocol/codex-acp") / "dist" / "index.js"
    assert native_programs("@openai/codex")
    write = {"command": "create", "path": "/memories/tea.md", "file_text": "Green.\n"}
    with serve_responses("Note tea", "mcp__memtui", "memory", write) as url:
        home = tmp_path / "home" / ".codex"
        home.mkdir(parents=True)
        (home / "config.toml").write_text(
            'model = "gpt-5"\nmodel_provider = "local"\n'
            f'[model_providers.local]\nname = "local"\nbase_url = "{url}"\nwire_api = "responses"\n'
        )
        monkeypatch.setenv("HOME", str(home.parent))
        monkeypatch.delenv("CODEX_HOME", raising=False)
        monkeypatch.setenv("INITIAL_AGENT_MODE", "workspace-write")  # it asks the person, and not another model
        _note_tea(begin, "codex", "node", str(program))
