"""Fixtures of the tests of agents."""

from collections.abc import Iterator

import pytest

from tests.agents.model_server import ModelServer


@pytest.fixture
def model_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A scripted model's server that every client of the SDK in this test talks to."""
    with ModelServer() as server:
        server.point_sdk_at_it(monkeypatch)
        yield server
