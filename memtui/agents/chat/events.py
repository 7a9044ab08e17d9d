"""What a conversation tells while it goes on. Screens and scripts are made from these, and from nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from memtui.core.asking import Policy, Proposal
from memtui.core.events import Event


@dataclass(frozen=True, slots=True)
class Model:
    """A model, as far as the API tells. Nothing here is from memory: `None` is not known.

    Attributes:
        id: As requests name it.
        name: As people do.
        context: Tokens that a request may hold.
        max_tokens: Tokens that an answer may have.
        efforts: Levels of effort that it takes, lowest first; empty for none.
        thinking: Kinds of thinking that it takes: `adaptive`, `enabled`, `disabled`.
        clears_tools: Whether old tool results can be cleared from its context.
        compacts: Whether it compacts a conversation by itself.
        sees_images: Whether it takes pictures.
        reads_pdf: Whether it takes PDF files.
        input_price: For a million tokens, in the currency of `currency`, where API or configuration say.
        output_price: The same for what it writes.
    """

    id: str
    name: str = ""
    context: int | None = None
    max_tokens: int | None = None
    efforts: tuple[str, ...] = ()
    thinking: tuple[str, ...] = ()
    clears_tools: bool | None = None
    compacts: bool | None = None
    sees_images: bool | None = None
    reads_pdf: bool | None = None
    input_price: float | None = None
    output_price: float | None = None
    currency: str = "USD"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that goes with a message.

    Attributes:
        name: As the person sees it, without its directory.
        media_type: Such as `text/plain`, `image/png`, `application/pdf`.
        data: Its bytes.
    """

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the person says: one message.

    Attributes:
        text: Her words.
        attachments: Files that go with it.
    """

    text: str
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """What was used: of one turn, or of the conversation.

    Attributes:
        context: Tokens that the last request held with its answer: what the next one begins with.
        input_tokens: Tokens sent, those from the cache included, summed over requests.
        output_tokens: Tokens written by the model.
        cached_tokens: Of the tokens sent, those read from the cache.
        requests: How many requests.
        memory_chars: Characters of memory that the model was shown by views.
        cost: In the model's currency; `None` where no price is known.
    """

    context: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    requests: int = 0
    memory_chars: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a turn, or the session, made of one memory.

    Attributes:
        path: Relative to the folder.
        how: `created`, `changed`, `deleted` or `renamed`.
        old_path: Where it was before, of a rename.
        added: Lines added, where lines apply.
        removed: Lines removed.
        before: SHA-256 of the text before; `None` for nothing or for what is no text.
        after: SHA-256 of the text after.
        edited: Whether the person edited it before it was written.
    """

    path: str
    how: str
    old_path: str | None = None
    added: int | None = None
    removed: int | None = None
    before: str | None = None
    after: str | None = None
    edited: bool = False


class End(Enum):
    """How a turn ended."""

    DONE = "done"
    STOPPED = "stopped"
    """By the person; what was said until then is kept."""
    FAULT = "fault"
    """A `Fault` said why; what was said until then is kept."""
    CUT = "cut"
    """The answer reached its longest length, or its stream ended early."""
    REFUSED = "refused"
    """The model declined to go on."""
    TOO_MANY_CALLS = "too many calls"


class FaultKind(Enum):
    """What went wrong, for programs; `Fault.sentence` says it for people."""

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


# What is told


@dataclass(frozen=True, slots=True)
class Ready:
    """The SDK is loaded and the first message can be sent; what was typed before that is on its way.

    Attributes:
        model: Which model answers.
        host: Where requests go, such as `api.anthropic.com`.
        provider: `anthropic`, `bedrock`, `vertex` or `foundry`.
    """

    model: Model
    host: str
    provider: str = "anthropic"


@dataclass(frozen=True, slots=True)
class ModelsKnown:
    """The API has told which models there are."""

    models: tuple[Model, ...]


@dataclass(frozen=True, slots=True)
class ModelChanged:
    """Another model answers from now on, or more is known of this one."""

    model: Model


@dataclass(frozen=True, slots=True)
class TurnBegan:
    """A message is sent.

    Attributes:
        turn: Its number, from 1; numbers are never used twice in a session.
        prompt: The message.
    """

    turn: int
    prompt: Prompt


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """Messages that wait for the turn to end, in order."""

    prompts: tuple[Prompt, ...]


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """The model thinks."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The model writes its answer.

    Attributes:
        turn: In which turn.
        block: Number of the text block within the turn, from 0: another number begins a new paragraph.
        text: A piece of Markdown.
    """

    turn: int
    block: int
    text: str


