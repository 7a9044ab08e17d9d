"""`python -m tests.faults.power COUNT SEED FILESYSTEM`: the power fails while several write, and what came of it.

The folder and its journal are on disks of their own, images that are mounted: on one, or on one each. The power fails
where the file system is shut down without its log (`FS_IOC_SHUTDOWN`, as xfstests does it): whatever was not synced is
lost, and the next one who mounts the disk finds what a computer finds that starts again. It takes root, and a mount
namespace of its own (`unshare --mount`). The last line of its output is JSON, as that of `tests.faults.killing`, or why
no disk can be mounted here.
"""

import contextlib
import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import memtui
from memtui.engine import durability
from tests.faults.killing import TOGETHER, Killer

_SHUTDOWN, _NO_LOG = 0x8004587D, struct.pack("I", 2)
_SIZE = 320 << 20
"""Bytes of a disk, of which few are ever used: what XFS wants at least."""
_CUTS = 14
"""Cuts to a disk: the writers of so many share one list."""
_ANSWERS = 24
"""Answers from one cut to the next at most; a moment later the power fails."""
_MOMENT = 0.03
_PATIENCE = 60.0


class Disk:
    """An image with a file system, mounted.

    Args:
        at: The directory to mount it on, which is made; the image lies beside it.
        kind: `ext4` or `xfs`.
    """

    def __init__(self, at: Path, kind: str) -> None:
        self._at, self._image = at, at.with_suffix(".image")
        at.mkdir()
        with self._image.open("wb") as image:
            image.truncate(_SIZE)
        _run(f"mkfs.{kind}", "-q", self._image)
        self.mount()

    def mount(self) -> None:
        """Find what is on it."""
        _run("mount", "-o", "loop", self._image, self._at)

    def unmount(self) -> None:
        """Take it away, once nobody uses it."""
        _run("umount", self._at)

    def fail(self) -> None:
        """Lose whatever was not synced; nobody can write any more."""
        fd = os.open(self._at, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, _SHUTDOWN, _NO_LOG)
        finally:
            os.close(fd)

    def remove(self) -> None:
        """Have it no more."""
        self.unmount()
        self._image.unlink()
        self._at.rmdir()


def _run(*words: object) -> None:
    subprocess.run([*map(str, words)], check=True, capture_output=True)


class Cutter(Killer):
    """Has several write to disks whose power fails.

    Args:
        disks: One for all, or one for the folder and one for the journal.
        top: Where they are mounted: a directory for each.
        seed: What chance begins with.
    """

    def __init__(self, disks: list[Disk], top: Path, seed: int) -> None:
        folder, state = top / "0" / "folder", top / str(len(disks) - 1) / "state"
        super().__init__(folder, state, seed)
        self._disks = disks
        self._starts = 0
        durability.read_boot_id = lambda: f"start {self._starts}"  # the writers are forked from this process
        (folder / "list-0").touch()
        memtui.open(folder, state=state).close()
        os.sync()
        self._number = 1  # and list-0 is there

    def cut(self) -> None:
        """Let them write for a while, have the power fail, start again, and look."""
        while len(self._alive) < TOGETHER:
            self._start()
        wanted = len(self.said) + self._chance.randint(0, _ANSWERS)
        until = time.monotonic() + _PATIENCE
        while len(self.said) < wanted and time.monotonic() < until:
            self._listen(0.002)
        self._listen(self._chance.uniform(0.0, _MOMENT))
        for pid in self._alive:
            os.kill(pid, signal.SIGSTOP)  # nobody sees a disk that fails: the computer fails
        for disk in self._disks:
            disk.fail()
        for pid in list(self._alive):
            os.kill(pid, signal.SIGKILL)
            self._bury(pid)
        self._listen(0.0)
        for disk in self._disks:
            disk.unmount()
            disk.mount()
        self._starts += 1
        self.judge()


def main(words: list[str]) -> int:
    """Let the power fail as often as was asked for."""
    count, seed, kind = int(words[0]), int(words[1]), words[2]
    wrong: list[str] = []
    answers: Counter[object] = Counter()
    done = 0
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="memtui-power-") as directory:
        top = Path(directory)
        while done < count and not wrong:
            disks: list[Disk] = []
            with contextlib.ExitStack() as stack:
                for number in range(1 + (done // _CUTS) % 2):
                    try:
                        disks.append(Disk(top / str(number), kind))
                    except subprocess.CalledProcessError as error:
                        if done:
                            raise
                        sys.stdout.write(json.dumps({"refused": f"{error.cmd[0]}: {error.stderr.decode()}"}) + "\n")
                        return 0
                    stack.callback(disks[-1].remove)
                cutter = Cutter(disks, top, seed + done)
                for _ in range(min(_CUTS, count - done)):
                    cutter.cut()
                    done += 1
                    if cutter.wrong:
                        break
                wrong += cutter.wrong
                answers.update(said["outcome"] for said in cutter.said)
    seconds = time.monotonic() - started
    found = {"cuts": done, "answers": answers, "seconds": seconds, "wrong": wrong[:50]}
    sys.stdout.write(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
