"""A repository that notes speak of: which files, names and commits it has. It is only read, and trusted in nothing.

Whoever wrote the repository may have written its settings as well. Git runs programs that a repository's configuration
names: hooks, monitors, pagers, signers, helpers of remotes. So it is asked only for lists, with all of that turned off,
with no environment of ours, and without the right to fetch. Where there is no git, the directory is walked.
"""

import os
import re
import stat
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from shutil import which

_OPTIONS = (
    "--no-pager",
    "--no-optional-locks",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.attributesFile=/dev/null",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "log.showSignature=false",
    "-c",
    "log.mailmap=false",
    "-c",
    "diff.external=",
    "-c",
    "diff.renames=false",
    "-c",
    "protocol.allow=never",
    "-c",
    "credential.helper=",
)
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
"""For one answer of git."""
_MOST_NAMES = 64_000_000
"""Bytes of names that are taken from git."""
_MOST_FILES = 200_000
_MOST_READ = 20_000
"""Files whose texts are read."""
_MOST_BYTES = 100_000_000
"""Of all texts that are read."""
_LARGEST = 1_000_000
"""Bytes of a file that is read; larger ones are seldom written by hand."""
_SUBMODULE = "160000"
_LEFT_OUT = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache"})
_IDENTIFIER = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{2,80}")
_NUMBER = re.compile(rb"(?<![\w.])[0-9]{2,5}(?![\w.])|(?<=:)[0-9]{2,5}(?![0-9])")
_HOST = re.compile(rb"https?://([A-Za-z0-9][A-Za-z0-9.-]{0,253})", re.IGNORECASE)
_LOCAL = re.compile(rb"(?:localhost|127\.0\.0\.1|0\.0\.0\.0)[:=]", re.IGNORECASE)
_REMOTE = re.compile(r"(?:https?://|git@|ssh://git@|git://)([^/:\s]+)[:/](.+?)(?:\.git)?/?$")


@dataclass(frozen=True, slots=True)
class Texts:
    """What the files of a repository say, as far as notes are compared with it.

    Attributes:
        identifiers: All words that could be names in code.
        numbers: Numbers that could be ports.
        hosts: Hosts of web addresses, in lower case.
        has_local: Whether any names a port of this machine.
        is_complete: Whether all files were read. If not, nothing is known to be missing.
    """

    identifiers: frozenset[str]
    numbers: frozenset[str]
    hosts: frozenset[str]
    has_local: bool
    is_complete: bool


