"""What a conversation has come to, made from what it told: what the screen around the transcript says is read here."""

from collections.abc import Iterable, Mapping

from rich.cells import cell_len

from memtui.agents.chat.events import (
    Answered,
    Asked,
    Attachment,
    CallBegan,
    CallEnded,
    ChatEvent,
    End,
    Model,
    ModelChanged,
    ModelsKnown,
    PolicyChanged,
    Prompt,
    QueueChanged,
    Ready,
    Remembered,
    Rewound,
    TurnBegan,
    TurnEnded,
    TurnUndone,
    Usage,
    UsageChanged,
)
from memtui.core.asking import Policy
from memtui.core.events import Event
from memtui.core.paths import ROOT_NAME
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.frame import Word

_WRITES = {
    Policy.ASK: "ask first",
    Policy.ALLOW: "allow",
    Policy.READ_ONLY: "read-only",
}
_NEXT = {Policy.ASK: Policy.ALLOW, Policy.ALLOW: Policy.READ_ONLY, Policy.READ_ONLY: Policy.ASK}


class Talk:
    """What is known of a conversation.

    Attributes:
        model: Which model answers; `None` until it is known.
        models: Those that the API lists.
        host: Where requests go.
        is_ready: Whether a message would go out at once.
        is_busy: Whether a turn runs.
        policy: What becomes of changes.
        always: Below which paths the person is not asked.
        usage: Of the whole conversation.
        queue: Messages that wait.
        question: What is asked now.
        turns: Turns that were ended, by number.
        events: What was recorded in this session, in order, each with whether the person wrote it in the model's place.
        paths: Memories that tool calls are about, by call id.
        has_turns: Whether something was said.
        viewed: Memories that the model looked at, by path, with how often.
        said: What the person has said, for the box to bring it back.
    """

    def __init__(self, policy: Policy = Policy.ASK, *, model: str | None = None) -> None:
        self.model = Model(model) if model else None
        self.models: tuple[Model, ...] = ()
        self.host = ""
        self.is_ready = False
        self.is_busy = False
        self.policy = policy
        self.always: frozenset[str] = frozenset()
        self.usage = Usage()
        self.queue: tuple[Prompt, ...] = ()
        self.question: Asked | None = None
        self.turns: dict[int, TurnEnded] = {}
        self.events: list[tuple[Event, bool]] = []
        self.paths: dict[str, str] = {}
        self.has_turns = False
        self.viewed: dict[str, int] = {}
        self.said: list[str] = []

    def take(self, event: ChatEvent) -> None:
        """Something was told."""
        match event:
            case Ready(model=model, host=host):
                self.is_ready, self.model, self.host = True, model, host
            case ModelsKnown(models=models):
                self.models = models
            case ModelChanged(model=model):
                self.model = model
            case TurnBegan(prompt=prompt):
                self.is_busy = self.has_turns = True
                if prompt.text.strip() and prompt.text not in self.said[-20:]:
                    self.said.append(prompt.text)
            case QueueChanged(prompts=prompts):
                self.queue = prompts
            case Asked():
                self.question = event
            case Answered(number=number) if self.question is not None and self.question.number == number:
                self.question = None
            case CallEnded():
                self._take_call(event)
            case UsageChanged(session=usage):
                self.usage = usage
            case TurnEnded():
                self.is_busy = False
                self.turns[event.turn] = event
            case TurnUndone(event=recorded):
                self.events.append((recorded, False))
            case Rewound(prompt=None):
                self.is_busy = False
            case PolicyChanged(policy=policy, always=always):
                self.policy, self.always = policy, always

    def _take_call(self, event: CallEnded) -> None:
        for recorded, is_edit in ((event.edit, True), (event.event, False)):
            if recorded is not None and recorded.changes:
                self.events.append((recorded, is_edit))
        path = self.paths[event.call_id] = path_of(event.fields)
        if event.fields.get("command") == "view" and not event.is_error and path:
            self.viewed[path] = self.viewed.get(path, 0) + 1

    def header(self) -> tuple[Word, ...]:
        """What the header says of it; what matters least goes first where there is no room."""
        usage = self.usage
        read = f"read {_thousands(usage.memory_chars)} chars" if usage.memory_chars else ""
        tokens = ""
        if usage.requests or usage.input_tokens:
            tokens = f"{_thousands(usage.input_tokens)} in / {_thousands(usage.output_tokens)} out"
        return (
            Word(one_line(model_name(self.model)), "", 7),
            Word(self.context(), "$text-warning bold" if self._is_nearly_full() else "", 6),
            Word(tokens, "", 4),
            Word(money(usage.cost, self.model), "", 5),
            Word(read, "", 3),
            Word(f"[{self.policy}]", "$text-accent bold" if self.policy is Policy.ASK else "$text-warning bold"),
        )

    def context(self) -> str:
        """How full the context is, as far as it is known."""
        limit = self.model.context if self.model else None
        if not self.usage.context:
            return ""
        if not limit:
            return f"ctx {_thousands(self.usage.context)}"
        return f"ctx {min(round(100 * self.usage.context / limit), 999)}%"

    def _is_nearly_full(self) -> bool:
        limit = self.model.context if self.model else None
        return bool(limit) and self.usage.context > 0.85 * (limit or 1)


