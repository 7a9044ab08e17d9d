"""The six commands answer over a hosted store as over any other: the contract suite's own tests, on one more world."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest

import memtui
from memtui.core.paths import MemoryPath
from memtui.engine import Engine
from memtui.hosted import place as hosted
from memtui.store.base import Store
from tests.conftest import World
from tests.contract.test_create_command import *  # noqa: F403
from tests.contract.test_delete_and_rename import *  # noqa: F403
from tests.contract.test_insert_command import *  # noqa: F403
from tests.contract.test_str_replace_command import *  # noqa: F403
from tests.contract.test_view_command import *  # noqa: F403
from tests.hosted.conftest import Hosting

pytestmark = pytest.mark.sweep(keep=1)
for _name in (
    "test_what_is_not_utf8_is_neither_shown_nor_edited",
    "test_what_is_not_utf8_can_be_renamed_and_deleted",
):
    del globals()[_name]  # the API keeps text alone


_NOT_TAKEN = ("The request's body has more than", "what is below .git belongs to git")
"""Why the API refuses what a folder holds: no test of its own is lost for another reason."""


class HostedWorld(World):
    """A hosted store that holds nothing, and an engine over it."""

    hosting: Hosting

    def store(self) -> Store:
        return self.main.store

    def engine(self, **settings: Any) -> Engine:
        given = memtui.Settings(**settings)
        engine = hosted.connect(self.hosting.place, client=self.hosting.sdk, state=self.state, settings=given)
        self.made.append(engine)
        engine.reconcile()
        return engine

    def put(self, path: str, data: bytes | str) -> None:
        content = data if isinstance(data, str) else data.decode("utf-8", "replace")
        found = self.hosting.find(f"/{path}")
        try:
            if found is None:
                self.hosting.create(f"/{path}", content)
            else:
                self.hosting.memories.update(found.id, memory_store_id=self.hosting.id, content=content)
        except (anthropic.BadRequestError, anthropic.ContentTooLargeError) as error:
            if not any(words in str(error) for words in _NOT_TAKEN):
                raise
            pytest.skip(f"the API takes none such: {error}")
        self.main.store.attach()

    def make(self, path: str) -> None:
        with self.main.store.begin_transaction(1) as transaction:
            transaction.make_directory(MemoryPath.from_relative(path))


@pytest.fixture
def world(hosting: Hosting, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    if "u200d" in request.node.name:
        pytest.skip("the API takes no format characters in paths")
    for memory in list(hosting.memories.list(hosting.id)):
        hosting.memories.delete(memory.id, memory_store_id=hosting.id)
    world = HostedWorld("hosted", None, tmp_path / "state")
    world.hosting = hosting
    yield world
    for engine in world.made:
        engine.close()