@dataclass
class Repository:
    """A repository at one moment. Everything is found out when it is first asked for.

    Attributes:
        root: Its directory.
        seconds: For one answer of git at most.
    """

    root: str
    seconds: float = _SECONDS
    _links: dict[str, bool] = field(default_factory=dict)

    @cached_property
    def _git(self) -> str | None:
        """The program; `None` where there is none, or the directory is no repository that git trusts."""
        program = which("git")
        if program is None or not os.path.isabs(program):
            return None  # one that lies where we are may be the repository's own
        done = self._asked([program, "rev-parse", "--is-inside-work-tree"])
        return program if done is not None and done.strip() == b"true" else None

    @cached_property
    def _listed(self) -> tuple[frozenset[str], frozenset[str]]:
        """The files that are tracked, and the submodules; without git, the files that are there."""
        if self._git is None:
            return frozenset(self._walked()), frozenset()
        out = self._asked([self._git, "ls-files", "-z", "--stage"])
        if out is None:
            return frozenset(self._walked()), frozenset()
        files: set[str] = set()
        submodules: set[str] = set()
        for row in out.split(b"\0"):
            head, _, name = row.partition(b"\t")
            if name:
                (submodules if head.startswith(_SUBMODULE.encode()) else files).add(os.fsdecode(name))
        return frozenset(files), frozenset(submodules)

    @property
    def files(self) -> frozenset[str]:
        """The files, relative to it."""
        return self._listed[0]

    @cached_property
    def directories(self) -> frozenset[str]:
        """The directories that files are in, relative to it."""
        found: set[str] = set()
        for path in self.files:
            above = path.rpartition("/")[0]
            while above and above not in found:
                found.add(above)
                above = above.rpartition("/")[0]
        return frozenset(found)

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """Files by their names without directories, each list in order."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.files):
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    @cached_property
    def former(self) -> frozenset[str]:
        """Files that it had once and has no more, as far as its history tells in a few seconds."""
        if self._git is None:
            return frozenset()
        words = ["log", "-z", "--format=", "--name-only", "--diff-filter=D", "--no-renames", "--no-ext-diff"]
        out = self._asked([self._git, *words, "--no-textconv", "HEAD", "--"], partly=True) or b""
        names = {os.fsdecode(name.strip(b"\n")) for name in out.split(b"\0") if name.strip(b"\n")}
        return frozenset(names - self.files)

    @cached_property
    def former_directories(self) -> frozenset[str]:
        """Directories that held such files and hold none now."""
        found: set[str] = set()
        for path in self.former:
            above = path.rpartition("/")[0]
            while above:
                found.add(above)
                above = above.rpartition("/")[0]
        return frozenset(found - self.directories)

    @cached_property
    def former_names(self) -> frozenset[str]:
        """Names of such files, without directories, that no file has now."""
        return frozenset(path.rpartition("/")[2] for path in self.former) - self.by_name.keys()

    def was_at(self, path: str) -> bool:
        """Whether it is known that something was at a path once, and is no more."""
        path = path.strip("/")
        return path in self.former or path in self.former_directories or path in self.former_names

    @cached_property
    def own_addresses(self) -> frozenset[str]:
        """Where its remotes are on the web, such as `example.org/team/shop`, in lower case."""
        if self._git is None:
            return frozenset()
        out = self._asked([self._git, "config", "--local", "--no-includes", "-z", "--get-regexp", r"^remote\..*\.url$"])
        found: set[str] = set()
        for row in (out or b"").split(b"\0"):
            url = os.fsdecode(row.partition(b"\n")[2])
            if len(url) < 2_000 and (remote := _REMOTE.match(url)):
                found.add(f"{remote[1]}/{remote[2]}".lower())
        return frozenset(found)

    def has(self, path: str) -> bool:
        """Whether something is at a path, tracked or not; also if that cannot be known, as within a submodule."""
        path = path.strip("/")
        if path in self.files or path in self.directories:
            return True
        if any(path == each or path.startswith(f"{each}/") for each in self._listed[1]):
            return True
        return self._stands(path)

    def _stands(self, path: str) -> bool:
        """Whether something stands there; no link is followed, and what is behind one is not denied."""
        at = self.root
        for part in path.split("/"):
            if part in ("", ".", ".."):
                return True
            at = os.path.join(at, part)
            try:
                mode = os.lstat(at).st_mode
            except FileNotFoundError:
                return False
            except (OSError, ValueError):
                return True
            if stat.S_ISLNK(mode):
                return True
        return True

    def missing_commits(self, hashes: Collection[str]) -> frozenset[str]:
        """Of some hashes, whole or their beginnings, those that name nothing in it; none where that cannot be known."""
        if self._git is None or not hashes:
            return frozenset()
        shallow = self._asked([self._git, "rev-parse", "--is-shallow-repository"])
        if shallow is None or shallow.strip() != b"false":
            return frozenset()  # it has only the end of its history
        each = sorted(hashes)
        out = self._asked([self._git, "cat-file", "--batch-check"], given="".join(f"{one}\n" for one in each))
        rows = (out or b"").decode("ascii", "replace").split("\n")
        if len(rows) < len(each):
            return frozenset()
        return frozenset(one for one, row in zip(each, rows, strict=False) if row == f"{one} missing")

    @cached_property
    def texts(self) -> Texts:
        """What its files say."""
        identifiers: set[bytes] = set()
        numbers: set[bytes] = set()
        hosts: set[bytes] = set()
        has_local = False
        is_complete = len(self.files) <= _MOST_READ
        read = 0
        for path in sorted(self.files)[:_MOST_READ]:
            identifiers.update(_IDENTIFIER.findall(os.fsencode(path)))
            data = self._data(path)
            if data is None or b"\0" in data[:8_000]:
                continue
            read += len(data)
            if read > _MOST_BYTES:
                is_complete = False
                break
            identifiers.update(_IDENTIFIER.findall(data))
            numbers.update(_NUMBER.findall(data))
            hosts.update(host.lower() for host in _HOST.findall(data))
            has_local = has_local or _LOCAL.search(data) is not None
        return Texts(
            frozenset(one.decode("ascii") for one in identifiers),
            frozenset(one.decode("ascii") for one in numbers),
            frozenset(one.decode("ascii").rstrip(".") for one in hosts),
            has_local,
            is_complete,
        )

    def _data(self, path: str) -> bytes | None:
        """The bytes of a file; `None` for what is no plain file of a modest size. No link is followed."""
        if self._is_behind_link(path.rpartition("/")[0]):
            return None
        try:
            fd = os.open(os.path.join(self.root, path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError):
            return None
        with open(fd, "rb") as file:
            try:
                info = os.fstat(fd)
                if not stat.S_ISREG(info.st_mode) or info.st_size > _LARGEST:
                    return None
                return file.read(_LARGEST)
            except OSError:
                return None

    def _is_behind_link(self, directory: str) -> bool:
        """Whether a directory, or one above it, is a link."""
        if not directory:
            return False
        if directory not in self._links:
            above = directory.rpartition("/")[0]
            self._links[directory] = self._is_behind_link(above) or os.path.islink(os.path.join(self.root, directory))
        return self._links[directory]

    def _walked(self) -> Iterator[str]:
        """The files that are there, without those of tools."""
        waiting = [""]
        found = 0
        while waiting:
            here = waiting.pop()
            try:
                with os.scandir(os.path.join(self.root, here)) as entries:
                    for entry in entries:
                        path = f"{here}/{entry.name}" if here else entry.name
                        if entry.is_dir(follow_symlinks=False):
                            if entry.name not in _LEFT_OUT:
                                waiting.append(path)
                            continue
                        found += 1
                        if found > _MOST_FILES:
                            return
                        yield path
            except OSError:
                continue

    def _asked(self, words: Iterable[str], *, given: str = "", partly: bool = False) -> bytes | None:
        """What git answers; `None` if it fails.

        Args:
            words: The program and what follows its options.
            given: Its input.
            partly: Whether the beginning of an answer will do, where the whole takes too long or too much.
        """
        program, *rest = words
        environment = {**_ENVIRONMENT, "PATH": os.environ.get("PATH", os.defpath)}
        try:
            process = subprocess.Popen(  # no shell, and /dev/null is not opened for writing
                [program, "-C", self.root, *_OPTIONS, *rest],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if partly else subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        except (OSError, ValueError):
            return None
        with process:
            if partly:
                return self._beginning(process)
            try:
                out, _ = process.communicate(given.encode("ascii", "replace"), timeout=self.seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                return None
            return out if process.returncode == 0 and len(out) <= _MOST_NAMES else None

    def _beginning(self, process: "subprocess.Popen[bytes]") -> bytes:
        """What a process says within the time, and no more than a bound."""
        import select  # deferred: only here

        assert process.stdout is not None
        assert process.stdin is not None
        process.stdin.close()
        fd = process.stdout.fileno()
        end = time.monotonic() + self.seconds
        parts: list[bytes] = []
        size = 0
        while size < _MOST_NAMES and (left := end - time.monotonic()) > 0:
            if not select.select([fd], [], [], left)[0]:
                break
            data = os.read(fd, 1 << 16)
            if not data:
                return b"".join(parts) if process.wait() == 0 else b""
            parts.append(data)
            size += len(data)
        process.kill()
        return b"".join(parts).rpartition(b"\0")[0]
