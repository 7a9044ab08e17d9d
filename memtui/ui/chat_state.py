"""The state of a conversation for the screen around its transcript, and its events on their way there."""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.message import Message

from memtui.agents.chat.events import (
    ApprovalNeeded,
    ApprovalResolved,
    Attachment,
    CallDelta,
    CallEnded,
    ChatEvent,
    ConversationRewound,
    MemoryChange,
    Model,
    ModelChanged,
    ModelsListed,
    OffersChanged,
    PolicyChanged,
    Prompt,
    QueueChanged,
    Ready,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
    TurnOutcome,
    TurnStarted,
    TurnUndone,
    Usage,
    UsageChanged,
)
from memtui.core import wording
from memtui.core.approvals import ApprovalPolicy, Verdict, format_scope
from memtui.core.events import Event
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import ROOT_NAME
from memtui.core.unicode import to_one_line
from memtui.ui.frame import HeaderItem
from memtui.ui.key_names import label_key

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine

_WRITES = {ApprovalPolicy.ASK: "ask first", ApprovalPolicy.ALLOW: "allow", ApprovalPolicy.READ_ONLY: "read-only"}


class ChatViewState:
    """The state of a conversation, from its events."""

    def __init__(self, policy: ApprovalPolicy = ApprovalPolicy.ASK, *, model: str | None = None) -> None:
        self.model = Model(model) if model else None
        self.models: tuple[Model, ...] = ()
        """Those that the API lists."""
        self.host = ""
        """The host of the requests."""
        self.is_ready = False
        """Whether a message would be sent at once."""
        self.is_busy = False
        """Whether a turn runs."""
        self.policy = policy
        self.always: frozenset[str] = frozenset()
        """Paths below which writes are allowed without a question."""
        self.usage = Usage()
        """Of the whole conversation."""
        self.offers = OffersChanged()
        """What an agent's own program offers."""
        self.queue: tuple[Prompt, ...] = ()
        self.question: ApprovalNeeded | None = None
        self.turns: dict[int, TurnEnded] = {}
        """The turns that have ended, by number."""
        self.events: list[tuple[Event, bool]] = []
        """Events of this session, in order, each with whether the person wrote it in the model's place."""
        self.paths: dict[str, str] = {}
        """The memories of tool calls, by call id."""
        self.has_turns = False
        self.viewed: dict[str, int] = {}
        """How often the model read each memory."""
        self.sent_texts: list[str] = []
        """For the box to bring them back."""

    def apply_event(self, event: ChatEvent) -> None:
        """Change the state by an event."""
        match event:
            case Ready(model=model, host=host):
                self.is_ready, self.model, self.host = True, model, host
            case ModelsListed(models=models):
                self.models = models
            case ModelChanged(model=model):
                self.model = model
            case OffersChanged():
                self.offers = event
            case TurnStarted(prompt=prompt):
                self.is_busy = self.has_turns = True
                if prompt.text.strip() and prompt.text not in self.sent_texts[-20:]:
                    self.sent_texts.append(prompt.text)
            case QueueChanged(prompts=prompts):
                self.queue = prompts
            case ApprovalNeeded():
                self.question = event
            case ApprovalResolved(number=number) if self.question is not None and self.question.number == number:
                self.question = None
            case CallEnded():
                self._apply_call(event)
            case UsageChanged(session=usage):
                self.usage = usage
            case TurnEnded():
                self.is_busy = False
                self.turns[event.turn] = event
            case TurnUndone(event=recorded):
                self.events.append((recorded, False))
            case ConversationRewound(prompt=None):
                self.is_busy = False
            case PolicyChanged(policy=policy, always=always):
                self.policy, self.always = policy, always

    def _apply_call(self, event: CallEnded) -> None:
        for recorded, is_edit in ((event.edit, True), (event.event, False)):
            if recorded is not None and recorded.changes:
                self.events.append((recorded, is_edit))
        path = self.paths[event.call_id] = get_call_path(event.fields)
        if event.fields.get("command") == "view" and not event.is_error and path:
            self.viewed[path] = self.viewed.get(path, 0) + 1

    def build_header(self) -> tuple[HeaderItem, ...]:
        """The items of the header, each with its priority where there is little room."""
        usage = self.usage
        read = f"read {_format_thousands(usage.memory_chars)} chars" if usage.memory_chars else ""
        tokens = ""
        if usage.requests or usage.input_tokens:
            tokens = f"{_format_thousands(usage.input_tokens)} in / {_format_thousands(usage.output_tokens)} out"
        limit = self.model.context if self.model else None
        is_nearly_full = bool(limit) and usage.context > 0.85 * (limit or 1)
        context = ""
        if usage.context and limit:
            context = f"ctx {min(round(100 * usage.context / limit), 999)}%"
        elif usage.context:
            context = f"ctx {_format_thousands(usage.context)}"
        return (
            HeaderItem(to_one_line(self.model.id) if self.model else "", "", 7),
            HeaderItem(context, "$text-warning bold" if is_nearly_full else "", 6),
            HeaderItem(tokens, "", 4),
            HeaderItem(format_cost(usage.cost, self.model), "", 5),
            HeaderItem(read, "", 3),
            HeaderItem(
                f"[{self.policy}]", "$text-accent bold" if self.policy is ApprovalPolicy.ASK else "$text-warning bold"
            ),
        )


