"""What is found in one look, whatever changes while it is looked: the events lead from what was known to what is."""

import random
from collections.abc import Iterator

import pytest

from memtui.core.events import Event, Version
from memtui.core.paths import ROOT, MemoryPath
from memtui.engine import Engine
from memtui.engine.ledger import Ledger
from memtui.engine.reconcile import find_node
from memtui.memory import open_in_memory
from memtui.store.memory import MemoryStore

NAMES = ["a", "b", "c", ".tmp"]
TEXTS = [b"", b"1", b"2"]


@pytest.fixture
def engine() -> Iterator[Engine]:
    with open_in_memory() as engine:
        yield engine


def change_something(store: MemoryStore, chance: random.Random) -> tuple[str, str] | None:
    """As another program would; returns the names of a rename."""
    one, other = (MemoryPath.from_relative(name) for name in chance.sample(NAMES, 2))
    node = store.get_node(one)
    with store.begin_transaction(1) as transaction:
        if node is None or chance.random() < 0.4:
            transaction.write(one, chance.choice(TEXTS), expected=node.stamp if node else None)
        elif chance.random() < 0.3:
            transaction.delete(one)
        else:
            if store.get_node(other) is not None:
                transaction.delete(other)
            transaction.rename(one, other)
            return one.relative, other.relative
    return None


def look(store: MemoryStore, ledger: Ledger, path: str, moved_to: str | None = None) -> None:
    node = find_node(store, path if moved_to is None else moved_to)
    if moved_to is None or node is None:
        ledger.compare_path(path, node)
    else:
        ledger.compare_move(path, moved_to, node)


def read_versions(engine: Engine) -> dict[str, Version]:
    return {path: known.version for path, known in engine.journal.get_known_below("").items()}


@pytest.mark.parametrize("seed", range(300))
def test_the_events_of_a_look_lead_from_what_was_known_to_what_is(engine: Engine, seed: int) -> None:
    chance, store = random.Random(seed), engine.store
    assert isinstance(store, MemoryStore)
    held: dict[str, Version] = {}
    for _ in range(6):
        ledger = engine._context.make_ledger(1, first_look=False)
        for _ in range(chance.randrange(1, 6)):
            moved = change_something(store, chance)
            if moved is not None and chance.random() < 0.8:
                look(store, ledger, *moved)
            else:
                look(store, ledger, chance.choice(NAMES))
        if chance.random() < 0.5:
            for node in list(store.scan(ROOT)):
                ledger.compare_path(node.path, node)
        events = ledger.make_events()
        engine.journal.append_events(events, texts=ledger.texts, known=ledger.known)
        follow(held, events)
        assert held == read_versions(engine)


def follow(held: dict[str, Version], events: list[Event]) -> None:
    for event in events:
        for change in event.changes:
            assert held.pop(change.path, None) == change.before, event
            if change.after is not None:
                held[change.path] = change.after
