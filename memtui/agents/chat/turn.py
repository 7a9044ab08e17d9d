"""One turn: a message, the model's answers to it, and the tool calls between them, until the model has said its part.

It may be stopped at any moment and may break anywhere. Whatever happens, what was said is kept, each tool call has an
answer that is true, and the next message works.
"""

import contextlib
import time
import traceback

from memtui.agents.chat.attachments import content_of
from memtui.agents.chat.carrying import TOOL, Carried
from memtui.agents.chat.changes import Tally
from memtui.agents.chat.events import (
    CallBegan,
    CallEnded,
    Compacted,
    ContextCleared,
    End,
    FaultKind,
    Prompt,
    Remembered,
    Told,
    TurnBegan,
    TurnEnded,
    UsageChanged,
)
from memtui.agents.chat.exchange import Broken, Exchange, Stopped
from memtui.agents.chat.faults import Judged, judged
from memtui.agents.chat.history import BROKEN_OFF, CUT_OFF, STOPPED, Block, result, too_many
from memtui.agents.chat.incoming import Call, Incoming
from memtui.agents.chat.requests import parameters, without_what_is_refused
from memtui.agents.chat.talk import Talk
from memtui.core.errors import Closed, MemtuiError
from memtui.core.visible import one_line
from memtui.engine.faults import reason_of

_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
_GOES_ON = frozenset({"pause_turn", "compaction"})
_MOST_PAUSES = 50
"""How often an answer may be paused by the server without a tool call."""
_UNKNOWN = "Error: it is not known whether this was done, because of a fault in memtui. View it before going on"
_KEPT = "What was said until then is kept; send a message to go on."


