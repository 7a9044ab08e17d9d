"""A conversation's state: model, history, usage, policy. Used in one thread, where a loop runs."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from memtui.agents.chat import events
from memtui.agents.chat.connection import ApiConnection
from memtui.agents.chat.events import FaultKind, Model, Usage
from memtui.agents.chat.faults import ClassifiedFault
from memtui.agents.chat.history import Block, ChatHistory, restore_entries, sanitize_value
from memtui.agents.chat.request import RequestOptions, RetryPolicy, wait_unless_stopped
from memtui.agents.chat.sessions.records import RestoredSession, add_usage
from memtui.agents.chat.sessions.store import ChatSession
from memtui.agents.chat.stream import StreamPacer, StreamRecorder, parse_partial_json
from memtui.agents.chat.tool_calls import ApprovalRequester, ToolExecutor, WorkerThread
from memtui.agents.gate import ApprovalGate
from memtui.agents.guidance import build_system_prompt
from memtui.core.diffs import count_changes
from memtui.core.events import Agent, EntryKind, Event, Version
from memtui.core.lazy_dataclass import dataclass
from memtui.engine import Engine
from memtui.engine.lineage import find_moves


class UsageMeter:
    """Sums the usage that the API reports, of a turn and of the conversation; `session` is that of a resumed one."""

    def __init__(self, session: Usage | None = None) -> None:
        self._before = session or Usage()
        self._turn = Usage()
        self._request: dict[str, int] = {}
        self._iterations: list[dict[str, Any]] = []
        self._model = Model("")

    @property
    def turn(self) -> Usage:
        """The usage of this turn until now."""
        return _add_request(self._turn, self._request, self._iterations, self._model)

    @property
    def session(self) -> Usage:
        """The usage of the conversation until now."""
        return add_usage(self._before, self.turn)

    def begin_turn(self) -> None:
        """Count for another turn."""
        self._before, self._turn, self._request, self._iterations = self.session, Usage(), {}, []

    def begin_request(self, model: Model) -> None:
        """Count for another request of the turn."""
        self._turn, self._request, self._iterations, self._model = self.turn, {}, [], model

    def add_usage(self, usage: Mapping[str, object]) -> None:
        """Take a report on the request; each number is a total, and those left out stand."""
        for name in _FIELDS:
            value = usage.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                self._request[name] = value
        iterations = usage.get("iterations")
        if isinstance(iterations, list):
            self._iterations = [each for each in iterations if isinstance(each, dict)]

    def add_view(self, text: str) -> None:
        """Count the characters of a view of memory."""
        self._turn = replace(self._turn, memory_chars=self._turn.memory_chars + len(text))

    def reset_context(self) -> None:
        """Begin a new conversation: the next request holds nothing of the earlier one."""
        self._before, self._turn = replace(self.session, context=0), Usage()
        self._request, self._iterations = {}, []


_FIELDS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def _add_request(before: Usage, request: Mapping[str, int], iterations: list[dict[str, Any]], model: Model) -> Usage:
    if not request:
        return before
    sent, written, cached = _count_tokens(request)
    context = sent + written
    if any(each.get("type") == "compaction" for each in iterations):
        # No total counts the compaction itself; and the context is that of the last answer.
        last = next((each for each in reversed(iterations) if each.get("type") == "message"), request)
        context = sum(_count_tokens(last)[:2])
        for each in iterations:
            if each.get("type") == "compaction":
                more_sent, more_written, more_cached = _count_tokens(each)
                sent, written, cached = sent + more_sent, written + more_written, cached + more_cached
    cost = before.cost
    if model.input_price is not None and model.output_price is not None:
        cost = (cost or 0.0) + (sent * model.input_price + written * model.output_price) / 1e6
    return Usage(
        context=context,
        input_tokens=before.input_tokens + sent,
        output_tokens=before.output_tokens + written,
        cached_tokens=before.cached_tokens + cached,
        requests=before.requests + 1,
        memory_chars=before.memory_chars,
        cost=cost,
    )


def _count_tokens(usage: Mapping[str, Any]) -> tuple[int, int, int]:
    """Tokens sent, those from and for the cache included; tokens written; tokens from the cache."""
    sent, written, cached, stored = (_parse_count(usage.get(name)) for name in _FIELDS)
    return sent + cached + stored, written, cached


def _parse_count(value: object) -> int:
    """A number of tokens; 0 for another value of a gateway's."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


GetText = Callable[[Version | None], bytes | None]
"""Gives the bytes of a version; `None` where they are not kept."""
_LARGEST_COMPARED = 4_000_000
"""Bytes of the largest text whose lines are counted."""


@dataclass(slots=True)
class _PathChange:
    """The first and the last version of a path, its path before a rename, and whether the person wrote it."""

    before: Version | None
    after: Version | None
    old_path: str | None = None
    edited: bool = False


