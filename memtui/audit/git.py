"""Asking git about a repository that is trusted in nothing.

Whoever wrote the repository may have written its settings as well. Git runs programs that a repository's configuration
names: hooks, monitors, pagers, filters, signers, helpers of remotes. So it is asked only for lists and differences,
with all of that turned off, with no environment of ours, without the right to fetch, and with a bound on time and size.
"""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from shutil import which
from typing import NamedTuple

_OPTIONS = (
    "--no-pager", "--no-optional-locks",
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.attributesFile=/dev/null",
    "-c", "core.excludesFile=/dev/null",
    "-c", "core.untrackedCache=false",
    "-c", "log.showSignature=false",
    "-c", "log.mailmap=false",
    "-c", "diff.external=",
    "-c", "diff.renames=false",
    "-c", "diff.orderFile=/dev/null",
    "-c", "diff.submodule=short",
    "-c", "protocol.allow=never",
    "-c", "credential.helper=",
)  # fmt: skip
PLAIN_DIFFERENCES = (
    "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color", "--no-notes", "--no-diff-merges", "--relative",
    "--ignore-submodules=all", "--diff-algorithm=myers", "--no-indent-heuristic",
)  # fmt: skip
"""Options of `log` that turn off what a repository's settings may change of it, and what they may run."""
_ENVIRONMENT = {
    "LC_ALL": "C",
    "HOME": "/nonexistent",
    "XDG_CONFIG_HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_PAGER": "cat",
}
_SECONDS = 20.0
"""For one answer."""
_ANSWERS = 3
"""Answers that may take so long, before no more is asked."""
_MOST = 64_000_000
"""Bytes of one answer."""
_GIVEN = 32_000
"""Bytes that are given at once: what a pipe holds, so that nobody waits for anybody."""


class Answer(NamedTuple):
    """What git said.

    Attributes:
        out: The bytes.
        is_whole: Whether it came to its end, and without an error.
    """

    out: bytes
    is_whole: bool


@dataclass(slots=True)
class Git:
    """Git, for one repository.

    Attributes:
        program: Where it is.
        root: The directory that it is asked about.
        seconds: For one answer at most.
        is_bare: Whether there are no files but those in its history.
        is_shallow: Whether it has only the end of its history.
    """

    program: str
    root: str
    seconds: float = _SECONDS
    is_bare: bool = False
    is_shallow: bool = False
    _spent: float = 0.0

    @classmethod
    def of(cls, root: str, seconds: float = _SECONDS) -> "Git | None":
        """Git for a directory; `None` where there is no git, or the directory is no repository that git trusts."""
        program = which("git")
        if program is None or not os.path.isabs(program):
            return None  # one that lies where we are may be the repository's own
        asked = ("--is-inside-work-tree", "--is-bare-repository", "--is-shallow-repository")
        git = cls(program, root, seconds)
        words = (git.answer("rev-parse", *asked) or b"").split()
        if len(words) != len(asked) or b"true" not in words[:2]:
            return None
        git.is_bare, git.is_shallow = words[1] == b"true", words[2] != b"false"
        return git

    def answer(self, *words: str, given: bytes = b"", codes: Collection[int | None] = (0,)) -> bytes | None:
        """What git answers as a whole; `None` if it fails, or takes too long.

        Args:
            words: What it is asked, behind its options.
            given: Its input; no more than a pipe holds, see `in_portions`.
            codes: Exit codes that mean no failure.
        """
        said, code = self._asked(words, given)
        return said.out if said.is_whole and code in codes else None

    def beginning(self, *words: str, end: bytes) -> Answer:
        """What git answers within the time, up to the last end of a record.

        Args:
            words: What it is asked.
            end: What each record ends with.
        """
        said, code = self._asked(words, b"")
        if said.is_whole and code == 0:
            return said
        return Answer(said.out.rpartition(end)[0], is_whole=False)

    def _asked(self, words: Iterable[str], given: bytes) -> tuple[Answer, int | None]:
        if self._spent > _ANSWERS * self.seconds:
            return Answer(b"", is_whole=False), None
        began = time.monotonic()
        try:
            return self._run(words, given)
        finally:
            self._spent += time.monotonic() - began

    def _run(self, words: Iterable[str], given: bytes) -> tuple[Answer, int | None]:
        environment = {**_ENVIRONMENT, "PATH": os.environ.get("PATH", os.defpath)}
        try:
            process = subprocess.Popen(  # no shell; and /dev/null is opened for nothing
                [self.program, "-C", self.root, *_OPTIONS, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        except (OSError, ValueError):
            return Answer(b"", is_whole=False), None
        with process:
            assert process.stdin is not None
            with suppress(BrokenPipeError):
                process.stdin.write(given[:_GIVEN])
                process.stdin.flush()
            with suppress(BrokenPipeError):
                process.stdin.close()
            said = self._read(process)
            if not said.is_whole:
                _end(process)
            return said, process.wait()

    def _read(self, process: "subprocess.Popen[bytes]") -> Answer:
        """What a process says, until its end, the time's or a bound; what it complains of is dropped."""
        assert process.stdout is not None
        assert process.stderr is not None
        end = time.monotonic() + self.seconds
        parts: list[bytes] = []
        size = 0
        with selectors.DefaultSelector() as selector:
            for pipe in (process.stdout, process.stderr):
                selector.register(pipe, selectors.EVENT_READ)
            while selector.get_map():
                left = end - time.monotonic()
                if left <= 0 or size > _MOST:
                    return Answer(b"".join(parts), is_whole=False)
                for key, _ in selector.select(left):
                    data = os.read(key.fd, 1 << 16)
                    if not data:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is process.stdout:
                        parts.append(data)
                        size += len(data)
        return Answer(b"".join(parts), is_whole=True)


def in_portions(records: Iterable[bytes]) -> Iterator[bytes]:
    """Records joined to inputs of `Git.answer`, each with its end; one that is longer than any input is left out."""
    portion = b""
    for record in records:
        if len(record) > _GIVEN:
            continue
        if len(portion) + len(record) > _GIVEN:
            yield portion
            portion = b""
        portion += record
    if portion:
        yield portion


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process and all that it started: one of those may hold its pipes."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
