"""Chat: the conversation at the left, and at the right the memory as it is written.

It is the browser with a conversation in it: the same panes, marks, history, undo, time travel and alarms. The screen
routes events of the conversation to the transcript, the question and the tree, and messages of the person to the
conversation, which runs in a thread of its own and waits for the screen only for an answer.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ClassVar

from rich.cells import cell_len
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Static, TextArea

from memtui.agents.chat.events import ChatOptions, Prompt
from memtui.core.approvals import ApprovalPolicy
from memtui.core.unicode import to_one_line
from memtui.ui.chat_start import MakeChat, SessionRequest, create_chat
from memtui.ui.controller import set_size_classes
from memtui.ui.frame import Header
from memtui.ui.key_names import join_labels
from memtui.ui.messages import FolderRequested
from memtui.ui.screens.chat_commands import CommandController
from memtui.ui.screens.chat_conversation import ConversationController
from memtui.ui.screens.chat_prompts import (
    ConversationScreen,
    ConversationScreenController,
    PromptController,
    QuestionController,
)
from memtui.ui.screens.panes import PaneController
from memtui.ui.theme import truncate_middle
from memtui.ui.widgets.activity import ActivityView
from memtui.ui.widgets.change import ChangeView
from memtui.ui.widgets.composer import Composer, ComposerBox
from memtui.ui.widgets.markdown.view import NoteView
from memtui.ui.widgets.transcript.items import CLAUDE
from memtui.ui.widgets.transcript.view import TranscriptView
from memtui.ui.widgets.tree.view import TreeView


class ComposerController(ConversationScreenController):
    """Handles the messages of the box and of the transcript: sending, the queue, the approval policy, the editor."""

    def __init__(
        self, screen: ConversationScreen, prompt_controller: PromptController, question_controller: QuestionController,
        command_controller: CommandController,
    ) -> None:  # fmt: skip
        super().__init__(screen)
        self._prompt_controller, self._question_controller = prompt_controller, question_controller
        self._command_controller = command_controller

    @on(Composer.Submitted)
    def _send(self, message: Composer.Submitted) -> None:
        if self._command_controller.run_command(message.text):
            return
        prompt = Prompt(message.text, self.screen.box.attachments)
        self.screen.box.attach(())
        if self.screen.no_chat_reason:
            self._prompt_controller.restore_prompt(prompt)
            self.message.show_message(self.screen.no_chat_reason, warning=True)
        else:
            self.screen.transcript.action_bottom()  # where the answer will be
            self._prompt_controller.send_prompt(prompt)

    @on(TextArea.Changed, "#composer")
    def _track_written_text(self, event: TextArea.Changed) -> None:
        self._prompt_controller.written = event.text_area.text

    @on(Composer.EscapePressed)
    def _leave_box(self) -> None:
        if self.state.is_busy or self.state.question is not None:
            self.screen.stop()
        else:
            self.screen.transcript.focus()

    @on(Composer.PolicyRequested)
    def _cycle_policy(self) -> None:
        policies = list(ApprovalPolicy)
        self.screen.set_policy(policies[(policies.index(self.state.policy) + 1) % len(policies)])

    @on(Composer.QueuedRequested)
    def _unqueue_prompt(self) -> None:
        prompt = self._prompt_controller.pop_queued_prompt()
        if prompt is not None:
            self.screen.composer.set_text(prompt.text)
            self.screen.box.attach(prompt.attachments)
            self.message.show_message("Removed from the queue: change it and send it again.")
        self._prompt_controller.show_queue()

    @on(Composer.ExternalEditorRequested)
    def _edit_prompt_externally(self) -> None:
        from memtui.editing.external_editor import EditorUnavailable  # noqa: PLC0415 - start-up: only for this key
        from memtui.ui.clipboard import edit_text_externally  # noqa: PLC0415 - start-up: only for this key

        try:
            self.screen.composer.set_text(edit_text_externally(self.app, self.screen.composer.text).removesuffix("\n"))
        except EditorUnavailable as error:
            self.message.show_message(str(error), warning=True)

    @on(Composer.NextPaneRequested)
    def _focus_after_composer(self) -> None:
        if self.screen.asked is not None:
            self._question_controller.go_to()
        else:
            self.screen.focus_next()

    @on(TranscriptView.CopyRequested)
    def _copy_block(self, message: TranscriptView.CopyRequested) -> None:
        self._command_controller.copy_block(message.text)

    @on(TranscriptView.CallSelected)
    def _show_selected_call(self, message: TranscriptView.CallSelected) -> None:
        path = self.state.paths.get(message.call_id, "")
        if path and self.files.outline.get(path) is not None:
            self.screen.follow = False
            self.screen.move_to(path)

    @on(TranscriptView.CursorMoved)
    def _show_transcript_position(self, message: TranscriptView.CursorMoved) -> None:
        self.screen.transcript.border_subtitle = Content(message.text)


_DRAFT_SECONDS = 1.0
_EMPTY = "This folder has no notes yet.\n\nWhat {agent} writes appears here."
_LEFT_COLUMNS = 24
"""Columns that a pane has at least, however far the divider is moved."""


class ChatPaneController(PaneController["ChatScreen"]):
    """The panes of a chat: the conversation at the left."""

    PANE_IDS = ("transcript", "files", "note", "activity")
    FIRST_PANE = "#talk"

    def focus_first(self) -> None:
        """Focus the message, or the question."""
        self.screen.action_leave()

    def _divide_at(self, column: int | None) -> None:
        screen, body = self.screen, self.screen.query_one("#body")
        if column is None:
            body.styles.grid_columns = None
            return
        left = min(max(column, _LEFT_COLUMNS), max(screen.size.width - _LEFT_COLUMNS, _LEFT_COLUMNS))
        body.styles.grid_columns = f"{left} 4fr 7fr" if screen.has_class("-wide") else f"{left} 1fr"


class ChatScreen(ConversationScreen, inherit_css=False):
    """A conversation over one memory folder, with the arguments of a `ConversationScreen` and these.

    Args:
        request: The session to resume or to fork; a new one by default.
        over_browser: Whether to go back to the browser at the end.
        farewell: Takes lines for the terminal once the screen is gone.
        make: Makes the conversation.
    """

    CONTROLLERS = (CommandController, PromptController, QuestionController, ConversationController, ComposerController)
    CSS_PATH = "chat.tcss"
    TITLES = ("2 Files", "3 Note", "4 Activity")
    FIRST = "#composer"
    FILES_KEY = "2"
    PANE_CONTROLLER = ChatPaneController

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+o", "tools", "tools", id="chat.tools", tooltip="Unfold or fold all tool calls",
                priority=True),
        Binding("1", "pane('transcript')", "chat", id="chat.talk", tooltip="To the conversation, or to the question",
                show=False),
        Binding("2", "pane('files')", "files", id="chat.files", tooltip="To the files", show=False),
        Binding("3", "pane('note')", "note", id="chat.note", tooltip="To the note", show=False),
        Binding("4", "pane('activity')", "activity", id="chat.activity", tooltip="To the activity", show=False),
        Binding("escape", "leave", "message", id="chat.write", tooltip="Back to the message box"),
    ]  # fmt: skip

    def __init__(
        self, folder: str, options: ChatOptions, *, title: str, state: str | None = None, label: str = "",
        read_only: bool = False, request: SessionRequest | None = None, over_browser: bool = False,
        farewell: Callable[[Iterable[str]], object] = list, make: MakeChat = create_chat,
    ) -> None:  # fmt: skip
        super().__init__(folder, options, title=title, state=state, label=label, read_only=read_only)
        self.status = replace(self.status, program="memtui chat")
        self._over_browser = over_browser
        self._farewell_to = farewell
        prompts = self.prompt_controller = self.attach(PromptController(self))
        questions = self.question_controller = self.attach(QuestionController(self))
        self.conversation_controller = self.attach(ConversationController(self, prompts, questions, request, make))
        self.command_controller = self.attach(CommandController(self, self.conversation_controller))
        self.attach(ComposerController(self, prompts, questions, self.command_controller))

    def compose(self) -> ComposeResult:
        set_size_classes(self)
        yield Header()
        with Container(id="body"):
            with Vertical(id="talk"):
                yield TranscriptView(
                    agent=CLAUDE if self.options.agent == ChatOptions().agent else "agent",
                    id="transcript",
                    classes="pane",
                )
            yield TreeView(id="files", classes="pane")
            yield Static(Content(_EMPTY.format(agent=self.options.agent)), id="memory-empty", classes="pane")
            with Container(id="side"):
                yield NoteView(id="note", classes="pane")
                yield ChangeView(id="change", classes="pane")
            yield ComposerBox(self.command_controller.list_commands(), self.options.agent, id="box")
            yield ActivityView(id="activity", classes="pane")
        yield from self.compose_footer()

    def on_mount(self) -> None:
        self.transcript.border_title = "1 Chat"
        self.query_one("#memory-empty").border_title = self.TITLES[0]
        self.set_interval(_DRAFT_SECONDS, self.conversation_controller.save_unsent_text)

    async def on_unmount(self) -> None:
        """End the conversation before the folder is closed, and save its draft."""
        await asyncio.to_thread(self.conversation_controller.end_chat, self.prompt_controller.get_unsent_text())
        self._farewell_to(self.conversation_controller.last_words)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A chat is here already; and where nothing is to be seen, no key does anything to it."""
        return action != "chat" and not self.has_class("-too-small") and super().check_action(action, parameters)

    def action_pane(self, name: str) -> None:
        """Focus a pane, and make it visible if it was put away; the conversation is where the question is."""
        if self.panes.size:
            self.panes.set_size("")
        self.set_class(name == "activity", "-active")
        self.set_class(name == "note", "-reading")
        if name == "transcript" and self.asked is not None:
            self.question_controller.go_to()
        else:
            self.query_one(f"#{name}").focus()

    def go_to_note(self) -> None:
        """Show the note in place of its last change, and focus it."""
        self.action_pane("note")

    def action_find(self) -> None:
        self.go_to_note()
        self.find.action_find()

    def action_leave(self) -> None:
        """Leave the selection, the zoom or the pane, in this order; at the end go to the message, or the question."""
        if self.selection.deselect_all():
            return
        if self.panes.size:
            self.panes.set_size("")
            return
        self.remove_class("-reading", "-active")
        if self.asked is not None and not self.question_view.has_focus_within:
            self.question_controller.go_to()
        else:
            self.composer.focus()

    def action_tools(self) -> None:
        self.transcript.action_toggle_tools()

    @work
    async def go_back(self) -> None:
        """Leave the conversation, after a question where a turn would be cut off."""
        if self.chat_state.is_busy:
            from memtui.ui.screens.dialogs import ConfirmScreen  # noqa: PLC0415 - start-up: only for a question

            calm = f"{join_labels('ask.no')}: {self.options.agent} continues. The conversation is kept in any case."
            if not await self.app.push_screen_wait(
                ConfirmScreen(f"{self.options.agent} is still working. Stop it and leave?", calm)
            ):
                return
        if self._over_browser:
            self.app.post_message(FolderRequested(self.session.folder))
        else:
            self.app.exit(0)

    def show_status(self) -> None:
        asks = self.chat_state.policy is ApprovalPolicy.ASK
        consents = tuple(sorted(self.chat_state.always)) if asks else ()
        self.status = replace(self.status, words=self.chat_state.build_header(), consents=consents)
        super().show_status()

    def show_titles(self) -> None:
        super().show_titles()
        path = self.files.cursor_path
        width = max(self.change.size.width - 4, 8)
        name = f"3 {to_one_line(path.rpartition('/')[2])}" if path else "3 Last change"
        whole = f"{name}  last change" if path else name
        self._titles.set_title(self.change, whole if cell_len(whole) <= width else truncate_middle(name, width))
