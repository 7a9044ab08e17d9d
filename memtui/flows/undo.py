"""Undo, redo and restore: which question is asked first, and which sentence is reported afterwards.

The undo of one event asks only if another actor made it, that of several always. Each flow looks, asks, acts and
returns its outcome.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from memtui.core.events import NOT_CHANGES, Agent, Change, EntryKind, Event, Outside, Person, Version, format_actor_name
from memtui.core.history import ActionResult, DeletedPath, PathVersion, describe_rest
from memtui.core.mass_loss import MassLoss
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count, format_deed, format_file_count, format_note_count, to_relative_path
from memtui.engine import Engine
from memtui.flows.dialog import Choice, Dialog, FlowOutcome, Phrases, Step, format_hint

_RECENT = 2_000
"""Events among which the actors of recent changes are looked for."""


def needs_confirmation(events: Sequence[Event], *, is_named: bool = False) -> bool:
    """Whether their undo is confirmed: of several events, or of one by another actor unless its number was named."""
    return len(events) > 1 or not (is_named or isinstance(events[0].actor, Person))


async def undo(dialog: Dialog, engine: Engine, seq: int | None) -> FlowOutcome:
    """Undo an event, by default the newest that can be undone; one of another actor only after a question."""
    event = await dialog.call(lambda: engine.history.get_undoable(seq))
    if event is None:
        return FlowOutcome(await dialog.call(lambda: _explain_undo_refusal(dialog.phrases, engine, seq)))
    question = f"Undo: {dialog.phrases.format_past_event(event)}?"
    if needs_confirmation([event]) and not await dialog.confirm(question):
        return FlowOutcome("Nothing was undone.")
    result = await _undo_event(dialog, engine, event)
    if event.command == "undo":
        return summarize_result(dialog.phrases, result, _describe_redo(dialog.phrases, event))
    return summarize_result(
        dialog.phrases,
        result,
        f"Undid {_format_deed(dialog.phrases, event)}.{format_hint(dialog.phrases, 'browse.redo', 'redoes it.')}",
    )


async def _undo_event(dialog: Dialog, engine: Engine, event: Event) -> ActionResult:
    """Undo one event, with progress. It is not stopped halfway: an event undone in part counts as undone, and no key
    would undo the rest.
    """

    def run(step: Step) -> ActionResult:
        def go_on(done: int, total: int) -> bool:
            step(done, total)
            return True

        return engine.undo([event.seq], progress=go_on)

    return await dialog.run(f"Undoing {_format_deed(dialog.phrases, event)}", run, can_stop=False)


def _format_deed(phrases: Phrases, event: Event) -> str:
    """`your edit of x.md (+2 -1)`."""
    return f"{to_one_line(format_deed(event))}{phrases.format_changed_lines(event)}"


async def redo(dialog: Dialog, engine: Engine, seq: int | None) -> FlowOutcome:
    """Redo the last undo, an event that was undone, or the events of an `undo`. There is no question."""
    event = await dialog.call(lambda: _find_redo_event(engine, seq))
    if event is None:
        if seq is None:
            return FlowOutcome("Nothing to redo.")
        return FlowOutcome(await dialog.call(lambda: _explain_redo_refusal(dialog.phrases, engine, seq)))
    result = await _undo_event(dialog, engine, event)
    return summarize_result(dialog.phrases, result, _describe_redo(dialog.phrases, event))


def _describe_redo(phrases: Phrases, event: Event) -> str:
    """The sentence once an `undo` is itself undone."""
    numbers = " and ".join(f"#{number}" for number in event.undoes[:3]) + (" and more" if len(event.undoes) > 3 else "")
    path = to_one_line(to_relative_path(event.path))
    return f"Redid {numbers} in {path}.{format_hint(phrases, 'browse.undo', 'undoes it.')}"


def _explain_redo_refusal(phrases: Phrases, engine: Engine, seq: int) -> str:
    by = engine.history.find_undoing_event(seq)
    if by is not None:
        return f"#{seq} was redone already, by #{by}.{format_hint(phrases, 'browse.undo', f'on #{by} undoes that.')}"
    return f"#{seq} was not undone: there is nothing to redo."


def _find_redo_event(engine: Engine, seq: int | None) -> Event | None:
    history = engine.history
    if seq is None:
        return history.get_redoable()
    by = history.find_undoing_event(seq)
    event = history.get_event(seq if by is None else by)
    return event if event is not None and event.command == "undo" else None


def _explain_undo_refusal(phrases: Phrases, engine: Engine, seq: int | None) -> str:
    if seq is None:
        return "Nothing to undo: nothing was changed, or all changes are undone already."
    by = engine.history.find_undoing_event(seq)
    if by is None:
        return f"#{seq} changed nothing that can be undone."
    event = engine.history.get_event(by)
    if event is not None and event.command != "undo":
        again = format_hint(phrases, "browse.undo", f"on #{by} undoes it again.")
        return f"#{seq} was undone already, and #{by} redid it.{again}"
    return f"#{seq} was undone already, by #{by}.{format_hint(phrases, 'browse.redo', 'redoes it.')}"


async def undo_since(dialog: Dialog, engine: Engine, seen: int) -> FlowOutcome | None:
    """Undo all changes of one actor since a moment, after asking for the actor, the moment, and a confirmation."""
    recent = await dialog.call(
        lambda: list(engine.history.read_events(engine.events(max(engine.get_head()[0] - _RECENT, 0))))
    )
    actors = _list_recent_actors(recent)
    if not actors:
        return FlowOutcome("Nothing to undo: there are no recent changes.")
    choices = [Choice(str(number), words, str(number - 1)) for number, (words, _, _) in enumerate(actors[:9], start=1)]
    chosen = await dialog.choose("Undo everything by", choices)
    if chosen is None:
        return None
    words, name, session = actors[int(chosen)]
    shown = to_one_line(_format_name(name))
    after = await dialog.ask_moment(f"Undo everything by {to_one_line(words)}, since", seen)
    if after is None:
        return None
    rehearsal = await dialog.call(
        lambda: engine.undo_since(after, actor_name=name, session=session, partial=True, rehearse=True)
    )
    if not rehearsal.changes:
        return FlowOutcome(rehearsal.problem or f"{shown} has changed nothing since.", is_warning=True)
    count = await dialog.call(lambda: _count_changes(engine, after, name, session))
    changes = f"{format_count(count, 'change')} in {format_file_count(_count_files(rehearsal))}"
    if not await dialog.confirm(f"{changes} would be undone{_format_skipped_clause(rehearsal)}."):
        return FlowOutcome("Nothing was undone.")
    result = await dialog.call(lambda: engine.undo_since(after, actor_name=name, session=session, partial=True))
    files = format_file_count(_count_files(result))
    again = format_hint(dialog.phrases, "browse.redo", "redoes it.")
    whose = "your" if name == Person().name else f"{shown}'s"
    return summarize_result(dialog.phrases, result, f"Undid {whose} changes to {files}.{again}")


def _format_name(name: str) -> str:
    return "another program" if name == Outside().name else name


def _is_change_by(event: Event, name: str, session: str | None) -> bool:
    return (
        bool(event.changes)
        and event.command not in NOT_CHANGES
        and format_actor_name(event.actor) == name
        and (session is None or (isinstance(event.actor, Agent) and event.actor.session == session))
    )


def _list_recent_actors(events: Iterable[Event]) -> list[tuple[str, str, str | None]]:
    """The actors of recent changes, the last one first: in words, by name, and their session."""
    last: dict[tuple[str, str | None], int] = {}
    for event in events:
        if event.changes and event.command not in NOT_CHANGES:
            session = event.actor.session if isinstance(event.actor, Agent) else None
            last[format_actor_name(event.actor), session] = event.seq
    return [
        (f"{name}, session {session}" if session else _format_name(name), name, session)
        for name, session in sorted(last, key=lambda key: -last[key])
    ]


def _count_changes(engine: Engine, after: int, name: str, session: str | None) -> int:
    return sum(
        _is_change_by(event, name, session) and engine.history.find_undoing_event(event.seq) is None
        for event in engine.history.read_events(engine.events(after))
    )


async def restore_as_of(dialog: Dialog, engine: Engine, below: str, at: int, moment: str) -> FlowOutcome:
    """Restore a path (`""` for all) as after event `at`, after a question; `moment` is its time in words."""
    target = to_one_line(below) or "the whole folder"
    rehearsal = await dialog.call(lambda: engine.restore_directory(below, at, partial=True, rehearse=True))
    if not rehearsal.changes:
        if rehearsal.skipped:
            return summarize_result(dialog.phrases, rehearsal, "")
        return FlowOutcome(f"Nothing to restore: {target} is as it was at {moment}.")
    newer = sum(change.after is None and _is_file(change.before) for change in rehearsal.changes)
    count = _count_files(rehearsal)
    words = f"{format_file_count(count) if count else target} would be as at {moment}"
    if newer:
        words += f"; {newer:,} of them {'is' if newer == 1 else 'are'} newer and would be deleted"
    words += _format_skipped_clause(rehearsal)
    if not await dialog.confirm(f"Restore {target}: {words}."):
        return FlowOutcome("Nothing was restored.")
    result = await dialog.call(lambda: engine.restore_directory(below, at, partial=True))
    files = format_file_count(_count_files(result))
    again = format_hint(dialog.phrases, "browse.undo", "undoes it.")
    return summarize_result(dialog.phrases, result, f"Restored {target} as of {moment}: {files}.{again}")


async def restore_version(
    dialog: Dialog,
    engine: Engine,
    path: str,
    version: PathVersion,
    newest: PathVersion,
    moment: str,
    show: Callable[[Change], object] | None = None,
) -> FlowOutcome:
    """Restore one version of a path as a new one, unless the path changed after `newest`.

    Args:
        version: Of a deletion, the version before it is restored.
        newest: The newest version that the person has seen.
        moment: The time of `version` in words.
        show: Shows the change before a question; `None` where it is in sight, which needs no question.
    """
    if version == newest and version.after is not None:
        older = format_hint(dialog.phrases, "history.older", "goes to older versions.")
        return FlowOutcome(f"Nothing to restore: this is the current version.{older}")
    is_recorded = newest.imported is None or newest.imported_by is not None  # else only a session file tells of it
    restore = partial(
        engine.restore,
        {path: version.before if version.after is None else version.after},
        expected={path: newest.after if is_recorded else None},
        note=f"as of #{version.event.seq}",
    )
    if show is not None:
        rehearsal = await dialog.call(lambda: restore(rehearse=True))
        if not rehearsal.changes:
            return FlowOutcome(rehearsal.problem, is_warning=True)
        for change in rehearsal.changes:
            if change.path == path:
                show(change)
        question = f"Restore {to_one_line(path)} {moment}? The current version stays in the history."
        if not await dialog.confirm(question):
            return FlowOutcome("Not restored. Nothing was written.")
    result = await dialog.call(restore)
    words = result.problem or dialog.phrases.format_restored(path, moment)
    return FlowOutcome(words, bool(result.problem), result.event.seq if result.event else 0)


def restore_deleted(phrases: Phrases, engine: Engine, deleted: Sequence[DeletedPath]) -> FlowOutcome:
    """Restore deleted paths whose text is kept; where something is by now, that stays."""
    versions = {each.path: each.version for each in deleted if each.is_stored}
    lost = [each for each in deleted if not each.is_stored]
    if not versions:
        words = f"Not restored: {to_one_line(lost[0].path)}. {explain_not_restorable(lost[0])}"
        return FlowOutcome(words, is_warning=True)
    result = engine.restore(versions, expected=dict.fromkeys(versions, None), partial=True)
    count = format_note_count(_count_files(result))
    target = to_one_line(next(iter(versions))) if len(versions) == 1 else count
    again = format_hint(phrases, "browse.undo", "undoes it.")
    outcome = summarize_result(phrases, result, f"Restored {target}.{again}")
    if lost:
        return FlowOutcome(f"{outcome.words} Not kept in the history: {len(lost):,} more.", True, outcome.event)
    return outcome


def explain_not_restorable(deleted: DeletedPath) -> str:
    """Why a deleted path whose text is not kept cannot be restored."""
    if deleted.version.sha256 is None:
        return "Its text was never kept: it was too large to read."
    return "Its text was removed from the history."


def restore_loss(phrases: Phrases, engine: Engine, loss: MassLoss) -> FlowOutcome:
    """Restore all that was lost at once."""
    result = engine.restore_loss()
    count = sum(change.after is not None and change.after.kind is EntryKind.FILE for change in result.changes)
    count = count or len(loss.changes)  # as the banner counts: links come back too, but are no memories
    words = f"Restored {format_note_count(count)}."
    return summarize_result(phrases, result, words)


async def dismiss_loss(dialog: Dialog, engine: Engine, loss: MassLoss) -> FlowOutcome | None:
    """Leave a loss as it is, after a question."""
    count = format_note_count(len(loss.changes))
    if not await dialog.confirm(f"Dismiss this warning? {count} stay deleted, and it is not shown again."):
        return None
    await dialog.call(lambda: engine.dismiss_loss(loss.last))
    lists = format_hint(dialog.phrases, "browse.deleted", "lists and restores deleted notes.")
    return FlowOutcome(f"Dismissed.{lists}")


def summarize_result(phrases: Phrases, result: ActionResult, words: str) -> FlowOutcome:
    """The sentence: done, done but for some, or not done and why."""
    if result.event is None:
        problem = result.problem or "Nothing to do."
        shows = format_hint(phrases, "browse.diff", "shows the difference.") if result.skipped else ""
        return FlowOutcome(problem + shows, is_warning=True)
    if result.problem:
        return FlowOutcome(result.problem, is_warning=True, event=result.event.seq)
    if result.skipped:
        words += f" {describe_rest(result.skipped)}."
    return FlowOutcome(words, bool(result.skipped), result.event.seq)


def _format_skipped_clause(result: ActionResult) -> str:
    if not result.skipped:
        return ""
    if len(result.skipped) == 1:
        return f"; skipped: {result.skipped[0].sentence}"
    return f"; {len(result.skipped):,} would be skipped, such as {result.skipped[0].sentence}"


def _count_files(result: ActionResult) -> int:
    """How many files, links and the like are concerned, directories left aside."""
    return len({change.path for change in result.changes if _is_file(change.after or change.before)})


def _is_file(version: Version | None) -> bool:
    return version is not None and version.kind is not EntryKind.DIRECTORY
