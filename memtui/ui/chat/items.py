"""What a conversation consists of: events that come by the thousand become a list of messages, tool calls and remarks.

Nothing here knows a screen. Each event costs the same, however long the conversation is: text that streams in is
gathered in pieces, and whoever draws asks now and then what has changed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from memtui.agents.chat.events import (
    Answered,
    Asked,
    Attachment,
    CallBegan,
    CallEnded,
    CallStreaming,
    ChatEvent,
    Compacted,
    ContextCleared,
    End,
    Fault,
    Remembered,
    Rewound,
    TextDelta,
    ThinkingDelta,
    Told,
    TurnBegan,
    TurnEnded,
    TurnUndone,
    Waiting,
)
from memtui.core.events import Event

CLAUDE = "claude"
YOU = "you"


class Stage(Enum):
    """How far a tool call has come."""

    COMING = "coming"
    RUNNING = "running"
    ASKED = "asks you"
    ENDED = "ended"
    NOT_RUN = "not run"


class Tone(Enum):
    """What kind of remark it is."""

    RULE = "rule"
    """What happened to the conversation itself; quiet."""
    TOLD = "told"
    UNDONE = "undone"
    FAULT = "fault"
    WAITING = "waiting"


@dataclass(slots=True, eq=False)
class Item:
    """One thing in the conversation.

    Attributes:
        turn: In which turn.
        index: Its place among all, from 0.
        is_open: Whether what is folded away at first is shown.
    """

    turn: int
    index: int = field(default=0, kw_only=True)
    is_open: bool = field(default=False, kw_only=True)


@dataclass(slots=True, eq=False)
class Message(Item):
    """What somebody said.

    Attributes:
        who: `you` or `claude`.
        attachments: Name and bytes of the files that went with it.
    """

    who: str
    attachments: tuple[tuple[str, int], ...] = ()
    _text: str = ""
    _pieces: list[str] = field(default_factory=list)

    def add(self, piece: str) -> None:
        """It goes on."""
        self._pieces.append(piece)

    @property
    def text(self) -> str:
        """All that was said until now."""
        if self._pieces:
            self._text += "".join(self._pieces)
            self._pieces.clear()
        return self._text


@dataclass(slots=True, eq=False)
class Thought(Message):
    """What the model thought before it said something.

    Attributes:
        began: When, in seconds of the clock of whoever tells the events.
        ended: When it said or did something else; `None` while it thinks.
    """

    began: float = 0
    ended: float | None = None


@dataclass(slots=True, eq=False)
class Call(Item):
    """One tool call.

    Attributes:
        call_id: The model's id of it.
        name: The tool.
        fields: The input, as far as it is here.
        stage: How far it has come.
        text: The answer, exactly as the model got it.
        is_error: Whether it is a refusal.
        event: What was recorded.
        edit: What the person wrote in its place.
    """

    call_id: str
    name: str
    fields: Mapping[str, object]
    stage: Stage
    text: str = ""
    is_error: bool = False
    event: Event | None = None
    edit: Event | None = None


@dataclass(slots=True, eq=False)
class Remark(Item):
    """A sentence that neither of the two said.

    Attributes:
        tone: What kind.
        sentence: For the person.
        detail: More, folded away at first.
        until: For what waits: when it goes on, in seconds of the clock.
        seconds: And how long that was to be.
    """

    tone: Tone
    sentence: str
    detail: str = ""
    until: float = 0
    seconds: float = 0


@dataclass(slots=True, eq=False)
class Ended(Item):
    """What a turn came to.

    Attributes:
        end: How it ended.
        calls: How many tool calls it had.
        remembered: What became of memories.
        is_last: Whether nothing was said since, so that it can be taken back.
        is_undone: Whether its writes were taken back.
        is_told: Whether the remark before it says how it ended.
    """

    end: End
    calls: int
    remembered: tuple[Remembered, ...]
    is_last: bool = True
    is_undone: bool = False
    is_told: bool = False


class Conversation:
    """The items, and which of them have changed since somebody asked."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.cards_open = False
        """Whether tool calls show all there is to them."""
        self._turn = 0
        self._calls: dict[str, Call] = {}
        self._asked: dict[int, Call] = {}
        self._pending: dict[str, Call] = {}
        """Calls that are not answered."""
        self._block: tuple[int, int, Message] | None = None
        self._thought: Thought | None = None
        self._waiting: Remark | None = None
        self._last: Ended | None = None
        self._changed: dict[Item, None] = {}
        self._cut: int | None = None

    @property
    def is_live(self) -> bool:
        """Whether something on it is counted in seconds."""
        return self._thought is not None or self._waiting is not None

    def ticking(self) -> Iterator[Item]:
        """What is counted in seconds."""
        if self._thought is not None:
            yield self._thought
        if self._waiting is not None:
            yield self._waiting

    def changes(self) -> tuple[int, list[Item]]:
        """From which place on items came or went, and which others have changed, since this was asked last."""
        cut = len(self.items) if self._cut is None else self._cut
        changed = [item for item in self._changed if item.index < cut and self.items[item.index] is item]
        self._changed.clear()
        self._cut = None
        return cut, changed

    def touch(self, item: Item) -> None:
        """Something about an item is different."""
        self._changed[item] = None

    def open_cards(self, is_open: bool) -> None:
        """Fold or unfold all tool calls, and those that come."""
        self.cards_open = is_open
        for item in self.items:
            if isinstance(item, Call) and item.is_open != is_open:
                item.is_open = is_open
                self.touch(item)

    def take(self, event: ChatEvent, now: float = 0) -> None:
        """Something happened.

        Args:
            event: What.
            now: When, in seconds of any clock.
        """
        match event:
            case TurnBegan(turn, prompt):
                self._settle(now)
                self._turn = turn
                self._supersede()
                sizes = tuple(_size(each) for each in prompt.attachments)
                self._add(Message(turn, YOU, sizes, prompt.text))
            case ThinkingDelta(turn, text):
                self._think(turn, text, now)
            case TextDelta(turn, block, text):
                self._say(turn, block, text, now)
            case CallStreaming(turn, call_id, name, fields):
                self._settle(now)
                self._call(turn, call_id, name, fields, Stage.COMING)
            case CallBegan(turn, call_id, name, fields):
                self._settle(now)
                self._call(turn, call_id, name, fields, Stage.RUNNING)
            case Asked(turn, call_id, number, proposal):
                call = self._calls.get(call_id)
                fields = proposal.raw if call is None else call.fields
                name = "memory" if call is None else call.name
                self._asked[number] = self._call(turn, call_id, name, fields, Stage.ASKED)
            case Answered(number):
                call = self._asked.pop(number, None)
                if call is not None and call.stage is Stage.ASKED:
                    call.stage = Stage.RUNNING
                    self.touch(call)
            case CallEnded():
                self._settle(now)
                call = self._call(event.turn, event.call_id, event.name, event.fields, Stage.ENDED)
                call.text, call.is_error, call.event, call.edit = event.text, event.is_error, event.event, event.edit
                self._pending.pop(event.call_id, None)
            case TurnEnded():
                self._end(event, now)
            case TurnUndone(turn, _, sentence):
                for item in reversed(self.items):
                    if isinstance(item, Ended) and item.turn == turn:
                        item.is_undone = True
                        self.touch(item)
                        break
                self._add(Remark(self._turn, Tone.UNDONE, sentence))
            case Rewound(turn):
                self._rewind(turn)
            case _:
                self._remark(event, now)

    def _remark(self, event: ChatEvent, now: float) -> None:
        match event:
            case ContextCleared(calls, tokens):
                sentence = f"{_many(calls, 'old tool result')} cleared, {short_count(tokens)} tokens"
                self._add(Remark(self._turn, Tone.RULE, sentence))
            case Compacted(summary):
                sentence = "what was said before is now a summary for the model"
                self._add(Remark(self._turn, Tone.RULE, sentence, summary))
            case Waiting(sentence, seconds):
                self._settle(now)
                self._waiting = Remark(self._turn, Tone.WAITING, sentence, until=now + seconds, seconds=seconds)
                self._add(self._waiting)
            case Fault(_, sentence):
                self._settle(now)
                self._add(Remark(self._turn, Tone.FAULT, sentence))
            case Told(sentence):
                self._add(Remark(self._turn, Tone.TOLD, sentence))
            case _:  # what the rest of the screen shows
                pass

    def _add(self, item: Item) -> None:
        item.index = len(self.items)
        self.items.append(item)
        self._cut = item.index if self._cut is None else min(self._cut, item.index)

    def _remove(self, item: Item) -> None:
        del self.items[item.index]
        for index in range(item.index, len(self.items)):
            self.items[index].index = index
        self._cut = item.index if self._cut is None else min(self._cut, item.index)

    def _settle(self, now: float) -> None:
        """Another thing happens: no thought goes on, and nothing is waited for."""
        if self._thought is not None:
            self._thought.ended = now
            self.touch(self._thought)
            self._thought = None
        if self._waiting is not None:
            self._remove(self._waiting)
            self._waiting = None

    def _supersede(self) -> None:
        if self._last is not None:
            self._last.is_last = False
            self.touch(self._last)
            self._last = None

    def _think(self, turn: int, text: str, now: float) -> None:
        if self._thought is None or self._thought.turn != turn:
            self._settle(now)
            self._thought = Thought(turn, CLAUDE, began=now)
            self._add(self._thought)
        self._thought.add(text)
        self.touch(self._thought)

    def _say(self, turn: int, block: int, text: str, now: float) -> None:
        if not text:
            return
        if self._block is None or self._block[:2] != (turn, block):
            text = text.lstrip("\r\n")
            if not text.strip():
                return
            self._settle(now)
            self._block = (turn, block, Message(turn, CLAUDE))
            self._add(self._block[2])
        elif self._thought is not None or self._waiting is not None:
            self._settle(now)
        self._block[2].add(text)
        self.touch(self._block[2])

    def _call(self, turn: int, call_id: str, name: str, fields: Mapping[str, object], stage: Stage) -> Call:
        call = self._calls.get(call_id)
        if call is None or call.turn != turn:
            call = Call(turn, call_id, name, fields, stage, is_open=self.cards_open)
            self._calls[call_id] = call
            self._add(call)
        call.name, call.fields, call.stage = name, fields, stage
        self._pending[call_id] = call
        self.touch(call)
        return call

    def _end(self, event: TurnEnded, now: float) -> None:
        self._settle(now)
        for call in self._pending.values():  # what came too late to be carried out
            call.stage = Stage.NOT_RUN
            self.touch(call)
        self._pending.clear()
        self._asked.clear()
        self._block = None
        self._supersede()
        before = self.items[-1] if self.items else None
        is_told = isinstance(before, Remark) and before.turn == event.turn and before.tone in (Tone.TOLD, Tone.FAULT)
        self._last = Ended(event.turn, event.end, event.calls, event.remembered, is_told=is_told)
        self._add(self._last)

    def _rewind(self, turn: int) -> None:
        """A turn and all after it are out of the conversation."""
        place = next((item.index for item in self.items if item.turn >= turn), len(self.items))
        gone = self.items[place:]
        kept = [item for item in gone if item.turn < turn]
        self.items[place:] = kept
        for index in range(place, len(self.items)):
            self.items[index].index = index
        self._cut = place if self._cut is None else min(self._cut, place)
        self._calls = {key: call for key, call in self._calls.items() if call.turn < turn}
        self._pending.clear()
        self._asked.clear()
        self._block = self._thought = self._waiting = None
        if self._last is not None and self._last.turn >= turn:
            self._last = None


def _size(attachment: Attachment) -> tuple[str, int]:
    return attachment.name, len(attachment.data)


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def short_count(count: int) -> str:
    """Tokens for people: `820`, `18.2k`, `1.2m`."""
    if count < 1_000:
        return str(count)
    value, unit = (count / 1e3, "k") if count < 999_950 else (count / 1e6, "m")
    return f"{value:.1f}{unit}"
