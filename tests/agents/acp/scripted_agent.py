"""An agent that speaks the Agent Client Protocol as a script tells it; it shares nothing with the client.

Each message of the person takes the next list of steps from the script, a JSON file. What it was sent is appended to a
log, one JSON object a line. The steps:

| step | what it does |
|---|---|
| `["update", {...}]` | sends a `session/update` |
| `["text", "..."]` | the same, for a piece of the answer |
| `["ask", method, {...}]` | sends a request, and logs the answer as `{"answer": ...}` |
| `["mcp", tool, {...}]` | calls a tool of the MCP server that it was given, and logs the answer |
| `["file", path, "..."]` | writes a file by itself |
| `["garbage", "..."]` | writes a line as it stands |
| `["hang"]` | waits for a `session/cancel`, and ends the turn as cancelled |
| `["deaf"]` | waits for ever |
| `["die", code, "words"]` | writes to standard error and ends |
| `["fail", code, "words"]` | answers the prompt with an error |
| `["stop", reason]` | ends the turn with another reason than `end_turn` |

    python scripted_agent.py SCRIPT LOG
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, TextIO

Message = dict[str, Any]


class Agent:
    def __init__(self, script: dict[str, Any], log: TextIO) -> None:
        self.script = script
        self.turns = list(script.get("turns", []))
        self.session = script.get("session_id", "s1")
        self.log = log
        self.asked = 0
        self.server: dict[str, Any] = {}

    def send(self, message: Message) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def read(self) -> Message:
        line = sys.stdin.readline()
        if not line:
            sys.exit(0)
        message: Message = json.loads(line)
        self.write_log(message)
        return message

    def write_log(self, entry: object) -> None:
        self.log.write(json.dumps(entry) + "\n")
        self.log.flush()

    def run(self) -> None:
        while True:
            message = self.read()
            method, id = message.get("method"), message.get("id")
            fixed = self.script.get("answers", {}).get(method)
            if fixed == "deaf":
                continue
            if fixed is not None:
                self.send({"id": id, **fixed})
            elif method == "initialize":
                able = self.script.get("capabilities", {})
                info = {"name": "scripted", "version": "1"}
                self.send({"id": id, "result": {"protocolVersion": 1, "agentCapabilities": able, "agentInfo": info}})
            elif method == "session/new":
                self.server = message["params"]["mcpServers"][0]
                self.send({"id": id, "result": {"sessionId": self.session, **self.script.get("opened", {})}})
            elif method == "session/prompt":
                self.take_turn(id)
            elif id is not None:
                self.send({"id": id, "result": {}})

    def take_turn(self, id: object) -> None:
        reason = "end_turn"
        for kind, *values in self.turns.pop(0) if self.turns else [["text", "Done."]]:
            match kind:
                case "update":
                    self.update(values[0])
                case "text":
                    content = {"type": "text", "text": values[0]}
                    self.update({"sessionUpdate": "agent_message_chunk", "content": content})
                case "ask":
                    self.ask(values[0], values[1])
                case "mcp":
                    self.call_tool(values[0], values[1])
                case "file":
                    Path(values[0]).write_text(values[1], encoding="utf-8")
                case "garbage":
                    sys.stdout.write(values[0] + "\n")
                    sys.stdout.flush()
                case "hang":
                    while self.read().get("method") != "session/cancel":
                        pass
                    reason = "cancelled"
                    break
                case "deaf":
                    while True:
                        self.read()
                case "die":
                    sys.stderr.write(values[1] + "\n")
                    sys.stderr.flush()
                    sys.exit(values[0])
                case "fail":
                    self.send({"id": id, "error": {"code": values[0], "message": values[1]}})
                    return
                case "stop":
                    reason = values[0]
        self.send({"id": id, "result": {"stopReason": reason}})

    def update(self, update: Message) -> None:
        self.send({"method": "session/update", "params": {"sessionId": self.session, "update": update}})

    def ask(self, method: str, content: Message) -> None:
        self.asked += 1
        self.send({"id": f"a{self.asked}", "method": method, "params": {"sessionId": self.session, **content}})
        while True:
            message = self.read()
            if message.get("id") == f"a{self.asked}" and "method" not in message:
                self.write_log({"answer": message.get("result", message.get("error"))})
                return

    def call_tool(self, name: str, arguments: Message) -> None:
        pipe = subprocess.PIPE
        command = [self.server["command"], *self.server["args"]]
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
            assert process.stdin
            assert process.stdout

            def request(id: int, method: str, content: Message) -> Message:
                assert process.stdin
                assert process.stdout
                process.stdin.write(
                    json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": content}) + "\n"
                )
                process.stdin.flush()
                for line in process.stdout:
                    message: Message = json.loads(line)
                    if message.get("id") == id:
                        return message
                raise AssertionError("the server ended")

            about = {"name": "scripted", "version": "1"}
            request(1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about})
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
            answer = request(2, "tools/call", {"name": name, "arguments": arguments})
            self.write_log({"answer": answer.get("result", answer.get("error"))})
            process.stdin.close()


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file, open(sys.argv[2], "a", encoding="utf-8") as log:
        Agent(json.load(file), log).run()