class ChangeTally:
    """The net changes over a turn or a conversation: an entry for each path that was touched, and no texts."""

    def __init__(self) -> None:
        self._paths: dict[str, _PathChange] = {}

    def add(self, event: Event, *, edited: bool = False) -> None:
        """Add an event, in order; `edited` if the person wrote it in place of the model."""
        moved = find_moves(event)
        origins = {new: self._find_origin(old) for new, old in moved.items()}
        for change in event.changes:
            found = self._paths.get(change.path)
            if found is None:
                self._paths[change.path] = _PathChange(change.before, change.after, edited=edited)
            else:
                found.after, found.edited = change.after, found.edited or edited
                found.old_path = None if change.after is None or change.before is None else found.old_path
        for new in moved:
            self._paths[new].old_path, self._paths[new].edited = origins[new]

    def _find_origin(self, path: str) -> tuple[str | None, bool]:
        """The first path of the file that is at a path now, and whether the person edited it."""
        entry = self._paths.get(path)
        if entry is None:
            return path, False
        if entry.old_path is not None:
            return entry.old_path, entry.edited
        return (path if entry.before is not None else None), entry.edited

    def summarize(self, text: GetText) -> tuple[events.MemoryChange, ...]:
        """The net change of each file, by path."""
        sources = {
            path: source
            for path, entry in self._paths.items()
            if (source := entry.old_path) not in (None, path)
            and entry.before is None
            and entry.after is not None
            and self._paths[source].after is None
        }
        moved = set(sources.values())
        found = []
        for path, entry in sorted(self._paths.items()):
            old_path, after = sources.get(path), entry.after
            before = entry.before if old_path is None else self._paths[old_path].before
            if path in moved or not (_is_shown(before) or _is_shown(after)) or (before == after and old_path is None):
                continue
            how = "renamed" if old_path else "created" if before is None else "deleted" if after is None else "changed"
            texts = _decode_version(before, text), _decode_version(after, text)
            added, removed = (None, None) if None in texts else count_changes(*texts)  # type: ignore[arg-type]
            hashes = before.sha256 if before else None, after.sha256 if after else None
            found.append(events.MemoryChange(path, how, old_path, added, removed, *hashes, entry.edited))
        return tuple(found)


def _is_shown(version: Version | None) -> bool:
    return version is not None and version.kind is not EntryKind.DIRECTORY


def _decode_version(version: Version | None, text: GetText) -> str | None:
    if version is None:
        return ""
    if version.kind is not EntryKind.FILE or version.size > _LARGEST_COMPARED:
        return None
    data = text(version)
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        return None


_LISTING_SECONDS = 5.0
"""How long a first message waits for the list of models, which tells the abilities of its model."""
_ENTER_HELPS = frozenset(
    {FaultKind.NETWORK, FaultKind.TIMEOUT, FaultKind.RATE_LIMIT, FaultKind.OVERLOADED, FaultKind.SERVER,
     FaultKind.CUT_STREAM, FaultKind.BUG, FaultKind.MEMORY}
)  # fmt: skip


