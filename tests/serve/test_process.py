"""`memtui serve --api` as it is started: sockets, TLS, files of tokens, and being killed while clients write."""

import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import anthropic
import httpx2
import pytest

import memtui
from memtui.cli import main
from tests.conftest import fill, wait_until
from tests.serve.conftest import ADA, TOKENS
from tests.serve.sdk import hash_text

LIMIT = 60.0
ROOT = Path(__file__).parents[2]


class Serving(NamedTuple):
    """A running server."""

    process: "subprocess.Popen[str]"
    url: str
    stack: ExitStack

    def connect(self, token: str = ADA, **options: Any) -> Any:
        """The SDK's client."""
        if self.url.startswith("unix:"):
            transport = httpx2.HTTPTransport(uds=self.url.removeprefix("unix:"))
            options = {"http_client": httpx2.Client(transport=transport), "base_url": "http://memtui", **options}
        client = anthropic.Anthropic(**{"api_key": token, "base_url": self.url, "max_retries": 0, **options})
        self.stack.callback(client.close)
        return client


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with stores and a file of tokens."""
    fill(tmp_path / "stores" / "team", {"prefs.md": "- short answers\n"})
    tokens = tmp_path / "tokens.toml"
    tokens.touch(0o600)
    tokens.write_text(TOKENS)
    return tmp_path


@pytest.fixture
def start(place: Path) -> Iterator[Callable[..., Serving]]:
    """Start servers that end with the test."""
    with ExitStack() as stack:

        def start(*words: str) -> Serving:
            command = [
                sys.executable,
                "-m",
                "memtui",
                "serve",
                "--stores",
                "stores",
                "--tokens",
                "tokens.toml",
                "--json",
            ]
            process = subprocess.Popen(
                [*command, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=place,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )  # fmt: skip
            stack.callback(_end, process)
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, "it did not start"
            return Serving(process, json.loads(line)["url"], stack)

        yield start


def _end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait(LIMIT)
    assert process.stdout is not None
    process.stdout.close()


def find_store(client: Any) -> str:
    return next(str(each.id) for each in client.beta.memory_stores.list() if each.name == "team")


@pytest.mark.parametrize("words", [(), ("--socket", "api.socket")], ids=["port", "socket"])
def test_the_sdk_works_against_a_server(start: Callable[..., Serving], place: Path, words: tuple[str, ...]) -> None:
    serving = start("--log", "serve.log", *words)
    client = serving.connect()
    store_id = find_store(client)
    memories = client.beta.memory_stores.memories
    made = memories.create(store_id, path="/a.md", content="one")
    done = memories.update(made.id, memory_store_id=store_id, content="two")
    assert (place / "stores/team/a.md").read_text() == "two"
    assert [each.path for each in memories.list(store_id)] == ["/a.md", "/prefs.md"]
    with pytest.raises(anthropic.ConflictError):
        memories.delete(made.id, memory_store_id=store_id, expected_content_sha256=made.content_sha256)
    memories.delete(made.id, memory_store_id=store_id, expected_content_sha256=done.content_sha256)
    if words:
        assert (place / "api.socket").stat().st_mode & 0o777 == 0o600
    serving.process.send_signal(signal.SIGTERM)
    assert serving.process.wait(LIMIT) == 0
    assert not (place / "api.socket").exists()
    log = place / "serve.log"
    assert log.stat().st_mode & 0o777 == 0o600
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [each["event"] for each in events] == ["started", *["request"] * 6, "ended"]


def test_without_a_file_the_log_is_on_stderr_a_line_for_each_record(place: Path) -> None:
    words = ["--stores", "stores", "--tokens", "tokens.toml", "--quiet"]
    process = subprocess.Popen(
        [sys.executable, "-m", "memtui", "serve", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=place, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        httpx2.get(f"{url}/healthz")
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=LIMIT)[1]
    assert process.returncode == 130
    assert [json.loads(line)["event"] for line in said.splitlines()] == ["started", "request", "ended"]


def test_a_port_answers_only_to_its_own_name(start: Callable[..., Serving]) -> None:
    serving = start()
    headers = {"x-api-key": ADA}
    assert httpx2.get(f"{serving.url}/v1/memory_stores", headers=headers).status_code == 200
    evil = httpx2.get(f"{serving.url}/v1/memory_stores", headers={**headers, "host": "evil.example"})
    assert evil.status_code == 421
    assert httpx2.get(f"{serving.url}/healthz").json() == {"status": "ok"}


@pytest.mark.skipif(shutil.which("openssl") is None, reason="it makes a certificate with openssl")
def test_tls_by_files(start: Callable[..., Serving], place: Path) -> None:
    request = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -keyout key.pem -out cert.pem -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run([*request.split(), *names], cwd=place, check=True, capture_output=True, timeout=LIMIT)
    (place / "key.pem").chmod(0o600)
    serving = start("--tls-cert", "cert.pem", "--tls-key", "key.pem")
    assert serving.url.startswith("https://127.0.0.1:")
    with httpx2.Client(verify=ssl.create_default_context(cafile=place / "cert.pem")) as http:
        client = serving.connect(http_client=http)
        assert find_store(client)
    with pytest.raises(httpx2.HTTPError):
        httpx2.get(serving.url.replace("https", "http"))  # nothing is answered in clear


def test_all_that_was_answered_is_there_after_a_server_was_killed(start: Callable[..., Serving], place: Path) -> None:
    serving = start("--socket", "api.socket", "--rate", "100000")
    store_id = find_store(serving.connect())
    answered: dict[str, str] = {}
    lock = threading.Lock()

    def write(number: int) -> None:
        client = serving.connect()
        memories = client.beta.memory_stores.memories
        try:
            made = memories.create(store_id, path=f"/{number}.md", content="")
            for step in range(10_000):
                text = f"{number} {step}\n" * 50
                done = memories.update(made.id, memory_store_id=store_id, content=text)
                assert done.content_sha256 == hash_text(text)
                with lock:
                    answered[made.id] = text
        except anthropic.APIConnectionError:
            return

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(answered) == 4 and sum(map(len, answered.values())), "changes of all clients", LIMIT)
    wait_until(lambda: any(not text.endswith(" 0\n") for text in answered.values()), "further changes", LIMIT)
    serving.process.kill()
    for thread in threads:
        thread.join(LIMIT)
    serving.process.wait(LIMIT)
    again = start("--socket", "api.socket")
    stores = again.connect().beta.memory_stores
    for memory_id, text in answered.items():
        held = stores.memories.retrieve(memory_id, memory_store_id=store_id).content
        number, step = (int(word) for word in text.split()[:2])
        assert held in (text, f"{number} {step + 1}\n" * 50)  # the one that was under way may have been done
    assert not [path for path in (place / "stores/team").rglob("*") if not path.name.endswith(".md")]
    again.process.terminate()
    again.process.wait(LIMIT)
    with memtui.open(place / "stores/team") as memory:
        assert memory.journal.verify().findings == ()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--stores", "stores"], 2, "each request bears a token"),
        (["--stores", "nowhere", "--tokens", "tokens.toml"], 3, "No folder at"),
        (["--api", "stores/team", "--stores", "stores", "--tokens", "tokens.toml"], 2, "inside the directory"),
        (["--api", "stores/team", "other/team", "--tokens", "tokens.toml"], 2, "two stores have the name team"),
        (["--web", "--api", "stores/team"], 2, "does not go with"),
        (["--web", "stores/team", "stores"], 2, "one folder is shown"),
        (["--stores", "stores", "--tokens", "open.toml"], 4, "Other users can read"),
        (["--stores", "stores", "--tokens", "stores/team/tokens.toml"], 4, "inside the memory folder"),
        (["--stores", "stores", "--tokens", "bad.toml"], 2, "no valid tokens"),
        (["--stores", "stores", "--tokens", "tokens.toml", "--bind", "0.0.0.0"], 2, "in clear"),
        (["--stores", "stores", "--tokens", "tokens.toml", "--bind", "here"], 2, "not an IP address"),
        (["--stores", "stores", "--tokens", "tokens.toml", "--tls-cert", "cert.pem"], 2, "go together"),
        (
            ["--stores", "stores", "--tokens", "tokens.toml", "--tls-cert", "c", "--tls-key", "open.toml"],
            4,
            "Other users can read",
        ),
        (["--stores", "stores", "--tokens", "tokens.toml", "--socket", "s", "--port", "80"], 2, "does not go with"),
        (["--stores", "stores", "--tokens", "tokens.toml", "--rate", "0"], 2, "number of requests"),
        (["--stores", "stores", "--tokens", "tokens.toml", "--log", "nowhere/log"], 74, "cannot be written"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_cannot_be_served_is_said(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    code: int,
    said: str,
) -> None:
    monkeypatch.chdir(place)
    fill(place / "other/team", {})
    fill(place, {"open.toml": TOKENS, "bad.toml": "token = 1"})
    (place / "open.toml").chmod(0o644)
    (place / "bad.toml").chmod(0o600)
    found = main(["serve", *words])
    printed = capsys.readouterr()
    assert said in printed.err
    assert found == code
    assert printed.out == ""
    assert ADA not in printed.err


def test_a_missing_package_is_named(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setattr("memtui.cli.serve_stores.find_spec", lambda _: None)
    assert main(["serve", "--stores", "stores", "--tokens", "tokens.toml"]) == 2
    assert "pip install 'memtui[serve]'" in capsys.readouterr().err


def test_a_file_of_tokens_is_made_where_there_is_none(start: Callable[..., Serving], place: Path) -> None:
    serving = start("--tokens", "new.toml", "--socket", "api.socket")
    made = place / "new.toml"
    assert made.stat().st_mode & 0o777 == 0o600
    token = made.read_text().split('token = "')[1].split('"')[0]
    client = serving.connect(token)
    memory = client.beta.memory_stores.memories.create(find_store(client), path="/a.md", content="x")
    history = client.beta.memory_stores.memory_versions.list(memory.memory_store_id, memory_id=memory.id)
    assert [each.created_by.api_key_id for each in history] == ["apikey_api"]
