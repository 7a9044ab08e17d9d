"""The stores of the contract suite, and folders on file systems and kernels that lack what others have."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memtui.store.folder import FolderStore
from tests.conftest import FOLDERS, STORES, World, _world

FALLBACKS: dict[str, dict[str, Any]] = {
    "linking": {"moving": "link", "nameless": False, "locking": "record"},
    "placing": {"moving": "placeholder", "resolver": "walk", "nameless": False},
}
"""Without `renameat2` and `flock`; without hard links as well, and without `openat2`."""


def _any_world(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    if kind not in FALLBACKS:
        yield from _world(kind, tmp_path, request)
        return
    for world in _world("openat2", tmp_path):
        world.kind = kind
        made: Any = lambda: FolderStore(str(world.folder), str(world.state), title="here", **FALLBACKS[kind])  # noqa: B023, E731
        world.store = made  # type: ignore[method-assign]
        yield world


@pytest.fixture(params=(*STORES, *FALLBACKS))
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """A memory over each store in turn."""
    yield from _any_world(request.param, tmp_path, request)


@pytest.fixture(params=(*FOLDERS, *FALLBACKS))
def folder_world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """A memory over each kind of folder in turn."""
    yield from _any_world(request.param, tmp_path, request)
