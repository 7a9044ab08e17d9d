"""The screen of a conversation as its controllers see it, and two of them: messages to Claude, and its questions."""

from typing import TYPE_CHECKING, cast

from textual import getters, on
from textual.content import Content

from memtui.agents.chat.events import ApprovalNeeded, ChatOptions, Prompt
from memtui.core.approvals import ApprovalPolicy
from memtui.core.events import Agent
from memtui.ui import chat_state
from memtui.ui.chat_state import QuestionDecided, QuestionRemarked, QuestionStopRequested
from memtui.ui.key_names import label_key
from memtui.ui.messages import PromptOffered
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.folder import FolderController
from memtui.ui.widgets.composer import Composer, ComposerBox
from memtui.ui.widgets.transcript.view import TranscriptView

if TYPE_CHECKING:  # loaded behind the first paint
    from memtui.agents.chat.conversation import ChatController
    from memtui.agents.chat.sessions.store import ChatSession
    from memtui.agents.remote_approval import ApprovalQuestion
    from memtui.ui.widgets.approval import ApprovalView


class ConversationScreen(BrowseScreen):
    """A browser with a conversation: the state that the controllers of the conversation share.

    It takes the arguments of a `FolderScreen`, and the options of the conversation.
    """

    transcript = getters.query_one(TranscriptView)
    box = getters.query_one(ComposerBox)
    question_view = cast("getters.query_one[ApprovalView]", getters.query_one("#question"))
    """Shows the questions; it is there once the conversation is."""
    takes_prompts = True
    composer = getters.query_one(Composer)

    def __init__(
        self, folder: str, options: ChatOptions, *, title: str, state: str | None, label: str, read_only: bool
    ) -> None:
        super().__init__(folder, title=title, state=state, label=label, read_only=read_only)
        self.options = options
        self.chat_state = chat_state.ChatViewState(options.policy, model=options.model)
        self.chat: ChatController | None = None
        self.chat_session: ChatSession | None = None
        self.asked: ApprovalNeeded | None = None
        """The question that is shown."""
        self.no_chat_reason = ""
        """Why there is no conversation; empty while there is one, or may be."""

    def get_chat(self) -> "ChatController | None":
        """The conversation; `None`, with a message, where there is none yet."""
        if self.chat is None:
            self.message.show_message(self.no_chat_reason or "Opening the conversation. Try again in a moment.")
        return self.chat

    def stop(self) -> None:
        """Stop the turn; the text until now is kept."""
        if self.chat is not None:
            self.chat.stop()
            self.message.show_message("Stopping. The text so far is kept.")

    def set_policy(self, policy: ApprovalPolicy) -> None:
        """Change the approval policy."""
        if self.is_read_only:
            self.message.show_message(self.read_only_reason, warning=True)
        elif (chat := self.get_chat()) is not None:
            chat.set_policy(policy)

    def update_chat_title(self) -> None:
        """Say above the conversation whether Claude works or asks."""
        words = "  asks you" if self.chat_state.question else "  working" if self.chat_state.is_busy else ""
        mode = f"  mode: {self.chat_state.offers.mode}" if self.chat_state.offers.mode else ""
        self.transcript.border_title = Content(f"1 Chat{words}{mode}")


class ConversationScreenController(FolderController):
    """Base of the controllers of a `ConversationScreen`."""

    screen: ConversationScreen

    @property
    def state(self) -> chat_state.ChatViewState:
        """The state of the conversation."""
        return self.screen.chat_state


class PromptController(ConversationScreenController):
    """Sends messages, and keeps those that cannot be sent yet."""

    def __init__(self, screen: ConversationScreen) -> None:
        super().__init__(screen)
        self.waiting: list[Prompt] = []
        """Messages that were sent before there was a conversation."""
        self.unsent: list[Prompt] = []
        """Messages that were not sent, and for which the box had no room."""
        self.written = ""
        """The text in the box; at the end, the box is gone before it can be asked."""

    def send_prompt(self, prompt: Prompt) -> None:
        """Send a message, or keep it until it can be sent."""
        if prompt.text.strip() and self.state.sent_texts[-1:] != [prompt.text]:
            self.state.sent_texts.append(prompt.text)
        self.screen.composer.earlier = self.state.sent_texts
        if self.screen.chat is None:
            self.waiting.append(prompt)
            self.message.show_message("Queued: it is sent when the conversation is open.")
            self.show_queue()
        else:
            self.screen.chat.send(prompt)

    def restore_prompt(self, prompt: Prompt) -> bool:
        """Put a message back into the box; where something is written there already, it waits beside it."""
        if self.screen.composer.text.strip() or self.screen.box.attachments:
            self.unsent.append(prompt)
            self.show_queue()
            return False
        self.screen.composer.set_text(prompt.text)
        self.screen.box.attach(prompt.attachments)
        return True

    @on(PromptOffered)
    def _handle_offer(self, message: PromptOffered) -> None:
        self.restore_prompt(Prompt(message.text))

    def pop_queued_prompt(self) -> Prompt | None:
        """Remove the last message from the queue that it waits in."""
        if self.screen.chat is not None and self.state.queue:
            return self.screen.chat.remove_queued(len(self.state.queue) - 1)
        queue = self.waiting or self.unsent
        return queue.pop() if queue else None

    def show_queue(self) -> None:
        """Show the messages that are not sent yet."""
        self.screen.box.show_queue((*self.waiting, *self.state.queue), kept=self.unsent)

    def get_unsent_text(self) -> str:
        """The text of all messages that are not sent, and of the box."""
        texts = [prompt.text for prompt in (*self.unsent, *self.waiting, *self.state.queue)]
        return "\n\n".join(text for text in (*texts, self.written) if text.strip())


