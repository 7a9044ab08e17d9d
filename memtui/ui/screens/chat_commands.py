"""What can be typed after a slash in a chat, each a binding: so the list of them, the palette, the help and the
README cannot disagree. A command is run by its binding's action; what stands behind its name is handed to it.
"""

import asyncio
import contextlib
import difflib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import getters, work
from textual.binding import Binding, BindingType
from textual.screen import Screen

from memtui.agents.chat.events import Prompt
from memtui.agents.chat.options import ChatOptions
from memtui.core.asking import Policy
from memtui.core.errors import MemtuiError
from memtui.core.paths import ROOT_NAME
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.chat import talk as talking
from memtui.ui.chat.beginning import Wanted
from memtui.ui.chat.composer import Command, Composer, MessageBox
from memtui.ui.chat.drafts import Drafts
from memtui.ui.chat.transcript import TranscriptView
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.menu import Choice, MenuScreen

if TYPE_CHECKING:  # loaded behind the first paint
    from memtui.agents.chat.conversation import Chat
    from memtui.agents.chat.sessions.session import Session as ChatSession
    from memtui.agents.chat.sessions.session import SessionSummary

_COMMAND = re.compile(r"/([a-z?]+)(?:\s+(.*))?\s*", re.DOTALL)
_SLASH = "slash_"
_SESSIONS = 60
"""Sessions that are offered, newest first."""
_TAKING = frozenset({"model", "effort", "thinking", "export", "attach", "policy", "resume"})
"""Actions that take what stands behind the command."""


def _typed(name: str, action: str, tooltip: str) -> Binding:
    return Binding(f"{_SLASH}{name}", action, name, id=f"chat.{name}", tooltip=tooltip, show=False)


