"""Starts a conversation in a thread, shows its events, and keeps its draft at the end."""

import asyncio
import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.timer import Timer

from memtui.agents.chat.events import (
    ApprovalNeeded,
    ApprovalResolved,
    CallEnded,
    CallStarted,
    ChatEvent,
    ChatFault,
    ChatOptions,
    ConversationRewound,
    FaultKind,
    Notice,
    OffersChanged,
    PolicyChanged,
    Prompt,
    QueueChanged,
    Ready,
    RetryScheduled,
    TurnEnded,
    TurnOutcome,
    TurnStarted,
    TurnUndone,
)
from memtui.core import wording
from memtui.core.approvals import ApprovalPolicy, is_ended_by
from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.events import Agent
from memtui.core.unicode import to_one_line
from memtui.ui import chat_state
from memtui.ui.chat_start import ChatStarted, ChatStartFailed, MakeChat, SessionRequest, start_chat
from memtui.ui.chat_state import ChatEventQueue, ChatEventsReady
from memtui.ui.controller import controller_work
from memtui.ui.key_names import label_key
from memtui.ui.messages import EventsRecorded, FolderOpened, RecordingFailed
from memtui.ui.screens.chat_prompts import (
    ConversationScreen,
    ConversationScreenController,
    PromptController,
    QuestionController,
)
from memtui.ui.textual_private import add_styles_ahead
from memtui.ui.widgets.composer import ComposerDrafts, SlashCommand

if TYPE_CHECKING:  # loaded behind the first paint
    from memtui.agents.chat.sessions.store import ChatSession

FRAME = 1 / 30
"""Seconds between two times that events are drained."""


