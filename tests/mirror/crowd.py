"""Many changes on both sides of a mirror that is killed again and again: nothing that anybody wrote may be lost.

By hand: `python -m tests.mirror.crowd --changes 10000 --source postgres --server-kills 20`.

Each line that is written is another one. Some notes are changed on one side only: those must end as that side left
them, whatever was killed when. Others are changed on both sides: each of their lines must be in the end in a note, or
in a version of one of the two records.
"""

import argparse
import contextlib
import os
import random
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memtui import memory
from memtui.cli.output import ExitCode
from memtui.core.errors import MemtuiError
from memtui.core.events import Agent, EntryKind
from memtui.core.paths import SERVER
from memtui.engine import Engine

_NOTES = 12
_BURST = 6
_LINE_SECONDS = 1.0
"""For how long a line of the mirror's output is waited for: a burst may leave nothing to carry."""
_END_SECONDS = 300


@dataclass
class Outcome:
    """What a run came to."""

    changes: int = 0
    lines: int = 0
    kills: int = 0
    server_kills: int = 0
    refused: int = 0
    stops: int = 0
    conflicts: int = 0
    carried: int = 0
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    errors: str = ""


class _Writer:
    """Changes notes of one side, and knows what it left in those that are its own."""

    def __init__(self, name: str, rng: random.Random, outcome: Outcome, lines: set[str]) -> None:
        self.name = name
        self.own: dict[str, list[str]] = {}
        self._rng = rng
        self._outcome = outcome
        self._lines = lines
        self._count = 0

    def read(self, path: str) -> list[str] | None:
        raise NotImplementedError

    def write(self, path: str, lines: list[str]) -> bool:
        raise NotImplementedError

    def rename(self, path: str, new: str) -> bool:
        raise NotImplementedError

    def delete(self, path: str) -> bool:
        raise NotImplementedError

    def exists(self, path: str) -> bool:
        raise NotImplementedError

    def change(self) -> None:
        """Make one change, whatever it is."""
        self._outcome.changes += 1
        is_own = self._rng.random() < 0.5
        number = self._rng.randrange(_NOTES)
        directory = f"d{number % 3}/" if number % 2 else ""
        path = f"{directory}{self.name if is_own else 'both'}-{number}.md"
        if is_own and self._rng.random() < 0.5 and self.own:
            path = self._rng.choice(sorted(self.own))
        deed = self._rng.random()
        if deed < 0.12 and is_own and path in self.own:
            new = f"{self.name}-{number}-{self._outcome.changes}.md"
            if self.rename(path, new):
                self.own[new] = self.own.pop(path)
        elif deed < 0.2 and (path in self.own if is_own else self.exists(path)):
            if self.delete(path):
                self.own.pop(path, None)
        else:
            self._edit(path, is_own)

    def _edit(self, path: str, is_own: bool) -> None:
        lines = list(self.own.get(path, [])) if is_own else self.read(path) or []
        self._count += 1
        line = f"{self.name} {self._count} " + " ".join(self._rng.choices(("tea", "sea", "key", "oak", "ink"), k=3))
        if lines and self._rng.random() < 0.4:
            lines[self._rng.randrange(len(lines))] = line
        else:
            lines.insert(self._rng.randrange(len(lines) + 1), line)
        if len(lines) > 30:
            del lines[self._rng.randrange(len(lines))]
        if not self.write(path, lines):
            self._outcome.refused += 1
            return
        if line in lines:  # it may be the one that was too many
            self._lines.add(line)
        if is_own:
            self.own[path] = lines


class _FolderWriter(_Writer):
    """A program that knows only files. What it is about to overwrite is looked at first, as a hook has it looked at."""

    def __init__(self, folder: Path, *rest: object) -> None:
        super().__init__("file", *rest)  # type: ignore[arg-type]
        self._folder = folder
        self._engine = memory.open(folder)

    def close(self) -> None:
        self._engine.close()

    def _look(self, path: str) -> None:
        with contextlib.suppress(MemtuiError):
            self._engine.reconcile([path])

    def read(self, path: str) -> list[str] | None:
        try:
            return (self._folder / path).read_text(encoding="utf-8").splitlines()
        except OSError:
            return None

    def exists(self, path: str) -> bool:
        return (self._folder / path).exists()

    def write(self, path: str, lines: list[str]) -> bool:
        self._look(path)
        place = self._folder / path
        place.parent.mkdir(exist_ok=True)
        text = "".join(f"{line}\n" for line in lines)
        if self._rng.random() < 0.5:
            beside = place.with_name(f"{place.name}.tmp")
            beside.write_text(text, encoding="utf-8")
            beside.replace(place)
        else:
            place.write_text(text, encoding="utf-8")
        return True

    def rename(self, path: str, new: str) -> bool:
        self._look(path)
        (self._folder / path).rename(self._folder / new)
        return True

    def delete(self, path: str) -> bool:
        self._look(path)
        with contextlib.suppress(FileNotFoundError):
            (self._folder / path).unlink()
        return True


