"""Chat: the conversation at the left, and at the right the memory as it is written.

It is the browser with a conversation in it: the same panes, marks, history, undo, time travel and alarms. The screen
routes: what the conversation tells goes to the transcript, to the question and to the tree; what the person says goes
to the conversation. The conversation runs in a thread of its own and never waits for the screen, except for an answer.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

from rich.cells import cell_len
from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static, TextArea

from memtui.agents.chat.events import (
    Answered,
    Asked,
    CallBegan,
    CallEnded,
    ChatEvent,
    End,
    Fault,
    PolicyChanged,
    Prompt,
    QueueChanged,
    Ready,
    Rewound,
    Told,
    TurnBegan,
    TurnEnded,
    TurnUndone,
    Waiting,
)
from memtui.agents.chat.options import ChatOptions
from memtui.core.asking import Policy
from memtui.core.errors import Closed, MemtuiError
from memtui.core.events import Agent, Event
from memtui.core.visible import one_line
from memtui.ui.activity.view import ActivityView
from memtui.ui.change import ChangeView
from memtui.ui.chat import talk as talking
from memtui.ui.chat.beginning import Begun, MakeChat, NotBegun, Wanted, begin, make_chat
from memtui.ui.chat.composer import Composer, MessageBox
from memtui.ui.chat.news import Pipe, SomethingSaid
from memtui.ui.chat.question import QuestionView
from memtui.ui.chat.transcript import TranscriptView
from memtui.ui.external import NoEditor, edited
from memtui.ui.files.view import FilesView
from memtui.ui.frame import Header, KeyLine, MessageLine
from memtui.ui.messages import FolderWanted, Opened, Unrecorded
from memtui.ui.note.view import NoteView
from memtui.ui.screens.chat_commands import ChatCommands
from memtui.ui.text import fit_middle

FRAME = 1 / 30
"""Seconds between two looks at what was told."""
_DRAFT_SECONDS = 1.0
_EMPTY = "Nothing is remembered here yet.\n\nWhat Claude writes appears here as it is written."
_LEFT_COLUMNS = 24
"""Columns that a pane has at least, however far the divider is moved."""


class ChatScreen(ChatCommands, inherit_css=False):
    """A conversation over one memory folder.

    Args:
        folder: An existing directory, links resolved.
        options: How the conversation is held.
        title: How the folder is called.
        state: Where its journal lies, if not in its usual place.
        label: A word on what this session is; empty for an ordinary one.
        read_only: Whether nothing can be changed.
        wanted: Which session goes on; a new one by default.
        over_browser: Whether the browser is what one comes back to.
        farewell: Takes what is to be said on the terminal once the screen is gone.
        make: Makes the conversation.
    """

    CSS_PATH = "chat.tcss"
    TITLES = ("2 Memory", "3 Note", "4 Activity")
    FIRST = "#composer"
    FILES_KEY = "2"
    PANES = ("transcript", "files", "note", "activity")

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+o", "tools", "tools", id="chat.tools", tooltip="Unfold all tool calls, or fold them",
                priority=True),
        Binding("1", "pane('transcript')", "chat", id="chat.talk", tooltip="To the conversation, or to what is asked",
                show=False),
        Binding("2", "pane('files')", "memory", id="chat.files", tooltip="To the memory", show=False),
        Binding("3", "pane('note')", "note", id="chat.note", tooltip="To the note", show=False),
        Binding("4", "pane('activity')", "activity", id="chat.activity", tooltip="To the activity", show=False),
        Binding("escape", "leave", "message", id="chat.write", tooltip="Out of what was opened, to the message"),
    ]  # fmt: skip

    transcript = getters.query_one(TranscriptView)
    question = getters.query_one(QuestionView)
    box = getters.query_one(MessageBox)

    def __init__(
        self,
        folder: str,
        options: ChatOptions,
        *,
        title: str,
        state: str | None = None,
        label: str = "",
        read_only: bool = False,
        wanted: Wanted | None = None,
        over_browser: bool = False,
        farewell: Callable[[Iterable[str]], object] = list,
        make: MakeChat = make_chat,
    ) -> None:
        super().__init__(folder, title=title, state=state, label=label, read_only=read_only)
        self._status = replace(self._status, program="memtui chat")
        self._options = options
        self._state = state
        self._wanted = wanted or Wanted()
        self._over_browser = over_browser
        self._farewell_to = farewell
        self._make = make
        self._talk = talking.Talk(options.policy, model=options.model)
        self._pipe = Pipe(self.post_message)
        self._looked_at = 0.0
        self._look_timer: Timer | None = None
        self._put_draft = False
        self._fell_back = False
        self._from_question = False

    def compose(self) -> ComposeResult:
        """The panes of the sketch."""
        yield Header()
        with Container(id="body"):
            with Vertical(id="talk"):
                yield TranscriptView(id="transcript", classes="pane")
                yield QuestionView(id="question")
            yield FilesView(id="files", classes="pane")
            yield Static(Content(_EMPTY), id="memory-empty", classes="pane")
            with Container(id="side"):
                yield NoteView(id="note", classes="pane")
                yield ChangeView(id="change", classes="pane")
            yield MessageBox(self.commands(), id="box")
            yield ActivityView(id="activity", classes="pane")
        yield MessageLine(id="message")
        words = f"READ-ONLY: nothing under {one_line(self._status.folder)} can be changed from this session."
        yield Static(Content(words), id="read-only")
        yield KeyLine()
        yield Static(id="too-small", markup=False)

    def on_mount(self) -> None:
        """Ready to type at once; everything else comes behind the first paint."""
        self.transcript.border_title = "1 Chat"
        self.query_one("#memory-empty").border_title = self.TITLES[0]
        self.set_interval(_DRAFT_SECONDS, self._keep_draft)

    async def on_unmount(self) -> None:
        """End the conversation before the folder is closed; what was not sent is kept."""
        await asyncio.to_thread(self.end_chat, self.unsent())
        self._farewell_to(self.last_words)

    def focus_first(self) -> None:
        """To the message, or to what is asked."""
        self.action_leave()

    # The conversation begins

    @on(Opened)
    def _begin_chat(self) -> None:
        self.begin_chat(self._wanted)

    @work(thread=True, exclusive=True, group="begin", exit_on_error=False)
    def begin_chat(self, wanted: Wanted) -> None:
        """Begin a conversation, in a thread; `Begun` or `NotBegun` follows."""
        engine = self._session.engine
        if engine is None:
            return
        try:
            directory = self.chats_directory()
            begun = begin(engine, self._options, directory, self._session.folder, wanted, self._pipe.put, self._make)
            begun.draft = "" if self._put_draft else self.drafts_in(directory).take()
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            self.post_message(NotBegun(str(error)))
        except Exception as error:  # the thread's last words: without them the box would say nothing
            self.post_message(NotBegun(f"The conversation cannot begin because of a bug: {error!r}."))
        else:
            self.post_message(begun)

    @on(Begun)
    def _start_chat(self, message: Begun) -> None:
        self._chat, self._kept = message.chat, message.session
        for event in message.told:
            self._talk.take(event)
            self.transcript.take(event)
        self._talk.is_busy, self._talk.question = False, None
        self._talk.policy, self._talk.always = self._chat.policy, self._chat.always
        self._chat.start()
        if not self._put_draft:
            self._put_draft = True
            for prompt in (message.unanswered, Prompt(message.draft) if message.draft else None):
                if prompt is not None:
                    where = "in the box" if self.put_back(prompt) else "kept: Up in an empty box brings it back"
                    message.said = f"{message.said} What was not sent is {where}.".lstrip()
        if message.said and not self._fell_back:
            self.message.say(message.said)
        self.before, self._fell_back = None, False
        if not message.told:
            asked = "asks you before each write" if self._talk.policy is Policy.ASK else "writes there"
            words = "reads there, and writes nothing" if self._talk.policy is Policy.READ_ONLY else asked
            key = "" if self.is_read_only else " (Shift+Tab)"
            self.transcript.take(Told(f"Claude remembers in {self._title}, and {words}{key}."))
        self.composer.earlier = self._talk.said
        waiting, self.waiting = self.waiting, []
        for prompt in waiting:
            self._chat.send(prompt)
        self._show_status()
        self.show_queue()

    @on(NotBegun)
    def _tell_not_begun(self, message: NotBegun) -> None:
        if self.before is not None:
            before, self.before, self._fell_back = self.before, None, True
            self.message.say(f"{message.reason} What was here goes on.", warning=True)
            self.begin_chat(before)
            return
        self.why_no_chat = message.reason
        self._put_draft = True
        for prompt in self.waiting:
            self.put_back(prompt)
        self.waiting = []
        self.message.say(message.reason, warning=True)
        self.transcript.take(Told(message.reason))

    @on(Unrecorded)
    def _show_policy(self) -> None:
        self._talk.take(PolicyChanged(Policy.READ_ONLY, frozenset()))
        self._show_status()

    # What the conversation tells

    @on(SomethingSaid)
    def _look_soon(self) -> None:
        wait = FRAME - (time.monotonic() - self._looked_at)
        if wait <= 0:
            self._look_at_news()
        elif self._look_timer is None:
            self._look_timer = self.set_timer(wait, self._look_at_news)

    def _look_at_news(self) -> None:
        self._look_timer, self._looked_at = None, time.monotonic()
        for event in self._pipe.take():
            self.hear(event)
        self._show_status()

    def hear(self, event: ChatEvent) -> None:
        """Show what the conversation told."""
        self._talk.take(event)
        self.transcript.take(event)
        match event:
            case Ready(model=model, host=host):
                self.message.say(f"{one_line(model.id)} is ready ({one_line(host)}).", is_news=True)
            case TurnBegan():
                self.message.say("Claude is working. Esc stops.", is_news=True)
                self._entitle_talk()
            case QueueChanged():
                self.show_queue()
            case CallBegan(fields=fields):
                self.files.light(talking.path_of(fields), talking.letter_of(event))
            case CallEnded(fields=fields):
                self.files.unlight(talking.path_of(fields))
                self._said.update(each.seq for each in (event.event, event.edit) if each is not None)
            case Asked():
                self._ask(event)
            case Answered(number=number):
                self._settle_question(number)
            case Fault():
                self._tell_fault(event)
            case TurnEnded():
                self._end_turn(event)
            case TurnUndone(sentence=words) | Told(sentence=words):
                self.message.say(words)
            case Waiting(sentence=words):
                fitting = talking.brief(words, self.message.size.width - 14)
                self.message.say(fitting, hint="" if fitting == words else "Esc stops.", warning=True)
            case Rewound():
                self._rewind(event)
            case PolicyChanged(policy=policy, always=always):
                self.message.say(talking.policy_words(policy, always))

    def _tell_fault(self, fault: Fault) -> None:
        words = fault.sentence
        if fault.prompt is not None and not self.put_back(fault.prompt):
            words = f"{words} Up in an empty box brings your message back."
        self.message.say(talking.brief(words, self.message.size.width - 2), warning=True)

    def _end_turn(self, ended: TurnEnded) -> None:
        self._entitle_talk()
        if ended.end is not End.FAULT:
            self.message.say(talking.finished(ended), hint="Ctrl+R reviews it." if ended.remembered else "")
        if self._from_question and self.focused is self.transcript:
            self.composer.focus()
        self._from_question = False

    def _rewind(self, event: Rewound) -> None:
        if event.why == "edit" and event.prompt is not None:
            self.put_back(event.prompt)
            self.composer.focus()
            self.message.say("Change it and send it again. What that turn wrote to memory stays as it is.")
        elif event.prompt is None:
            self.message.say("A new conversation. The one before is kept in the session.")

    def _show_events(self, events: Sequence[Event]) -> None:
        """What the model does here is told by the transcript; the message line is for what others do."""
        own = self._kept.id if self._kept else None
        self._said.update(
            event.seq for event in events if isinstance(event.actor, Agent) and own and event.actor.session == own
        )
        super()._show_events(events)

    # The question

    def _ask(self, asked: Asked) -> None:
        self.question.ask(asked)
        self.add_class("-asked")
        self._entitle_talk()
        focused, path = self.focused, talking.path_of(asked.proposal.raw)
        self.files.light(path, "?")
        if self.follow and self.files.outline.get(path) is not None:
            self._going_to = path
            self.files.move_to(path)
        self.call_after_refresh(self._show_titles)
        writing = focused is self.composer and bool(self.composer.text.strip())
        free = focused is None or focused is self.transcript or focused is self.composer
        if self.app.screen is self and free and not writing:
            self._go_to_question(by_itself=True)
        elif focused is self.composer:
            self.message.say("Claude asks: Tab to answer.", warning=True)
        else:
            self.message.say("Claude asks: 1 to answer.", warning=True)

    def _go_to_question(self, *, by_itself: bool = False) -> None:
        self.question.take_focus(by_itself=by_itself)
        if not self.question.is_writing:
            self.message.say("Nothing is written before you answer. 2 looks around, 1 comes back.")

    def _settle_question(self, number: int) -> None:
        asked = self.question.asked
        if asked is None or asked.number != number:
            return
        had_focus = self.question.has_focus_within
        self.files.light(talking.path_of(asked.proposal.raw), "w")  # until the call has ended
        self.question.clear()
        self.remove_class("-asked")
        self.call_after_refresh(self._show_titles)
        self._entitle_talk()
        if had_focus:
            self._from_question = True
            self.transcript.focus()

    @on(QuestionView.Decided)
    def _answer(self, message: QuestionView.Decided) -> None:
        if self._chat is not None and message.asked is self.question.asked:
            self._chat.answer(message.asked.number, message.verdict)
            self._settle_question(message.asked.number)

    @on(QuestionView.StopWanted)
    def _stop_asking(self) -> None:
        self.stop()

    @on(QuestionView.Remarked)
    def _show_remark(self, message: QuestionView.Remarked) -> None:
        self.message.say(message.words, warning=message.is_warning)

    # What the person says

    @on(Composer.Sent)
    def _send(self, message: Composer.Sent) -> None:
        if self.is_command(message.text):
            self.run_command(message.text)
            return
        prompt = Prompt(message.text, self.box.attachments)
        self.box.attach(())
        if self.why_no_chat:
            self.put_back(prompt)
            self.message.say(self.why_no_chat, warning=True)
        else:
            self.transcript.action_bottom()  # who says something wants to see what is answered
            self.say_to_model(prompt)

    @on(TextArea.Changed, "#composer")
    def _note_what_is_written(self, event: TextArea.Changed) -> None:
        self.written = event.text_area.text

    @on(Composer.Left)
    def _leave_box(self) -> None:
        if self._talk.is_busy or self._talk.question is not None:
            self.stop()
        else:
            self.transcript.focus()

    @on(Composer.PolicyWanted)
    def _next_policy(self) -> None:
        self.set_policy(talking.next_policy(self._talk.policy))

    @on(Composer.QueuedWanted)
    def _take_back(self) -> None:
        prompt = self.last_waiting()
        if prompt is not None:
            self.composer.put(prompt.text)
            self.box.attach(prompt.attachments)
            self.message.say("Taken back from the queue: change it and send it again.")
        self.show_queue()

    @on(Composer.ExternalWanted)
    def _edit_outside(self) -> None:
        try:
            self.composer.put(edited(self.app, self.composer.text).removesuffix("\n"))
        except NoEditor as error:
            self.message.say(str(error), warning=True)

    @on(MessageBox.GoOn)
    def _go_on(self) -> None:
        if self.question.asked is not None:
            self._go_to_question()
        else:
            self.focus_next()

    @on(TranscriptView.CopyWanted)
    def _copy_block(self, message: TranscriptView.CopyWanted) -> None:
        self.copy_text(message.text)

    @on(TranscriptView.Chosen)
    def _show_chosen(self, message: TranscriptView.Chosen) -> None:
        path = self._talk.paths.get(message.call_id, "")
        if path and self.files.outline.get(path) is not None:
            self.follow = False
            self._going_to = path
            self.files.move_to(path)

    @on(TranscriptView.Moved)
    def _show_place(self, message: TranscriptView.Moved) -> None:
        self.transcript.border_subtitle = Content(message.text)

    # Panes

    @property
    def first_pane(self) -> Widget:
        """The conversation."""
        return self.query_one("#talk")

    def _divide_at(self, column: int | None) -> None:
        body = self.query_one("#body")
        if column is None:
            body.styles.grid_columns = None
            return
        left = min(max(column, _LEFT_COLUMNS), max(self.size.width - _LEFT_COLUMNS, _LEFT_COLUMNS))
        body.styles.grid_columns = f"{left} 4fr 7fr" if self.has_class("-wide") else f"{left} 1fr"

    def action_pane(self, name: str) -> None:
        """Focus a pane, and make it visible if it was put away; the conversation is where the question is."""
        if self._pane_size:
            self._set_pane_size("")
        self.set_class(name == "activity", "-active")
        self.set_class(name == "note", "-reading")
        if name == "transcript" and self.question.asked is not None:
            self._go_to_question()
        else:
            self.query_one(f"#{name}").focus()

    def go_to_note(self) -> None:
        """Show the note in place of its last change, and focus it."""
        self.action_pane("note")

    def action_find(self) -> None:
        """Find in the note, which is shown for that."""
        self.go_to_note()
        super().action_find()

    def action_leave(self) -> None:
        """Out of whatever was opened last; at the end to the message, or to what is asked."""
        if self.unmark():
            return
        if self._pane_size:
            self._set_pane_size("")
            return
        self.remove_class("-reading", "-active")
        if self.question.asked is not None and not self.question.has_focus_within:
            self._go_to_question()
        else:
            self.composer.focus()

    def action_tools(self) -> None:
        """Unfold or fold the tool calls of the conversation."""
        self.transcript.action_toggle_tools()

    @work
    async def go_back(self) -> None:
        """Leave the conversation, after a question where a turn would be cut off."""
        from memtui.ui.screens.ask import AskScreen  # deferred: not needed for the first paint

        if self._talk.is_busy:
            calm = "Enter, Esc or n: Claude goes on. What was said until now is kept in any case."
            if not await self.app.push_screen_wait(AskScreen("Claude is still working. Stop it and leave?", calm)):
                return
        if self._over_browser:
            self.app.post_message(FolderWanted(self._session.folder))
        else:
            self.app.exit(0)

    # Words around the panes

    def _show_status(self) -> None:
        self._status = replace(self._status, words=self._talk.header())
        super()._show_status()

    def _show_titles(self) -> None:
        super()._show_titles()
        path = self.files.cursor_path
        width = max(self.change.size.width - 4, 8)
        name = f"3 {one_line(path.rpartition('/')[2])}" if path else "3 Last change"
        whole = f"{name}  last change" if path else name
        self._titles.put(self.change, whole if cell_len(whole) <= width else fit_middle(name, width))

    def _entitle_talk(self) -> None:
        words = "  asks you" if self._talk.question else "  working" if self._talk.is_busy else ""
        self.transcript.border_title = Content(f"1 Chat{words}")

    def _keep_draft(self) -> None:
        if self._put_draft:
            self.keep_draft(self.unsent())
