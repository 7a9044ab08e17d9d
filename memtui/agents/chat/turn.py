"""One turn: a message, the model's answers to it, and the tool calls between them.

It may be stopped at any moment and may break anywhere. In every case the messages are kept, each tool call has an
answer that is true, and the next message works.
"""

import time
import traceback

from memtui.agents.chat import events
from memtui.agents.chat.faults import ClassifiedFault, classify_error
from memtui.agents.chat.history import (
    BROKEN_OFF,
    CUT_OFF,
    STOPPED,
    Block,
    build_content,
    build_tool_result,
    describe_moment,
)
from memtui.agents.chat.request import RequestFailed, RequestSender, StoppedByPerson, adapt_options, build_parameters
from memtui.agents.chat.state import ChatState
from memtui.agents.chat.stream import AnswerStream, ToolCall
from memtui.agents.chat.tool_calls import TOOL, ToolResult
from memtui.agents.chat.turn_record import TurnRecord
from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.unicode import to_one_line
from memtui.engine.refusals import describe_error

_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
_GOES_ON = frozenset({"pause_turn", "compaction"})
_MOST_PAUSES = 50
"""How often an answer may be paused by the server without a tool call."""
_UNKNOWN = "Error: it is not known whether this was done, because of a fault in memtui. View it before going on"
_KEPT = "The answer so far is kept. Send a message to continue."