def next_policy(policy: Policy) -> Policy:
    """What Shift+Tab makes of it."""
    return _NEXT[policy]


def policy_words(policy: Policy, always: frozenset[str] = frozenset()) -> str:
    """What becomes of writes, for the message line."""
    ways = " / ".join(_WRITES.values())
    words = f"Memory writes: {_WRITES[policy]} (Shift+Tab: {ways})"
    if policy is Policy.ASK and always:
        places = ", ".join(place_words(prefix) for prefix in sorted(always)[:3])
        words += f". Not asked in {places}{' and more' if len(always) > 3 else ''}"
    return words


def place_words(prefix: str) -> str:
    """Where nothing is asked any more, as the agent calls it."""
    return f"{ROOT_NAME}/{one_line(prefix)}" if prefix else f"all of {ROOT_NAME}"


def brief(words: str, width: int) -> str:
    """As many whole sentences as there is room for, and the first one in any case."""
    fitting = words
    while cell_len(fitting) > width and ". " in fitting:
        fitting = f"{fitting.rpartition('. ')[0]}."
    return fitting


def finished(ended: TurnEnded) -> str:
    """How a turn ended, in a sentence."""
    beginning = {
        End.DONE: "Claude finished",
        End.STOPPED: "Stopped; what was said is kept",
        End.FAULT: "Ended by a fault; what was said is kept",
        End.CUT: "The answer ends early; what was said is kept",
        End.REFUSED: "Claude declined to go on",
        End.TOO_MANY_CALLS: "Ended after too many tool calls; say `go on` to let Claude continue",
    }[ended.end]
    counts = []
    if ended.calls:
        refused = ""
        if ended.refused:
            refused = f" ({ended.refused} refused)" if ended.end is End.DONE else f", {ended.refused} not carried out"
        counts.append(f"{ended.calls:,} tool {'call' if ended.calls == 1 else 'calls'}{refused}")
    if ended.remembered:
        counts.append(f"{wording.files(len(ended.remembered))} changed")
    counts.append(f"{ended.seconds:.1f} s")
    told = ", ".join(counts)
    return f"{beginning}: {told}." if ended.end is End.DONE else f"{beginning} ({told})."


def remembered_words(each: Remembered) -> str:
    """What became of one memory, such as `notes.md  changed  +1 -1`."""
    name = f"{each.old_path} > {each.path}" if each.old_path else each.path
    counts = [f"+{each.added}" if each.added else "", f"-{each.removed}" if each.removed else ""]
    edited = "edited by you first" if each.edited else ""
    return "  ".join(part for part in (one_line(name), each.how, " ".join(filter(None, counts)), edited) if part)


def path_of(fields: Mapping[str, object]) -> str:
    """The memory that a call names, relative to the folder; empty for none, and for the folder itself."""
    for name in ("path", "old_path"):
        path = fields.get(name)
        if isinstance(path, str):
            return wording.relative(path) if path.startswith(ROOT_NAME + "/") else ""
    return ""


def letter_of(event: CallBegan) -> str:
    """What stands before a name in the tree while a call is about it: `r` for reading, `w` for writing."""
    return "r" if event.fields.get("command") == "view" else "w"


def model_name(model: Model | None) -> str:
    """How a model is called, where there is little room."""
    return model.id if model else ""


def model_choice(model: Model, now: Model | None) -> str:
    """A model among others, with a word at the one that answers now."""
    words = [model.name, model.id, "answers now" if now is not None and model.id == now.id else ""]
    return "  ".join(one_line(word) for word in words if word)


def named(attachments: Iterable[Attachment]) -> str:
    """What goes along with a message: `notes.pdf 12K, photo.png 1.2M`."""
    return ", ".join(f"{one_line(each.name)} {wording.size(len(each.data))}" for each in attachments)


def money(cost: float | None, model: Model | None) -> str:
    """What it has cost, where prices are known: never guessed."""
    if cost is None:
        return ""
    currency = model.currency if model else "USD"
    sign = "$" if currency == "USD" else f"{one_line(currency)} "
    return f"{sign}{cost:.2f}" if cost >= 0.005 or not cost else f"{sign}{cost:.4f}"


def _thousands(count: int) -> str:
    """`812`, `18.2k`, `1.2M`."""
    if count < 1_000:
        return str(count)
    if count < 999_950:
        return f"{count / 1_000:.1f}k"
    return f"{count / 1_000_000:.1f}M"