@dataclass(frozen=True, slots=True)
class CallStreaming:
    """A tool call is coming in; told often.

    Attributes:
        turn: In which turn.
        call_id: The model's id of it.
        name: The tool.
        fields: The input as far as it is here. Text may end in the middle.
    """

    turn: int
    call_id: str
    name: str
    fields: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallBegan:
    """A tool call is complete and is carried out, or asked about, now."""

    turn: int
    call_id: str
    name: str
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Asked:
    """The person is asked whether a change may be made: `Chat.answer` answers.

    Attributes:
        turn: In which turn.
        call_id: The model's id of the call.
        number: Of the question, for the answer.
        proposal: The exact change.
    """

    turn: int
    call_id: str
    number: int
    proposal: Proposal


@dataclass(frozen=True, slots=True)
class Answered:
    """A question is settled, whoever did it: by the person, or because the turn was stopped."""

    number: int


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A tool call is answered.

    Attributes:
        turn: In which turn.
        call_id: The model's id of it.
        name: The tool.
        fields: Its whole input.
        text: The answer, exactly as the model gets it.
        is_error: Whether it is a refusal.
        event: What was recorded; `None` for a tool that is not ours.
        edit: What the person wrote in its place, if she edited it.
    """

    turn: int
    call_id: str
    name: str
    fields: Mapping[str, object]
    text: str
    is_error: bool
    event: Event | None = None
    edit: Event | None = None


@dataclass(frozen=True, slots=True)
class ContextCleared:
    """The API left old tool results out of what the model sees, to make room.

    Attributes:
        calls: How many calls.
        tokens: How many tokens they took.
    """

    calls: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Compacted:
    """What was said before was replaced by a summary in what the model sees."""

    summary: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request failed in a way that passes, and is tried again.

    Attributes:
        sentence: What happened, and when it is tried again.
        seconds: Until then.
    """

    sentence: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Fault:
    """Something went wrong; nothing that was typed is lost.

    Attributes:
        kind: What.
        sentence: What happened, why, and what to do.
        prompt: The message that got no answer: it is put back into the box.
    """

    kind: FaultKind
    sentence: str
    prompt: Prompt | None = None


@dataclass(frozen=True, slots=True)
class UsageChanged:
    """More was used.

    Attributes:
        turn: Of this turn.
        session: Of the conversation.
    """

    turn: Usage
    session: Usage


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over and the next message can be sent.

    Attributes:
        turn: Which.
        end: How.
        seconds: How long it took.
        calls: How many tool calls it had.
        refused: How many of them were refused.
        remembered: What became of memories, one each.
        usage: What it used.
    """

    turn: int
    end: End
    seconds: float
    calls: int
    refused: int
    remembered: tuple[Remembered, ...]
    usage: Usage


@dataclass(frozen=True, slots=True)
class TurnUndone:
    """The writes of a turn were taken back; the model is told in the next turn.

    Attributes:
        turn: Which.
        event: What was recorded.
        sentence: What came of it.
    """

    turn: int
    event: Event
    sentence: str


@dataclass(frozen=True, slots=True)
class Rewound:
    """A turn and all after it are out of the conversation: to be said again, or cleared.

    Attributes:
        turn: The first that is out.
        prompt: What the person had said in it; `None` where all was cleared.
        why: `edit` (it is put back into the box), `retry` (it is sent again at once) or `clear`.
    """

    turn: int
    prompt: Prompt | None
    why: str = "edit"


@dataclass(frozen=True, slots=True)
class PolicyChanged:
    """Changes are treated in another way from now on.

    Attributes:
        policy: How.
        always: Below which paths the person need not be asked.
    """

    policy: Policy
    always: frozenset[str]


@dataclass(frozen=True, slots=True)
class Told:
    """Something that is good to know, in a sentence."""

    sentence: str


ChatEvent = (
    Ready
    | ModelsKnown
    | ModelChanged
    | TurnBegan
    | QueueChanged
    | ThinkingDelta
    | TextDelta
    | CallStreaming
    | CallBegan
    | Asked
    | Answered
    | CallEnded
    | ContextCleared
    | Compacted
    | Waiting
    | Fault
    | UsageChanged
    | TurnEnded
    | TurnUndone
    | Rewound
    | PolicyChanged
    | Told
)
