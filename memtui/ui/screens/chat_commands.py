"""Slash commands of a chat. Each is a binding, the source of its list, the palette, the help and the README.

A command runs the action of its binding, which takes the text behind the command's name.
"""

import asyncio
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.binding import Binding, BindingType

from memtui.core import wording
from memtui.core.approvals import ApprovalPolicy, format_scope
from memtui.core.errors import MemtuiError
from memtui.core.lazy_regex import compile_lazily
from memtui.core.paths import ROOT_NAME
from memtui.core.suggestion import format_suggestion
from memtui.core.unicode import to_one_line
from memtui.flows.dialog import Choice, number_choices
from memtui.ui import chat_state
from memtui.ui.controller import controller_work
from memtui.ui.key_names import label_key
from memtui.ui.messages import report_errors
from memtui.ui.screens.chat_conversation import ConversationController
from memtui.ui.screens.chat_prompts import ConversationScreen, ConversationScreenController
from memtui.ui.widgets.composer import SlashCommand

if TYPE_CHECKING:  # loaded behind the first paint
    from memtui.agents.chat.sessions.store import ChatSession, SessionSummary


Setting = TypeVar("Setting")

_COMMAND = compile_lazily(r"/([a-z?]+)(?:\s+(.*))?\s*", re.DOTALL)
_SLASH = "slash_"
_SESSIONS = 60
"""Sessions that are offered, newest first."""
_TAKING = frozenset({"model", "mode", "effort", "thinking", "export", "attach", "policy", "resume"})
"""Actions that take the text behind the command."""


def _make_command_binding(name: str, action: str, tooltip: str) -> Binding:
    return Binding(f"{_SLASH}{name}", action, name, id=f"chat.{name}", tooltip=tooltip, show=False)


