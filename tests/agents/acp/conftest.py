"""A conversation with a scripted agent, whose events are collected and can be waited for."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.acp.catalog import KnownAgent, build_server_command
from memtui.agents.acp.responder import AcpOptions, AcpResponder
from memtui.agents.chat.conversation import ChatController
from memtui.agents.chat.events import ChatOptions, Prompt, TurnEnded
from memtui.agents.chat.sessions.store import ChatSession
from memtui.core.approvals import ApprovalPolicy
from tests.agents.chat.listener import Listener

PROGRAM = Path(__file__).with_name("scripted_agent.py")


@dataclass
class Talk:
    """A conversation, who listens to it, its folder, and what the agent was sent."""

    chat: ChatController
    memory: memtui.Engine
    folder: Path
    log: Path
    heard: Listener = field(default_factory=Listener)

    def say(self, text: str) -> TurnEnded:
        self.chat.send(Prompt(text))
        return self.heard.next(TurnEnded)

    @property
    def sent(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    @property
    def answers(self) -> list[Any]:
        return [each["answer"] for each in self.sent if "answer" in each]


Start = Callable[..., Talk]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a conversation with an agent that follows a script."""
    count = 0
    with ExitStack() as stack:

        def begin(
            *turns: list[list[Any]],
            policy: ApprovalPolicy = ApprovalPolicy.ALLOW,
            can_ask: bool = True,
            session: ChatSession | None = None,
            command: tuple[str, ...] | None = None,
            limits: dict[str, float] | None = None,
            model: str | None = None,
            **script: Any,
        ) -> Talk:
            nonlocal count
            count += 1
            path, log = tmp_path / f"script-{count}.json", tmp_path / f"log-{count}.jsonl"
            path.write_text(json.dumps({"turns": turns, **script}), encoding="utf-8")
            log.touch()
            folder = tmp_path / "memories"
            folder.mkdir(exist_ok=True)
            return stack.enter_context(
                talking(
                    folder,
                    tmp_path / "state",
                    command or (sys.executable, str(PROGRAM), str(path), str(log)),
                    log,
                    policy,
                    can_ask,
                    session,
                    limits or {},
                    model,
                )
            )

        yield begin


@contextmanager
def talking(
    folder: Path,
    state: Path,
    command: tuple[str, ...],
    log: Path,
    policy: ApprovalPolicy,
    can_ask: bool,
    session: ChatSession | None,
    limits: dict[str, float],
    model: str | None,
    known: KnownAgent | None = None,
) -> Iterator[Talk]:
    agent = KnownAgent("scripted", "Scripted", (command,), login="scripted login")
    agent = replace(known, title="Scripted", commands=(command,)) if known else agent
    server = build_server_command(str(folder), str(state), None)
    options = AcpOptions(agent, str(folder.resolve()), server, can_ask=can_ask, **limits)  # type: ignore[arg-type]
    heard = Listener()
    with memtui.open(folder, state=state) as memory:
        chat = ChatController(
            memory,
            ChatOptions(policy=policy, agent="Scripted", model=model),
            heard,
            session=session or ChatSession.create(Path("unused"), folder="", kept=False),
            responder=lambda held: AcpResponder(held, options),
        )
        chat.start()
        try:
            yield Talk(chat, memory, folder, log, heard)
        finally:
            chat.close()
            thread = chat._thread
            assert thread is None or not thread.is_alive(), "the conversation's thread did not end"
