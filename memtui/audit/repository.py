"""The repository that notes speak of: its files, names and commits, present and past. It is only read.

What it had once is found in its history, so that a note can be told from one that means something else altogether: a
path that never was there may be a plan, a mistake, or a path of another repository. Where there is no git, the
directory is walked, and nothing is known of the past.
"""

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import NamedTuple

from memtui.core.lazy_dataclass import dataclass
from memtui.fs.git import PLAIN_DIFFERENCES, GitRunner, split_batches

_MOST_FILES = 200_000
_MOST_READ = 20_000  # files whose texts are read
_MOST_BYTES = 100_000_000  # of all texts that are read
_LARGEST = 1_000_000  # bytes of a file that is read; larger ones are seldom written by hand
_MOST_SOUGHT = 300  # words that are looked for in the history at once
_SUBMODULE = b"160000"
_LEFT_OUT = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache"})
_PARTED = bytes(byte if chr(byte).isalnum() or byte == 95 else 32 for byte in range(128)) + bytes([32]) * 128
"""A blank for each byte that is part of no word in code."""
_HOST = re.compile(rb"(?<=://)[A-Za-z0-9][A-Za-z0-9.-]{0,253}")
_LOCAL = re.compile(rb"(?:localhost|127\.0\.0\.1|0\.0\.0\.0)[:=]", re.IGNORECASE)
_REMOTE = re.compile(r"(?:https?://|git@|ssh://git@|git://)([^/:\s]+)[:/](.+?)(?:\.git)?/?$")
_COMMIT = b"\x01"  # what the row of a commit begins with: no row of a difference does
_DEFINES = rb"""
    (?<![^-\s;{}(@])(?:def|class|function|func|fun|fn|const|let|var|val|type|interface|struct|enum|trait|module|defp|object
    |typedef|macro_rules!|sub|proc|record|union|protocol|extension|actor|namespace|package|static|export)\s[^=(){};\n]{0,80}?
"""
_ASSIGNS = rb"-\s*(?:export\s+|async\s+|static\s+)*(?:self\.|this\.)?"
_LONGEST_ROW = 2_000


class GitRemoval(NamedTuple):
    """When something left the repository."""

    commit: str
    at: int  # when it was committed, in seconds since 1970
    is_definition: bool = True  # whether the removed text, there or before, defined the word


@dataclass(frozen=True, slots=True)
class RepositoryTexts:
    """What the files of a repository say, as far as notes are compared with it."""

    words: frozenset[bytes]  # all words of ASCII letters, digits and `_`
    hosts: frozenset[bytes]
    has_local: bool
    is_complete: bool  # whether all files were read. If not, nothing is known to be missing

    def contains_word(self, word: str) -> bool:
        """Whether a word stands in any of them; also if that cannot be known."""
        return not self.is_complete or not word.isascii() or word.encode() in self.words


