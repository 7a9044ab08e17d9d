"""Git on repositories that nobody vouches for."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from shutil import which

from memtui.core.lazy_dataclass import dataclass

# Git calls on an untrusted repository: its configuration can name programs to run (hooks, filters, pagers), so only
# lists and differences are requested, with these turned off, a clean environment, no fetch, and limits.

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
_SECONDS = 20.0  # for one answer
_ANSWERS = 3  # answers that may take so long, before no more is asked
_MOST = 64_000_000  # bytes of one answer
_GIVEN = 32_000  # bytes that are given at once: what a pipe holds, so that nobody waits for anybody


@dataclass(slots=True)
class GitRunner:
    """Git, for one repository."""

    program: str
    root: str
    seconds: float = _SECONDS  # the timeout of one call
    is_bare: bool = False
    is_shallow: bool = False
    _spent: float = 0.0

    @classmethod
    def open(cls, root: str, seconds: float = _SECONDS) -> "GitRunner | None":
        """Git for a directory; `None` where there is no git, or the directory is no repository that git trusts."""
        program = which("git")
        if program is None or not os.path.isabs(program):
            return None  # one that lies where we are may be the repository's own
        asked = ("--is-inside-work-tree", "--is-bare-repository", "--is-shallow-repository")
        git = cls(program, root, seconds)
        words = (git.run("rev-parse", *asked) or b"").split()
        if len(words) != len(asked) or b"true" not in words[:2]:
            return None
        git.is_bare, git.is_shallow = words[1] == b"true", words[2] != b"false"
        return git

    def run(self, *words: str, given: bytes = b"", codes: Collection[int] = (0,)) -> bytes | None:
        """The whole output of git; `None` if it fails or times out.

        Args:
            given: The input; no more than a pipe holds, see `split_batches`.
            codes: Exit codes of success.
        """
        out, code = self._run_timed(words, given)
        return out if code in codes else None

    def run_partial(self, *words: str, end: bytes) -> bytes:
        """The output of git within the timeout, up to the last complete record.

        Args:
            end: The terminator of a record.
        """
        out, code = self._run_timed(words, b"")
        return out if code == 0 else out.rpartition(end)[0]

    def _run_timed(self, words: Iterable[str], given: bytes) -> tuple[bytes, int | None]:
        """The output, and the exit code; `None` where the output is not whole."""
        if self._spent > _ANSWERS * self.seconds:
            return b"", None
        began = time.monotonic()
        try:
            return self._run_process(words, given)
        finally:
            self._spent += time.monotonic() - began

    def _run_process(self, words: Iterable[str], given: bytes) -> tuple[bytes, int | None]:
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
            return b"", None
        with process:
            assert process.stdin is not None
            with suppress(BrokenPipeError):
                process.stdin.write(given[:_GIVEN])
                process.stdin.flush()
            with suppress(BrokenPipeError):
                process.stdin.close()
            out, is_whole = self._read_output(process)
            if not is_whole:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)  # the group: one of its children may hold the pipes
            code = process.wait()
            return out, code if is_whole else None

    def _read_output(self, process: "subprocess.Popen[bytes]") -> tuple[bytes, bool]:
        """The output until its end, the timeout or the limit, and whether it is whole; errors are dropped."""
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
                    return b"".join(parts), False
                for key, _ in selector.select(left):
                    data = os.read(key.fd, 1 << 16)
                    if not data:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is process.stdout:
                        parts.append(data)
                        size += len(data)
        return b"".join(parts), True


def split_batches(records: Iterable[bytes]) -> Iterator[bytes]:
    """Records joined to inputs of `GitRunner.answer`, each with its end, without those longer than any input."""
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
