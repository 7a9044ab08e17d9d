"""The events of a conversation as values. Screens and scripts are made from these, and from nothing else."""

import shlex
from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from memtui.config.settings import Provider
from memtui.core.approvals import ApprovalPolicy, Proposal
from memtui.core.events import Event
from memtui.core.lazy_dataclass import dataclass
from memtui.core.lazy_regex import compile_lazily


@dataclass(frozen=True, slots=True)
class Model:
    """A model as the API describes it. Nothing here is from memory: `None` is not known."""

    id: str
    name: str = ""
    context: int | None = None
    """Tokens that a request may hold."""
    max_tokens: int | None = None
    """Tokens that an answer may have."""
    efforts: tuple[str, ...] = ()
    """Lowest first."""
    thinking: tuple[str, ...] = ()
    """Of `adaptive`, `enabled`, `disabled`."""
    clears_tools: bool | None = None
    """Whether old tool results can be cleared from its context."""
    compacts: bool | None = None
    sees_images: bool | None = None
    reads_pdf: bool | None = None
    input_price: float | None = None
    """For a million tokens, in `currency`, where API or configuration say."""
    output_price: float | None = None
    currency: str = "USD"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that goes with a message: its name without the directory, its media type and its bytes."""

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Prompt:
    """One message of the person."""

    text: str
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens and requests of a turn, or of a conversation."""

    context: int = 0
    """Tokens of the last request and its answer: the next one begins with them."""
    input_tokens: int = 0
    """Those from the cache included, summed over requests."""
    output_tokens: int = 0
    cached_tokens: int = 0
    requests: int = 0
    memory_chars: int = 0
    """Characters of memory that views showed to the model."""
    cost: float | None = None
    """In the model's currency; `None` where no price is known."""


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """The net change of one memory over a turn or a session."""

    path: str
    how: str
    """`created`, `changed`, `deleted` or `renamed`."""
    old_path: str | None = None
    added: int | None = None
    """Lines; `None` where lines do not apply."""
    removed: int | None = None
    before: str | None = None
    """SHA-256 of the text; `None` without a text."""
    after: str | None = None
    edited: bool = False
    """Whether the person edited it before it was written."""


class TurnOutcome(Enum):
    """How a turn ended. What was said until then is kept."""

    DONE = "done"
    STOPPED = "stopped"
    FAULT = "fault"
    CUT = "cut"
    """The answer reached its longest length, or its stream ended early."""
    REFUSED = "refused"
    TOO_MANY_CALLS = "too many calls"


class FaultKind(Enum):
    """The kind of a fault, for programs; `ChatFault.sentence` is for people."""

    NO_KEY = "no key"
    WRONG_KEY = "wrong key"
    FORBIDDEN = "forbidden"
    NETWORK = "network"
    TIMEOUT = "timeout"
    RATE_LIMIT = "rate limit"
    OVERLOADED = "overloaded"
    SERVER = "server"
    UNKNOWN_MODEL = "unknown model"
    TOO_LARGE = "too large"
    BAD_REQUEST = "bad request"
    CUT_STREAM = "cut stream"
    NO_CREDIT = "no credit"
    NO_SDK = "no sdk"
    MEMORY = "memory"
    BUG = "bug"


@dataclass(frozen=True, slots=True)
class Ready:
    """The SDK is loaded and the first message can be sent; prompts typed before are on their way."""

    model: Model
    host: str
    provider: str = "anthropic"


