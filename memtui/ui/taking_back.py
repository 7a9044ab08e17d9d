"""Taking changes back and bringing memories back: what is asked first, and what is said afterwards.

Loaded when such a key is pressed. Each of these is a course of its own: look, ask where it is not the person's own
doing, act in a thread, and answer with what is to be said.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from textual.app import App
from textual.screen import Screen

from memtui.core.actors import shown_name
from memtui.core.events import Agent, Event, Person, Version
from memtui.core.losses import Loss
from memtui.core.restoring import Restored
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.engine import Engine
from memtui.ui import said_keys, wording
from memtui.ui.managing.progress import Step, with_progress
from memtui.ui.screens.ask import AskScreen
from memtui.ui.screens.menu import Choice, MenuScreen

_RECENT = 2_000
"""Events among which those are looked for who did something lately."""
_MINUTE_US = 60_000_000
_TAKEN_BACK = frozenset({"found", "began", "redact", "undo", "redo"})
"""Events that are not among what somebody did: they are taken back, if at all, one by one."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Said:
    """What came of it, for the message line.

    Attributes:
        words: A sentence or two.
        is_warning: Whether it was not done, or not wholly.
        event: The number of the event that was recorded, so that it need not be told a second time; 0 for none.
    """

    words: str
    is_warning: bool = False
    event: int = 0


async def undo(app: App[Any], engine: Engine, seq: int | None) -> Said | None:
    """Take back an event.

    Args:
        app: Where to ask.
        engine: The memory.
        seq: Which event; `None` for the newest that changed something and was not taken back.
    """
    event = await _in_thread(lambda: engine.history.undoable(seq))
    if event is None:
        return Said(await _in_thread(lambda: _why_not(engine, seq)))
    if not isinstance(event.actor, Person) and not await _ask(app, f"Undo: {_recalled(event)}?"):
        return Said("Nothing was undone.")
    restored = await _take_back(app, engine, event)
    if event.command == "undo":
        return _told(restored, _redone(event))
    return _told(restored, f"Undone: {wording.clause(event)}. {said_keys.redo()} redoes it.")


async def _take_back(app: App[Any], engine: Engine, event: Event) -> Restored:
    """Take back one event, which may have changed thousands of files.

    It is not stopped halfway: what is taken back in part counts as taken back, and no key would bring the rest.
    """

    def take_back(step: Step) -> Restored:
        def go_on(done: int, total: int) -> bool:
            step(done, total)
            return True

        return engine.undo([event.seq], progress=go_on)

    return await with_progress(app, f"Taking back: {wording.clause(event)}", take_back, can_stop=False)


async def redo(app: App[Any], engine: Engine, seq: int | None) -> Said | None:
    """Do again what was taken back last; or an event that stands taken back, or the one that an `undo` took back.

    She undid it herself, so there is nothing to ask.
    """
    event = await _in_thread(lambda: _to_redo(engine, seq))
    if event is None:
        if seq is None:
            return Said("There is nothing to redo.")
        return Said(await _in_thread(lambda: _why_not_redone(engine, seq)))
    restored = await _take_back(app, engine, event)
    return _told(restored, _redone(event))


def _redone(event: Event) -> str:
    """What is said once an `undo` is itself taken back."""
    what = " and ".join(f"#{number}" for number in event.undoes[:3]) + (" and more" if len(event.undoes) > 3 else "")
    return f"Redone: {what} in {_place(event)}. {said_keys.undo()} takes it back again."


def _why_not_redone(engine: Engine, seq: int) -> str:
    by = engine.history.undone_by(seq)
    if by is not None:
        return f"#{seq} was redone already, by #{by}. u on #{by} takes that back."
    return f"#{seq} was not undone: there is nothing to redo."


def _to_redo(engine: Engine, seq: int | None) -> Event | None:
    history = engine.history
    if seq is None:
        return history.redoable()
    by = history.undone_by(seq)
    if by is not None:
        event = history.event(by)
        return event if event is not None and event.command == "undo" else None
    event = history.event(seq)
    return event if event is not None and event.command == "undo" else None


