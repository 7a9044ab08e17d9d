"""The box of messages to Claude, and the transcript: sending, the queue, the approval policy, the external editor."""

from textual import on
from textual.content import Content
from textual.widgets import TextArea

from memtui.agents.chat.events import Prompt
from memtui.core.approvals import ApprovalPolicy
from memtui.editing.external_editor import EditorUnavailable
from memtui.ui.clipboard import edit_text_externally
from memtui.ui.screens.chat_commands import CommandController
from memtui.ui.screens.chat_prompts import (
    ConversationScreen,
    ConversationScreenController,
    PromptController,
    QuestionController,
)
from memtui.ui.widgets.composer import Composer
from memtui.ui.widgets.transcript.view import TranscriptView


class ComposerController(ConversationScreenController):
    """Handles the messages of the box and of the transcript."""

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
            self.message.show_message("Taken back from the queue: change it and send it again.")
        self._prompt_controller.show_queue()

    @on(Composer.ExternalEditorRequested)
    def _edit_prompt_externally(self) -> None:
        try:
            self.screen.composer.set_text(edit_text_externally(self.app, self.screen.composer.text).removesuffix("\n"))
        except EditorUnavailable as error:
            self.message.show_message(str(error), warning=True)

    @on(Composer.NextPaneRequested)
    def _focus_after_composer(self) -> None:
        if self.screen.question_view.question is not None:
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