class QuestionController(ConversationScreenController):
    """Shows the changes that Claude asks for, and hands on the answers."""

    def __init__(self, screen: ConversationScreen) -> None:
        super().__init__(screen)
        self._had_focus = False
        screen.decide_elsewhere = self._decide_elsewhere

    def _decide_elsewhere(self, question: "ApprovalQuestion") -> bool:
        """Have the conversation decide on a change of its own agent, which comes through the MCP server."""
        actor, session, chat = question.proposal.actor, self.screen.chat_session, self.screen.chat
        is_own = isinstance(actor, Agent) and session is not None and actor.session == session.id
        if chat is None or not is_own:
            return False
        chat.decide(question.proposal, question.answer)
        return True

    async def mount_view(self) -> None:
        """Have a place for questions, hidden, before the first one can come."""
        from memtui.ui.widgets.approval import ApprovalView  # noqa: PLC0415 - start-up: a conversation begins without

        if not self.screen.query("#question"):
            await self.screen.query_one("#talk").mount(ApprovalView(id="question", asker=self.screen.options.agent))

    def show(self, asked: ApprovalNeeded) -> None:
        """Show a question; the focus goes there unless the person is busy elsewhere."""
        self.screen.asked = asked
        self.screen.question_view.ask(asked)
        self.screen.add_class("-asked")
        self.screen.update_chat_title()
        focused, path = self.screen.focused, chat_state.get_call_path(asked.proposal.raw)
        self.files.lights.set_letter(path, "?")
        if self.screen.follow and self.files.outline.get(path) is not None:
            self.screen.move_to(path)
        self.screen.call_after_refresh(self.screen.show_titles)
        writing = focused is self.screen.composer and bool(self.screen.composer.text.strip())
        free = focused in (None, self.screen.transcript, self.screen.composer)
        if self.app.screen is self.screen and free and not writing:
            self.go_to(by_itself=True)
        else:
            key = label_key("chat.complete" if focused is self.screen.composer else "chat.talk")
            self.message.show_message(f"{self.screen.options.agent} asks: {key} to answer.", warning=True)

    def go_to(self, *, by_itself: bool = False) -> None:
        """Focus the question."""
        self.screen.question_view.take_focus(by_itself=by_itself)
        if not self.screen.question_view.is_writing:
            keys = f"{label_key('chat.files')} goes to the files, {label_key('chat.talk')} comes back."
            self.message.show_message(f"Nothing is written before you answer. {keys}")

    def close(self, number: int) -> None:
        """A question is answered, or asked no more."""
        asked = self.screen.asked
        if asked is None or asked.number != number:
            return
        had_focus = self.screen.question_view.has_focus_within
        self.files.lights.set_letter(chat_state.get_call_path(asked.proposal.raw), "w")  # until the call has ended
        self.screen.asked = None
        self.screen.question_view.clear()
        self.screen.remove_class("-asked")
        self.screen.call_after_refresh(self.screen.show_titles)
        self.screen.update_chat_title()
        if had_focus:
            self._had_focus = True
            self.screen.transcript.focus()

    @on(QuestionDecided)
    def _submit_answer(self, message: QuestionDecided) -> None:
        if self.screen.chat is not None and message.question is self.screen.asked:
            self.screen.chat.answer(message.question.number, message.verdict)
            self.close(message.question.number)

    @on(QuestionStopRequested)
    def _stop_at_question(self) -> None:
        self.screen.stop()

    @on(QuestionRemarked)
    def _show_remark(self, message: QuestionRemarked) -> None:
        self.message.show_message(message.words, warning=message.is_warning)

    def go_back_to_message(self) -> None:
        """Focus the message after a turn, if the question had the focus before."""
        if self._had_focus and self.screen.focused is self.screen.transcript:
            self.screen.composer.focus()
        self._had_focus = False