def _why_not(engine: Engine, seq: int | None) -> str:
    if seq is None:
        return "There is nothing to undo: nothing was changed, or all of it was taken back."
    by = engine.history.undone_by(seq)
    if by is not None:
        event = engine.history.event(by)
        if event is not None and event.command != "undo":
            return f"#{seq} was taken back already: #{by} did again what it undid. u on #{by} undoes it once more."
        return f"#{seq} was taken back already, by #{by}. U redoes it."
    return f"#{seq} changed nothing that can be undone."


async def undo_since(app: App[Any], engine: Engine, seen: int) -> Said | None:
    """Take back all that somebody did since a moment, after asking who, since when, and whether really.

    Args:
        app: Where to ask.
        engine: The memory.
        seen: The number of the event up to which the person has seen everything.
    """
    recent = await _in_thread(lambda: list(engine.events(max(engine.head()[0] - _RECENT, 0))))
    doers = _doers(recent)
    if not doers:
        return Said("Nobody has changed anything lately: there is nothing to undo.")
    choices = [Choice(str(number), words, str(number - 1)) for number, (words, _, _) in enumerate(doers[:9], start=1)]
    chosen = await app.push_screen_wait(MenuScreen("Undo everything by", choices))
    if chosen is None:
        return None
    who, name, session = doers[int(chosen)]
    since = await app.push_screen_wait(MenuScreen(f"Undo everything by {one_line(who)}, since", _since(seen)))
    if since is None:
        return None
    after = seen if since == "seen" else await _in_thread(lambda: engine.history.seq_at(_start(since)))
    rehearsal = await _in_thread(
        lambda: engine.undo_since(after, actor_name=name, session=session, partial=True, rehearse=True)
    )
    if not rehearsal.changes:
        return Said(rehearsal.problem or f"{one_line(name)} has changed nothing since.", is_warning=True)
    count = await _in_thread(lambda: _count_of(engine, after, name, session))
    changes = f"{count:,} {'change' if count == 1 else 'changes'} of {wording.files(_files(rehearsal))}"
    question = f"{changes} would be taken back{_left_over(rehearsal)}."
    if not await _ask(app, question):
        return Said("Nothing was undone.")
    restored = await _in_thread(lambda: engine.undo_since(after, actor_name=name, session=session, partial=True))
    return _told(
        restored,
        f"Undone: what {one_line(name)} did to {wording.files(_files(restored))}. {said_keys.redo()} redoes it.",
    )


def _doers(events: Iterable[Event]) -> list[tuple[str, str, str | None]]:
    """Who changed something lately, the last one first: in words, by name, and in which session."""
    last: dict[tuple[str, str | None], int] = {}
    count: dict[tuple[str, str | None], int] = {}
    for event in events:
        if event.changes and event.command not in _TAKEN_BACK:
            session = event.actor.session if isinstance(event.actor, Agent) else None
            key = (shown_name(event.actor), session)
            last[key] = event.seq
            count[key] = count.get(key, 0) + 1
    doers = []
    for name, session in sorted(last, key=lambda key: -last[key]):
        words = f"{name}, session {session}" if session else name
        doers.append((words, name, session))
    return doers


def _since(seen: int) -> list[Choice]:
    choices = [
        Choice("1", "the last 10 minutes", "10"),
        Choice("2", "the last hour", "60"),
        Choice("3", "today", "today"),
    ]
    return [*choices, Choice("4", f"I last marked all as seen (#{seen})", "seen")]


def _start(since: str) -> int:
    """Since when, in microseconds since 1970."""
    if since == "today":
        midnight = datetime.now().replace(hour=0, minute=0, second=0, microsecond=0)
        return int(midnight.timestamp() * 1e6)
    return time.time_ns() // 1_000 - int(since) * _MINUTE_US


def _count_of(engine: Engine, after: int, name: str, session: str | None) -> int:
    return sum(
        bool(event.changes)
        and event.command not in _TAKEN_BACK
        and shown_name(event.actor) == name
        and (session is None or (isinstance(event.actor, Agent) and event.actor.session == session))
        and engine.history.undone_by(event.seq) is None
        for event in engine.events(after)
    )