class _EngineWriter(_Writer):
    """An agent on the other side."""

    def __init__(self, place: str, state: Path | None, *rest: object) -> None:
        super().__init__("store", *rest)  # type: ignore[arg-type]
        self._engine = memory.open(place, state=state)
        self._actors = [Agent("Claude"), Agent("Planner")]

    def close(self) -> None:
        self._engine.close()

    def _execute(self, **command: object) -> bool:
        try:
            answer = self._engine.execute(command, actor=self._rng.choice(self._actors))
        except MemtuiError:
            return False
        return not answer.is_error

    def read(self, path: str) -> list[str] | None:
        try:
            self._engine.reconcile()
            known = self._engine.journal.get_known(path)
            data = self._engine.history.text(known.version) if known else None
        except MemtuiError:
            return None
        return data.decode().splitlines() if data is not None else None

    def exists(self, path: str) -> bool:
        return self.read(path) is not None

    def write(self, path: str, lines: list[str]) -> bool:
        text = "".join(f"{line}\n" for line in lines)
        return self._execute(command="create", path=f"/memories/{path}", file_text=text)

    def rename(self, path: str, new: str) -> bool:
        return self._execute(command="rename", old_path=f"/memories/{path}", new_path=f"/memories/{new}")

    def delete(self, path: str) -> bool:
        return self._execute(command="delete", path=f"/memories/{path}")


class _MirrorProcess:
    """A mirror that follows, and can be killed."""

    def __init__(self, place: str, folder: Path, errors: Path) -> None:
        self._words = [sys.executable, "-m", "memtui", "mirror", place, str(folder)]
        self._errors = errors
        self._process: subprocess.Popen[bytes] | None = None
        self.lines = 0

    def start(self) -> None:
        with open(self._errors, "ab") as errors:
            self._process = subprocess.Popen([*self._words, "--accept-wipe"], stdout=subprocess.PIPE, stderr=errors)

    def wait_for_line(self, seconds: float) -> bool:
        """Wait until something is printed; whether it was."""
        assert self._process is not None
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        if not ready:
            return False
        data = os.read(self._process.stdout.fileno(), 65_536)
        self.lines += data.count(b"\n")
        return bool(data)

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self) -> int:
        """Kill it; returns its exit code, if it ended before."""
        assert self._process is not None
        self._process.kill()
        code = self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        return code


def run_crowd(
    folder: Path,
    place: str,
    *,
    changes: int,
    kills: int,
    seed: int,
    hurt_server: Callable[[], None] | None = None,
    server_kills: int = 0,
    seconds: float = float("inf"),
    progress: Callable[[Outcome], None] = lambda _: None,
) -> Outcome:
    """Change both sides while a mirror runs and is killed; returns what it came to.

    Args:
        folder: An empty folder.
        place: An empty place of memories.
        changes: How many are made on both sides together.
        kills: How often the mirror is killed.
        seed: Of all that is random, but the moments.
        hurt_server: Kills the server of the place, and starts it again.
        server_kills: How often.
        seconds: After which no more changes are made.
    """
    rng, outcome, lines = random.Random(seed), Outcome(), set[str]()
    errors = folder.with_name(f"{folder.name}.errors")
    machine = folder.with_name("machine") if place.startswith(SERVER) else None  # whoever is on another one
    mirror = _MirrorProcess(place, folder, errors)
    writers = [_FolderWriter(folder, rng, outcome, lines), _EngineWriter(place, machine, rng, outcome, lines)]
    kill_at = sorted(rng.sample(range(changes), min(kills, changes)))
    server_at = sorted(rng.sample(range(changes), min(server_kills, changes)))
    mirror.start()
    try:
        until = time.monotonic() + seconds
        while outcome.changes < changes and time.monotonic() < until:
            for _ in range(rng.randint(1, _BURST)):
                rng.choice(writers).change()
            mirror.wait_for_line(_LINE_SECONDS)
            if server_at and outcome.changes >= server_at[0] and hurt_server is not None:
                server_at.pop(0)
                outcome.server_kills += 1
                hurt_server()
            if kill_at and outcome.changes >= kill_at[0]:
                kill_at.pop(0)
                mirror.wait_for_line(rng.random() * 0.05)
                mirror.kill()
                outcome.kills += 1
                mirror.start()
            elif not mirror.is_running:
                if mirror.kill() == ExitCode.REFUSED:
                    outcome.stops += 1
                else:
                    outcome.wrong.append(f"the mirror ended by itself after {outcome.changes} changes")
                mirror.start()
            progress(outcome)
    finally:
        mirror.kill()
    outcome.lines, outcome.carried = len(lines), mirror.lines
    words = [sys.executable, "-m", "memtui", "mirror", place, str(folder), "--once", "--accept-wipe"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=_END_SECONDS, check=False)
    if done.returncode:
        outcome.wrong.append(f"the last mirror ended with {done.returncode}: {done.stdout}{done.stderr}")
    for writer in writers:
        writer.close()
    _compare(folder, place, writers, lines, outcome)
    outcome.errors = errors.read_text(encoding="utf-8")
    if "bug" in outcome.errors or "Traceback" in outcome.errors:
        outcome.wrong.append(outcome.errors)
    return outcome


