"""Stores behind the API in this process, and the official SDK in front of it."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest

from memtui.core.settings import Settings
from memtui.serve import ServerLimits
from memtui.serve.access import TokenChecker, parse_access_file
from memtui.serve.app import ApiServer
from memtui.serve.catalog import StoreCatalog, StoreOptions
from memtui.serve.gate import RequestGate
from memtui.serve.logs import ServerLog
from memtui.serve.metrics import ServerMetrics
from tests.conftest import fill

ADA, PLANNER, READER, GUEST = (
    "ada-token-of-a-person",
    "planner-token-to-write",
    "reader-token-to-read",
    "guest-of-one-store",
)
TOKENS = f"""
[[token]]
person = "ada"
token = "{ADA}"
rights = "admin"

[[token]]
agent = "planner"
token = "{PLANNER}"
rights = "write"

[[token]]
agent = "reader"
token = "{READER}"
rights = "read"

[[token]]
agent = "guest"
token = "{GUEST}"
[token.stores]
team = "write"
shared = "read"
"""


@pytest.fixture(autouse=True)
def _look_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each list look at the folder, however soon after the last one."""
    monkeypatch.setattr("memtui.serve.store._LOOK_SHARE", 0.0)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Everything that depends on the user lies in a place of the test's own."""
    for name in ("MEMTUI_DIR", "MEMTUI_READ_ONLY", "MEMTUI_CONFIG", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    for name, value in (("HOME", home), ("XDG_STATE_HOME", home / "state"), ("XDG_CONFIG_HOME", home / "config")):
        monkeypatch.setenv(name, str(value))
    return home


class Served:
    """A server of the stores in a directory; a second one over the same directory is another process to it.

    Attributes:
        root: The directory.
        gate: The application.
        records: The log.
    """

    def __init__(self, root: Path, **options: Any) -> None:
        self.root = root
        limits = options.pop("limits", ServerLimits(rate=1_000_000.0, burst=1_000_000))
        hosts = options.pop("hosts", None)
        settings = options.pop("settings", Settings())
        stores = StoreOptions(
            root=os.path.realpath(root), folders=options.pop("folders", {}), load_settings=lambda _: settings, **options
        )
        self.catalog = StoreCatalog(stores, limits.open_stores)
        self.metrics = ServerMetrics()
        self.records: list[dict[str, Any]] = []
        app = ApiServer(self.catalog, limits, self.metrics).build()
        checker = TokenChecker(parse_access_file(TOKENS.encode()), limits.failures)
        log = ServerLog(lambda line: self.records.append(json.loads(line)))
        self.gate = RequestGate(app, checker, hosts, limits, log, self.metrics)

    def connect(self, token: str = ADA, **options: Any) -> Any:
        """The SDK's client, which sends to the application and to no network."""
        http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=self.gate))
        given = {"api_key": token, "base_url": "http://memtui", "http_client": http, "max_retries": 0} | options
        return anthropic.AsyncAnthropic(**given)

    async def ask(self, method: str, target: str, token: str | None = ADA, **options: Any) -> Any:
        """A plain request."""
        headers = ({"x-api-key": token} if token is not None else {}) | options.pop("headers", {})
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=self.gate), base_url="http://memtui") as http:
            return await http.request(method, target, headers=headers, **options)

    def read(self, name: str) -> str:
        """What a file of a store holds."""
        return (self.root / name).read_text(encoding="utf-8")


Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serve the stores below a directory, with `team` and `shared` in it."""
    root = tmp_path / "stores"
    fill(root / "team", {"prefs.md": "- short answers\n", "notes/today.md": "standup at ten\n"})
    fill(root / "shared", {})
    with ExitStack() as stack:

        def start(**options: Any) -> Served:
            served = Served(root, **options)
            stack.callback(served.catalog.close)
            return served

        yield start


@pytest.fixture
def served(serve: Serve) -> Served:
    """A server as a person starts it."""
    return serve()


async def find_store(client: Any, name: str) -> str:
    """The id of a store by its name."""
    found = [each.id async for each in client.beta.memory_stores.list() if each.name == name]
    assert len(found) == 1, f"stores named {name}: {found}"
    return str(found[0])


async def collect(found: Any) -> list[Any]:
    """All items of all pages of a list."""
    return [each async for each in found]
