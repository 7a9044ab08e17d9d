"""The record of one turn, whoever answers in it: its beginning, its calls and what they changed, and its end."""

import contextlib

from memtui.agents.chat import events
from memtui.agents.chat.state import ChangeTally, ChatState
from memtui.agents.chat.stream import ToolCall
from memtui.agents.chat.tool_calls import ToolResult
from memtui.core.errors import MemtuiError
from memtui.core.unicode import to_one_line


class TurnRecord:
    """Emits, records and counts one turn, once.

    Attributes:
        calls: Tool calls that were executed.
        ended_calls: The ids of those that have an answer.
    """

    def __init__(self, state: ChatState) -> None:
        self._state = state
        self._number = state.turn
        self._tally = ChangeTally()
        self._refused = 0
        self.calls = 0
        self.ended_calls: set[str] = set()

    def begin(self, prompt: events.Prompt) -> int:
        """Begin the turn; returns its number."""
        state = self._state
        if state.unanswered is not None:
            state.session.write("rewound", turn=state.unanswered, why="fault")
            state.unanswered = None
        state.turn += 1
        number = self._number = state.turn
        state.last, state.writes = (number, prompt), (number, [])
        state.meter.begin_turn()
        files = [
            {"name": each.name, "media_type": each.media_type, "size": len(each.data)} for each in prompt.attachments
        ]
        other = {} if state.options.agent == events.CLAUDE else {"agent": state.options.agent}
        state.session.write("turn_began", turn=number, text=prompt.text, attachments=files, **other)
        state.emit(events.TurnStarted(number, prompt))
        return number

    def add_result(self, call: ToolCall, result: ToolResult) -> None:
        """Emit, record and count a call that is answered."""
        state, event, edit = self._state, result.event, result.edit
        self.ended_calls.add(call.id)
        self._refused += result.is_error
        text = None
        for each in (edit, event):
            if each is not None and each.changes:
                self._tally.add(each, edited=each is edit)
                if each.seq:  # an event that could not be recorded has none; recovery records it under another
                    state.writes[1].append(each.seq)
        if edit is not None:
            version = next((change.after for change in edit.changes if change.after is not None), None)
            with contextlib.suppress(MemtuiError):  # the memory was closed meanwhile: the journal has the text
                data = state.memory.history.text(version)
                text = None if data is None else data.decode("utf-8", "replace")
        if event is not None and event.command == "view" and not result.is_error:
            state.meter.add_view(result.text)
        state.session.write(
            "call",
            turn=self._number,
            call_id=call.id,
            name=call.name,
            input=call.input,
            answer=result.text,
            is_error=result.is_error,
            seq=event.seq if event else None,
            edit_seq=edit.seq if edit else None,
            note=event.note if event else "",
            edit=text,
        )
        state.emit(
            events.CallEnded(self._number, call.id, call.name, call.fields, result.text, result.is_error, event, edit)
        )

    async def finish(self, end: events.TurnOutcome, seconds: float) -> events.TurnEnded:
        """Record the end of the turn; the caller emits it."""
        state = self._state
        remembered: tuple[events.MemoryChange, ...] = ()
        try:
            remembered = await state.worker.run(lambda: self._tally.summarize(state.memory.history.text))
        except Exception as error:  # the memory was closed, or cannot be read: the turn ends all the same
            state.emit(events.Notice(f"Can't show what this turn changed in memory: {to_one_line(str(error))}"))
        usage = state.meter.turn
        state.session.write(
            "turn_ended", turn=self._number, end=end.value, seconds=round(seconds, 3), usage=usage,
            remembered=remembered,
        )  # fmt: skip
        state.pacer.flush()
        return events.TurnEnded(self._number, end, seconds, self.calls, self._refused, remembered, usage)