@dataclass
class Repository:
    """A repository at one moment. Everything is found out when it is first asked for."""

    root: str
    seconds: float = 20.0
    _links: dict[str, bool] = field(default_factory=dict)

    @cached_property
    def _git(self) -> GitRunner | None:
        return GitRunner.open(self.root, self.seconds)

    @cached_property
    def _listed_files(self) -> tuple[frozenset[str], frozenset[str]]:
        """The files that are tracked, and the submodules; without git, the files that are there."""
        if self._git is None:
            return frozenset(self._walk_files()), frozenset()
        asked = ("ls-tree", "-r", "-z", "--full-tree", "HEAD") if self._git.is_bare else ("ls-files", "-z", "--stage")
        out = self._git.run(*asked)
        files: set[str] = set()
        submodules: set[str] = set()
        for row in (out or b"").split(b"\0"):
            head, _, name = row.partition(b"\t")
            if name:
                (submodules if head.startswith(_SUBMODULE) else files).add(os.fsdecode(name))
        if not files and not self._git.is_bare:
            return frozenset(self._walk_files()), frozenset(submodules)  # nothing was added yet, or git failed
        return frozenset(files), frozenset(submodules)

    @property
    def files(self) -> frozenset[str]:
        """The files, relative to it."""
        return self._listed_files[0]

    @cached_property
    def directories(self) -> frozenset[str]:
        """The directories that files are in, relative to it."""
        return frozenset(_collect_parents(self.files))

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """Files by their names without directories, each list in order."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.files):
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    @property
    def has_history(self) -> bool:
        """Whether it is known what it had once, as far as that can be read."""
        return self._git is not None and not self._git.is_shallow

    @cached_property
    def removed_files(self) -> Mapping[str, GitRemoval]:
        """Files that it had once and has no more, as far as its history tells in a few seconds."""
        if self._git is None:
            return {}
        words = ("log", "-z", "--format=%x01%h %ct", "--name-only", "--diff-filter=D", *PLAIN_DIFFERENCES)
        rows = self._git.run_partial(*words, "HEAD", "--", end=b"\0").split(b"\0")
        found: dict[str, GitRemoval] = {}
        removal: GitRemoval | None = None
        for row in rows:
            if row.lstrip(b"\n").startswith(_COMMIT):
                removal = _parse_removal(row.lstrip(b"\n"))
            elif removal is not None and (name := row.removeprefix(b"\n")):
                found.setdefault(os.fsdecode(name), removal)
        return {path: removal for path, removal in found.items() if path not in self.files}

    @cached_property
    def removed_directories(self) -> Mapping[str, GitRemoval]:
        """Directories that held such files and hold none now; the last of them tells when."""
        found: dict[str, GitRemoval] = {}
        for path, removal in self.removed_files.items():
            for above in _collect_parents((path,)):
                found.setdefault(above, removal)
        return {path: removal for path, removal in found.items() if path not in self.directories}

    @cached_property
    def _removed_by_name(self) -> Mapping[str, list[str]]:
        """Such files by their names without directories, the last to go first."""
        found: dict[str, list[str]] = {}
        for path in self.removed_files:
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    def find_removal(self, path: str) -> GitRemoval | None:
        """When what was at a path left it; `None` if nothing is known to have been there.

        Args:
            path: Relative to the repository, or the end of such a path at a border of names.
        """
        whole = self._complete_removed_path(path)
        return self.removed_files.get(whole) or self.removed_directories.get(whole)

    def find_gone_directory(self, path: str) -> str:
        """The highest of the directories that a removed path was in, or is, of which none is there any more.

        Args:
            path: As for `find_removal`; empty is returned where its directory is still there.
        """
        whole = self._complete_removed_path(path)
        gone = self.removed_directories.keys() & {whole, *_collect_parents((whole,))}
        return min(gone, key=len, default="")

    def _complete_removed_path(self, path: str) -> str:
        path = path.strip("/")
        if path in self.removed_files or path in self.removed_directories:
            return path
        those = self._removed_by_name.get(path.rpartition("/")[2], ())
        return next((each for each in those if each.endswith(f"/{path}")), path)

    @cached_property
    def own_addresses(self) -> frozenset[str]:
        """Where its remotes are on the web, such as `example.org/team/shop`, in lower case."""
        if self._git is None:
            return frozenset()
        out = self._git.run("config", "--local", "--no-includes", "-z", "--get-regexp", r"^remote\..*\.url$")
        found: set[str] = set()
        for row in (out or b"").split(b"\0"):
            url = os.fsdecode(row.partition(b"\n")[2])
            if len(url) < 2_000 and (remote := _REMOTE.match(url)):
                found.add(f"{remote[1]}/{remote[2]}".lower())
        return frozenset(found)

    def has_path(self, path: str) -> bool:
        """Whether something is at a path, tracked or not; also if that cannot be known, as within a submodule."""
        path = path.strip("/")
        if path in self.files or path in self.directories:
            return True
        if any(path == each or path.startswith(f"{each}/") for each in self._listed_files[1]):
            return True
        if self._git is not None and self._git.is_bare:
            return False
        return self._path_exists(path)

    def _path_exists(self, path: str) -> bool:
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

    def find_ignored(self, paths: Collection[str]) -> frozenset[str]:
        """The paths among these that `.gitignore` excludes: they may exist in any work tree."""
        if self._git is None or self._git.is_bare:
            return frozenset()
        found: set[str] = set()
        encoded = {os.fsencode(path) for path in paths if path and "\0" not in path}
        for given in split_batches(path + b"\0" for path in sorted(encoded)):
            out = self._git.run("check-ignore", "--no-index", "-z", "--stdin", given=given, codes=(0, 1))
            found.update(os.fsdecode(row) for row in (out or b"").split(b"\0") if row)
        return frozenset(found)

    def find_missing_commits(self, hashes: Collection[str]) -> frozenset[str]:
        """Of some hashes, whole or their beginnings, those that name nothing in it; none where that cannot be known."""
        if self._git is None or self._git.is_shallow or not hashes:
            return frozenset()
        found: set[str] = set()
        for given in split_batches(f"{one}\n".encode() for one in sorted(hashes)):
            out = self._git.run("cat-file", "--batch-check", given=given)
            asked, rows = given.decode().split(), (out or b"").decode("ascii", "replace").split("\n")
            found |= {one for one, row in zip(asked, rows, strict=False) if row == f"{one} missing"}
        return frozenset(found)

    def find_removals(self, words: Iterable[str]) -> Mapping[str, GitRemoval]:
        """When words of code, or numbers, last left its files, as far as its history tells in a few seconds.

        Args:
            words: Letters, digits, `_`, `.` and `-`; absent from all files now.
        """
        sought = sorted({word for word in words if re.fullmatch(r"[\w.-]{2,100}", word, re.ASCII)})[:_MOST_SOUGHT]
        if self._git is None or not sought:
            return {}
        any_of = "|".join(each.replace(".", "[.]") for each in sought)
        pattern = f"(^|[^A-Za-z0-9_])({any_of})($|[^A-Za-z0-9_])"
        asked = ("log", f"-G{pattern}", "-p", "-U0", "--format=%x01%h %ct", "--diff-filter=MD", *PLAIN_DIFFERENCES)
        out = self._git.run_partial(*asked, "HEAD", "--", end=b"\n")
        return _find_removed_words(out, sought)

    @cached_property
    def texts(self) -> RepositoryTexts:
        """What its files say."""
        words: set[bytes] = set()
        hosts: set[bytes] = set()
        has_local = False
        read = 0
        is_complete = len(self.files) <= _MOST_READ and not (self._git is not None and self._git.is_bare)
        for path in sorted(self.files) if is_complete else ():
            words.update(os.fsencode(path).translate(_PARTED).split())
            data = self._read_bytes(path)
            if data is None or b"\0" in data[:8_000]:
                continue
            read += len(data)
            if read > _MOST_BYTES:
                is_complete = False
                break
            words.update(data.translate(_PARTED).split())
            if b"://" in data:
                hosts.update(host.lower().rstrip(b".") for host in _HOST.findall(data))
            has_local = has_local or _LOCAL.search(data) is not None
        return RepositoryTexts(frozenset(words), frozenset(hosts), has_local, is_complete)

    def _read_bytes(self, path: str) -> bytes | None:
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

    def _walk_files(self) -> Iterator[str]:
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


def _collect_parents(paths: Iterable[str]) -> set[str]:
    """The directories that paths are in."""
    found: set[str] = set()
    for path in paths:
        above = path.rpartition("/")[0]
        while above and above not in found:
            found.add(above)
            above = above.rpartition("/")[0]
    return found


def _parse_removal(row: bytes) -> GitRemoval | None:
    """A commit as its row tells of it."""
    found = re.match(rb"\x01([0-9a-f]{4,64}) ([0-9]{1,12})$", row.rstrip(b"\n"))
    return GitRemoval(found[1].decode(), int(found[2])) if found else None


def _find_removed_words(out: bytes, sought: Collection[str]) -> dict[str, GitRemoval]:
    """Which of the words a row of removed text has, in the newest commit that has it."""
    plain = {each.encode(): each for each in sought if re.fullmatch(r"\w+", each)}
    pointed = {each.encode(): each for each in sought if each not in plain.values()}
    found: dict[str, GitRemoval] = {}
    removal: GitRemoval | None = None
    is_header = False
    for row in out.split(b"\n"):
        if row.startswith(_COMMIT):
            removal = _parse_removal(row)
        elif row.startswith((b"diff ", b"@@ ")):
            is_header = row.startswith(b"diff ")
        elif row.startswith(b"-") and not is_header and removal is not None and len(row) < _LONGEST_ROW:
            here = [plain[word] for word in plain.keys() & row.translate(_PARTED).split()]
            here += [each for word, each in pointed.items() if word in row]
            for each in here:
                old = found.get(each)
                if old is None:
                    found[each] = removal._replace(is_definition=_is_definition(each, row))
                elif not old.is_definition and _is_definition(each, row):
                    found[each] = old._replace(is_definition=True)
    return found


def _is_definition(word: str, row: bytes) -> bool:
    """Whether a row of a difference defines a word, as programming languages do."""
    spelled = re.escape(word).encode() + rb"(?![A-Za-z0-9_])"
    if re.search(_DEFINES + rb"(?<![A-Za-z0-9_])" + spelled, row, re.VERBOSE) is not None:
        return True
    return re.match(_ASSIGNS + spelled + rb"\s*(?:[:=](?!=)|\([^()]*\)\s*\{)", row) is not None
