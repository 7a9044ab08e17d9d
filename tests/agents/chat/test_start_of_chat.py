"""A chat is there before the SDK is: whoever imports it waits for nothing."""

import json
from collections.abc import Callable
from typing import Any


def test_the_sdk_is_not_loaded_by_importing_the_chat(run_python: Callable[..., Any]) -> None:
    program = """
import json, sys
import memtui.agents.chat.conversation, memtui.agents.chat.attachments
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""
    done = run_python(program)
    assert done.returncode == 0, done.stderr
    assert {"anthropic", "httpx2", "pydantic", "textual", "mcp", "jiter"}.isdisjoint(json.loads(done.stdout))
