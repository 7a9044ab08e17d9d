"""A conversation with Claude, line by line: what is said, what is done to the memory, and what is asked."""

import queue
import re
from typing import TYPE_CHECKING

from memtui import opening
from memtui.agents.chat import events
from memtui.agents.chat.events import ChatEvent, End, Prompt
from memtui.agents.chat.options import ChatOptions
from memtui.agents.chat.sessions.session import CHATS, NoSession
from memtui.agents.chat.sessions.session import Session as Kept
from memtui.cli.exits import Exit, Failure
from memtui.cli.reader.asked import decided, told_answer, wish
from memtui.cli.reader.sentences import clause, lines_changed
from memtui.core.asking import Stop

if TYPE_CHECKING:
    from memtui.agents.chat.conversation import Chat
    from memtui.cli.reader.session import Session

_PAUSE = 0.2
_KEPT = re.compile(r" Your message is kept(?:; Enter tries again)?\.\Z")
"""What is so on a screen: here it is said again on demand."""
_COMMANDS = "/again says the last message again, /undo takes the last turn back, /new begins anew, /back ends."


def talk(
    session: "Session",
    held: ChatOptions,
    *,
    state: str | None = None,
    resume: str | None = None,
    fork: str | None = None,
) -> None:
    """Talk until the person has had enough.

    Args:
        session: The memory and the person.
        held: How the conversation is held.
        state: Where the journal is, if not in its usual place.
        resume: Which session of the chat goes on; `None` for none.
        fork: Of which a copy goes on; `None` for none.

    Raises:
        Failure: There is no such session.
    """
    chats = opening.state_directory(session.folder, state) / CHATS
    kept = not session.engine.read_only
    try:
        if resume is not None:
            record = Kept.resume(chats, resume, kept=kept)
        elif fork is not None:
            record = Kept.fork(chats, fork, kept=kept)
        else:
            record = Kept.new(chats, folder=session.folder, options=held, seq=session.engine.head()[0], kept=kept)
    except NoSession as error:
        raise Failure(Exit.MISSING, str(error)) from error
    from memtui.agents.chat.conversation import Chat  # for start-up cost: what is wrong so far is said at once

    told: queue.SimpleQueue[ChatEvent] = queue.SimpleQueue()
    chat = Chat(session.engine, held, told.put, session=record)
    try:
        _Talk(session, chat, told).run()
    finally:
        chat.close()
        record.close()


class _Talk:
    """One conversation."""

    def __init__(self, session: "Session", chat: "Chat", told: "queue.SimpleQueue[ChatEvent]") -> None:
        self._session = session
        self._dialog = session.dialog
        self._chat = chat
        self._told = told
        self._line = ""
        self._last = chat.unanswered
        self._is_running = False

    def run(self) -> None:
        """Take a message, have it answered, and so on."""
        self._dialog.say(f"Talking with Claude. Ctrl+C stops an answer; {_COMMANDS}")
        if self._last is not None:
            self._dialog.say(f"Your last message got no answer: {self._last.text}")
        self._chat.start()
        while True:
            try:
                words = self._dialog.ask("You:").strip()
            except KeyboardInterrupt:
                self._dialog.say("", "The conversation is ended.")
                return
            match words:
                case "":
                    continue
                case "/back" | "/quit" | "/exit":
                    return
                case "/again" if self._last is not None:
                    self._say(self._last)
                case "/again":
                    self._dialog.say("Nothing was said yet.")
                case "/undo":
                    self._chat.undo_turn()
                    self._hear(events.TurnUndone, events.Told)
                case "/new":
                    self._chat.clear()
                    self._hear(events.Rewound, events.Told)
                    self._dialog.say("A new conversation begins.")
                case _ if words.startswith("/") and " " not in words:
                    self._dialog.say(f"There is no {words}. {_COMMANDS}")
                case _:
                    self._say(Prompt(words))

    def _say(self, prompt: Prompt) -> None:
        self._last = prompt
        self._chat.send(prompt)
        self._hear(events.TurnEnded)

    def _hear(self, *ends: type[ChatEvent]) -> None:
        """Say what is told, until what is waited for; Ctrl+C stops the turn."""
        while True:
            try:
                self._dialog.heed()
                event = self._told.get(timeout=_PAUSE)
            except queue.Empty:
                continue
            except KeyboardInterrupt:
                self._chat.stop()
                if not self._is_running:
                    self._dialog.say("", "Not waited for any more.")
                    return
                continue
            try:
                self._take(event)
            except KeyboardInterrupt:
                self._chat.stop()
            if isinstance(event, ends) or (isinstance(event, events.Fault) and not self._is_running):
                return

    def _take(self, event: ChatEvent) -> None:
        say = self._dialog.say
        match event:
            case events.TurnBegan():
                self._is_running = True
                say("Claude:")
            case events.TextDelta():
                self._hear_text(event.text)
            case events.Asked():
                self._end_line()
                self._ask(event)
            case events.CallEnded():
                self._end_line()
                say(_call(event))
            case events.Told() | events.Waiting():
                self._end_line()
                say(event.sentence)
            case events.TurnUndone():
                say(event.sentence)
            case events.Fault():
                self._end_line()
                say(f"{_KEPT.sub('', event.sentence)} /again says it again.")
            case events.TurnEnded():
                self._is_running = False
                self._end_line()
                self._tell_end(event)

    def _hear_text(self, text: str) -> None:
        """Whole lines only: a screen reader would spell the pieces."""
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            if line.strip():
                self._dialog.say(line)

    def _end_line(self) -> None:
        line, self._line = self._line, ""
        if line.strip():
            self._dialog.say(line)

    def _ask(self, event: events.Asked) -> None:
        self._dialog.say(f"{wish(event.proposal)}.")
        try:
            verdict = decided(self._session, event.proposal, away="Stop Claude") or Stop()
        except BaseException:
            self._chat.answer(event.number, Stop())
            raise
        self._chat.answer(event.number, verdict)
        if not isinstance(verdict, Stop):
            self._dialog.say(told_answer(verdict, event.proposal))

    def _tell_end(self, event: events.TurnEnded) -> None:
        for each in event.remembered:
            was = f", was {each.old_path}" if each.old_path is not None else ""
            self._dialog.say(f"Remembered: {each.how} {each.path}{was}{lines_changed(each.added, each.removed)}.")
        match event.end:
            case End.STOPPED:
                self._dialog.say("Stopped. What was said until then is kept.")
            case End.CUT:
                self._dialog.say("The answer ended before its end.")
            case End.REFUSED:
                self._dialog.say("Claude declined to go on.")
            case End.TOO_MANY_CALLS:
                self._dialog.say("The turn had too many calls, and was ended.")


def _call(event: events.CallEnded) -> str:
    """One tool call, in a sentence."""
    if event.event is not None:
        return f"{clause(event.edit or event.event)}."
    first = event.text.split("\n", 1)[0][:400]
    return f"Claude called {event.name}{f', which failed: {first}' if event.is_error else ''}."