class ChatCommands(BrowseScreen):
    """A browser in which one can talk; what is on it is the subclass's."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _typed("undo", "undo_turn", "Take back what this turn wrote to memory"),
        Binding(
            "ctrl+r,slash_diff", "review", "review", id="chat.review", priority=True,
            tooltip="Review what this session changed; bring back what was lost",
        ),
        _typed("memory", "memory", "What the memory holds, and what was read of it"),
        _typed("model", "model", "Another model"),
        _typed("effort", "effort", "How much effort the model makes"),
        _typed("thinking", "thinking", "Whether the model thinks first"),
        _typed("policy", "policy", "Writes to memory: ask, allow or read-only"),
        _typed("attach", "attach", "Send a file along with the message"),
        _typed("copy", "copy_block", "Copy what is under the cursor, or the last answer"),
        _typed("retry", "retry", "Send the last message again"),
        _typed("edit", "edit_last", "Change the last message and send it again"),
        _typed("clear", "clear_talk", "Begin a new conversation"),
        _typed("resume", "resume", "Go on with another session"),
        _typed("export", "export", "Write the conversation to a Markdown file"),
        _typed("help", "app.help", "All keys and commands"),
        _typed("quit", "app.back", "Leave"),
    ]  # fmt: skip

    transcript = getters.query_one(TranscriptView)
    box = getters.query_one(MessageBox)
    composer = getters.query_one(Composer)

    _talk: talking.Talk
    _options: ChatOptions
    _state: str | None
    _chat: "Chat | None" = None
    _kept: "ChatSession | None" = None
    _drafts: Drafts | None = None
    why_no_chat = ""
    """Why there is no conversation; empty while there is one, or may be."""
    last_words: list[str]
    """What is said on the terminal once the screen is gone."""

    def __init__(self, folder: str, *, title: str, state: str | None, label: str, read_only: bool) -> None:
        super().__init__(folder, title=title, state=state, label=label, read_only=read_only)
        self.last_words = []
        self.waiting: list[Prompt] = []
        """Messages that were sent before there was a conversation."""
        self.before: Wanted | None = None
        """What goes on if the session that is wanted in its place cannot."""
        self.written = ""
        """What stands in the box; at the end, the box is gone before it can be asked."""
        self.aside: list[Prompt] = []
        """Messages that were not sent, and for which the box had no room."""

    # Commands by name

    @classmethod
    def commands(cls) -> tuple[Command, ...]:
        """What can be typed after a slash, in the order of the bindings."""
        return tuple(
            Command(key.removeprefix(_SLASH), binding.tooltip or binding.description)
            for binding in ChatCommands.BINDINGS
            if isinstance(binding, Binding)
            for key in binding.key.split(",")
            if key.startswith(_SLASH)
        )

    def is_command(self, text: str) -> bool:
        """Whether a text is a command: a slash and a word. A path of a memory is none."""
        return _COMMAND.fullmatch(text) is not None

    def run_command(self, text: str) -> None:
        """Run a command, or say which one may be meant."""
        found = _COMMAND.fullmatch(text)
        assert found is not None
        name, argument = found[1], (found[2] or "").strip()
        for binding in ChatCommands.BINDINGS:
            if isinstance(binding, Binding) and f"{_SLASH}{name}" in binding.key.split(","):
                self._run_binding(binding.action, argument, name)
                return
        names = [command.name for command in self.commands()]
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        meant = f" Did you mean /{near[0]}?" if near else " / lists them."
        self.message.say(f"There is no command /{one_line(name)}.{meant}", warning=True)
        if not self.composer.text:
            self.composer.put(text)

    def _run_binding(self, action: str, argument: str, name: str) -> None:
        if action in _TAKING and argument:
            getattr(self, f"action_{action}")(argument)
        elif argument:
            self.message.say(f"/{name} takes nothing behind it. Nothing was done.", warning=True)
        else:
            self.run_worker(self.run_action(action), group="command")

    def _talking(self) -> "Chat | None":
        """The conversation; where there is none yet, that is said."""
        if self._chat is None:
            self.message.say(self.why_no_chat or "The conversation is being opened. Try again in a moment.")
        return self._chat

    async def _asked(self, screen: Screen[str | None]) -> str:
        """What the person answers; empty if she turned away."""
        return await self.app.push_screen_wait(screen) or ""

    # What the person says

    def say_to_model(self, prompt: Prompt) -> None:
        """Send a message, or keep it until it can be sent."""
        if prompt.text.strip() and self._talk.said[-1:] != [prompt.text]:
            self._talk.said.append(prompt.text)
        self.composer.earlier = self._talk.said
        if self._chat is None:
            self.waiting.append(prompt)
            self.message.say("It goes out as soon as the conversation is open.")
            self.show_queue()
        else:
            self._chat.send(prompt)

    def put_back(self, prompt: Prompt) -> bool:
        """Put a message back into the box; where something is written there already, it waits beside it."""
        if self.composer.text.strip() or self.box.attachments:
            self.aside.append(prompt)
            self.show_queue()
            return False
        self.composer.put(prompt.text)
        self.box.attach(prompt.attachments)
        return True

    def last_waiting(self) -> Prompt | None:
        """Take the last message that waits out of where it waits."""
        if self._chat is not None and self._talk.queue:
            return self._chat.take_back(len(self._talk.queue) - 1)
        for place in (self.waiting, self.aside):
            if place:
                return place.pop()
        return None

    def show_queue(self) -> None:
        """Show what waits."""
        self.box.show_queue((*self.waiting, *self._talk.queue), kept=self.aside)

    def stop(self) -> None:
        """Stop the turn; what was said until now is kept."""
        if self._chat is not None:
            self._chat.stop()
            self.message.say("Stopping. What was said until now is kept.")

    def copy_text(self, text: str) -> None:
        """Copy a text."""
        from memtui.ui.clipboard import copy_and_say  # deferred: only where somebody copies

        copy_and_say(
            self.app, text, f"{len(text):,} {'character' if len(text) == 1 else 'characters'}",
            lambda words, warning: self.message.say(words, warning=warning),
        )  # fmt: skip

    # The commands

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A chat is here already; and where nothing is to be seen, no key does anything to it."""
        return action != "chat" and not self.has_class("-too-small") and super().check_action(action, parameters)

    def action_review(self) -> None:
        """What the session changed; while much is lost, that comes first."""
        if self.has_loss:
            if self.is_read_only:
                self.message.say(self.why_read_only, warning=True)
            else:
                self.action_restore_loss()
            return
        engine = self._session.engine
        if engine is None:
            return
        if not self._talk.events:
            self.message.say("Nothing was changed in this session yet.")
            return
        from memtui.ui.screens.chat_review import ReviewScreen  # deferred: not needed for the first paint

        self.app.push_screen(ReviewScreen(engine, tuple(self._talk.events), title=self._title))

    def action_undo_turn(self) -> None:
        """Take back what the last turn wrote."""
        if self.is_read_only:
            self.message.say(self.why_read_only, warning=True)
        elif (chat := self._talking()) is not None:
            chat.undo_turn()

    def action_retry(self) -> None:
        """Send the last message again."""
        if (chat := self._talking()) is not None:
            chat.retry()

    def action_edit_last(self) -> None:
        """The last message comes back into the box."""
        if (chat := self._talking()) is not None:
            chat.edit_last()

    def action_clear_talk(self) -> None:
        """A new conversation; memory stays as it is."""
        if (chat := self._talking()) is not None:
            chat.clear()

    def action_policy(self, argument: str = "") -> None:
        """Say what becomes of writes, or change it."""
        if not argument:
            self.message.say(talking.policy_words(self._talk.policy, self._talk.always))
            return
        meant = [policy for policy in Policy if policy.value.startswith(argument.lower())]
        if len(meant) == 1:
            self.set_policy(meant[0])
        else:
            self.message.say(f"Not changed: {one_line(argument)} is none of ask, allow and read-only.", warning=True)

    def set_policy(self, policy: Policy) -> None:
        """Treat writes in another way from now on."""
        if self.is_read_only:
            self.message.say(self.why_read_only, warning=True)
        elif (chat := self._talking()) is not None:
            chat.set_policy(policy)

    @work
    async def action_model(self, argument: str = "") -> None:
        """Another model: the one named, or one of those that the API lists."""
        chat = self._talking()
        if chat is None:
            return
        if not argument:
            if not self._talk.models:
                now = talking.model_name(self._talk.model)
                known = f"{one_line(now)} answers. " if now else ""
                self.message.say(f"{known}The API has not told which others there are: /model NAME names one.")
                return
            choices = [
                Choice(str(number) if number < 10 else "", talking.model_choice(each, self._talk.model), each.id)
                for number, each in enumerate(self._talk.models, start=1)
            ]
            argument = await self._asked(MenuScreen("Which model answers", choices))
        if argument:
            chat.set_model(argument)

    @work
    async def action_effort(self, argument: str = "") -> None:
        """How much effort the model makes."""
        chat = self._talking()
        if chat is None:
            return
        model = self._talk.model
        efforts = model.efforts if model else ()
        if not efforts:
            self.message.say("This model takes no levels of effort, as far as the API tells.")
            return
        if not argument:
            choices = [Choice(str(number), each, each) for number, each in enumerate(efforts, start=1)]
            choices.append(Choice("0", "as the model has it", "default"))
            argument = await self._asked(MenuScreen("Effort", choices))
        if argument in ("default", *efforts):
            chat.set_effort(None if argument == "default" else argument)
            self.message.say(f"Effort: {argument}.")
        elif argument:
            self.message.say(f"Not changed: effort is one of {', '.join(efforts)} and default.", warning=True)

    @work
    async def action_thinking(self, argument: str = "") -> None:
        """Whether the model thinks first."""
        chat = self._talking()
        if chat is None:
            return
        model = self._talk.model
        if model is not None and not model.thinking:
            self.message.say("This model does not think first, as far as the API tells.")
            return
        ways = {"on": True, "off": False, "default": None}
        if not argument:
            choices = [
                Choice("1", "on", "on"), Choice("2", "off", "off"), Choice("0", "as the model has it", "default")
            ]  # fmt: skip
            argument = await self._asked(MenuScreen("Thinking", choices))
        if argument in ways:
            chat.set_thinking(ways[argument])
            self.message.say(f"Thinking: {argument}.")
        elif argument:
            self.message.say("Not changed: thinking is one of on, off and default.", warning=True)

    def action_memory(self) -> None:
        """What the memory holds, and what was read of it."""
        from memtui.ui.screens.lines import LinesScreen  # deferred: not needed for the first paint

        files, size = self._counted
        usage = self._talk.usage
        lines = [wording.files(files) + (f", {wording.size(size)}, ~{size // 4:,} tokens" if size else "")]
        lines.append(talking.policy_words(self._talk.policy, self._talk.always))
        lines.append("")
        viewed = sorted(self._talk.viewed.items(), key=lambda each: (-each[1], each[0]))
        lines.append(f"Read in this session: {usage.memory_chars:,} characters, ~{usage.memory_chars // 4:,} tokens")
        lines += [f"  {ROOT_NAME}/{path}{f'  {count} times' if count > 1 else ''}" for path, count in viewed]
        if not viewed:
            lines.append("  no memory yet")
        self.app.push_screen(LinesScreen("Memory", lines))

    def action_copy_block(self) -> None:
        """Copy what the cursor of the conversation is on."""
        text = self.transcript.selected_block()
        if text:
            self.copy_text(text)
        else:
            self.message.say("There is nothing to copy yet.")

    @work
    async def action_attach(self, argument: str = "") -> None:
        """Send a file along."""
        if not argument:
            from memtui.ui.screens.ask import PromptScreen  # deferred: not needed for the first paint

            screen = PromptScreen("Attach", "A file: text, a picture or a PDF. Esc goes back.")
            argument = await self._asked(screen)
        if not argument:
            return
        from memtui.agents.chat.attachments import NotAttached, attached  # deferred: not needed for the first paint

        try:
            added = await asyncio.to_thread(attached, argument.strip("'\""))
        except NotAttached as error:
            self.message.say(str(error), warning=True)
            return
        self.box.attach((*self.box.attachments, added))
        self.message.say(f"Goes with the message: {talking.named((added,))}.")

    @work
    async def action_export(self, argument: str = "") -> None:
        """Write the conversation down."""
        kept = self._kept
        if kept is None:
            self._talking()
            return
        path = Path(os.path.expanduser(argument or f"memtui-chat-{kept.id}.md"))
        try:
            await asyncio.to_thread(self._write_down, kept, path)
        except FileExistsError:
            self.message.say(f"Not exported: {one_line(str(path))} exists. /export FILE names another.", warning=True)
        except (MemtuiError, OSError) as error:
            reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
            self.message.say(f"Not exported to {one_line(str(path))}: {reason}.", warning=True)
        else:
            self.message.say(f"Exported to {one_line(str(path))}.")

    def _write_down(self, kept: "ChatSession", path: Path) -> None:
        from memtui.agents.chat.sessions.transcript import to_markdown  # deferred: not needed for the first paint

        if Path(self._session.folder) in Path(os.path.realpath(path)).parents:
            raise OSError(0, "it would become a memory; choose a place outside the memory folder")
        text = to_markdown(kept.records())
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(text.encode("utf-8", "replace"))

    @work
    async def action_resume(self, argument: str = "") -> None:
        """Go on with another session, in place of this one."""
        from memtui.agents.chat.sessions.session import sessions_in  # deferred: not needed for the first paint

        if self._talk.is_busy:
            self.message.say("Claude is still working: Esc stops, then /resume.", warning=True)
            return
        if not argument:
            own = self._kept.id if self._kept else ""
            try:
                found = await asyncio.to_thread(lambda: list(sessions_in(self.chats_directory())))
            except (MemtuiError, OSError) as error:
                self.message.say(str(error), warning=True)
                return
            others = [each for each in found if each.id != own][:_SESSIONS]
            if not others:
                self.message.say("There is no other session over this folder.")
                return
            choices = [
                Choice(str(number) if number < 10 else "", _summary(each), each.id)
                for number, each in enumerate(others, start=1)
            ]
            argument = await self._asked(MenuScreen("Go on with", choices))
        if argument:
            kept = self._kept
            self.before = Wanted(resume=kept.id if kept is not None and kept.path.exists() else None)
            await asyncio.to_thread(self.end_chat, self.unsent())
            self.transcript.clear()
            self._talk = talking.Talk(self._options.policy, model=self._options.model)
            self.why_no_chat = ""
            self.begin_chat(Wanted(resume=argument))

    def begin_chat(self, wanted: Wanted) -> object:
        """Begin a conversation, in a thread."""
        raise NotImplementedError  # the screen that shows it knows how

    # The end

    def chats_directory(self) -> Path:
        """Where the sessions are; from a thread.

        Raises:
            StateUnusable: It would lie inside the memory folder.
        """
        from memtui.agents.chat.sessions.session import CHATS  # deferred: behind the first paint
        from memtui.opening import state_directory

        return state_directory(self._session.folder, self._state) / CHATS

    def drafts_in(self, directory: Path) -> Drafts:
        """What was typed and not sent; from a thread."""
        if self._drafts is None:
            self._drafts = Drafts(directory)
        return self._drafts

    def unsent(self) -> str:
        """All that was typed and has not been answered or sent."""
        texts = [prompt.text for prompt in (*self.aside, *self.waiting, *self._talk.queue)]
        return "\n\n".join(text for text in (*texts, self.written) if text.strip())

    @work(thread=True, exclusive=True, group="draft", exit_on_error=False)
    def keep_draft(self, text: str) -> None:
        """Keep what was typed."""
        self._keep(text)

    def _keep(self, text: str) -> None:
        if self._drafts is None or self.is_read_only:
            return
        with contextlib.suppress(OSError):  # that nothing can be kept there is said by the session already
            self._drafts.keep(text)

    def end_chat(self, draft: str) -> None:
        """End the conversation and keep what was not sent; from a thread."""
        self._keep(draft)
        chat, kept = self._chat, self._kept
        self._chat = self._kept = None
        if chat is not None:
            chat.close()
        if kept is not None:
            self.last_words = self._farewell(kept)
            kept.close()

    def _farewell(self, kept: "ChatSession") -> list[str]:
        """What the session made of the memory, for the terminal."""
        engine = self._session.engine
        if engine is None or not self._talk.has_turns:
            return []
        from memtui.agents.chat.changes import Tally  # deferred: loads the engine

        tally = Tally()
        for event, is_edit in self._talk.events:
            tally.add(event, edited=is_edit)
        try:
            found = tally.remembered(engine.history.text)
        except (MemtuiError, OSError):
            found = ()
        words = f"{wording.memories(len(found))} changed" if found else "no memory changed"
        lines = [f"This session: {words}."]
        lines += [f"  {talking.remembered_words(each)}" for each in found]
        if kept.path.exists():
            lines.append(f"Resume with: memtui chat --resume {kept.id}")
        return lines


def _summary(each: "SessionSummary") -> str:
    turns = f"{each.turns:,} {'turn' if each.turns == 1 else 'turns'}"
    return f"{each.at[:16].replace('T', ' ')}  {turns:<9}  {one_line(each.title)}"
