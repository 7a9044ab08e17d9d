"""Chance: commands here, changes by others, and lost answers, in any order; in the end both sides are the same."""

import contextlib
import random

import anthropic
import httpx2
import pytest

from memtui.core.errors import MemtuiError
from memtui.core.events import Person
from memtui.engine import Engine
from tests.hosted.conftest import Hosting, Wire, ask, read_copy
from tests.sampling import sampled

PATHS = ("a.md", "b.md", "d/a.md", "d/b.md", "d/e/c.md", "f/a.md")


def cut(wire: Wire) -> None:
    wire.is_cut = True
    lose()


def lose() -> None:
    raise httpx2.ReadError("the connection was reset")


@pytest.mark.sweep
@pytest.mark.parametrize("seed", sampled(range(24), 2))
def test_both_sides_are_the_same_in_the_end(hosting: Hosting, wire: Wire, memory: Engine, seed: int) -> None:
    chance, was_cut = random.Random(seed), False
    for number in range(40):
        path, other, text = chance.choice(PATHS), chance.choice(PATHS), f"{number} {chance.randrange(3)}\n"
        wire.before = wire.after = None
        was_cut = was_cut or wire.is_cut
        wire.is_cut = wire.is_cut and bool(chance.randrange(2))
        match chance.randrange(10):
            case 0:
                wire.before = lose
            case 1:
                wire.after = lose
            case 3:
                wire.before = lambda: cut(wire)
            case 4:
                wire.after = lambda: cut(wire)
            case 2:
                wire.before = lambda path=path, text=text: change_elsewhere(hosting, random.Random(text), path)
        match chance.randrange(9):
            case 0 | 1:
                ask(memory, "create", path, file_text=text)
            case 2:
                ask(memory, "str_replace", path, old_str=" ", new_str=f" {number} ")
            case 3:
                ask(memory, "delete", chance.choice((path, path.split("/", maxsplit=1)[0])))
            case 4:
                names = [each if chance.randrange(3) else each.split("/", maxsplit=1)[0] for each in (path, other)]
                ask(memory, "rename", old_path=f"/memories/{names[0]}", new_path=f"/memories/{names[1]}")
            case 5:
                with contextlib.suppress(MemtuiError):
                    memory.undo([chance.randint(1, memory.get_head()[0])])
            case 6:
                with contextlib.suppress(MemtuiError):
                    memory.restore_directory("", chance.randint(0, memory.get_head()[0]), partial=bool(number % 2))
            case 7:
                with contextlib.suppress(MemtuiError):
                    memory.files.move({path: other, other: path}, actor=Person())
            case _:
                change_elsewhere(hosting, chance, path)
    wire.before, wire.after, wire.is_cut = None, None, False
    with memory.store.begin_transaction(5):
        memory.journal.get_head()
    memory.store.attach()
    memory.reconcile()
    assert read_copy(memory) == hosting.read_all()
    assert not memory.journal.has_intents()
    assert memory.reconcile() == 0, "nothing seems to have come from outside"
    assert memory.journal.verify().is_intact
    others = [event for event in memory.events() if event.is_outside and event.seq > 2]
    assert was_cut or not others, "only what broke off in the middle may be nobody's"


def change_elsewhere(hosting: Hosting, chance: random.Random, path: str) -> None:
    """Another client does something."""
    with contextlib.suppress(anthropic.APIStatusError):
        found = hosting.find(f"/{path}")
        if found is None:
            hosting.create(f"/{path}", f"theirs {chance.random()}\n")
        elif chance.randrange(3):
            given = {"content": f"theirs {chance.random()}\n"} if chance.randrange(2) else {"path": f"/{path}.x"}
            hosting.memories.update(found.id, memory_store_id=hosting.id, **given)
        else:
            hosting.memories.delete(found.id, memory_store_id=hosting.id)