def describe_policy(policy: ApprovalPolicy, always: frozenset[str] = frozenset()) -> str:
    """The policy and its exceptions, for the message line."""
    ways = " / ".join(_WRITES.values())
    words = f"Memory writes: {_WRITES[policy]} ({label_key('chat.next_policy')}: {ways})"
    if policy is ApprovalPolicy.ASK and always:
        places = ", ".join(map(format_scope, sorted(always)[:3]))
        words += f". Not asked in {places}{' and more' if len(always) > 3 else ''}"
    return words


def shorten_sentences(words: str, width: int) -> str:
    """As many whole sentences as there is room for, and the first one in any case."""
    fitting = words
    while cell_len(fitting) > width and ". " in fitting:
        fitting = f"{fitting.rpartition('. ')[0]}."
    return fitting


def describe_turn_end(ended: TurnEnded, agent: str = "Claude") -> str:
    """How a turn of an agent ended, in a sentence."""
    beginning = {
        TurnOutcome.DONE: f"{agent} finished",
        TurnOutcome.STOPPED: "Stopped; the text so far is kept",
        TurnOutcome.FAULT: "Ended by an error; the text so far is kept",
        TurnOutcome.CUT: "The answer was cut off; the text so far is kept",
        TurnOutcome.REFUSED: f"{agent} declined to continue",
        TurnOutcome.TOO_MANY_CALLS: f"Ended after too many tool calls; say `go on` to let {agent} continue",
    }[ended.end]
    counts = []
    if ended.calls:
        is_done = ended.end is TurnOutcome.DONE
        refused = f" ({ended.refused} refused)" if is_done else f", {ended.refused} not run"
        counts.append(f"{wording.format_count(ended.calls, 'tool call')}{refused if ended.refused else ''}")
    if ended.memory_changes:
        counts.append(f"{wording.format_file_count(len(ended.memory_changes))} changed")
    counts.append(f"{ended.seconds:.1f} s")
    details = ", ".join(counts)
    return f"{beginning}: {details}." if ended.end is TurnOutcome.DONE else f"{beginning} ({details})."


def describe_memory_change(each: MemoryChange) -> str:
    """The change of one memory, such as `notes.md  changed  +1 -1`."""
    name = f"{each.old_path} > {each.path}" if each.old_path else each.path
    counts = [f"+{each.added}" if each.added else "", f"-{each.removed}" if each.removed else ""]
    edited = "edited by you first" if each.edited else ""
    return "  ".join(part for part in (to_one_line(name), each.how, " ".join(filter(None, counts)), edited) if part)


