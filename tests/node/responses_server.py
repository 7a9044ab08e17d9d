"""A model's server that speaks the Responses API as Codex asks it: one call of a tool in a namespace, then an end."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def serve_responses(prompt: str, namespace: str, tool: str, arguments: Mapping[str, str]) -> Iterator[str]:
    """Answer a prompt with a call where its tool is offered, and all else with a few words; the URL."""

    def choose_item(body: Mapping[str, Any]) -> dict[str, Any]:
        known = body["input"]
        has_result = any(item.get("type") == "function_call_output" for item in known)
        is_offered = any(each.get("name") == namespace for each in body.get("tools", ()))
        if not is_offered or has_result or prompt not in json.dumps(known):
            content = [{"type": "output_text", "text": "Done."}]
            return {"type": "message", "id": "message-1", "role": "assistant", "content": content}
        call = {"name": tool, "namespace": namespace, "arguments": json.dumps(arguments)}
        return {"type": "function_call", "id": "item-1", "call_id": "call-1", **call}

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
            details = {"input_tokens_details": None, "output_tokens_details": None}
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for event in (
                {"type": "response.created", "response": {"id": "response-1"}},
                {"type": "response.output_item.done", "item": choose_item(body)},
                {"type": "response.completed", "response": {"id": "response-1", "usage": {**usage, **details}}},
            ):
                self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()
