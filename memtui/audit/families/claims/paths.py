"""Paths that a note names."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from memtui.audit.families.claims.claim import Claim, Kind
from memtui.audit.families.claims.said import LINK_TARGET, PLAIN_PATH, SPAN, URL, Said, blank
from memtui.audit.repository import Repository
from memtui.audit.subject import Subject

PLACEHOLDER = re.compile(
    r"(?:^|[/._-])(?:foo|bar|baz|x{2,}|your|my|example|some|path|to|name|yyyy|nnn+|(?:component|class|file|module|page|"
    r"function|hook|feature|service|project|package|event)[_-]?name(?:here)?)(?:$|[/._-])",
    re.IGNORECASE,
)
_IN_SPAN = re.compile(
    r"(?:\./)?((?:[\w.@+-]+[/\\])*[\w.@+-]+/?)"
    r"(?::[0-9]+(?:[-:,][0-9]+)*|#L[0-9]+(?:-L?[0-9]+)?|#[\w-]+|(?:::[\w\[\]-]+)+|[ ]\(?(?:lines?|L)[ ]?[0-9-]+\)?)?"
)
_TARGET = re.compile(r"<?(?:\.{0,2}/)*((?:[\w.@+-]+/)+[\w.@+-]+)(?=[>#?:\s]|$)")
_EXTENSION = re.compile(r".*[\w]\.[A-Za-z][A-Za-z0-9]{0,9}")
_WRITTEN_BY_HAND = """
py pyi ipynb js jsx mjs cjs ts tsx mts cts vue svelte astro go rs rb erb java kt kts scala swift m mm c h cc cpp cxx hpp
cs fs php pl pm lua ex exs erl clj cljs hs ml dart r jl sh bash zsh fish ps1 bat sql proto graphql css scss sass less
html tf nix yml yaml md mdx rst
"""
_SOURCES = frozenset(_WRITTEN_BY_HAND.split())
"""Extensions of what people write: a name without a directory, of data, may be that of anybody's file."""
_COMMON = frozenset({"index", "main", "config", "setup", "readme", "license", "changelog", "__init__", "utils", "mod"})
"""Names that files of any project have."""


class Named(NamedTuple):
    """A path in a line.

    Attributes:
        at: Its first character in the line.
        path: As it is written, slashes for backslashes.
        is_there: Whether the repository has it.
    """

    at: int
    path: str
    is_there: bool


def named_in(said: Said, repository: Repository, subject: Subject) -> list[Named]:
    """The paths of a line that mean something in the repository, in order."""
    line = said.text
    if not ("/" in line or "`" in line):
        return []
    plain = LINK_TARGET.sub(blank, URL.sub(blank, line))
    seen: dict[int, str] = {}
    for found in SPAN.finditer(plain):
        if inside := _IN_SPAN.fullmatch(found[1].strip()):
            seen[found.start(1) + len(found[1]) - len(found[1].lstrip()) + inside.start(1)] = inside[1]
    for found in PLAIN_PATH.finditer(SPAN.sub(blank, plain)):
        seen[found.start(1)] = found[1].rstrip(".")
    named = [Named(at, path.replace("\\", "/"), False) for at, path in sorted(seen.items())]
    judged = [(each, _is_there(each.path, repository, subject)) for each in named]
    return [
        *(each._replace(is_there=is_there) for each, is_there in judged if is_there is not None),
        *_linked(line, repository),
    ]


def _linked(line: str, repository: Repository) -> Iterator[Named]:
    """Links to files that the repository had: those to notes are judged as links of the folder."""
    for found in LINK_TARGET.finditer(line) if "](" in line else ():
        if found[1] is None or not (inside := _TARGET.match(found[1])):
            continue
        path = inside[1]
        if path in repository.former and _is_written(path) and not path.endswith((".md", ".mdx")):
            yield Named(found.start(1) + inside.start(1), path, repository.has(path))


def claims_in(note: str, said: Said, named: list[Named], repository: Repository) -> Iterator[Claim]:
    """The paths of a line that the repository does not have."""
    for each in named:
        if each.is_there:
            continue
        others = repository.by_name.get(each.path.rstrip("/").rpartition("/")[2], [])
        yield Claim(
            Kind.PATH,
            note,
            said.start + each.at,
            each.path,
            removal=repository.removal_of(each.path),
            now=others[0] if len(others) == 1 else "",
        )


def is_source(path: str) -> bool:
    """Whether a path is that of a file that may hold code."""
    return bool(_EXTENSION.fullmatch(path)) and not path.endswith((".md", ".txt"))


def _is_there(path: str, repository: Repository, subject: Subject) -> bool | None:
    """Whether the repository has a path; `None` where the note may mean anything else by it."""
    wanted = path.rstrip("/")
    parts = wanted.split("/")
    name = parts[-1]
    if not wanted or any(part in (".", "..", "") for part in parts) or PLACEHOLDER.search(wanted):
        return None
    if wanted in subject.notes or name in {"MEMORY.md", "CLAUDE.md"}:
        return None
    is_file = bool(_EXTENSION.fullmatch(name)) and not path.endswith("/")
    if len(parts) == 1:
        return _is_name_there(name, repository) if is_file else None
    if repository.has(wanted) or _ends_in(wanted, repository):
        return True
    if wanted in repository.former or wanted in repository.former_directories:
        return False
    if _is_written(name) and repository.removal_of(wanted) is not None:
        return False
    return False if is_file and parts[0] in repository.directories else None


def _is_name_there(name: str, repository: Repository) -> bool | None:
    """The same of a name without a directory: one that the history does not have may be that of anything."""
    if name in repository.by_name:
        return True
    if not _is_written(name) or name.partition(".")[0].casefold() in _COMMON or repository.removal_of(name) is None:
        return None
    return None if repository.has(name) else False


def _is_written(name: str) -> bool:
    return name.rpartition(".")[2].casefold() in _SOURCES


def _ends_in(wanted: str, repository: Repository) -> bool:
    """Whether a path is the end of one that the repository has: notes leave out where all code is."""
    end = f"/{wanted}"
    if any(path.endswith(end) for path in repository.by_name.get(wanted.rpartition("/")[2], ())):
        return True
    return any(directory.endswith(end) for directory in repository.directories) if "." not in wanted else False
