"""A PostgreSQL server of the tests' own: in a temporary directory, reached by a socket there, and gone with them."""

import glob
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memtui.postgres.admin import Admin
from memtui.postgres.dsn import parse_address

BIN = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
_NOBODY = 65534
MISSING = "needs PostgreSQL's server" if not BIN or (os.getuid() == 0 and shutil.which("setpriv") is None) else ""
"""Why there can be none; empty if there can."""


class OwnServer:
    """A server that can be stopped and started again.

    Args:
        settings: More of its settings, as `name=value`.
    """

    def __init__(self, directory: Path, *settings: str) -> None:
        self.directory = directory
        self.data = directory / "data"
        self._settings = (
            "listen_addresses=''",
            f"unix_socket_directories='{directory}'",
            "fsync=off",
            *settings,
        )
        self._user = (
            ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"] if os.getuid() == 0 else []
        )

    def run(self, program: str, *words: str) -> None:
        """One of the programs that a server consists of."""
        self.call(program, "-D", str(self.data), *words)

    def call(self, program: str, *words: str) -> None:
        """One of PostgreSQL's programs."""
        command = [*self._user, f"{BIN[-1]}/{program}", *words]
        with open(self.directory / "output", "a", encoding="utf-8") as log:
            subprocess.run(command, check=True, cwd=self.directory, stdout=log, stderr=log, timeout=120)

    @property
    def is_running(self) -> bool:
        return (self.data / "postmaster.pid").exists()

    def start(self) -> None:
        """Start it, unless it runs."""
        if self.is_running:
            return
        options = " ".join(f"-c {each}" for each in self._settings)
        self.run("pg_ctl", "-w", "-l", str(self.directory / "log"), "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop it, if it runs."""
        if self.is_running:
            self.run("pg_ctl", "-w", "-m", mode, "stop")

    def kill(self) -> None:
        """End its first process, and with that all, without a word to anybody."""
        pid = int((self.data / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)

    def start_again(self, seconds: float = 30.0) -> None:
        """Start it after a `kill`, once the last of its processes is gone."""
        until = time.monotonic() + seconds
        while True:
            (self.data / "postmaster.pid").unlink(missing_ok=True)
            try:
                self.start()
            except subprocess.CalledProcessError:
                if time.monotonic() > until:
                    raise
            else:
                return

    def copy(self, directory: Path) -> "OwnServer":
        """Another server that has what this one has, which is stopped."""
        directory.mkdir(mode=0o777)
        directory.chmod(0o777)
        other = OwnServer(directory)
        shutil.copytree(self.data, other.data)
        if self._user:
            for path in (other.data, *other.data.rglob("*")):
                os.chown(path, _NOBODY, _NOBODY)
        return other

    def address(self, store: str, role: str = "owner") -> str:
        return f"postgres://{role}@/postgres?host={self.directory}&store={store}"


@contextmanager
def run_server(*settings: str) -> Iterator[OwnServer]:
    """A server whose database is prepared, with the tenant `main`."""
    with tempfile.TemporaryDirectory(prefix="pg-") as directory:
        os.chmod(directory, 0o777)
        own = OwnServer(Path(directory), *settings)
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
