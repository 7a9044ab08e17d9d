"""A PostgreSQL server of the tests' own: in a temporary directory, reached by a socket there, and gone with them."""

import glob
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memtui.postgres.admin import Admin
from memtui.postgres.dsn import parse_address
from tests.warm import Warm

BIN = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
_NOBODY = 65534


class OwnServer:
    """A server that can be stopped and started again."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._user = (
            ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"] if os.getuid() == 0 else []
        )

    def run(self, program: str, *words: str) -> None:
        command = [*self._user, f"{BIN[-1]}/{program}", "-D", str(self.directory / "data"), *words]
        with open(self.directory / "output", "a", encoding="utf-8") as log:
            subprocess.run(command, check=True, cwd=self.directory, stdout=log, stderr=log, timeout=120)

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.directory}' -c fsync=off"
        self.run("pg_ctl", "-w", "-l", str(self.directory / "log"), "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self.run("pg_ctl", "-w", "-m", mode, "stop")

    def address(self, store: str, role: str = "owner") -> str:
        return f"postgres://{role}@/postgres?host={self.directory}&store={store}"


@pytest.fixture(scope="session")
def server() -> Iterator[OwnServer]:
    if not BIN or (os.getuid() == 0 and shutil.which("setpriv") is None):
        pytest.skip("needs PostgreSQL's server")
    with start_own_server() as own:
        yield own


@contextmanager
def start_own_server() -> Iterator[OwnServer]:
    """A server with a database that is prepared for memories, until the end."""
    with tempfile.TemporaryDirectory(prefix="pg-") as directory:
        os.chmod(directory, 0o777)
        own = OwnServer(Path(directory))
        own.run("initdb", "-U", "owner", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
        own.start()
        try:
            admin = Admin(parse_address(own.address("main")))
            admin.run(admin.plan_init("main"))
            assert admin.plan_init("main") == [], "all is there"
            admin.close()
            yield own
        finally:
            own.stop()


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
