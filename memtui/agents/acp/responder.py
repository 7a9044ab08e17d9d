"""An agent's program as the responder of a conversation: started, connected, and its turns taken.

The protocol's package is loaded here, which takes about a second, in the conversation's thread.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any

from acp import schema
from acp.connection import Connection
from acp.exceptions import RequestError
from acp.meta import AGENT_METHODS, CLIENT_METHODS, PROTOCOL_VERSION
from pydantic import BaseModel, ValidationError

import memtui
from memtui.agents.acp.catalog import KnownAgent
from memtui.agents.acp.offers import LONGEST_NAME, AgentOffers, describe_error
from memtui.agents.acp.permissions import (
    SERVER_NAME,
    QuestionLine,
    build_proposal,
    choose_option,
    decide_by_policy,
    is_below,
    make_editable,
)
from memtui.agents.acp.process import AgentProcess
from memtui.agents.acp.sessions import SessionPlace, find_earlier_session, open_session
from memtui.agents.acp.updates import EDIT, RecordedCall, UpdateReader, read_calls
from memtui.agents.chat import events, history
from memtui.agents.chat.events import FaultKind, TurnOutcome
from memtui.agents.chat.faults import ClassifiedFault
from memtui.agents.chat.request import StoppedByPerson, wait_unless_stopped
from memtui.agents.chat.state import ChatState
from memtui.agents.chat.stream import ToolCall
from memtui.agents.chat.tool_calls import TOOL, ToolExecutor, ToolResult
from memtui.agents.chat.turn_record import TurnRecord
from memtui.core.approvals import Allow, ApprovalPolicy, Deny, Edit, Proposal, Unanswered, Verdict
from memtui.core.errors import MemtuiError
from memtui.core.events import Agent
from memtui.core.lazy_dataclass import dataclass
from memtui.core.messages import MessageKey
from memtui.core.paths import ROOT_NAME
from memtui.core.unicode import to_one_line
from memtui.core.wording import to_relative_path

_CONNECT_SECONDS = 60.0
"""For a program to start and to open a session."""
_SLOW_SECONDS = 2.0
"""After which the person is told that the program is starting."""
_SILENCE_SECONDS = 60.0
"""After which the person is told that nothing comes."""
_CANCEL_SECONDS = 5.0
"""For a turn to end once it is cancelled; then the program is ended."""
_CALL_SECONDS = 0.5
"""For the agent to tell of a call whose question has come already."""
_WRITE_SECONDS = 600
"""For how long a text that the agent may write by itself is expected."""
_AUTH_REQUIRED = -32000
_REFUSED = -32602
_OUTCOMES = {
    "end_turn": TurnOutcome.DONE,
    "max_tokens": TurnOutcome.CUT,
    "max_turn_requests": TurnOutcome.TOO_MANY_CALLS,
    "refusal": TurnOutcome.REFUSED,
    "cancelled": TurnOutcome.STOPPED,
}
_LEFT_OPEN = "The agent ended its turn without an answer to this call"


@dataclass(frozen=True, slots=True)
class AcpOptions:
    """How an agent is run.

    Attributes:
        agent: Which, with the one command that starts it.
        folder: The memory folder, with links resolved.
        server: The command of the MCP server over it, without its options for a conversation.
        can_ask: Whether a person sees the conversation's questions.
        connect_seconds: How long the program may take to start and to open a session.
        silence_seconds: After how long the person is told that nothing comes.
        cancel_seconds: How long a turn may take to end once it is stopped.
    """

    agent: KnownAgent
    folder: str
    server: tuple[str, ...]
    can_ask: bool = True
    connect_seconds: float = _CONNECT_SECONDS
    silence_seconds: float = _SILENCE_SECONDS
    cancel_seconds: float = _CANCEL_SECONDS


class AcpResponder:
    """Takes the turns of a conversation with an agent's program. Used in its thread, where a loop runs."""

    def __init__(self, state: ChatState, options: AcpOptions) -> None:
        self._state = state
        self._options = options
        self._title = options.agent.title
        self._process: AgentProcess | None = None
        self._connection: Connection | None = None
        self._session_id: str | None = None
        self._capabilities = schema.AgentCapabilities()
        self._questions = QuestionLine(state.questions)
        self._executor = ToolExecutor(state.gate, state.worker, self._questions, state.record_policy_change)  # type: ignore[arg-type]
        self._tasks: set[asyncio.Task[None]] = set()
        self._recording = asyncio.Lock()
        self._reader: UpdateReader | None = None
        self._record: TurnRecord | None = None
        self._head = 0
        """The last event of the journal that is in the record of the turn, or was there before it."""
        self._recorded: set[int] = set()
        self._expected: set[str] = set()
        """Paths of the files that the agent was allowed to write by itself in this turn."""
        self._heard_at = 0.0
        self._writes = 0
        self._offers = AgentOffers(state, self._title, self._request_briefly)

    @property
    def _actor(self) -> Agent:
        return Agent(self._title, session=self._state.session.id)

    # Connecting

    async def connect(self) -> ClassifiedFault | None:
        """Start the program and open a session in it, unless both are there; the fault, if that is not possible."""
        process = self._process
        if process is not None and process.ended.is_set():
            await self._disconnect()
        if self._session_id is not None and (len(self._state.history) or not self._state.turn):
            return None
        loop = asyncio.get_running_loop()
        slow = loop.call_later(_SLOW_SECONDS, self._state.emit, events.Notice(f"{self._title} is starting."))
        try:
            if self._connection is None:
                await self._start()
            await self._open_session()
        except TimeoutError:
            fault = f"{self._title} did not answer within {self._options.connect_seconds:g} seconds of its start."
        except ConnectionError:
            fault = f"{self._title} {await self._describe_end()}."
        except OSError as error:  # of which the two above are kinds
            fault = f"{self._title} cannot be started: {os.strerror(error.errno or 0).lower()}."
        except RequestError as error:
            if error.code == _AUTH_REQUIRED:
                await self._disconnect()
                return ClassifiedFault(FaultKind.NO_KEY, f"{self._title} wants you to log in.", self._advise_login())
            fault = f"{self._title} opened no session: {describe_error(error)}."
        except ValidationError:
            fault = f"{self._title} answered in a way that is not the Agent Client Protocol."
        except BaseException:
            await self._disconnect()
            raise
        else:
            return None
        finally:
            slow.cancel()
        await self._disconnect()
        return ClassifiedFault(FaultKind.SERVER, fault)

    def _advise_login(self) -> str:
        login = self._options.agent.login
        where = f"Log in with its own program ({login})" if login else "Log in with its own program"
        return f"{where} and try again: memtui takes no login of it."

    async def _start(self) -> None:
        options = self._options
        environment = {**options.agent.environment, **os.environ}
        process = await AgentProcess.start(options.agent.commands[0], options.folder, environment)
        self._process = process
        self._connection = Connection(self._handle, process)
        files = schema.FileSystemCapabilities(
            read_text_file=not options.agent.reads_files, write_text_file=not self._state.memory.read_only
        )
        request = schema.InitializeRequest(
            protocol_version=PROTOCOL_VERSION,
            client_capabilities=schema.ClientCapabilities(fs=files, terminal=False),
            client_info=schema.Implementation(name="memtui", title="memtui", version=memtui.__version__),
        )
        answer = schema.InitializeResponse.model_validate(
            await self._request("initialize", request, options.connect_seconds)
        )
        if answer.protocol_version != PROTOCOL_VERSION:
            raise RequestError(_REFUSED, f"it speaks version {answer.protocol_version} of the protocol, not 1")
        self._capabilities = answer.agent_capabilities or schema.AgentCapabilities()
        info = answer.agent_info
        told = (info.title or info.name, info.version) if info else ()
        words = [to_one_line(each)[:LONGEST_NAME] for each in told]
        self._state.model = events.Model(" ".join(word for word in words if word) or self._title)

    async def _open_session(self) -> None:
        state, options, agent = self._state, self._options, self._options.agent
        earlier = find_earlier_session(state.session, agent.name) if self._session_id is None else None
        self._session_id = None

        async def request(method: str, asked: BaseModel) -> Any:
            return await self._request(method, asked, options.connect_seconds)

        place = SessionPlace(options.folder, [self._describe_server()], agent.session_meta)
        session = await open_session(request, self._capabilities, place, earlier)
        self._session_id = session.id
        if earlier is None or earlier.id != session.id:
            state.session.write("agent", agent=agent.name, session=session.id, of=state.session.id)
        if earlier is not None and session.is_new:
            can = "copy" if earlier.is_copied else "resume"
            state.emit(
                events.Notice(
                    f"{self._title} cannot {can} its earlier session. It began a new one, and does not know what was "
                    "said before."
                )
            )
        assert state.model is not None
        state.emit(events.Ready(state.model, "its own program", "acp"))
        self._offers.open(session)
        if state.options.model is not None:
            await self._offers.set_model(state.options.model)

    async def _request_briefly(self, method: str, request: BaseModel) -> Any:
        return await self._request(method, request, self._options.cancel_seconds)

    def _describe_server(self) -> schema.McpServerStdio:
        state = self._state
        policy = state.gate.policy
        if self._options.can_ask and not state.memory.read_only:
            policy = ApprovalPolicy.ASK  # it may change: each question is decided by the one of then
        more = {ApprovalPolicy.ASK: ["--ask", "--ask-seconds", "3600"], ApprovalPolicy.READ_ONLY: ["--look-only"]}
        program, *arguments = self._options.server
        names = ["--name", self._title[:LONGEST_NAME], "--session", state.session.id]
        return schema.McpServerStdio(
            name=SERVER_NAME, command=program, args=[*arguments, *more.get(policy, []), *names], env=[]
        )

    async def _request(self, method: str, request: Any, seconds: float | None = None) -> Any:
        assert self._connection is not None
        content = request.model_dump(mode="json", by_alias=True, exclude_none=True)
        return await asyncio.wait_for(
            self._connection.send_request(AGENT_METHODS.get(method, method), content), seconds
        )

    async def _describe_end(self) -> str:
        return await self._process.describe_end() if self._process is not None else "ended"

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        process, self._process, self._session_id = self._process, None, None
        if connection is not None:
            await connection.close()
        elif process is not None:
            await process.close()

    async def close(self) -> None:
        """End the program, and close the conversation's own part."""
        for task in self._tasks:
            task.cancel()
        try:
            await self._disconnect()
        finally:
            await self._state.close()

    # A turn

    def validate_attachment(self, attachment: events.Attachment) -> str | None:
        """Why a file cannot go to the agent."""
        able = self._capabilities.prompt_capabilities
        if attachment.media_type in history.IMAGES and not (able and able.image):
            return f"{self._title} takes no images: {to_one_line(attachment.name)}."
        if attachment.media_type == history.PDF:
            return f"{self._title} takes no PDF: {to_one_line(attachment.name)}."
        return None

    async def run_turn(self, prompt: events.Prompt) -> events.TurnEnded:
        """Take a turn with the agent; the caller emits the end. Nothing is raised."""
        state = self._state
        started = self._heard_at = time.monotonic()
        record = self._record = TurnRecord(state)
        number = record.begin(prompt)
        notes, state.notes = state.notes, []
        state.sent_notes = {number: notes}
        state.add_message(number, "user", history.build_content(prompt, notes))
        self._questions.begin_turn()
        self._reader = UpdateReader(state, record, number, self._to_memory_path)
        skipped = self._process.skipped if self._process is not None else 0
        try:
            self._head = (await state.worker.run(state.memory.get_head))[0]
            self._recorded, self._expected = set(), set()
            end = await self._converse(self._build_blocks(prompt, notes))
            self._reader.end_text()
        except ConnectionError:
            end = await self._handle_failure(prompt, f"{self._title} {await self._describe_end()}.")
        except RequestError as error:
            words = f"{self._title} ended the turn: {describe_error(error)}."
            kind, advice = FaultKind.SERVER, ""
            if error.code == _AUTH_REQUIRED:
                kind, advice = FaultKind.NO_KEY, self._advise_login()
            end = await self._handle_failure(prompt, words, kind, advice)
        except ValidationError:
            words = f"{self._title} ended the turn in a way that is not the Agent Client Protocol."
            end = await self._handle_failure(prompt, words)
        except MemtuiError as error:
            words = f"Can't use the memory folder: {str(error).rstrip('.')}."
            end = await self._handle_failure(prompt, words, FaultKind.MEMORY)
        with contextlib.suppress(MemtuiError):  # `finish` says that the memory is closed
            await self._record_writes()
        self._reader.end_calls(_LEFT_OPEN)
        if self._process is not None and (lines := self._process.skipped - skipped):
            state.emit(events.Notice(f"{self._title} wrote {lines:,} lines that are no messages: left out."))
        self._reader = self._record = None
        return await record.finish(end, time.monotonic() - started)

    def _build_blocks(self, prompt: events.Prompt, notes: list[str]) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = []
        for block in history.build_content(prompt, notes):
            source = block.get("source", {})
            match block["type"]:
                case "text":
                    blocks.append({"type": "text", "text": block["text"]})
                case "image":
                    blocks.append({"type": "image", "mimeType": source["media_type"], "data": source["data"]})
                case "document":
                    blocks.append({"type": "text", "text": f"File {block['title']}:\n\n{source['data']}"})
        return blocks

    async def _converse(self, blocks: list[dict[str, Any]]) -> TurnOutcome:
        state = self._state
        assert self._session_id is not None
        request = schema.PromptRequest.model_validate({"sessionId": self._session_id, "prompt": blocks})
        answering = asyncio.ensure_future(self._request("session_prompt", request))
        watching = asyncio.ensure_future(self._watch_silence())
        try:
            answer: Any = await wait_unless_stopped(_wait(answering), state.stopping)
        except StoppedByPerson:
            return await self._cancel(answering)
        finally:
            watching.cancel()
            answering.add_done_callback(lambda done: done.cancelled() or done.exception())
        reason = schema.PromptResponse.model_validate(answer).stop_reason
        if reason == "max_tokens":
            state.emit(events.Notice("The answer was cut off at the maximum length. Say `go on` to continue."))
        return _OUTCOMES[reason]

    async def _cancel(self, answering: "asyncio.Future[Any]") -> TurnOutcome:
        """Stop the turn: the agent is asked to, and its program ended where it does not."""
        self._questions.stop()
        notification = {"sessionId": self._session_id}
        seconds = self._options.cancel_seconds
        if self._connection is not None:
            with contextlib.suppress(ConnectionError, TimeoutError):
                await asyncio.wait_for(
                    self._connection.send_notification(AGENT_METHODS["session_cancel"], notification), seconds
                )
        done, _ = await asyncio.wait({answering}, timeout=seconds)
        if not done:
            answering.cancel()
            await self._disconnect()
            self._state.emit(
                events.Notice(
                    f"{self._title} did not stop within {seconds:g} seconds and was ended. "
                    "The next message starts it again."
                )
            )
        return TurnOutcome.STOPPED

    async def _watch_silence(self) -> None:
        seconds = self._options.silence_seconds
        while (left := self._heard_at + seconds - time.monotonic()) > 0:
            await asyncio.sleep(left)
        self._state.emit(events.Notice(f"{self._title} has sent nothing for {seconds:g} seconds. Esc stops it."))

    async def _handle_failure(
        self, prompt: events.Prompt, words: str, kind: FaultKind = FaultKind.SERVER, advice: str = ""
    ) -> TurnOutcome:
        state, reader = self._state, self._reader
        if reader is not None:
            reader.end_text()
        fault = ClassifiedFault(kind, words, advice)
        if state.history.has_answer(state.turn) or (self._record is not None and self._record.calls):
            state.report_fault(fault, None, "The answer so far is kept. Send a message to continue.")
        else:  # the message is in the person's hands again
            state.drop_turn(state.turn)
            state.unanswered = state.turn
            state.report_fault(fault, prompt)
        return TurnOutcome.FAULT

    # What the agent wrote through the MCP server, which is another process

    async def _record_writes(self) -> None:
        """Add the agent's events of the journal since the last time to the turn."""
        state = self._state
        async with self._recording:
            head, session, memory = self._head, state.session.id, state.memory

            expected = tuple(self._expected)
            self._head, found = await state.worker.run(lambda: read_calls(memory, head, session, expected))
            for call in found:
                if (record := self._record) is not None and call.event.seq not in self._recorded:
                    self._recorded.add(call.event.seq)
                    self._add_call(record, call)
            if self._reader is not None:
                self._reader.tell_own_calls()

    def _schedule_recording(self) -> None:
        """Add the agent's events to the turn while it goes on, in the background."""

        async def run() -> None:
            with contextlib.suppress(MemtuiError):  # the end of the turn says that the memory is closed
                await self._record_writes()

        self._add_task(run())

    def _add_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _name_call(self, call_id: str) -> str:
        """The id of a call of the MCP server's in the transcript: its own number begins anew with each server."""
        return f"memtui_{self._state.turn}_{call_id}"

    def _add_call(self, record: TurnRecord, made: RecordedCall) -> None:
        event = made.event
        if self._reader is not None:
            self._reader.end_text()
            record.calls += made.name == TOOL and self._reader.match_event()
        id = self._name_call(event.call_id) if event.call_id is not None else f"memtui_{event.seq}"
        call = ToolCall(id, made.name, made.fields, True)
        self._state.emit(events.CallStarted(self._state.turn, call.id, call.name, made.fields))
        record.add_result(call, ToolResult(event.answer or "", event.is_error, event, made.edit))

    # Requests of the agent

    async def _handle(self, method: str, content: Any, is_notification: bool) -> Any:
        self._heard_at = time.monotonic()
        if is_notification:
            if method == CLIENT_METHODS["session_update"]:
                self._take_update(content)
            return None
        try:
            if method == CLIENT_METHODS["session_request_permission"]:
                return await self._answer_permission(schema.RequestPermissionRequest.model_validate(content))
            if method == CLIENT_METHODS["fs_read_text_file"]:
                return await self._read_file(schema.ReadTextFileRequest.model_validate(content))
            if method == CLIENT_METHODS["fs_write_text_file"]:
                return await self._write_file(schema.WriteTextFileRequest.model_validate(content))
        except ValidationError as error:
            raise RequestError(_REFUSED, "Invalid params") from error
        except MemtuiError as error:
            raise RequestError(-32603, str(error)) from error
        raise RequestError.method_not_found(method)

    def _take_update(self, content: Any) -> None:
        try:
            told = schema.SessionNotification.model_validate(content)
        except ValidationError:
            return
        if self._offers.take(told.update):  # it may come before the session's answer
            return
        if self._reader is None:
            return  # of an earlier turn, or the replay of a session that is loaded: the conversation has it
        if told.session_id == self._session_id:
            self._reader.take(told.update)
            if isinstance(told.update, schema.ToolCallProgress) and told.update.status in ("completed", "failed"):
                self._schedule_recording()

    async def _answer_permission(self, asked: schema.RequestPermissionRequest) -> Any:
        state, call = self._state, asked.tool_call
        folder = self._options.folder
        cancelled = {"outcome": {"outcome": "cancelled"}}
        if asked.session_id != self._session_id or self._record is None or state.stopping.is_set():
            return cancelled
        verdict: Verdict | None = None
        if self._reader is not None:
            if self._reader.is_own(call):
                verdict = Allow()  # the server asks by itself, with the exact change
            call = self._reader.complete_call(call)
        verdict = verdict or decide_by_policy(state.gate.policy, folder, call, can_ask=self._options.can_ask)
        if verdict is None:
            verdict = await self._ask_permission(call, asked.options)
        elif isinstance(verdict, Deny):
            title = to_one_line(call.title or call.kind or "a tool")[:LONGEST_NAME]
            state.emit(events.Notice(f"Not allowed, because {verdict.reason}: {title}."))
        chosen = choose_option(asked.options, verdict)
        if chosen is None:
            return cancelled
        if isinstance(verdict, Allow):
            await self._announce_edit(call)
        if isinstance(verdict, Deny) and verdict.reason and self._options.can_ask:
            state.notes.append(f"The user did not allow {call.title or 'a tool'}: {verdict.reason}")
        return {"outcome": {"outcome": "selected", "optionId": chosen}}

    async def _announce_edit(self, call: schema.ToolCallUpdate) -> None:
        """Expect the one text that the agent was allowed to write by itself: once found, it is the agent's."""
        memory, folder = self._state.memory, self._options.folder
        plain = build_proposal(folder, self._actor, call, lasting=False)

        def announce() -> str:
            proposal = make_editable(plain, folder, memory)
            change = proposal.editable_change
            if change is None or change.after is None:
                return ""
            until = time.time_ns() // 1_000 + _WRITE_SECONDS * 1_000_000
            memory.claims.announce(
                change.path, actor=self._actor, call_id=call.tool_call_id, sha256=change.after.sha256, note=EDIT,
                until_us=until,
            )  # fmt: skip
            return change.path

        with contextlib.suppress(MemtuiError):  # then it is recorded as another program's
            if path := await self._state.worker.run(announce):
                self._expected.add(path)

    async def _ask_permission(self, call: schema.ToolCallUpdate, options: Sequence[schema.PermissionOption]) -> Verdict:
        """Ask the person; where the person edits the text first, it is written, and the agent is answered no."""
        state = self._state
        lasting = any(each.kind == "allow_always" for each in options)
        plain = build_proposal(self._options.folder, self._actor, call, lasting)
        proposal = await state.worker.run(lambda: make_editable(plain, self._options.folder, state.memory))
        while True:
            verdict = await self._questions.ask(state.turn, call.tool_call_id, proposal)
            decision = state.gate.accept_verdict(proposal, verdict) if isinstance(verdict, Edit) else verdict
            if not isinstance(decision, Edit):  # a text that is as it was proposed is a yes
                return decision if not isinstance(decision, MessageKey) else Deny()
            await self._record_writes()
            done, edit = await state.worker.run(lambda p=proposal, d=decision: self._executor.finish(p, d))  # type: ignore[misc]
            if not isinstance(done, Proposal):
                break
            proposal = replace(done, permission=proposal.permission)  # the file has changed meanwhile: asked again
        self._end_call(self._begin_call(proposal.raw), ToolResult(done.text, done.is_error, done.event, edit))
        title = proposal.permission.title if proposal.permission is not None else ""
        state.notes.append(f"The user did not allow this: {title}. {done.text}")
        path = to_relative_path(proposal.path)
        written = f"It is uncertain whether your text is in {path}" if done.is_error else f"Your text is in {path}"
        state.emit(events.Notice(f"{written}. {self._title} was told no, and learns of it with your next message."))
        return Deny()

    async def _read_file(self, asked: schema.ReadTextFileRequest) -> Any:
        relative = self._to_relative(asked.path)
        result = await self._execute({"command": "view", "path": f"{ROOT_NAME}/{relative}"})
        if result.is_error:
            raise RequestError(_REFUSED, result.text)
        found = await self._state.worker.run(lambda: self._state.memory.inspect_path(relative))
        if found.data is None:
            raise RequestError(_REFUSED, found.problem or "it is not a file")
        try:
            text = found.data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise RequestError(_REFUSED, "it is not text") from error
        if asked.line is not None or asked.limit is not None:
            first = max((asked.line or 1) - 1, 0)
            last = None if asked.limit is None else first + asked.limit
            text = "".join(text.splitlines(keepends=True)[first:last])
        return {"content": text}

    async def _write_file(self, asked: schema.WriteTextFileRequest) -> Any:
        relative = self._to_relative(asked.path)
        command = {"command": "create", "path": f"{ROOT_NAME}/{relative}", "file_text": asked.content}
        result = await self._execute(command)
        if result.is_error:
            raise RequestError(_REFUSED, result.text)
        return {}

    async def _execute(self, command: Mapping[str, object]) -> ToolResult:
        """Execute a command of the agent's through the engine, as a call of the turn."""
        record, state = self._record, self._state
        if record is None or state.stopping.is_set():
            raise RequestError(_REFUSED, "no turn is under way")
        await self._record_writes()
        call = self._begin_call(command)
        result = await self._executor.execute(call, state.turn, self._actor)
        self._end_call(call, result)
        return result

    def _begin_call(self, command: Mapping[str, object]) -> ToolCall:
        """Tell of a command that is executed here, as a call of the turn."""
        state = self._state
        if self._reader is not None:
            self._reader.end_text()
        self._writes += 1
        call = ToolCall(f"file_{state.turn}_{self._writes}", TOOL, dict(command), True)
        state.emit(events.CallStarted(state.turn, call.id, TOOL, call.fields))
        return call

    def _end_call(self, call: ToolCall, result: ToolResult) -> None:
        self._recorded.update(each.seq for each in (result.event, result.edit) if each is not None)
        if self._record is not None:
            self._record.calls += 1
            self._record.add_result(call, result)

    def _to_relative(self, path: str) -> str:
        """A path of the machine as one below the folder; raises `RequestError` for one outside."""
        folder = self._options.folder
        real = os.path.normpath(os.path.join(folder, path))
        if not is_below(folder, real) or not is_below(folder, os.path.realpath(real)):
            raise RequestError(_REFUSED, "memtui reads and writes only below the memory folder")
        return os.path.relpath(real, folder)

    def _to_memory_path(self, path: str) -> str:
        folder = self._options.folder
        real = os.path.normpath(os.path.join(folder, path))
        return f"{ROOT_NAME}/{os.path.relpath(real, folder)}" if is_below(folder, real) else path

    # Changes that the MCP server asks about, and settings

    def decide(self, proposal: Proposal, answer: Callable[[Verdict], object]) -> None:
        """Decide on a change that comes through the MCP server, by the policy or the person."""

        async def run() -> None:
            state = self._state
            verdict: Verdict = Unanswered()
            try:
                decision = state.gate.decide_by_policy(proposal)
                if isinstance(decision, Allow):
                    verdict = Allow()
                elif decision is not None:
                    verdict = Deny("the person lets this conversation only read")
                else:
                    await self._wait_for_call()
                    given = await self._questions.ask(state.turn, self._name_call(proposal.call_id or ""), proposal)
                    before = state.gate.always
                    state.gate.accept_verdict(proposal, given)
                    verdict = Allow() if isinstance(given, Allow) else given
                    if state.gate.always != before:
                        state.record_policy_change()
            finally:
                if answer(verdict) is False:
                    state.emit(events.Notice(f"{self._title} did not wait for the answer. Nothing was written."))

        self._add_task(run())

    async def _wait_for_call(self) -> None:
        """Wait a moment for the agent's own word of a call that asks through the MCP server: its text is before it."""
        if self._reader is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._reader.own_call_seen.wait(), _CALL_SECONDS)

    def set_model(self, id: str) -> Awaitable[None]:
        """Have another of the agent's models answer."""
        return self._offers.set_model(id)

    def set_effort(self, level: str | None) -> Awaitable[None]:
        """Have the agent think more or less."""
        return self._offers.set_effort(level)

    def set_thinking(self, thinking: bool | None) -> Awaitable[None]:
        """Have the agent show its thinking or not."""
        return self._offers.set_thinking(thinking)

    def set_mode(self, id: str) -> Awaitable[None]:
        """Have the agent work in another of its modes."""
        return self._offers.set_mode(id)


async def _wait(answering: "asyncio.Future[Any]") -> Any:
    """Wait for an answer; who stops waiting does not cancel the request."""
    return await asyncio.shield(answering)