def _compare(folder: Path, place: str, writers: list[_Writer], lines: set[str], outcome: Outcome) -> None:
    with memory.open(folder) as one, memory.open(place) as other:
        here, there = (dict(_iter_files(engine)) for engine in (one, other))
        on_disk = {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}
        if not here == there == on_disk:
            unlike = [
                path for path in {*here, *there, *on_disk} if not here.get(path) == there.get(path) == on_disk.get(path)
            ]
            outcome.wrong.append(f"the two sides differ at {unlike}")
        found: set[str] = set()
        for engine in (one, other):
            report = engine.journal.verify()
            if not report.is_intact:
                outcome.wrong.append(f"{engine.store.title}: {report}")
            for sha256 in engine.journal.get_version_sizes():
                data = engine.journal.get_text(sha256)
                found.update((data or b"").decode("utf-8", "replace").splitlines())
        for data in here.values():
            found.update(data.decode("utf-8", "replace").splitlines())
    outcome.lost += sorted(lines - found)
    outcome.conflicts = sum(".conflict-" in path for path in here)
    for writer in writers:
        wanted = {path: "".join(f"{line}\n" for line in kept).encode() for path, kept in writer.own.items()}
        own = {path: data for path, data in here.items() if path.rpartition("/")[2].startswith(f"{writer.name}-")}
        for path in sorted({*wanted, *own}):
            if wanted.get(path) != own.get(path):
                outcome.wrong.append(f"{path} of {writer.name}: {own.get(path)!r} and not {wanted.get(path)!r}")


def _iter_files(engine: Engine) -> Iterator[tuple[str, bytes]]:
    for path, known in engine.journal.get_known_below("").items():
        if known.version.kind is EntryKind.FILE:
            yield path, engine.history.text(known.version) or b""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=1_000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--server-kills", type=int, default=0)
    parser.add_argument("--source", choices=("sqlite", "folder", "postgres"), default="sqlite")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--keep", type=Path, help="an empty directory that is left behind")
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        base = given.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="crowd-")))
        os.environ["XDG_STATE_HOME"] = str(base / "state")
        folder = base / "folder"
        folder.mkdir()
        hurt = None
        if given.source == "postgres":
            from tests.pg_server import run_server  # noqa: PLC0415 - needs the driver

            server = stack.enter_context(run_server())
            place = server.address("crowd")

            def hurt() -> None:
                server.kill()
                server.start_again()
        elif given.source == "folder":
            (base / "source").mkdir()
            place = str(base / "source")
        else:
            place = f"sqlite:{base / 'store.db'}"
        began, last = time.monotonic(), 0.0

        def progress(outcome: Outcome) -> None:
            nonlocal last
            if time.monotonic() - last > 20:
                last = time.monotonic()
                print(  # noqa: T201
                    f"{outcome.changes:,} changes, {outcome.kills} kills, {last - began:.0f} s", flush=True
                )

        outcome = run_crowd(
            folder,
            place,
            changes=given.changes,
            kills=given.kills,
            seed=given.seed,
            hurt_server=hurt,
            server_kills=given.server_kills,
            seconds=given.seconds,
            progress=progress,
        )
        print(f"{time.monotonic() - began:.0f} s", outcome, sep="\n")  # noqa: T201
        sys.exit(bool(outcome.lost or outcome.wrong))


if __name__ == "__main__":
    main()
