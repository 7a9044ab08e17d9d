"""Session files of Claude Code, made by hand beside the writes that they tell of."""

import json
from pathlib import Path

import memtui


class Session:
    """A session file of Claude Code, and its agent's writes in the memory.

    Args:
        home: The home directory, which is made.
    """

    def __init__(self, home: Path, memory: memtui.Engine) -> None:
        self._path, self._memory, self._calls = home / ".claude/projects/-app/s-1.jsonl", memory, 0
        self._path.parent.mkdir(parents=True)

    def _say(self, kind: str, content: object, **more: object) -> None:
        record = {"type": kind, "sessionId": self._path.stem, "message": {"role": kind, "content": content}, **more}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def ask(self, prompt: str) -> None:
        """The person's prompt."""
        self._say("user", prompt)

    def call(self, tool: str, result: object, **given: object) -> str:
        """A call of a tool and its result; returns its id."""
        self._calls += 1
        call_id = f"toolu_{self._calls}"
        self._say("assistant", [{"type": "tool_use", "id": call_id, "name": tool, "input": given}])
        self._say("user", [{"type": "tool_result", "tool_use_id": call_id, "content": result}])
        return call_id

    def remember(self, text: str, name: str = "notes.md") -> None:
        """Write a note."""
        call_id = self.call("memory", "ok", command="create")
        actor = memtui.Agent("Claude", "a-model", self._path.stem)
        command = {"command": "create", "path": f"/memories/{name}", "file_text": f"# Notes\n\n- {text}\n"}
        answer = self._memory.execute(command, actor=actor, call_id=call_id)
        assert not answer.is_error, answer.text