class ConversationController(ConversationScreenController):
    """Begins, shows and ends the conversation."""

    def __init__(
        self, screen: ConversationScreen, prompt_controller: PromptController, question_controller: QuestionController,
        request: SessionRequest | None, make: MakeChat,
    ) -> None:  # fmt: skip
        super().__init__(screen)
        self._prompt_controller, self._question_controller = prompt_controller, question_controller
        self._session_request = request or SessionRequest()
        self._make = make
        self._events = ChatEventQueue(screen.post_message)
        self._drained_at = 0.0
        self._drain_timer: Timer | None = None
        self._put_draft = False
        self._fell_back = False
        self._drafts: ComposerDrafts | None = None
        self._before: SessionRequest | None = None
        """The session to go back to if the requested one cannot be opened."""
        self.last_words: list[str] = []
        """Lines for the terminal once the screen is gone."""

    @on(FolderOpened)
    def _start_requested_chat(self) -> None:
        self.session.note_shown()
        self.start_chat(self._session_request)

    @controller_work(thread=True, exclusive=True, group="begin", exit_on_error=False)
    def start_chat(self, request: SessionRequest) -> None:
        """Begin a conversation, in a thread; `ChatStarted` or `ChatStartFailed` follows."""
        engine = self.session.engine
        if engine is None:
            return
        from memtui.ui.widgets import approval  # noqa: PLC0415 - start-up: behind the first paint
        from memtui.ui.widgets.transcript import rows  # noqa: F401, PLC0415 - as above: the first event does not wait

        self.app.call_later(add_styles_ahead, self.app, approval)
        try:
            directory = self.get_chats_directory()
            folder, options = self.session.folder, self.screen.options
            started = start_chat(engine, options, directory, folder, request, self._events.put, self._make)
            if not self._put_draft:
                self._drafts = self._drafts or ComposerDrafts(directory)
                started.draft = self._drafts.claim()
        except MemoryClosed:
            return
        except (MemtuiError, OSError) as error:
            self.screen.post_message(ChatStartFailed(str(error)))
        except Exception as error:  # the thread's last words: without them the box would say nothing
            self.screen.post_message(ChatStartFailed(f"The conversation could not start because of a bug: {error!r}."))
        else:
            self.screen.post_message(started)

    @on(ChatStarted)
    async def _handle_chat_started(self, message: ChatStarted) -> None:
        await self._question_controller.mount_view()
        screen, state = self.screen, self.state
        chat, screen.chat_session = message.chat, message.session
        screen.chat = chat
        for event in message.events:
            state.apply_event(event)
            screen.transcript.add_event(event)
        state.is_busy, state.question = False, None
        state.policy, state.always = chat.policy, chat.always
        chat.start()
        if not self._put_draft:
            self._put_draft = True
            for prompt in filter(None, (message.unanswered, Prompt(message.draft) if message.draft else None)):
                where = "in the message box"
                if not self._prompt_controller.restore_prompt(prompt):
                    where = f"kept: {label_key('chat.older')} in an empty box recalls it"
                message.notice = f"{message.notice} Your unsent message is {where}.".lstrip()
        if message.notice and not self._fell_back:
            self.message.show_message(message.notice)
        self._before, self._fell_back = None, False
        if not message.events:
            asked = "asks you before each write" if state.policy is ApprovalPolicy.ASK else "writes without asking"
            words = "only reads" if state.policy is ApprovalPolicy.READ_ONLY else asked
            key = "" if screen.is_read_only else f" ({label_key('chat.next_policy')})"
            screen.transcript.add_event(
                Notice(f"{screen.options.agent} uses {screen.folder_title} as its memory and {words}{key}.")
            )
        screen.composer.earlier = state.sent_texts
        waiting, self._prompt_controller.waiting = self._prompt_controller.waiting, []
        for prompt in waiting:
            chat.send(prompt)
        screen.show_status()
        self._prompt_controller.show_queue()

    @on(ChatStartFailed)
    def _report_start_failure(self, message: ChatStartFailed) -> None:
        if self._before is not None:
            before, self._before, self._fell_back = self._before, None, True
            self.message.show_message(f"{message.reason} Continuing the earlier session.", warning=True)
            self.start_chat(before)
            return
        self.screen.no_chat_reason = message.reason
        self._put_draft = True
        for prompt in self._prompt_controller.waiting:
            self._prompt_controller.restore_prompt(prompt)
        self._prompt_controller.waiting = []
        self.message.show_message(message.reason, warning=True)
        self.screen.transcript.add_event(Notice(message.reason))

    @on(RecordingFailed)
    def _show_policy(self) -> None:
        self.state.apply_event(PolicyChanged(ApprovalPolicy.READ_ONLY, frozenset()))
        self.screen.show_status()

    @on(ChatEventsReady)
    def _schedule_drain(self) -> None:
        wait = FRAME - (time.monotonic() - self._drained_at)
        if wait <= 0:
            self._drain_events()
        elif self._drain_timer is None:
            self._drain_timer = self.screen.set_timer(wait, self._drain_events)

    def _drain_events(self) -> None:
        self._drain_timer, self._drained_at = None, time.monotonic()
        for event in self._events.take():
            self.handle_chat_event(event)
        self.screen.show_status()

    def handle_chat_event(self, event: ChatEvent) -> None:
        """Show an event of the conversation."""
        self.state.apply_event(event)
        self.screen.transcript.add_event(event)
        match event:
            case Ready(model=model, host=host):
                self.message.show_message(f"{to_one_line(model.id)} is ready ({to_one_line(host)}).", is_news=True)
            case TurnStarted():
                self.message.show_message(
                    f"{self.screen.options.agent} is working. {label_key('chat.leave')} stops.", is_news=True
                )
                self.screen.update_chat_title()
            case QueueChanged():
                self._prompt_controller.show_queue()
            case CallStarted(fields=fields):
                letter = "r" if fields.get("command") == "view" else "w"
                self.files.lights.set_letter(chat_state.get_call_path(fields), letter)
            case CallEnded(fields=fields):
                self.files.lights.fade_letter(chat_state.get_call_path(fields))
                self.screen.announced_events.update(each.seq for each in (event.event, event.edit) if each is not None)
            case ApprovalNeeded():
                self._question_controller.show(event)
            case ApprovalResolved(number=number):
                self._question_controller.close(number)
            case ChatFault():
                self._report_fault(event)
            case TurnEnded():
                self._end_turn(event)
            case TurnUndone(sentence=words) | Notice(sentence=words):
                self.message.show_message(words)
            case RetryScheduled(sentence=words):
                fitting = chat_state.shorten_sentences(words, self.message.size.width - 14)
                hint = "" if fitting == words else f"{label_key('chat.leave')} stops."
                self.message.show_message(fitting, hint=hint, warning=True)
            case ConversationRewound():
                self._rewind(event)
            case OffersChanged(commands=commands):
                self.screen.box.offer(SlashCommand(each.id, each.words) for each in commands)
                self.screen.update_chat_title()
            case PolicyChanged(policy=policy, always=always):
                self.message.show_message(chat_state.describe_policy(policy, always))

    def _report_fault(self, fault: ChatFault) -> None:
        words = fault.sentence
        if fault.prompt is not None and not self._prompt_controller.restore_prompt(fault.prompt):
            words = f"{words} {label_key('chat.older')} in an empty box recalls your message."
        self.message.show_message(chat_state.shorten_sentences(words, self.message.size.width - 2), warning=True)
        if fault.kind is FaultKind.NO_KEY and self.screen.options.agent == ChatOptions().agent:
            self._offer_agent()

    @controller_work(thread=True, exclusive=True, group="offer", exit_on_error=False)
    def _offer_agent(self) -> None:
        """Name an agent that is installed, in place of a key; in a thread, because the disk is asked for it."""
        from memtui.agents.acp.catalog import suggest_installed  # noqa: PLC0415 - start-up: only without a key

        if words := suggest_installed():
            self._events.put(Notice(words))

    def _end_turn(self, ended: TurnEnded) -> None:
        self.screen.update_chat_title()
        if ended.end is not TurnOutcome.FAULT:
            hint = f"{label_key('chat.review')} reviews it." if ended.memory_changes else ""
            self.message.show_message(chat_state.describe_turn_end(ended, self.screen.options.agent), hint=hint)
        self._question_controller.go_back_to_message()

    def _rewind(self, event: ConversationRewound) -> None:
        if event.reason == "edit" and event.prompt is not None:
            self._prompt_controller.restore_prompt(event.prompt)
            self.screen.composer.focus()
            self.message.show_message("Change it and send it again. What that turn wrote is kept.")
        elif event.prompt is None:
            self.message.show_message("New conversation. The earlier one is kept in the session.")

    @on(EventsRecorded)
    def _end_consents(self, message: EventsRecorded) -> None:
        """End the consents to what was renamed, at once and not with the next question."""
        ended = {scope for scope in self.state.always for event in message.events if is_ended_by(scope, event)}
        if ended and (chat := self.screen.get_chat()) is not None:
            chat.set_policy(chat.policy, chat.always - ended)

    @on(EventsRecorded)
    def _skip_own_events(self, message: EventsRecorded) -> None:
        """Leave events of this conversation to the transcript; the message line is for those of others."""
        own = self.screen.chat_session.id if self.screen.chat_session else None
        self.screen.announced_events.update(
            event.seq
            for event in message.events
            if isinstance(event.actor, Agent) and own and event.actor.session == own
        )

    def save_unsent_text(self) -> None:
        """Save the draft, in a thread."""
        if self._put_draft:
            self._save_draft(self._prompt_controller.get_unsent_text())

    def get_chats_directory(self) -> Path:
        """Where the sessions are; from a thread.

        Raises:
            StateUnusable: It would lie inside the memory folder.
        """
        from memtui.agents.chat.sessions.store import CHATS  # noqa: PLC0415 - start-up: loads the sessions
        from memtui.fs.state import get_state_directory  # noqa: PLC0415 - start-up: behind the first paint

        return get_state_directory(self.session.folder, self.session.state) / CHATS

    @controller_work(thread=True, exclusive=True, group="draft", exit_on_error=False)
    def _save_draft(self, text: str) -> None:
        self._write_draft(text)

    def _write_draft(self, text: str) -> None:
        if self._drafts is None or self.screen.is_read_only:
            return
        with contextlib.suppress(OSError):  # the session has reported that nothing can be kept there
            self._drafts.save(text)

    def end_chat(self, draft: str) -> None:
        """End the conversation and save its draft; from a thread."""
        self._write_draft(draft)
        chat, session = self.screen.chat, self.screen.chat_session
        self.screen.chat = self.screen.chat_session = None
        if chat is not None:
            chat.close()
        if session is not None:
            self.last_words = self._format_farewell(session)
            session.close()

    def _format_farewell(self, session: "ChatSession") -> list[str]:
        """The changes of the memory by the session, for the terminal."""
        engine = self.session.engine
        if engine is None or not self.state.has_turns:
            return []
        try:
            found = chat_state.tally_changes(engine, self.state.events)
        except (MemtuiError, OSError):
            found = ()
        words = f"{wording.format_count(len(found), 'note')} changed" if found else "no notes changed"
        lines = [f"This session: {words}."]
        lines += [f"  {chat_state.describe_memory_change(each)}" for each in found]
        if session.path.exists():
            lines.append(f"Resume with: {self.screen.options.format_resume_command(session.id)}")
        return lines

    async def switch(self, session: str) -> None:
        """Go on with another session, in place of this one; if it cannot be opened, this one goes on."""
        current = self.screen.chat_session
        self._before = SessionRequest(resume=current.id if current is not None and current.path.exists() else None)
        await asyncio.to_thread(self.end_chat, self._prompt_controller.get_unsent_text())
        self.screen.transcript.clear()
        self.screen.chat_state = chat_state.ChatViewState(self.screen.options.policy, model=self.screen.options.model)
        self.screen.no_chat_reason = ""
        self.start_chat(SessionRequest(resume=session))
