"""Stores on the server of the tests, and memtui as it is called there."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.pg_server import OwnServer
from tests.warm import Warm


@pytest.fixture
def place(server: OwnServer, tmp_path: Path) -> str:
    """The address of a store that nothing was ever recorded in."""
    return server.address(f"s{os.path.basename(tmp_path)}-{os.urandom(4).hex()}")


@pytest.fixture
def run_verb(warm: Warm) -> Callable[..., str]:
    """Runs memtui; what it printed, on both."""

    def run(*words: str) -> str:
        done = warm.run(["-m", "memtui", *words], env=dict(os.environ))
        return (done.stdout + done.stderr).decode()

    return run
