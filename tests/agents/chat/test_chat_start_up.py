"""Importing the chat does not load the SDK."""

import json
from collections.abc import Callable
from typing import Any


def test_the_sdk_is_not_loaded_by_importing_the_chat(run_python: Callable[..., Any]) -> None:
    program = """
import json
import sys
import memtui.agents.chat.conversation
import memtui.agents.chat.history
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""
    done = run_python(program)
    assert done.returncode == 0, done.stderr
    assert {"anthropic", "httpx2", "pydantic", "textual", "mcp"}.isdisjoint(json.loads(done.stdout))
