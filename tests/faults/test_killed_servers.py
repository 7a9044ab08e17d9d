"""Machines that write to a server which is killed: what was acknowledged is there, once.

By hand, as large as one likes: `python -m tests.faults.servers WRITERS EDITS STORES KILLS`.
"""

import sys

import pytest

from tests import pg_server, sampling
from tests.faults.checking import run_module

_WRITERS = sampling.many(16, 4)
_EDITS = sampling.many(100, 16)
_KILLS = sampling.many(10, 2)
_STORES = 2
_LIMIT = 300


@pytest.mark.sweep
@pytest.mark.timeout(_LIMIT)
@pytest.mark.skipif(bool(pg_server.MISSING), reason=pg_server.MISSING)
@pytest.mark.skipif(sys.platform != "linux", reason="forking a warmed process is only safe on Linux")
def test_what_was_acknowledged_by_a_server_that_is_killed_is_there_once() -> None:
    found = run_module("servers", _WRITERS, _EDITS, _STORES, _KILLS, limit=_LIMIT - 30)
    assert found["wrong"] == []
    assert (found["edits"], found["kills"]) == (_WRITERS * _EDITS, _KILLS)
