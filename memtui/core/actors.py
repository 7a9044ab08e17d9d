"""How actors are named to people."""

import unicodedata

from memtui.core.events import Actor, Agent, Memtui, Outside, Person

_OURS = frozenset({*(actor.name for actor in (Person(), Outside(), Memtui())), "outside memtui", ""})


def shown_name(actor: Actor) -> str:
    """The name of an actor for people.

    An agent chooses its own name. One that calls itself `you` is shown as `agent:you`: nobody but the person at the
    keyboard is shown as she is.
    """
    if isinstance(actor, Agent) and _plain(actor.name) in _OURS:
        return f"agent:{actor.name}"
    return actor.name


def _plain(name: str) -> str:
    """A name as an eye takes it: without what cannot be seen, and whatever its letters are made of."""
    seen = (character for character in name if unicodedata.category(character) not in ("Cf", "Cc"))
    return " ".join(unicodedata.normalize("NFKC", "".join(seen)).casefold().split())


def named_in_a_sentence(actor: Actor) -> str:
    """The same, where there is no column that says what it is: `outside memtui`."""
    return "outside memtui" if isinstance(actor, Outside) else shown_name(actor)
