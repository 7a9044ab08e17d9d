"""How actors are named to people."""

from memtui.core.events import Actor, Agent, Memtui, Outside, Person

_OURS = frozenset(actor.name for actor in (Person(), Outside(), Memtui()))


def shown_name(actor: Actor) -> str:
    """The name of an actor for people.

    An agent chooses its own name. One that calls itself `you` is shown as `agent:you`: nobody but the person at the
    keyboard is shown as she is.
    """
    if isinstance(actor, Agent) and actor.name.strip().casefold() in _OURS:
        return f"agent:{actor.name}"
    return actor.name


def named_in_a_sentence(actor: Actor) -> str:
    """The same, where there is no column that says what it is: `outside memtui`."""
    return "outside memtui" if isinstance(actor, Outside) else shown_name(actor)
