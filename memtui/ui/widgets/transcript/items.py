"""The items of a conversation: events become messages, tool calls and notices. No screen is loaded.

Each event costs the same, however long the conversation is: text that streams in is collected in pieces, and the view
asks for the changes now and then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import Enum

from memtui.agents.chat.events import (
    ApprovalNeeded,
    ApprovalResolved,
    CallDelta,
    CallEnded,
    CallStarted,
    ChatEvent,
    ChatFault,
    ContextCleared,
    ContextCompacted,
    ConversationRewound,
    MemoryChange,
    Notice,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
    TurnOutcome,
    TurnStarted,
    TurnUndone,
)
from memtui.core.events import Event
from memtui.core.lazy_dataclass import dataclass
from memtui.core.wording import format_count, format_short_count

CLAUDE = "claude"
YOU = "you"


class CallStage(Enum):
    """How far a tool call has come."""

    COMING = "coming"
    RUNNING = "running"
    ASKED = "asks you"
    ENDED = "ended"
    NOT_RUN = "not run"


class NoticeTone(Enum):
    """The kind of a notice."""

    RULE = "rule"
    """A change of the conversation itself; quiet."""
    INFO = "info"
    UNDONE = "undone"
    FAULT = "fault"
    WAITING = "waiting"


@dataclass(slots=True, eq=False)
class TranscriptItem:
    """One item of the conversation.

    Attributes:
        turn: The number of its turn.
        index: Its place among all items, from 0.
        is_open: Whether it is unfolded.
    """

    turn: int
    index: int = field(default=0, kw_only=True)
    is_open: bool = field(default=False, kw_only=True)


@dataclass(slots=True, eq=False)
class MessageItem(TranscriptItem):
    """A message of a speaker, `you` or `claude`, with the names and sizes (bytes) of its attachments."""

    speaker: str
    attachments: tuple[tuple[str, int], ...] = ()
    _text: str = ""
    _pieces: list[str] = field(default_factory=list)

    def append_text(self, piece: str) -> None:
        """Continue the text."""
        self._pieces.append(piece)

    @property
    def text(self) -> str:
        """The text so far."""
        if self._pieces:
            self._text += "".join(self._pieces)
            self._pieces.clear()
        return self._text


@dataclass(slots=True, eq=False)
class ThoughtItem(MessageItem):
    """A thought of the model.

    Attributes:
        began: Seconds of the clock of the events.
        ended: Seconds; `None` while it continues.
    """

    began: float = 0
    ended: float | None = None


@dataclass(slots=True, eq=False)
class CallItem(TranscriptItem):
    """One tool call.

    Attributes:
        call_id: Its id in the conversation.
        name: The tool.
        fields: The input, as far as it has come.
        stage: How far the call has come.
        text: The answer, exactly as the model got it.
        is_error: Whether the call was refused.
        event: The recorded event.
        edit: The event of the text that the person wrote in its place.
    """

    call_id: str
    name: str
    fields: Mapping[str, object]
    stage: CallStage
    text: str = ""
    is_error: bool = False
    event: Event | None = None
    edit: Event | None = None


@dataclass(slots=True, eq=False)
class NoticeItem(TranscriptItem):
    """A sentence of memtui.

    Attributes:
        tone: Its kind.
        sentence: For the person.
        detail: A text that is folded at first.
        until: The end of a wait, in seconds of the clock of the events.
        seconds: The length of the wait.
    """

    tone: NoticeTone
    sentence: str
    detail: str = ""
    until: float = 0
    seconds: float = 0


@dataclass(slots=True, eq=False)
class TurnEndItem(TranscriptItem):
    """The end of a turn.

    Attributes:
        end: Its outcome.
        calls: The number of its tool calls.
        remembered: The changed memories.
        is_last: Whether it is the last turn, so that it can be undone.
        is_undone: Whether its writes were undone.
        is_explained: Whether the notice before it gives the outcome.
    """

    end: TurnOutcome
    calls: int
    remembered: tuple[MemoryChange, ...]
    is_last: bool = True
    is_undone: bool = False
    is_explained: bool = False


class TranscriptModel:
    """The items of a conversation, and their changes since the last `take_changes`."""

    def __init__(self) -> None:
        self.items: list[TranscriptItem] = []
        self.cards_open = False
        """Whether new tool calls are unfolded."""
        self._turn = 0
        self._calls: dict[str, CallItem] = {}
        self._asked: dict[int, CallItem] = {}
        self._pending: dict[str, CallItem] = {}
        """Calls without an answer."""
        self._block: tuple[int, int, MessageItem] | None = None
        self._thought: ThoughtItem | None = None
        self._waiting: NoticeItem | None = None
        self._last: TurnEndItem | None = None
        self._changed: dict[TranscriptItem, None] = {}
        self._cut: int | None = None

    @property
    def is_live(self) -> bool:
        """Whether an item is counted in seconds."""
        return bool(self.get_ticking())

    def get_ticking(self) -> Sequence[TranscriptItem]:
        """The items that are counted in seconds."""
        return [item for item in (self._thought, self._waiting) if item is not None]

    @property
    def is_last_being_written(self) -> bool:
        """Whether the last item is a message whose turn has not ended."""
        return self._block is not None and self._block[2] is self.items[-1]

    def take_changes(self) -> tuple[int, list[TranscriptItem]]:
        """The index from which on items came or went, and the changed items before it, since the last call."""
        cut = len(self.items) if self._cut is None else self._cut
        changed = [item for item in self._changed if item.index < cut and self.has_item(item)]
        self._changed.clear()
        self._cut = None
        return cut, changed

    def has_item(self, item: TranscriptItem) -> bool:
        """Whether an item is in the conversation."""
        return item.index < len(self.items) and self.items[item.index] is item

    def mark_changed(self, item: TranscriptItem) -> None:
        """Mark an item as changed."""
        self._changed[item] = None

    def set_cards_open(self, is_open: bool) -> None:
        """Fold or unfold all tool calls, present and future ones."""
        self.cards_open = is_open
        for item in self.items:
            if isinstance(item, CallItem) and item.is_open != is_open:
                item.is_open = is_open
                self.mark_changed(item)

    def apply_event(self, event: ChatEvent, now: float = 0) -> None:
        """Apply an event at a time of any clock (in seconds)."""
        match event:
            case TurnStarted(turn, prompt):
                self._end_pending(now)
                self._turn = turn
                self._supersede_last()
                sizes = tuple((each.name, len(each.data)) for each in prompt.attachments)
                self._add_item(MessageItem(turn, YOU, sizes, prompt.text))
            case ThinkingDelta(turn, text):
                self._add_thought(turn, text, now)
            case TextDelta(turn, block, text):
                self._add_text(turn, block, text, now)
            case CallDelta(turn, call_id, name, fields):
                self._end_pending(now)
                self._update_call(turn, call_id, name, fields, CallStage.COMING)
            case CallStarted(turn, call_id, name, fields):
                self._end_pending(now)
                self._update_call(turn, call_id, name, fields, CallStage.RUNNING)
            case ApprovalNeeded(turn, call_id, number, proposal):
                call = self._calls.get(call_id)
                fields = proposal.raw if call is None else call.fields
                name = "memory" if call is None else call.name
                self._asked[number] = self._update_call(turn, call_id, name, fields, CallStage.ASKED)
            case ApprovalResolved(number):
                call = self._asked.pop(number, None)
                if call is not None and call.stage is CallStage.ASKED:
                    call.stage = CallStage.RUNNING
                    self.mark_changed(call)
            case CallEnded():
                self._end_pending(now)
                call = self._update_call(event.turn, event.call_id, event.name, event.fields, CallStage.ENDED)
                call.text, call.is_error, call.event, call.edit = event.text, event.is_error, event.event, event.edit
                self._pending.pop(event.call_id, None)
            case TurnEnded():
                self._end_turn(event, now)
            case TurnUndone(turn, _, sentence):
                for item in reversed(self.items):
                    if isinstance(item, TurnEndItem) and item.turn == turn:
                        item.is_undone = True
                        self.mark_changed(item)
                        break
                self._add_item(NoticeItem(self._turn, NoticeTone.UNDONE, sentence))
            case ConversationRewound(turn):
                self._rewind(turn)
            case _:
                self._add_notice(event, now)

    def _add_notice(self, event: ChatEvent, now: float) -> None:
        match event:
            case ContextCleared(calls, tokens):
                sentence = f"{format_count(calls, 'old tool result')} cleared, {format_short_count(tokens)} tokens"
                self._add_item(NoticeItem(self._turn, NoticeTone.RULE, sentence))
            case ContextCompacted(summary):
                sentence = "the earlier conversation is now a summary for the model"
                self._add_item(NoticeItem(self._turn, NoticeTone.RULE, sentence, summary))
            case RetryScheduled(sentence, seconds):
                self._end_pending(now)
                self._waiting = NoticeItem(
                    self._turn, NoticeTone.WAITING, sentence, until=now + seconds, seconds=seconds
                )
                self._add_item(self._waiting)
            case ChatFault(_, sentence):
                self._end_pending(now)
                self._add_item(NoticeItem(self._turn, NoticeTone.FAULT, sentence))
            case Notice(sentence):
                self._add_item(NoticeItem(self._turn, NoticeTone.INFO, sentence))

    def _replace_items(self, start: int, items: Sequence[TranscriptItem]) -> None:
        """Replace the items from an index on."""
        self.items[start:] = items
        for index, item in enumerate(items, start):
            item.index = index
        self._cut = start if self._cut is None else min(self._cut, start)

    def _add_item(self, item: TranscriptItem) -> None:
        self._replace_items(len(self.items), [item])

    def _end_pending(self, now: float) -> None:
        """End the current thought and the current wait."""
        if self._thought is not None:
            self._thought.ended = now
            self.mark_changed(self._thought)
            self._thought = None
        if self._waiting is not None:
            self._replace_items(self._waiting.index, self.items[self._waiting.index + 1 :])
            self._waiting = None

    def _supersede_last(self) -> None:
        if self._last is not None:
            self._last.is_last = False
            self.mark_changed(self._last)
            self._last = None

    def _add_thought(self, turn: int, text: str, now: float) -> None:
        if self._thought is None or self._thought.turn != turn:
            self._end_pending(now)
            self._thought = ThoughtItem(turn, CLAUDE, began=now)
            self._add_item(self._thought)
        self._thought.append_text(text)
        self.mark_changed(self._thought)

    def _add_text(self, turn: int, block: int, text: str, now: float) -> None:
        if not text:
            return
        if self._block is None or self._block[:2] != (turn, block):
            text = text.lstrip("\r\n")
            if not text.strip():
                return
            self._end_pending(now)
            self._block = (turn, block, MessageItem(turn, CLAUDE))
            self._add_item(self._block[2])
        elif self._thought is not None or self._waiting is not None:
            self._end_pending(now)
        self._block[2].append_text(text)
        self.mark_changed(self._block[2])

    def _update_call(
        self, turn: int, call_id: str, name: str, fields: Mapping[str, object], stage: CallStage
    ) -> CallItem:
        call = self._calls.get(call_id)
        if call is None or call.turn != turn:
            call = CallItem(turn, call_id, name, fields, stage, is_open=self.cards_open)
            self._calls[call_id] = call
            self._add_item(call)
        call.name, call.fields, call.stage = name, fields, stage
        self._pending[call_id] = call
        self.mark_changed(call)
        return call

    def _end_turn(self, event: TurnEnded, now: float) -> None:
        self._end_pending(now)
        for call in self._pending.values():  # they came too late to be carried out
            call.stage = CallStage.NOT_RUN
            self.mark_changed(call)
        self._pending.clear()
        self._asked.clear()
        self._block = None
        self._supersede_last()
        before = self.items[-1] if self.items else None
        is_notice = isinstance(before, NoticeItem) and before.tone in (NoticeTone.INFO, NoticeTone.FAULT)
        is_explained = is_notice and before is not None and before.turn == event.turn
        self._last = TurnEndItem(event.turn, event.end, event.calls, event.memory_changes, is_explained=is_explained)
        self._add_item(self._last)

    def _rewind(self, turn: int) -> None:
        """Remove a turn and all turns behind it."""
        start = next((item.index for item in self.items if item.turn >= turn), len(self.items))
        self._replace_items(start, [item for item in self.items[start:] if item.turn < turn])
        self._calls = {key: call for key, call in self._calls.items() if call.turn < turn}
        self._pending.clear()
        self._asked.clear()
        self._block = self._thought = self._waiting = None
        if self._last is not None and self._last.turn >= turn:
            self._last = None