@dataclass(frozen=True, slots=True)
class ModelsListed:
    """The API has listed its models."""

    models: tuple[Model, ...]


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """A mode or a command of an agent's own; `words` say what it is or does."""

    id: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class OffersChanged:
    """What an agent's own program offers besides an answer.

    Attributes:
        modes: Its modes, such as `plan`.
        mode: The id of the one that it is in; empty where it has none.
        commands: Its slash commands, without the slash.
    """

    modes: tuple[AgentChoice, ...] = ()
    mode: str = ""
    commands: tuple[AgentChoice, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelChanged:
    """Another model answers from now on, or more is known of this one."""

    model: Model


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A message is sent. Turns are numbered from 1; no number is used twice in a session."""

    turn: int
    prompt: Prompt


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """The messages that wait for the turn to end, in order."""

    prompts: tuple[Prompt, ...]


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """A piece of the model's thinking."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer, in Markdown."""

    turn: int
    block: int
    """Number of the text block within the turn, from 0: another number begins a new paragraph."""
    text: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A tool call that streams in; emitted often. A text among its fields may end in the middle."""

    turn: int
    call_id: str
    name: str
    fields: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A tool call is complete, and is executed or asked about now."""

    turn: int
    call_id: str
    name: str
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ApprovalNeeded:
    """The person is asked whether a change may be made: `ChatController.answer` takes the number and the verdict."""

    turn: int
    call_id: str
    number: int
    proposal: Proposal


@dataclass(frozen=True, slots=True)
class ApprovalResolved:
    """A question is settled, by the person or because the turn was stopped."""

    number: int


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A tool call is answered, with `text` exactly as the model gets it."""

    turn: int
    call_id: str
    name: str
    fields: Mapping[str, object]
    text: str
    is_error: bool
    event: Event | None = None
    """The journal's; `None` for a tool that is not ours."""
    edit: Event | None = None
    """The write of the person in its place."""


@dataclass(frozen=True, slots=True)
class ContextCleared:
    """The API left old tool results out of the model's context, to make room."""

    calls: int
    tokens: int


@dataclass(frozen=True, slots=True)
class ContextCompacted:
    """The API replaced the earlier conversation by a summary in the model's context."""

    summary: str


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """A request failed in a way that passes, and is tried again after some seconds."""

    sentence: str
    seconds: float


_SCREEN_HINT = compile_lazily(r" Your message is kept(?:; Enter tries again)?\.\Z")


@dataclass(frozen=True, slots=True)
class ChatFault:
    """A fault: what happened, why, and the next step. Nothing that was typed is lost."""

    kind: FaultKind
    sentence: str
    prompt: Prompt | None = None
    """The message that got no answer: it is put back into the box."""

    @property
    def sentence_without_hint(self) -> str:
        """The sentence without the hint that holds for the screen alone."""
        return _SCREEN_HINT.sub("", self.sentence)


@dataclass(frozen=True, slots=True)
class UsageChanged:
    """The usage of the turn and of the session so far."""

    turn: Usage
    session: Usage


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over and the next message can be sent."""

    turn: int
    end: TurnOutcome
    seconds: float
    calls: int
    refused: int
    """Of the calls."""
    memory_changes: tuple[MemoryChange, ...]
    usage: Usage


@dataclass(frozen=True, slots=True)
class TurnUndone:
    """The writes of a turn were taken back; the model is told in the next turn."""

    turn: int
    event: Event
    sentence: str


@dataclass(frozen=True, slots=True)
class ConversationRewound:
    """A turn and all after it are out of the conversation."""

    turn: int
    """The first that is out."""
    prompt: Prompt | None
    """The message of that turn; `None` where all was cleared."""
    reason: str = "edit"
    """`edit` (the prompt is put back into the box), `retry` (it is sent again at once) or `clear`."""


@dataclass(frozen=True, slots=True)
class PolicyChanged:
    """The approval policy changed, or the paths below which no approval is needed."""

    policy: ApprovalPolicy
    always: frozenset[str]


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence for the person."""

    sentence: str


ChatEvent = (
    Ready | ModelsListed | ModelChanged | TurnStarted | QueueChanged | ThinkingDelta | TextDelta | CallDelta
    | CallStarted | ApprovalNeeded | ApprovalResolved | CallEnded | ContextCleared | ContextCompacted | RetryScheduled
    | ChatFault | UsageChanged | TurnEnded | TurnUndone | ConversationRewound | PolicyChanged | OffersChanged | Notice
)  # fmt: skip


CLAUDE = "Claude"
"""The name of who answers, where no agent's own program does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """The person's choices before the conversation begins; model, policy, effort and thinking may change later.

    `None` leaves a value to the model: `max_tokens` of one answer, `effort`, `thinking`.
    """

    agent: str = CLAUDE
    """The name of who answers, for people."""
    program: str = ""
    """The agent's own program, as `--agent` takes it; empty for a model that the SDK reaches."""
    model: str | None = None
    """`None` takes the newest that the API lists."""
    provider: Provider = "anthropic"
    policy: ApprovalPolicy = ApprovalPolicy.ASK
    system: str = ""
    """A system prompt of the person's, before ours."""
    guidance: str = ""
    """The person's words on what to remember."""
    max_tokens: int | None = None
    context_trigger: int | None = None
    """Tokens of context from which old tool results are cleared; 0 is off, `None` a share of what the model takes."""
    effort: str | None = None
    """One of `EFFORTS`."""
    thinking: bool | None = None
    input_price: float | None = None
    """For a million tokens, in US dollars, where the person says so; no price is ever assumed."""
    output_price: float | None = None
    max_calls: int = 200
    """Tool calls in one turn, after which it is ended and the person asked."""

    def format_resume_command(self, session: str = "") -> str:
        """The command that continues a session with who answers in it; by default the last one."""
        words = ["memtui", "chat", "--resume", *([session] if session else [])]
        return shlex.join([*words, *(["--agent", self.program] if self.program else [])])
