"""Taking back: what a turn wrote, or what was said in it and after it."""

from memtui.agents.chat.events import Prompt, Rewound, Told, TurnUndone
from memtui.agents.chat.talk import Talk
from memtui.core.errors import MemtuiError
from memtui.core.events import Event
from memtui.core.restoring import Restored
from memtui.core.visible import one_line


async def undo(talk: Talk) -> None:
    """Take back what the last turn wrote, what the person wrote in its place included, as one event."""
    turn, seqs = talk.writes
    if not seqs:
        words = "this turn wrote nothing to memory" if turn else "nothing was written to memory yet"
        talk.tell(Told(f"Nothing to take back: {words}."))
        return

    def take_back() -> Restored:
        standing = [seq for seq in seqs if talk.memory.history.undone_by(seq) is None]
        if not standing:
            return Restored(problem="Nothing to take back: that was done already.")
        return talk.memory.undo(standing)

    try:
        restored = await talk.worker.run(take_back)
    except MemtuiError as error:
        talk.tell(Told(f"Not undone: {error}"))
        return
    event = restored.event
    if event is None:
        talk.tell(Told(restored.problem or "Nothing to take back: all is as it was before."))
        return
    talk.session_tally.add(event)
    names = _names(event)
    note = f"The user took back what you wrote to memory in your last turn ({names}): it is as it was before that turn."
    talk.notes.append(note)
    talk.recorder.write("undone", turn=turn, seq=event.seq, note=note)
    more = f" {restored.problem}" if restored.problem else ""
    talk.tell(TurnUndone(turn, event, f"Took back what this turn wrote: {names}.{more}"))


def rewind(talk: Talk, why: str) -> Prompt | None:
    """Take the last turn out of the conversation; what it wrote to memory stays.

    Args:
        talk: The conversation.
        why: `retry` or `edit`.

    Returns:
        What the person had said in it; `None` where there is nothing.
    """
    if talk.last is None:
        talk.tell(Told("There is no message to go back to."))
        return None
    turn, prompt = talk.last
    talk.history.rewind(turn)
    talk.notes = [*talk.told.pop(turn, ()), *talk.notes]
    talk.last, talk.unanswered = None, None
    talk.recorder.write("rewound", turn=turn, why=why)
    talk.tell(Rewound(turn, prompt, why))
    if talk.writes[0] == turn and talk.writes[1]:
        talk.tell(Told("What that turn wrote to memory stays as it is."))
    return prompt


def clear(talk: Talk) -> None:
    """Begin anew: nothing that was said is in the conversation any more. Memory stays as it is."""
    talk.history.rewind(0)
    talk.notes, talk.told = [], {}
    talk.last, talk.unanswered = None, None
    talk.meter.cleared()
    talk.recorder.write("rewound", turn=1, why="clear")
    talk.tell(Rewound(1, None, "clear"))


_MOST_NAMES = 5


def _names(event: Event) -> str:
    """The paths of an event, as a sentence names them."""
    paths = [one_line(change.path) for change in event.changes]
    more = len(paths) - _MOST_NAMES
    return ", ".join(paths[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")