def tally_changes(engine: "Engine", events: Iterable[tuple[Event, bool]]) -> tuple[MemoryChange, ...]:
    """The net change of each memory; an event is paired with whether the person wrote it in the model's place.

    Raises:
        MemtuiError, OSError: The record cannot be read.
    """
    from memtui.agents.chat.state import ChangeTally  # noqa: PLC0415 - start-up: loads the engine

    tally = ChangeTally()
    for event, is_edit in events:
        tally.add(event, edited=is_edit)
    return tally.summarize(engine.history.text)


def get_call_path(fields: Mapping[str, object]) -> str:
    """The memory that a call names, relative to the folder; empty for none, and for the folder itself."""
    for name in ("path", "old_path"):
        path = fields.get(name)
        if isinstance(path, str):
            return wording.to_relative_path(path) if path.startswith(ROOT_NAME + "/") else ""
    return ""


def format_model_choice(model: Model, now: Model | None) -> str:
    """The name and the id of a model, with a remark on the current one."""
    words = [model.name, model.id, "current" if now is not None and model.id == now.id else ""]
    return "  ".join(to_one_line(word) for word in words if word)


def format_attachments(attachments: Iterable[Attachment]) -> str:
    """Names and sizes, such as `notes.pdf 12K, photo.png 1.2M`."""
    return ", ".join(f"{to_one_line(each.name)} {wording.format_size(len(each.data))}" for each in attachments)


def format_cost(cost: float | None, model: Model | None) -> str:
    """The cost, where prices are known."""
    if cost is None:
        return ""
    currency = model.currency if model else "USD"
    sign = "$" if currency == "USD" else f"{to_one_line(currency)} "
    return f"{sign}{cost:.2f}" if cost >= 0.005 or not cost else f"{sign}{cost:.4f}"


def _format_thousands(count: int) -> str:
    """`812`, `18.2k`, `1.2M`."""
    if count < 1_000:
        return str(count)
    if count < 999_950:
        return f"{count / 1_000:.1f}k"
    return f"{count / 1_000_000:.1f}M"


@dataclass(eq=False)
class QuestionDecided(Message):
    """The person has answered a question whether a change may be made."""

    question: ApprovalNeeded
    verdict: Verdict


class QuestionStopRequested(Message):
    """The person wants the turn to end in place of an answer."""


@dataclass(eq=False)
class QuestionRemarked(Message):
    """A sentence about a question, for the message line."""

    words: str
    is_warning: bool = False


class ChatEventsReady(Message):
    """Events wait in the `ChatEventQueue`."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ChatEventsReady)


class ChatEventQueue:
    """Hands events from the conversation's thread to the screen, many with one message.

    Args:
        post: Takes a message, from any thread; called again only after `take`.
    """

    def __init__(self, post: Callable[[Message], object]) -> None:
        self._post = post
        self._lock = threading.Lock()
        self._events: list[ChatEvent] = []
        self._posted = False

    def put(self, event: ChatEvent) -> None:
        """Add an event, from any thread."""
        with self._lock:
            self._events.append(event)
            if self._posted:
                return
            self._posted = True
        self._post(ChatEventsReady())

    def take(self) -> list[ChatEvent]:
        """The events since the last time, in order and merged."""
        with self._lock:
            events, self._events, self._posted = self._events, [], False
        return merge_chat_events(events)


def merge_chat_events(events: Iterable[ChatEvent]) -> list[ChatEvent]:
    """Join the pieces of a text, and keep only the last of values that replace each other."""
    merged: list[ChatEvent] = []
    for event in events:
        match merged[-1] if merged else None, event:
            case (TextDelta() as last, TextDelta()) if (last.turn, last.block) == (event.turn, event.block):
                merged[-1] = replace(last, text=last.text + event.text)
            case (ThinkingDelta() as last, ThinkingDelta()) if last.turn == event.turn:
                merged[-1] = replace(last, text=last.text + event.text)
            case (CallDelta() as last, CallDelta()) if last.call_id == event.call_id:
                merged[-1] = event
            case UsageChanged(), UsageChanged():
                merged[-1] = event
            case _:
                merged.append(event)
    return merged