async def restore_as_of(app: App[Any], engine: Engine, below: str, at: int, moment: str) -> Said | None:
    """Have a file, a directory or the whole folder be as it was, after a rehearsal and a question.

    Args:
        app: Where to ask.
        engine: The memory.
        below: The path; `""` for the whole folder.
        at: After which event.
        moment: That event's time, in words.
    """
    what = one_line(below) or "the whole folder"
    rehearsal = await _in_thread(lambda: engine.restore_below(below, at, partial=True, rehearse=True))
    if not rehearsal.changes:
        if rehearsal.left:
            return _told(rehearsal, "")
        return Said(f"{what} is as it was at {moment}: nothing has to be restored.")
    gone = sum(change.after is None and _is_file(change.before) for change in rehearsal.changes)
    count = _files(rehearsal)
    words = f"{wording.files(count)} would be as at {moment}" if count else f"{what} would be as at {moment}"
    if gone:
        words += f"; {gone:,} of them {'is' if gone == 1 else 'are'} newer and would go"
    words += _left_over(rehearsal)
    if not await _ask(app, f"Restore {what}: {words}."):
        return Said("Nothing was restored.")
    restored = await _in_thread(lambda: engine.restore_below(below, at, partial=True))
    return _told(
        restored,
        f"Restored {what} as of {moment}: {wording.files(_files(restored))}. {said_keys.undo()} takes it back.",
    )


async def restore_deleted(engine: Engine, wanted: Mapping[str, Version]) -> Said:
    """Bring back what is not there any more; where something stands by now, that stays."""
    nothing = dict.fromkeys(wanted, None)
    restored = await _in_thread(lambda: engine.restore(wanted, expected=nothing, partial=True))
    count = _files(restored)
    what = one_line(next(iter(wanted))) if len(wanted) == 1 else wording.memories(count)
    return _told(restored, f"Restored {what}. {said_keys.undo()} takes it back.")


async def restore_loss(engine: Engine, loss: Loss) -> Said:
    """Bring back all that went at once."""
    restored = await _in_thread(engine.restore_loss)
    count = sum(change.after is not None and change.after.kind is Kind.FILE for change in restored.changes)
    count = count or len(loss.changes)  # as the banner counts: links come back too, but are no memories
    return _told(restored, f"{wording.memories(count)} {'is' if count == 1 else 'are'} back.")


async def dismiss_loss(app: App[Any], engine: Engine, loss: Loss) -> Said | None:
    """Leave it so, after a question."""
    count = wording.memories(len(loss.changes))
    if not await _ask(app, f"Leave it so? {count} stay gone, and this is not said again."):
        return None
    await _in_thread(lambda: engine.dismiss_loss(loss.last))
    return Said(f"Left as it is. {said_keys.deleted()} lists what is gone, and brings it back.")


async def _ask(app: App[Any], question: str) -> bool:
    screen: Screen[Any] = AskScreen(question)
    return bool(await app.push_screen_wait(screen))


async def _in_thread(call: Callable[[], T]) -> T:
    """Disk and database are slow now and then: never on the screen's loop."""
    return await asyncio.to_thread(call)


def _told(restored: Restored, words: str) -> Said:
    """What is said of it: done, done but for some, or not done and why."""
    if restored.event is None:
        problem = restored.problem or "There was nothing to do."
        shows = f" {said_keys.said('browse.diff', 'v')} shows the difference." if restored.left else ""
        return Said(problem + shows, is_warning=True)
    if restored.problem:
        return Said(restored.problem, is_warning=True, event=restored.event.seq)
    if restored.left:
        words += f" Left as it is: {_left(restored)}."
    return Said(words, bool(restored.left), restored.event.seq)


def _left(restored: Restored) -> str:
    more = len(restored.left) - 1
    return restored.left[0].sentence + (f", and {more:,} more" if more else "")


def _left_over(restored: Restored) -> str:
    if not restored.left:
        return ""
    if len(restored.left) == 1:
        return f"; {restored.left[0].sentence}, and would be left"
    return f"; {len(restored.left):,} would be left, such as {restored.left[0].sentence}"


def _files(restored: Restored) -> int:
    """How many files, links and the like are concerned, directories left aside."""
    return len({change.path for change in restored.changes if _is_file(change.after or change.before)})


def _is_file(version: Version | None) -> bool:
    return version is not None and version.kind is not Kind.DIRECTORY


def _recalled(event: Event) -> str:
    age = wording.age(time.time() - event.at_us / 1e6)
    return f"{wording.clause(event)}, {age} ago"


def _place(event: Event) -> str:
    return one_line(wording.relative(event.path))
