"""What the commits of a memory folder that is a git repository say of its notes, as Letta Code and Codex keep one."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from memtui.agents.transcripts.writes import TranscriptScan
from memtui.core.events import Agent, ImportedChange
from memtui.fs.git import GitRunner, split_batches

_MOST_CHANGES = 100_000
_MOST_BYTES = 1_000_000
"""Bytes of a text that is imported; larger ones are told without it."""
_MOST_IN_ALL = 200_000_000
_FILES = frozenset({b"100644", b"100755"})
_MESSAGE = 200
_NAME = 100
_HASH = 12
"""Characters of a commit that are shown."""
_COMMIT = b"\x01"
_LOG = (
    "log", "--reverse", "--topo-order", "--no-merges", "--raw", "-z", "--no-abbrev", "--root", "--find-renames=100%",
    "--no-ext-diff", "--no-textconv", "--no-color", "--no-notes", "--no-diff-merges", "--relative",
    "--ignore-submodules=all", "--format=%x01%H%x00%an%x00%at%x00%s",
)  # fmt: skip


class NoRepository(ValueError):
    """A folder is no git repository of its own; says why, as a sentence."""


class _CommittedChange(NamedTuple):
    """One path in one commit; a hash of a text is empty for nothing, or for what is no file."""

    commit: str
    author: str
    at_us: int
    message: str
    path: str
    before: bytes
    after: bytes
    moved_from: str = ""


def scan_commits(folder: str, read: Callable[[int], bool] = lambda _: True) -> TranscriptScan:
    """Scan the commits of a folder for what they changed in it, the oldest first.

    Merges say nothing of their own. A rename is known if the text stayed as it was.

    Args:
        folder: The memory folder, links resolved.
        read: Called with the number of bytes read; `False` stops.

    Raises:
        NoRepository: The folder is no repository, or git is missing or failed.
    """
    if not os.path.lexists(os.path.join(folder, ".git")):
        raise NoRepository("the folder is no git repository")
    git = GitRunner.open(folder)
    if git is None:
        raise NoRepository("git is not installed, or does not trust the folder's owner")
    out = git.run(*_LOG, "HEAD", "--", ".")
    if out is None:
        raise NoRepository("git could not list its commits")
    changes = list(_parse_log(out))[:_MOST_CHANGES]
    texts = _read_texts(git, {each for change in changes for each in (change.before, change.after) if each}, read)
    scan = TranscriptScan(is_git=True, lines=len({change.commit for change in changes}))
    for change in changes:
        scan.writes += _build_changes(change, texts)
    return scan


def _parse_log(out: bytes) -> Iterator[_CommittedChange]:
    fields = iter(out.split(b"\0"))
    head = ("", "", 0, "")
    for field in fields:
        record = field.lstrip(b"\n")
        if record.startswith(_COMMIT):
            author, at, message = (next(fields, b"").decode("utf-8", "replace") for _ in range(3))
            seconds = int(at) if at.isdecimal() else 0
            head = (record[1:].decode("ascii", "replace"), author[:_NAME], seconds * 1_000_000, message[:_MESSAGE])
        elif record.startswith(b":"):
            words = record[1:].split(b" ")
            path = next(fields, b"")
            new = next(fields, b"") if words[-1].startswith(b"R") else path
            if len(words) != 5 or _FILES.isdisjoint(words[:2]):  # links and submodules are no notes
                continue
            before, after = (hash if mode in _FILES else b"" for mode, hash in zip(words[:2], words[2:4], strict=True))
            moved = os.fsdecode(path) if new != path else ""
            yield _CommittedChange(*head, os.fsdecode(new), before, after, moved)


def _read_texts(git: GitRunner, hashes: set[bytes], read: Callable[[int], bool]) -> dict[bytes, bytes]:
    """The texts of hashes; those that are too large, or that git does not give, are left out."""
    sizes: dict[bytes, int] = {}
    for given in split_batches(hash + b"\n" for hash in sorted(hashes)):
        for line in (git.run("cat-file", "--batch-check", given=given) or b"").splitlines():
            words = line.split(b" ")
            if len(words) == 3 and words[1] == b"blob" and int(words[2]) <= _MOST_BYTES:
                sizes[words[0]] = int(words[2])
    texts: dict[bytes, bytes] = {}
    total = 0
    for hash, size in sizes.items():
        total += size
        if total > _MOST_IN_ALL or not read(size):
            break
        if (data := git.run("cat-file", "blob", hash.decode("ascii"))) is not None and len(data) == size:
            texts[hash] = data
    return texts


def _build_changes(change: _CommittedChange, texts: dict[bytes, bytes]) -> Iterator[ImportedChange]:
    told = ImportedChange(
        path=change.path, agent=Agent(change.author or "git"), call_id=change.commit, at_us=change.at_us,
        tool="git commit", source=f'commit {change.commit[:_HASH]} "{change.message}"',
        before=texts.get(change.before), after=texts.get(change.after),
    )  # fmt: skip
    if change.moved_from:
        yield replace(told, path=change.moved_from, after=None, is_gone=True, moved_to=change.path)
        yield replace(told, before=None, moved_from=change.moved_from)
    else:
        yield replace(told, is_gone=not change.after)
