"""Random operations of the API against a model that is a dict: answers, contents, ids and versions are the same."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anthropic
import pytest

import memtui
from tests.sampling import many
from tests.serve.conftest import PLANNER, Serve, find_store
from tests.serve.sdk import Store, hash_text

PATHS = ("/a", "/a/b", "/a/b/c", "/b.md", "/b/c.md", "/z")
TEXTS = ("", "one", "two\n", "drei ü")
STEPS = 60


@dataclass
class Model:
    """What a hosted store does, over two dicts.

    Attributes:
        memories: Path and content by id, of those that are there.
        history: Operation, path and content of each version by memory, oldest first.
    """

    memories: dict[str, tuple[str, str]] = field(default_factory=dict)
    history: dict[str, list[tuple[str, str, str | None]]] = field(default_factory=dict)

    def is_taken(self, path: str, but: str | None = None) -> bool:
        """Whether a memory stands at a path, above it or below it: the store is a folder to others."""
        others = [each for key, (each, _) in self.memories.items() if key != but]
        return any(each == path or each.startswith(f"{path}/") or path.startswith(f"{each}/") for each in others)

    def record(self, memory_id: str, operation: str, path: str, content: str | None) -> None:
        self.history.setdefault(memory_id, []).append((operation, path, content))
        if content is None:
            del self.memories[memory_id]
        else:
            self.memories[memory_id] = path, content


class Run:
    """Does the same with a store and with the model, and compares."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self.model = Model()
        self.random = random.Random(seed)

    async def step(self) -> None:
        step: Callable[[], Any] = self.random.choice((self.create, self.update, self.update, self.delete, self.list))
        await step()

    async def create(self) -> None:
        path, content = self.random.choice(PATHS), self.random.choice(TEXTS)
        if self.model.is_taken(path):
            await self.expect("memory_path_conflict_error", self.store.create(path, content))
            return
        made = await self.store.create(path, content)
        assert made.id not in self.model.history
        self.model.record(made.id, "created", path, content)

    async def update(self) -> None:
        if (memory_id := self.choose()) is None:
            return
        change: dict[str, str] = {}
        if self.random.random() < 0.7:
            change["content"] = self.random.choice(TEXTS)
        if self.random.random() < 0.5:
            change["path"] = self.random.choice(PATHS)
        expected = hash_text(self.random.choice(TEXTS)) if self.random.random() < 0.5 else None
        call = self.store.update(memory_id, expected=expected, **change)
        if memory_id not in self.model.memories:
            await self.expect("not_found_error", call)
            return
        path, content = self.model.memories[memory_id]
        after = change.get("path", path), change.get("content", content)
        if expected is not None and expected != hash_text(content):
            await self.expect("memory_precondition_failed_error", call)
        elif after[0] != path and self.model.is_taken(after[0], memory_id):
            await self.expect("memory_path_conflict_error", call)
        elif after[0].startswith(f"{path}/") or path.startswith(f"{after[0]}/"):
            await self.try_own(memory_id, call, after)
        else:
            done = await call
            assert (done.id, done.path, done.content_sha256) == (memory_id, after[0], hash_text(after[1]))
            if after != (path, content):
                self.model.record(memory_id, "modified", *after)

    async def try_own(self, memory_id: str, call: Any, after: tuple[str, str]) -> None:
        """A file that is to go into a directory of its own name, or to take its place: a folder may refuse that."""
        done = (await asyncio.gather(call, return_exceptions=True))[0]
        if isinstance(done, BaseException):
            assert getattr(done, "type", None) in ("memory_path_conflict_error", "invalid_request_error"), done
        else:
            self.model.record(memory_id, "modified", *after)

    async def delete(self) -> None:
        if (memory_id := self.choose()) is None:
            return
        options = {}
        if self.random.random() < 0.5:
            options["expected_content_sha256"] = hash_text(self.random.choice(TEXTS))
        call = self.store.delete(memory_id, **options)
        if memory_id not in self.model.memories:
            await self.expect("not_found_error", call)
            return
        path, content = self.model.memories[memory_id]
        if options.get("expected_content_sha256", hash_text(content)) != hash_text(content):
            await self.expect("memory_precondition_failed_error", call)
            return
        await call
        self.model.record(memory_id, "deleted", path, None)

    async def list(self) -> None:
        prefix = self.random.choice(("", "/a/", "/a/b/", "/b/", "/none/"))
        depth, limit = self.random.choice((0, 1)), self.random.choice((1, 2, 100))
        options = {"path_prefix": prefix} if prefix else {}
        found = [
            (each.path, getattr(each, "id", None))
            for each in await self.store.list(depth=depth, limit=limit, **options)
        ]
        wanted: dict[str, str | None] = {}
        for memory_id, (path, _) in self.model.memories.items():
            start = prefix or "/"
            if path.startswith(start):
                head, slash, _ = path[len(start) :].partition("/")
                wanted |= {f"{start}{head}/": None} if depth and slash else {path: memory_id}
        assert found == sorted(wanted.items())

    def choose(self) -> str | None:
        return self.random.choice(list(self.model.history)) if self.model.history else None

    async def expect(self, kind: str, call: Any) -> None:
        with pytest.raises(anthropic.APIStatusError) as caught:
            await call
        assert caught.value.type == kind

    async def compare(self) -> None:
        """All that the store holds, and all that it held."""
        memories = {each.id: (each.path, each.content) for each in await self.store.list(view="full")}
        assert memories == self.model.memories
        for memory_id, wanted in self.model.history.items():
            history = await self.store.history(memory_id=memory_id, view="full")
            assert [(each.operation, each.path, each.content) for each in reversed(history)] == wanted


@pytest.mark.parametrize("seed", range(many(20, 4)))
async def test_random_operations_do_what_a_dict_does(serve: Serve, seed: int) -> None:
    first, second = serve(), serve()  # two servers over one folder
    client = first.connect(PLANNER)
    store_id = await find_store(client, "shared")
    run = Run(Store(client, store_id), seed)
    others = Store(second.connect(PLANNER), await find_store(second.connect(PLANNER), "shared"))
    for number in range(STEPS):
        await run.step()
        if number % 20 == 19:
            run.store, others = others, run.store
            await run.compare()
    await run.compare()
    first.catalog.close()
    second.catalog.close()
    with memtui.open(first.root / "shared") as memory:
        assert memory.journal.verify().findings == ()
    run.store = Store(serve().connect(PLANNER), store_id)  # and after a restart
    await run.compare()