class ChatState:
    """The state of one conversation; see `ChatController` for the arguments."""

    def __init__(
        self,
        memory: Engine,
        options: events.ChatOptions,
        listener: Callable[[events.ChatEvent], None],
        session: ChatSession,
        restored: RestoredSession,
        make_client: Callable[[events.ChatOptions], Any],
        retries: RetryPolicy,
        now: Callable[[], datetime] | None,
    ) -> None:
        self.memory = memory
        self.options = options
        self.session = session
        self.retry_policy = retries
        self.now = now
        self._listener = listener
        self._recorder = StreamRecorder(session.write)
        self.pacer = StreamPacer(self._deliver, parse_partial_json)
        self.emit = self.pacer.emit
        self.connection = ApiConnection(options, make_client)
        self.gate = ApprovalGate(memory, policy=options.policy)
        self.worker = WorkerThread()
        self.questions = ApprovalRequester(self.emit)
        self.tool_executor = ToolExecutor(self.gate, self.worker, self.questions, self.record_policy_change)
        self.meter = UsageMeter(restored.usage)
        self.history = ChatHistory(
            restore_entries(restored.messages, restored.last_turn, restored.model, restored.last_blocks)
        )
        self.stopping = asyncio.Event()
        self.turn = restored.turn
        """The number of the last turn."""
        self.last: tuple[int, events.Prompt] | None = (restored.last_turn, restored.last) if restored.last else None
        """The last message that can be sent again or edited, and its turn."""
        self.writes: tuple[int, list[int]] = (restored.turn, list(restored.seqs.get(restored.turn, ())))
        """The last turn, and the journal's numbers of its writes."""
        self.notes = list(restored.notes)
        """Notes to the model, for the next message."""
        self.sent_notes: dict[int, list[str]] = {}
        """The notes that went with the message of a turn."""
        self.unanswered: int | None = None
        """A turn without an answer that is out of the history, and is not recorded as such yet."""
        self.request_options = RequestOptions(
            system=(sanitize_value(options.system), sanitize_value(build_system_prompt(options.guidance))),
            max_tokens=options.max_tokens,
            context_trigger=options.context_trigger,
            effort=options.effort if options.effort is not None else restored.effort,
            thinking=options.thinking if options.thinking is not None else restored.thinking,
        )
        self.model: Model | None = None
        self._requested_model = options.model or restored.model
        self._listing: asyncio.Task[ClassifiedFault | None] | None = None

    def _deliver(self, event: events.ChatEvent) -> None:
        if isinstance(event, events.TextDelta):
            self._recorder.add(event)
        self._listener(event)

    @property
    def actor(self) -> Agent:
        """The actor of the model's commands."""
        return Agent(events.CLAUDE, self.model.id if self.model else None, self.session.id)

    # Connecting

    async def connect(self) -> ClassifiedFault | None:
        """Get a client and a model; the fault, if that is not possible."""
        if (fault := self.connection.connect()) is not None:
            return fault
        if self.model is not None:
            self._refresh_models()
            return None
        if self._requested_model is None:
            if (fault := await self.connection.list_models()) is not None:
                return fault
            self._requested_model = self.connection.models[0].id
        self.model = self.connection.find_model(self._requested_model)
        self.emit(events.Ready(self.model, self.connection.host, self.options.provider))
        self.session.write("setting", model=self.model.id)
        if self.connection.models:
            self.emit(events.ModelsListed(self.connection.models))
        else:
            self._refresh_models()
        return None

    def _refresh_models(self) -> None:
        if not self.connection.models and (self._listing is None or self._listing.done()):
            self._listing = asyncio.ensure_future(self._fetch_models())

    async def _fetch_models(self) -> ClassifiedFault | None:
        fault = await self.connection.list_models()
        if fault is None:
            self.emit(events.ModelsListed(self.connection.models))
            if self.model is not None and (known := self.connection.find_model(self.model.id)) != self.model:
                self.model = known
                self.emit(events.ModelChanged(known))
        elif fault.kind is FaultKind.WRONG_KEY and not self.turn:
            self.emit(events.ChatFault(fault.kind, f"{fault.sentence} {fault.advice}"))
        return fault

    async def wait_for_models(self) -> None:
        """Wait a while for the list of models.

        Raises:
            StoppedByPerson: The person stopped it.
        """
        listing = self._listing

        async def wait() -> None:
            await asyncio.wait({listing}, timeout=_LISTING_SECONDS)  # type: ignore[type-var]

        if listing is not None and not listing.done():
            await wait_unless_stopped(wait(), self.stopping)

    async def close(self) -> None:
        """Close the connection and the worker thread."""
        if self._listing is not None and not self._listing.done():
            self._listing.cancel()
            await asyncio.wait({self._listing})
        self.worker.close()
        await self.connection.close()

    # Settings

    def set_model(self, id: str) -> None:
        """Have another model answer."""
        self._requested_model = id
        self.model = self.connection.find_model(id)
        self.session.write("setting", model=id)
        self.emit(events.ModelChanged(self.model))
        if self.connection.models and all(model.id != id for model in self.connection.models):
            self.emit(events.Notice(f"{self.connection.host} does not list {id}. It is used anyway."))

    def set_request_options(self, **values: object) -> None:
        """Set effort or thinking."""
        self.request_options = replace(self.request_options, **values)  # type: ignore[arg-type]
        self.session.write("setting", **values)

    def record_policy_change(self) -> None:
        """Record and emit the approval policy, after a change."""
        self.session.write("setting", policy=self.gate.policy.value, always=sorted(self.gate.always))
        self.emit(events.PolicyChanged(self.gate.policy, self.gate.always))

    # Messages

    def add_message(self, turn: int, role: str, content: list[Block], *, is_repair: bool = False) -> None:
        """Add a message to the history, and record it."""
        if role == "assistant":
            self._recorder.discard()
        if not content:
            return
        model = self.model.id if self.model and role == "assistant" else None
        self.history.add(turn, role, content, model)
        if is_repair:
            self.session.write("repaired", turn=turn, message={"role": role, "content": content})
        else:
            self.session.write("message", turn=turn, role=role, content=content)

    def drop_turn(self, turn: int) -> None:
        """Take a turn and all after it out of the history; its notes wait for the next message."""
        self._recorder.discard()
        self.history.rewind(turn)
        self.notes = [*self.sent_notes.pop(turn, ()), *self.notes]

    def report_fault(
        self, fault: ClassifiedFault, prompt: events.Prompt | None, outcome: str | None = None, trace: str | None = None
    ) -> None:
        """Record and emit a fault.

        Args:
            fault: The fault.
            prompt: The message that got no answer.
            outcome: What became of the answer, as a sentence, where there is one.
            trace: The traceback of a bug.
        """
        if outcome is None and prompt is not None:
            outcome = "Your message is kept" + ("; Enter tries again." if fault.kind in _ENTER_HELPS else ".")
        sentence = " ".join(part for part in (fault.sentence, fault.advice, outcome) if part)
        more = {} if trace is None else {"trace": trace}
        self.session.write("fault", kind=fault.kind.value, sentence=sentence, **more)
        self.emit(events.ChatFault(fault.kind, sentence, prompt))
