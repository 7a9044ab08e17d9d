"""A conversation with the example agent of the Agent Client Protocol, which shares no code with memtui."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memtui.agents.chat import events
from memtui.agents.chat.events import TurnOutcome
from memtui.agents.chat.sessions.store import ChatSession
from memtui.core.approvals import Allow, ApprovalPolicy, Deny
from tests.agents.acp.conftest import Talk, talking
from tests.agents.chat import listener
from tests.node.programs import LIMIT, package

Begin = Callable[..., Any]


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Begin:
    """Starts a conversation with an agent's program, which may be slow."""
    monkeypatch.setattr(listener, "SECONDS", LIMIT)
    (tmp_path / "log").touch()
    (tmp_path / "memories").mkdir()

    @contextmanager
    def begin(
        *command: str, policy: ApprovalPolicy = ApprovalPolicy.ASK, session: ChatSession | None = None
    ) -> Iterator[Talk]:
        can_ask = policy is ApprovalPolicy.ASK
        folder, state, log = tmp_path / "memories", tmp_path / "state", tmp_path / "log"
        with talking(folder, state, command, log, policy, can_ask, session, {"connect_seconds": LIMIT}, None) as talk:
            yield talk

    return begin


@pytest.mark.parametrize(("verdict", "words"), [(Allow(), "successfully updated"), (Deny(), "skip the configuration")])
def test_the_protocols_example_agent_asks_and_takes_the_answer(begin: Begin, verdict: Any, words: str) -> None:
    program = package("@agentclientprotocol/sdk") / "dist" / "examples" / "agent.js"
    with begin("node", str(program)) as talk:
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