class ChatTurn:
    """One turn, once."""

    def __init__(self, state: ChatState, prompt: events.Prompt) -> None:
        self._state = state
        self._prompt = prompt
        self._number = state.turn
        self._record = TurnRecord(state)
        self._texts = 0
        self._pauses = 0

    async def run(self) -> events.TurnEnded:
        """Take the turn; the caller emits the end. Nothing is raised."""
        state, prompt = self._state, self._prompt
        started = time.monotonic()
        number = self._number = self._record.begin(prompt)
        notes, state.notes = state.notes, []
        state.sent_notes = {number: notes}
        # The time stays in its message: in the system prompt it would break the cache of all that follows.
        said = [describe_moment(state.now()), *notes] if state.now is not None else notes
        state.add_message(number, "user", build_content(prompt, said))
        try:
            end = await self._converse()
        except StoppedByPerson as stopped:
            end = events.TurnOutcome.STOPPED
            await self._save_partial_answer(stopped.incoming, STOPPED)
        except RequestFailed as failure:
            end = await self._handle_failure(failure)
        except Exception as error:  # the last resort: it is reported, recorded, and the conversation goes on
            fault = classify_error(error, state.connection.get_endpoint())
            end = await self._handle_failure(RequestFailed(fault, None, error))
        return await self._record.finish(end, time.monotonic() - started)

    # Asking the model

    async def _converse(self) -> events.TurnOutcome:
        state = self._state
        await state.wait_for_models()
        while True:
            incoming = await self._request_answer()
            reason = incoming.stop_reason
            if reason == "refusal":
                return self._handle_refusal(incoming)
            content, calls = incoming.content, incoming.calls
            state.add_message(self._number, "assistant", content)
            if reason in _CUT:
                await self._answer_open_calls(calls, CUT_OFF)
                return self._report_truncation(str(reason))
            if calls:
                if not await self._execute_calls(calls):
                    return events.TurnOutcome.TOO_MANY_CALLS
            elif reason not in _GOES_ON:
                return events.TurnOutcome.DONE
            else:
                self._pauses += 1
                if self._pauses > _MOST_PAUSES:
                    return self._report_truncation("pauses")

    async def _request_answer(self) -> AnswerStream:
        state = self._state
        model = state.model
        assert model is not None
        endpoint = state.connection.get_endpoint(model.id)
        sender = RequestSender(state.connection.client, endpoint, state.stopping, state.emit, state.retry_policy)

        def request() -> dict[str, object]:
            state.meter.begin_request(model)
            messages = state.history.to_messages(model.id, with_thinking=state.request_options.returns_thinking)
            return build_parameters(messages, model, state.request_options)

        def adapt(words: str) -> bool:
            found = adapt_options(state.request_options, model, words, has_thinking=state.history.has_thinking)
            if found is None:
                return False
            state.request_options, sentence = found
            state.emit(events.Notice(sentence))
            return True

        incoming = await sender.send(
            request,
            lambda: AnswerStream(state.pacer, self._number, self._texts, state.history.call_ids),
            self._report_usage,
            adapt,
        )
        self._texts = incoming.texts
        state.pacer.flush()
        self._report_context_edits(incoming)
        return incoming

    def _report_usage(self, incoming: AnswerStream) -> None:
        meter = self._state.meter
        for usage in incoming.usage:
            meter.add_usage(usage)
        incoming.usage.clear()
        self._state.emit(events.UsageChanged(meter.turn, meter.session))

    def _report_context_edits(self, incoming: AnswerStream) -> None:
        """Report the parts that the API left out of the model's context."""
        state = self._state
        for edit in incoming.edits:
            calls, tokens = edit.get("cleared_tool_uses"), edit.get("cleared_input_tokens")
            if isinstance(calls, int) and isinstance(tokens, int) and (calls or tokens):
                state.session.write("cleared", calls=calls, tokens=tokens)
                state.emit(events.ContextCleared(calls, tokens))
        for summary in incoming.summaries:
            state.session.write("compacted", summary=summary)
            state.emit(events.ContextCompacted(summary))

    # Tool calls

    async def _execute_calls(self, calls: list[ToolCall]) -> bool:
        """Execute the calls of an answer; whether the model is to go on."""
        state = self._state
        limit = state.options.max_calls
        results: list[Block] = []
        failure: Exception | None = None
        skipped = 0
        for call in calls:
            if failure is not None:
                result = ToolResult(BROKEN_OFF, True)
            elif not call.is_whole:  # half a text must not be written, even if the server calls the answer complete
                result = ToolResult(CUT_OFF, True)
            elif self._record.calls >= limit:
                reason = f"this turn has made {limit:,} tool calls, which is the limit"
                result, skipped = ToolResult(f"Error: not run: {reason}. Nothing was changed", True), skipped + 1
            elif state.stopping.is_set():
                result = await self._answer_stopped_call(call)
            else:
                self._record.calls += 1
                state.emit(events.CallStarted(self._number, call.id, call.name, call.fields))
                try:
                    result = await state.tool_executor.execute(call, self._number, state.actor)
                except MemtuiError as error:
                    # A sentence for a person may hold a path of this machine, which no model may read.
                    closed = isinstance(error, MemoryClosed)
                    reason = str(error) if closed else f"the memory cannot be used: {describe_error(error)}"
                    result, failure = ToolResult(f"Error: not run: {reason}", True), error
                except Exception as error:  # a bug of ours: the model must not be told that nothing happened
                    result, failure = ToolResult(_UNKNOWN, True), error
            self._record.add_result(call, result)
            results.append(build_tool_result(call.id, result.text, is_error=result.is_error, image=result.image))
        state.add_message(self._number, "user", results)
        if failure is not None:
            raise failure
        if state.stopping.is_set():
            raise StoppedByPerson
        if skipped:
            sentence = (
                f"This turn ended at the limit of {limit:,} tool calls; {skipped:,} more "
                f"{'was' if skipped == 1 else 'were'} not run. Say `go on` to continue."
            )
            state.emit(events.Notice(sentence))
        return not skipped

    async def _answer_stopped_call(self, call: ToolCall) -> ToolResult:
        if call.name == TOOL:
            return await self._state.tool_executor.answer_stopped(call, self._state.actor)
        return ToolResult(STOPPED, True)

    async def _answer_open_calls(self, calls: list[ToolCall], text: str) -> None:
        """Answer calls that are not executed, where they have no answer yet."""
        results: list[Block] = []
        for call in calls:
            if call.id in self._record.ended_calls:
                continue
            result = ToolResult(text, True)
            if text == STOPPED and call.is_whole:
                result = await self._answer_stopped_call(call)
            self._record.add_result(call, result)
            results.append(build_tool_result(call.id, result.text, is_error=True))
        self._state.add_message(self._number, "user", results, is_repair=True)

    async def _save_partial_answer(self, incoming: AnswerStream | None, text: str) -> None:
        """Add the received part of an answer that was broken off to the history."""
        self._state.pacer.flush()
        if incoming is None:
            return
        self._texts = incoming.texts
        self._state.add_message(self._number, "assistant", incoming.content)
        await self._answer_open_calls(incoming.calls, text)

    # Ending

    async def _handle_failure(self, failure: RequestFailed) -> events.TurnOutcome:
        state, fault, error = self._state, failure.fault, failure.error
        await self._save_partial_answer(failure.incoming, CUT_OFF if error is None else BROKEN_OFF)
        is_bug = fault.kind is events.FaultKind.BUG and error is not None
        trace = "".join(traceback.format_exception(error)) if is_bug else None
        if not state.history.has_answer(self._number):  # the message is in the person's hands again
            state.drop_turn(self._number)
            state.unanswered = self._number
            state.report_fault(fault, self._prompt, None, trace)
            return events.TurnOutcome.FAULT
        state.report_fault(fault, None, _KEPT, trace)
        return events.TurnOutcome.CUT if error is None else events.TurnOutcome.FAULT

    def _handle_refusal(self, incoming: AnswerStream) -> events.TurnOutcome:
        """Drop the turn that the model declined: in the history it would make the model decline again."""
        state = self._state
        for call in incoming.calls:
            self._record.add_result(call, ToolResult(CUT_OFF, True))
        state.drop_turn(self._number)
        state.session.write("rewound", turn=self._number, why="refused")
        details = incoming.stop_details
        why = to_one_line(str(details.get("explanation") or details.get("category") or ""))
        name = state.model.name or state.model.id if state.model else "The model"
        reason = f" ({why.rstrip('.')})" if why else ""
        undo = "" if not self._record.calls else " What it wrote to memory in this turn is kept; /undo undoes it."
        sentence = (
            f"{name} declined to continue{reason}. Your message and this answer were removed from the conversation, "
            f"or it would keep declining. Try other words.{undo}"
        )
        state.emit(events.Notice(sentence))
        return events.TurnOutcome.REFUSED

    def _report_truncation(self, reason: str) -> events.TurnOutcome:
        state = self._state
        if reason == "max_tokens":
            advice = "Say `go on` to continue, or allow more with --max-tokens."
            state.emit(events.Notice(f"The answer was cut off at the maximum length. {advice}"))
        elif reason == "pauses":
            state.emit(events.Notice("The answer was paused too often and was ended. Say `go on` to continue."))
        else:
            name = state.model.name or state.model.id if state.model else "the model"
            sentence = f"The answer was cut off: the context of {name} is full."
            advice = "/clear starts a new conversation and keeps memory."
            state.report_fault(ClassifiedFault(events.FaultKind.TOO_LARGE, sentence, advice), None)
        return events.TurnOutcome.CUT
