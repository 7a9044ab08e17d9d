"""How actors are named to people."""

import pytest

from memtui.core.events import Actor, Agent, Memtui, Outside, Person, format_actor_name, shorten_actor_name


@pytest.mark.parametrize(
    "name", ["you", "You", " you ", "y\u200bou", "ｙｏｕ", "outside", "OUTSIDE", "outside memtui", "memtui", "", " "]
)
def test_an_agent_cannot_pass_for_the_person_nor_for_nobody(name: str) -> None:
    assert format_actor_name(Agent(name)) == f"agent:{name}"


@pytest.mark.parametrize("actor", [Person(), Outside(), Memtui(), Agent("Claude"), Agent("your-agent")])
def test_everybody_else_is_called_by_name(actor: Actor) -> None:
    assert format_actor_name(actor) == actor.name


def test_a_narrow_column_tells_another_program_from_an_agent_of_that_name() -> None:
    assert shorten_actor_name(format_actor_name(Outside())) == "other"
    assert shorten_actor_name(format_actor_name(Person())) == "you"
    for name in ("other", "Other", "ot\u200bher"):
        assert shorten_actor_name(format_actor_name(Agent(name))) == f"agent:{name}"