class CommandController(ConversationScreenController):
    """Runs the commands that are typed after a slash."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _make_command_binding("undo", "undo_turn", "Undo this turn's changes to the folder"),
        Binding("ctrl+r,slash_diff", "review", "review", id="chat.review", priority=True,
                tooltip="Review this session's changes; restore deleted notes"),
        _make_command_binding("memory", "memory", "Size of the folder, and notes read so far"),
        _make_command_binding("model", "model", "Choose the model"),
        _make_command_binding("mode", "mode", "Choose the mode of an agent's own program"),
        _make_command_binding("effort", "effort", "Set the effort of the model"),
        _make_command_binding("thinking", "thinking", "Thinking on/off"),
        _make_command_binding("policy", "policy", "Memory writes: ask, allow or read-only"),
        _make_command_binding("attach", "attach", "Attach a file to the message"),
        _make_command_binding("copy", "copy_block", "Copy the selected block, or the last answer"),
        _make_command_binding("retry", "retry", "Send the last message again"),
        _make_command_binding("edit", "edit_last", "Change the last message and send it again"),
        _make_command_binding("clear", "clear_talk", "Start a new conversation"),
        _make_command_binding("resume", "resume", "Resume another session"),
        _make_command_binding("export", "export", "Write the conversation to a Markdown file"),
        _make_command_binding("help", "app.help", "All keys and commands"),
        _make_command_binding("quit", "app.back", "Quit the chat"),
    ]  # fmt: skip

    def __init__(self, screen: ConversationScreen, conversation_controller: ConversationController) -> None:
        super().__init__(screen)
        self._conversation_controller = conversation_controller

    @classmethod
    def list_commands(cls) -> tuple[SlashCommand, ...]:
        """The slash commands, in the order of the bindings."""
        return tuple(
            SlashCommand(key.removeprefix(_SLASH), binding.tooltip or binding.description)
            for binding in cls.BINDINGS
            if isinstance(binding, Binding)
            for key in binding.key.split(",")
            if key.startswith(_SLASH)
        )

    def run_command(self, text: str) -> bool:
        """Run a command, or suggest another one; False for a text without a slash and a word, such as a path."""
        found = _COMMAND.fullmatch(text)
        if found is None:
            return False
        name, argument = found[1], (found[2] or "").strip()
        for binding in self.BINDINGS:
            if isinstance(binding, Binding) and f"{_SLASH}{name}" in binding.key.split(","):
                self._run_binding(binding.action, argument, name)
                return True
        if any(each.id == name for each in self.state.offers.commands):
            return False  # the agent's own, which takes it as a message
        names = [command.name for command in self.list_commands()]
        hint = format_suggestion(name, names, "/ lists them.", shown="/{}", cutoff=0.5)
        self.message.show_message(f"Unknown command /{to_one_line(name)}. {hint}", warning=True)
        if not self.screen.composer.text:
            self.screen.composer.set_text(text)
        return True

    def _run_binding(self, action: str, argument: str, name: str) -> None:
        if action in _TAKING and argument:
            getattr(self, f"action_{action}")(argument)
        elif argument:
            self.message.show_message(f"/{name} takes no argument. Nothing was done.", warning=True)
        else:
            self.screen.run_worker(self.screen.run_action(action), group="command")

    def copy_block(self, text: str) -> None:
        """Copy a text of the conversation."""
        self.copy_text(text, wording.format_count(len(text), "character"))

    async def action_review(self) -> None:
        """Show the changes of the session, or restore a mass loss."""
        if self.screen.loss is not None:
            if self.screen.is_read_only:
                self.message.show_message(self.screen.read_only_reason, warning=True)
            else:
                await self.screen.run_action("restore_loss")
            return
        engine = self.session.engine
        if engine is None:
            return
        if not self.state.events:
            self.message.show_message("This session has not changed any note yet.")
            return
        from memtui.ui.screens.chat_review import ReviewScreen  # noqa: PLC0415 - start-up: loads a screen

        self.app.push_screen(ReviewScreen(engine, tuple(self.state.events), title=self.screen.folder_title))

    def action_undo_turn(self) -> None:
        if self.screen.is_read_only:
            self.message.show_message(self.screen.read_only_reason, warning=True)
        elif (chat := self.screen.get_chat()) is not None:
            chat.undo_turn()

    def action_retry(self) -> None:
        if (chat := self.screen.get_chat()) is not None:
            chat.retry()

    def action_edit_last(self) -> None:
        if (chat := self.screen.get_chat()) is not None:
            chat.edit_last()

    def action_clear_talk(self) -> None:
        if (chat := self.screen.get_chat()) is not None:
            chat.clear()

    @controller_work()
    async def action_policy(self, argument: str = "") -> None:
        """Set the policy; without a name, say it, and list the consents to be revoked."""
        if not argument:
            self.message.show_message(chat_state.describe_policy(self.state.policy, self.state.always))
            if self.state.always:
                await self._revoke_consent()
            return
        meant = [policy for policy in ApprovalPolicy if policy.value.startswith(argument.lower())]
        if len(meant) == 1:
            self.screen.set_policy(meant[0])
        else:
            words = f"Not changed: {to_one_line(argument)} is not ask, allow or read-only."
            self.message.show_message(words, warning=True)

    async def _revoke_consent(self) -> None:
        scopes = sorted(self.state.always)
        choices = [*number_choices((format_scope(each), each) for each in scopes), Choice("0", "all of these", "*")]
        chosen = await self.choose("Allowed without asking. Ask again about", choices)
        chat = self.screen.get_chat()
        if chosen and chat is not None:
            chat.set_policy(chat.policy, frozenset() if chosen == "*" else chat.always - {chosen})

    @controller_work()
    async def action_model(self, argument: str = "") -> None:
        """Another model: the one named, or one of those that the API lists."""
        chat, now = self.screen.get_chat(), self.state.model
        if chat is None:
            return
        if not argument and not self.state.models:
            known = f"The model is {to_one_line(now.id)}. " if now else ""
            self.message.show_message(f"{known}The API has not listed others. Use /model NAME.")
            return
        if not argument:
            choices = number_choices((chat_state.format_model_choice(each, now), each.id) for each in self.state.models)
            argument = await self.choose("Model", choices) or ""
        if argument:
            chat.set_model(argument)

    @controller_work()
    async def action_mode(self, argument: str = "") -> None:
        """Another mode of the agent's: the one named, or one of those that it offers."""
        chat, offers = self.screen.get_chat(), self.state.offers
        if chat is None:
            return
        if not argument and offers.modes:
            rows = ((f"{each.words or each.id}{' (in use)' if each.id == offers.mode else ''}", each.id)
                    for each in offers.modes)  # fmt: skip
            argument = await self.choose("Mode", number_choices(rows)) or ""
            if not argument:
                return
        chat.set_mode(argument)

    @controller_work()
    async def action_effort(self, argument: str = "") -> None:
        chat, model = self.screen.get_chat(), self.state.model
        if chat is None:
            return
        if model is None or not model.efforts:
            self.message.show_message("This model has no effort setting, according to the API.")
            return
        await self._change_setting("effort", argument, {each: each for each in model.efforts}, chat.set_effort)

    @controller_work()
    async def action_thinking(self, argument: str = "") -> None:
        chat, model = self.screen.get_chat(), self.state.model
        if chat is None:
            return
        if model is not None and not model.thinking:
            self.message.show_message("This model has no thinking, according to the API.")
            return
        await self._change_setting("thinking", argument, {"on": True, "off": False}, chat.set_thinking)

    async def _change_setting(
        self, name: str, argument: str, values: Mapping[str, Setting], change: Callable[[Setting | None], object]
    ) -> None:
        """Change a setting of the model to a named value, which is asked for where none is given."""
        if not argument:
            choices = [*number_choices((each, each) for each in values), Choice("0", "the model's default", "default")]
            argument = await self.choose(name.capitalize(), choices) or ""
        if argument == "default" or argument in values:
            change(values.get(argument))
            self.message.show_message(f"{name.capitalize()}: {argument}.")
        elif argument:
            words = f"Not changed: {name} must be one of {', '.join(values)}, default."
            self.message.show_message(words, warning=True)

    def action_memory(self) -> None:
        from memtui.ui.screens.dialogs import LinesScreen  # noqa: PLC0415 - start-up: only for this key

        files, size = self.screen.counts
        usage = self.state.usage
        viewed = sorted(self.state.viewed.items(), key=lambda each: (-each[1], each[0]))
        size_words = f", {wording.format_size(size)}, ~{size // 4:,} tokens" if size else ""
        lines = [
            wording.format_file_count(files) + size_words,
            chat_state.describe_policy(self.state.policy, self.state.always),
            "",
            f"Read in this session: {usage.memory_chars:,} characters, ~{usage.memory_chars // 4:,} tokens",
            *(f"  {ROOT_NAME}/{path}{f'  {count} times' if count > 1 else ''}" for path, count in viewed),
        ]
        if not viewed:
            lines.append("  no notes yet")
        self.app.push_screen(LinesScreen("Memory folder", lines))

    def action_copy_block(self) -> None:
        text = self.screen.transcript.get_selected_block()
        if text:
            self.copy_block(text)
        else:
            self.message.show_message("Nothing to copy yet.")

    @controller_work()
    async def action_attach(self, argument: str = "") -> None:
        if not argument:
            from memtui.ui.screens.dialogs import PromptScreen  # noqa: PLC0415 - start-up: only for a question

            screen = PromptScreen("Attach", f"A file: text, a picture or a PDF. {label_key('prompt.back')} cancels.")
            answer: str | None = await self.app.push_screen_wait(screen)
            argument = answer or ""
        if not argument:
            return
        from memtui.agents.chat.history import AttachmentError, read_attachment  # noqa: PLC0415 - start-up: for a key

        try:
            added = await asyncio.to_thread(read_attachment, argument.strip("'\""))
        except AttachmentError as error:
            self.message.show_message(str(error), warning=True)
            return
        self.screen.box.attach((*self.screen.box.attachments, added))
        self.message.show_message(f"Attached: {chat_state.format_attachments((added,))}.")

    @controller_work()
    async def action_export(self, argument: str = "") -> None:
        session = self.screen.chat_session
        if session is None:
            self.screen.get_chat()
            return
        path = Path(os.path.expanduser(argument or f"memtui-chat-{session.id}.md"))
        name, problem = to_one_line(str(path)), ""
        try:
            await asyncio.to_thread(self._write_export, session, path)
        except FileExistsError:
            problem = f"Not exported: {name} exists. Use /export FILE."
        except (MemtuiError, OSError) as error:
            reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
            problem = f"Not exported to {name}: {reason}."
        self.message.show_message(problem or f"Exported to {name}.", warning=bool(problem))

    def _write_export(self, session: "ChatSession", path: Path) -> None:
        from memtui.agents.chat.sessions.export import to_markdown  # noqa: PLC0415 - start-up: for this key only

        if Path(self.session.folder) in Path(os.path.realpath(path)).parents:
            raise OSError(0, "it is in the memory folder; choose another directory")
        text = to_markdown(session.iter_records())
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(text.encode("utf-8", "replace"))

    @controller_work()
    async def action_resume(self, argument: str = "") -> None:
        if self.state.is_busy:
            who, stop = self.screen.options.agent, label_key("chat.leave")
            words = f"{who} is still working. {stop} stops it; then use {label_key('chat.resume')}."
            self.message.show_message(words, warning=True)
            return
        with report_errors(self.screen.post_message):
            if not argument:
                others = await asyncio.to_thread(self._list_other_sessions)
                if not others:
                    self.message.show_message("No other session in this folder.")
                    return
                choices = number_choices((_format_session(each), each.id) for each in others)
                argument = await self.choose("Resume", choices) or ""
            if argument:
                await self._conversation_controller.switch(argument)

    def _list_other_sessions(self) -> "list[SessionSummary]":
        from memtui.agents.chat.sessions.store import list_sessions  # noqa: PLC0415 - start-up: loads the sessions

        own = self.screen.chat_session.id if self.screen.chat_session else ""
        sessions = list_sessions(self._conversation_controller.get_chats_directory())
        return [each for each in sessions if each.id != own][:_SESSIONS]


def _format_session(each: "SessionSummary") -> str:
    turns = wording.format_count(each.turns, "turn")
    return f"{each.at[:16].replace('T', ' ')}  {turns:<9}  {to_one_line(each.title)}"