class Turn:
    """One turn, once.

    Args:
        talk: The conversation.
        prompt: What the person says.
    """

    def __init__(self, talk: Talk, prompt: Prompt) -> None:
        self._talk = talk
        self._prompt = prompt
        self._number = talk.turn
        self._tally = Tally()
        self._texts = 0
        self._calls = 0
        self._refused = 0
        self._pauses = 0
        self._ended_calls: set[str] = set()

    async def run(self) -> TurnEnded:
        """Take the turn; what came of it is for the caller to tell. Nothing escapes."""
        talk, prompt = self._talk, self._prompt
        began = time.monotonic()
        if talk.unanswered is not None:
            talk.recorder.write("rewound", turn=talk.unanswered, why="fault")
            talk.unanswered = None
        talk.turn += 1
        number = self._number = talk.turn
        talk.last, talk.writes = (number, prompt), (number, [])
        talk.meter.begin_turn()
        files = [
            {"name": each.name, "media_type": each.media_type, "size": len(each.data)} for each in prompt.attachments
        ]
        talk.recorder.write("turn_began", turn=number, text=prompt.text, attachments=files)
        talk.tell(TurnBegan(number, prompt))
        notes, talk.notes = talk.notes, []
        talk.told = {number: notes}
        talk.add(number, "user", content_of(prompt, notes))
        try:
            end = await self._converse()
        except Stopped as stopped:
            end = End.STOPPED
            await self._keep(stopped.incoming, STOPPED)
        except Broken as broken:
            end = await self._broken(broken)
        except Exception as error:  # the last resort: it is said, kept, and the conversation goes on
            fault = judged(error, talk.connection.place())
            end = await self._broken(Broken(fault, None, error))
        return await self._ending(end, time.monotonic() - began)

    # Asking the model

    async def _converse(self) -> End:
        talk = self._talk
        await talk.know_model()
        while True:
            incoming = await self._answer()
            reason = incoming.stop_reason
            if reason == "refusal":
                return self._declined(incoming)
            content, calls = incoming.content, incoming.calls
            talk.add(self._number, "assistant", content)
            if reason in _CUT:
                await self._answer_calls(calls, CUT_OFF)
                return self._cut(str(reason))
            if calls:
                if not await self._carry_out(calls):
                    return End.TOO_MANY_CALLS
            elif reason not in _GOES_ON:
                return End.DONE
            else:
                self._pauses += 1
                if self._pauses > _MOST_PAUSES:
                    return self._cut("pauses")

    async def _answer(self) -> Incoming:
        talk = self._talk
        model = talk.model
        assert model is not None
        exchange = Exchange(
            talk.connection.client, talk.connection.place(model.id), talk.stopping, talk.tell, talk.patience
        )

        def request() -> dict[str, object]:
            talk.meter.begin_request(model)
            messages = talk.history.as_sent(model.id, with_thinking=talk.manner.returns_thinking)
            return parameters(messages, model, talk.manner)

        def adapted(words: str) -> bool:
            found = without_what_is_refused(talk.manner, model, words, has_thinking=talk.history.has_thinking)
            if found is None:
                return False
            talk.manner, sentence = found
            talk.tell(Told(sentence))
            return True

        incoming = await exchange.answer(
            request, lambda: Incoming(talk.pacer, self._number, self._texts, talk.history.call_ids), self._used, adapted
        )
        self._texts = incoming.texts
        talk.pacer.flush()
        self._managed(incoming)
        return incoming

    def _used(self, incoming: Incoming) -> None:
        meter = self._talk.meter
        for usage in incoming.usage:
            meter.report(usage)
        incoming.usage.clear()
        self._talk.tell(UsageChanged(meter.turn, meter.session))

    def _managed(self, incoming: Incoming) -> None:
        """Say what the API left out of what the model sees."""
        talk = self._talk
        for edit in incoming.edits:
            calls, tokens = edit.get("cleared_tool_uses"), edit.get("cleared_input_tokens")
            if isinstance(calls, int) and isinstance(tokens, int) and (calls or tokens):
                talk.recorder.write("cleared", calls=calls, tokens=tokens)
                talk.tell(ContextCleared(calls, tokens))
        for summary in incoming.summaries:
            talk.recorder.write("compacted", summary=summary)
            talk.tell(Compacted(summary))

    # Carrying out

    async def _carry_out(self, calls: list[Call]) -> bool:
        """Carry out the calls of an answer; whether the model is to go on."""
        talk = self._talk
        limit = talk.options.max_calls
        results: list[Block] = []
        broken: Exception | None = None
        left = 0
        for call in calls:
            if broken is not None:
                carried = Carried(BROKEN_OFF, True)
            elif not call.is_whole:  # half a text must not be written, whatever the server says of the answer
                carried = Carried(CUT_OFF, True)
            elif self._calls >= limit:
                carried, left = Carried(too_many(limit), True), left + 1
            elif talk.stopping.is_set():
                carried = await self._stopped(call)
            else:
                self._calls += 1
                talk.tell(CallBegan(self._number, call.id, call.name, call.fields))
                try:
                    carried = await talk.carrier.carry_out(call, self._number, talk.actor)
                except MemtuiError as error:
                    # Words for a person may hold a path of this machine, which is nothing for a model.
                    why = str(error) if isinstance(error, Closed) else f"the memory cannot be used: {reason_of(error)}"
                    carried, broken = Carried(f"Error: not run: {why}", True), error
                except Exception as error:  # a bug of ours: the model must not be told that nothing happened
                    carried, broken = Carried(_UNKNOWN, True), error
            self._ended(call, carried)
            results.append(result(call.id, carried.text, is_error=carried.is_error))
        talk.add(self._number, "user", results)
        if broken is not None:
            raise broken
        if talk.stopping.is_set():
            raise Stopped
        if left:
            talk.tell(
                Told(
                    f"This turn made {limit:,} tool calls, which is the limit, and ends here; {left:,} more "
                    f"{'was' if left == 1 else 'were'} not run. Say go on, and the next turn may make as many again."
                )
            )
        return not left

    async def _stopped(self, call: Call) -> Carried:
        if call.name == TOOL:
            return await self._talk.carrier.stopped(call, self._talk.actor)
        return Carried(STOPPED, True)

    def _ended(self, call: Call, carried: Carried) -> None:
        """A call is answered: it is told, kept and counted."""
        talk, event, edit = self._talk, carried.event, carried.edit
        self._ended_calls.add(call.id)
        self._refused += carried.is_error
        text = None
        for each in (edit, event):
            if each is not None and each.changes:
                self._tally.add(each, edited=each is edit)
                talk.session_tally.add(each, edited=each is edit)
                if each.seq:  # what could not be recorded has none; recovery records it under one of its own
                    talk.writes[1].append(each.seq)
        if edit is not None:
            version = next((change.after for change in edit.changes if change.after is not None), None)
            with contextlib.suppress(MemtuiError):  # the memory was closed meanwhile: the journal has the text
                data = talk.memory.history.text(version)
                text = None if data is None else data.decode("utf-8", "replace")
        if event is not None and event.command == "view" and not carried.is_error:
            talk.meter.viewed(carried.text)
        talk.recorder.write(
            "call",
            turn=self._number,
            call_id=call.id,
            name=call.name,
            input=call.input,
            answer=carried.text,
            is_error=carried.is_error,
            seq=event.seq if event else None,
            edit_seq=edit.seq if edit else None,
            note=event.note if event else "",
            edit=text,
        )
        talk.tell(CallEnded(self._number, call.id, call.name, call.fields, carried.text, carried.is_error, event, edit))

    async def _answer_calls(self, calls: list[Call], text: str) -> None:
        """Answer calls that are not carried out, where they have no answer yet."""
        results: list[Block] = []
        for call in calls:
            if call.id in self._ended_calls:
                continue
            carried = Carried(text, True)
            if text == STOPPED and call.is_whole:
                carried = await self._stopped(call)
            self._ended(call, carried)
            results.append(result(call.id, carried.text, is_error=True))
        self._talk.add(self._number, "user", results, is_repair=True)

    async def _keep(self, incoming: Incoming | None, text: str) -> None:
        """Keep what came of an answer that was broken off."""
        self._talk.pacer.flush()
        if incoming is None:
            return
        self._texts = incoming.texts
        self._talk.add(self._number, "assistant", incoming.content)
        await self._answer_calls(incoming.calls, text)

    # Ending

    async def _broken(self, broken: Broken) -> End:
        talk, fault = self._talk, broken.fault
        await self._keep(broken.incoming, CUT_OFF if broken.error is None else BROKEN_OFF)
        trace = None
        if fault.kind is FaultKind.BUG and broken.error is not None:
            trace = "".join(traceback.format_exception(broken.error))
        if not talk.history.has_answer(self._number):
            self._take_out()
            talk.fault(fault, self._prompt, None, trace)
            return End.FAULT
        talk.fault(fault, None, _KEPT, trace)
        return End.CUT if broken.error is None else End.FAULT

    def _take_out(self) -> None:
        """Take the turn out of the history, as nothing came back: its message is in the person's hands again."""
        talk = self._talk
        talk.history.rewind(self._number)
        talk.notes = [*talk.told.pop(self._number, ()), *talk.notes]
        talk.unanswered = self._number

    def _declined(self, incoming: Incoming) -> End:
        """The model declined: what it declined must not stay in the history, or it would go on declining."""
        talk = self._talk
        for call in incoming.calls:
            self._ended(call, Carried(CUT_OFF, True))
        talk.history.rewind(self._number)
        talk.notes = [*talk.told.pop(self._number, ()), *talk.notes]
        talk.recorder.write("rewound", turn=self._number, why="refused")
        details = incoming.stop_details
        why = one_line(str(details.get("explanation") or details.get("category") or ""))
        name = talk.model.name or talk.model.id if talk.model else "The model"
        said = f" ({why.rstrip('.')})" if why else ""
        kept = "" if not self._calls else " What it wrote to memory in this turn stays; /undo takes it back."
        talk.tell(
            Told(
                f"{name} declined to go on{said}. Your message and this answer are left out of what it sees from now "
                f"on, or it would go on declining. Put it another way.{kept}"
            )
        )
        return End.REFUSED

    def _cut(self, reason: str) -> End:
        talk = self._talk
        if reason == "max_tokens":
            talk.tell(
                Told("The answer reached its longest length and ends here. Say go on, or allow more with --max-tokens.")
            )
        elif reason == "pauses":
            talk.tell(Told("The answer was paused again and again, and was ended. Say go on to hear more."))
        else:
            name = talk.model.name or talk.model.id if talk.model else "the model"
            fault = Judged(
                FaultKind.TOO_LARGE,
                f"The answer ends here, because all that {name} can hold is full.",
                "/clear begins a new conversation, and memory stays as it is.",
            )
            talk.fault(fault, None)
        return End.CUT

    async def _ending(self, end: End, seconds: float) -> TurnEnded:
        talk = self._talk
        remembered: tuple[Remembered, ...] = ()
        try:
            remembered = await talk.worker.run(lambda: self._tally.remembered(talk.memory.history.text))
        except Exception as error:  # the memory was closed, or cannot be read: the turn ends all the same
            talk.tell(Told(f"What this turn remembered cannot be shown: {one_line(str(error))}"))
        usage = talk.meter.turn
        talk.recorder.write(
            "turn_ended", turn=self._number, end=end.value, seconds=round(seconds, 3), usage=usage,
            remembered=remembered,
        )  # fmt: skip
        talk.pacer.flush()
        return TurnEnded(self._number, end, seconds, self._calls, self._refused, remembered, usage)
