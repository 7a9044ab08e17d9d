"""Links of a note: `[[wiki]]`, Markdown links, `@imports` and addresses, and the note that each leads to.

A link comes from whoever wrote the note, so it is judged here once: what leads out of the folder never becomes a path
inside it, however it is spelled, and what has a scheme is an address. Following is somebody else's decision.
"""

import posixpath
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote

from memtui.core.paths import ROOT_NAME
from memtui.notes.front_matter import end_of, properties_of
from memtui.notes.plain import without_code

_WIKI = re.compile(r"!?\[\[([^\[\]\n|]{1,400})(?:\|([^\[\]\n]{0,400}))?\]\]")
_INLINE = re.compile(
    r"(?<!\\)!?\[((?:[^\[\]\n\\]|\\.|\[[^\[\]\n]{0,200}\]){0,400})\]"
    r"\(\s{0,8}(?:<([^<>\n]{0,2000})>|((?:[^\s()\\]|\\.|\([^\s()]{0,400}\)){0,2000}))"
    r"(?:\s{1,8}(?:\"[^\"\n]{0,400}\"|'[^'\n]{0,400}'))?\s{0,8}\)"
)
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)([^\[\]\n]{1,200})\]:[ \t]*<?([^\s<>]{1,2000})>?", re.MULTILINE)
_REFERENCE = re.compile(r"!?\[([^\[\]\n]{1,400})\](?:\[([^\[\]\n]{0,200})\])?(?![\[(:])")
_ANGLED = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]{1,2000})>")
_BARE = re.compile(r"(?<![\w/@])https?://[^\s<>\"'`\[\]{}|\\^]{1,2000}")
_IMPORT = re.compile(r"(?<![\w@/.+\\-])@((?:~/|\.{1,2}/|/)?(?:[\w.-]|\\ |/)(?:[^\s\\@`\"'<>()\[\]{}|,;]|\\ ){0,400})")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,31}:")
_EXTENSION = re.compile(r".*\.[A-Za-z][A-Za-z0-9]{0,7}")
_KINDS = ("feedback", "project", "reference", "user")
"""What Claude Code writes before the names of its notes, and leaves out in links to them."""
_BETWEEN = re.compile(r"[\s_-]+")
"""What stands between the words of a name: which of these it is, nobody remembers."""
_TITLE = re.compile(r"^# +(.{1,200}?)[ #]*$", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NOT_LINE_END = re.compile(r"[^\n]")
_MOST = 2_000
"""Links that are read of one note; a note of more is no page to click through."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it stands in a note.

    Attributes:
        kind: `wiki`, `markdown`, `import`, or `url` for whatever has a scheme.
        target: Where it leads, as it is written.
        path: The place inside the folder that it names, relative to the folder; `None` where it leads out of it. A
            `wiki` link names a note wherever that is: its path is what has to be looked for.
        fragment: The heading behind `#`; empty for none.
        label: What is shown in its place.
        line: The line that it stands in, from 1.
        span: Where in that line, in characters.
    """

    kind: str
    target: str
    path: str | None
    fragment: str
    label: str
    line: int
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Backlink:
    """A link in another note that leads to one.

    Attributes:
        path: The note that it stands in.
        link: The link.
        text: The line that it stands in.
    """

    path: str
    link: Link
    text: str


class Places:
    """The notes of a folder, as links name them.

    Args:
        paths: All files, relative to the folder.
        names: What notes call themselves (a title, a name, aliases), by their paths; where this is known, a wiki link
            finds them by it too.
    """

    def __init__(self, paths: Iterable[str], names: Mapping[str, Iterable[str]] | None = None) -> None:
        self._paths = frozenset(paths)
        self._by_name: dict[str, list[str]] = {}
        self._by_path: dict[str, list[str]] = {}
        for path in self._paths:
            lower = path.casefold()
            self._by_path.setdefault(lower, []).append(path)
            name = lower.rpartition("/")[2]
            self._by_name.setdefault(name, []).append(path)
            stem, dot, _ = name.rpartition(".")
            if dot and stem:
                self._by_name.setdefault(stem, []).append(path)
        self._by_words: dict[str, list[str]] = {}
        for name, found in self._by_name.items():
            if "_" in name or "-" in name or " " in name:
                self._by_words.setdefault(_BETWEEN.sub("-", name), []).extend(found)
        self._by_title: dict[str, list[str]] = {}
        for path, titles in (names or {}).items():
            for title in titles:
                self._by_title.setdefault(_plain(title), []).append(path)

    def resolve(self, link: Link, from_path: str) -> str | None:
        """The note that a link leads to, `None` if there is none inside the folder."""
        if link.path is None or link.kind == "url":
            return None
        if not link.path:
            return from_path if link.fragment and from_path in self._paths else None
        if link.kind == "wiki":
            return self._wiki(link.path, from_path)
        return self._at(link.path)

    def _at(self, path: str) -> str | None:
        """What stands at a path; without its extension, or in other capitals, if nothing does exactly."""
        if path in self._paths:
            return path
        lower = path.casefold()
        for spelled in (lower, f"{lower}.md", f"{lower}.txt"):
            if found := self._by_path.get(spelled):
                return min(found)
        return None

    def _wiki(self, wanted: str, from_path: str) -> str | None:
        here = from_path.rpartition("/")[0]
        lower = wanted.casefold().strip("/")
        if wanted.startswith(("./", "../")):
            inside = _inside(posixpath.join(here, wanted))
            return self._at(inside) if inside is not None else None
        name = lower.rpartition("/")[2]
        found = [path for path in self._by_name.get(name, ()) if _ends_in(path.casefold(), lower)]
        if not found:
            found = self._by_title.get(_plain(wanted), [])
        if not found and "/" not in lower:
            words = _BETWEEN.sub("-", name)
            spelled = (words, *(f"{kind}-{words}" for kind in _KINDS))
            found = next(filter(None, map(self._by_words.get, spelled)), [])
        return min(found, key=lambda path: _nearness(path, here, wanted)) if found else None


def links_of(text: str, path: str) -> list[Link]:
    """The links of a note in the order in which they stand; what stands in code is none.

    Args:
        text: What the note says.
        path: Where it is, relative to the folder.
    """
    if not ("](" in text or "[[" in text or "@" in text or "://" in text or "]:" in text or "<" in text):
        return []
    return _Finding(text, path).links()


def resolve(link: Link, from_path: str, paths: Collection[str]) -> str | None:
    """The note that a link leads to; for many links make `Places` once.

    Args:
        link: The link.
        from_path: The note that it stands in, relative to the folder.
        paths: All files, relative to the folder.
    """
    return Places(paths).resolve(link, from_path)


def backlinks(
    path: str,
    notes: Iterable[tuple[str, str]],
    places: Places | None = None,
    *,
    stop: Callable[[], bool] = lambda: False,
) -> list[Backlink]:
    """The links in other notes that lead to one, in the order of the notes.

    Args:
        path: The note that they lead to.
        notes: All notes: path and text.
        places: What is in the folder; made from the notes if it is not given.
        stop: Says whether nobody waits for it any more; what was found by then is given.
    """
    notes = list(notes) if places is None else notes
    places = places or Places(other for other, _ in notes)
    found: list[Backlink] = []
    for other, text in notes:
        if stop():
            break
        if other == path:
            continue
        links = [link for link in links_of(text, other) if places.resolve(link, other) == path]
        if links:
            lines = text.split("\n")
            found += [Backlink(other, link, lines[link.line - 1].rstrip("\r")) for link in links]
    return found


def names_of(text: str) -> tuple[str, ...]:
    """What a note calls itself: its `title`, `name` and `aliases`, and its first heading."""
    properties = properties_of(text)
    names: list[str] = []
    for key in ("title", "name", "alias", "aliases"):
        value = properties.get(key)
        names += [str(one) for one in (value if isinstance(value, list) else [value]) if isinstance(one, str) and one]
    heading = _TITLE.search(text, end_of(text)) if "# " in text else None
    return (*names, heading[1]) if heading else tuple(names)


class _Finding:
    """Finds the links of one note: each kind blanks out what it took, so that no letter is in two links."""

    def __init__(self, text: str, path: str) -> None:
        self._path = path
        self._here = path.rpartition("/")[0]
        self._text = text
        body = without_code(text)
        end = end_of(text)
        self._body = _NOT_LINE_END.sub(" ", body[:end]) + body[end:] if end else body
        self._found: list[tuple[int, Link]] = []

    def links(self) -> list[Link]:
        """All of them."""
        self._take(_WIKI, "[[", self._wiki)
        self._take(_INLINE, "](", self._inline)
        self._take(_ANGLED, "<", lambda found: self._markdown(found, found[1], found[1]))
        self._targets: dict[str, str] = {}
        for found in _DEFINITION.finditer(self._body) if "]:" in self._body else ():
            self._targets.setdefault(self._written(found, 1), found[2])
        if self._targets:
            self._take(_DEFINITION, "]:", lambda found: self._markdown(found, found[2], found[1]))
            self._take(_REFERENCE, "]", self._reference)
        self._take(_BARE, "://", self._bare)
        self._take(_IMPORT, "@", self._import)
        return [link for _, link in sorted(self._found, key=lambda one: one[0])]

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line begins: most notes have no link, and are not asked."""
        return [0, *(found.end() for found in re.finditer("\n", self._body))]

    def _take(self, pattern: re.Pattern[str], sign: str, read: "Callable[[re.Match[str]], Link | None]") -> None:
        """Read what a pattern finds; all of that has the sign in it, so that most notes are passed at once."""
        if sign not in self._body:
            return

        def taken(found: re.Match[str]) -> str:
            link = read(found) if len(self._found) < _MOST else None
            if link is None:
                return found.group()
            self._found.append((found.start(), link))
            return _NOT_LINE_END.sub(" ", found.group())

        self._body = pattern.sub(taken, self._body)

    def _link(
        self,
        found: re.Match[str],
        kind: str,
        target: str,
        path: str | None,
        fragment: str,
        label: str,
        end: int | None = None,
    ) -> Link:
        line = bisect_right(self._starts, found.start())
        first = self._starts[line - 1]
        last = min(
            found.end() if end is None else end,
            (self._starts[line] - 1) if line < len(self._starts) else len(self._body),
        )
        return Link(kind, target, path, fragment, label, line, (found.start() - first, last - first))

    def _wiki(self, found: re.Match[str]) -> Link:
        target, label = found[1].strip().removesuffix("\\"), (found[2] or "").strip()
        name, _, fragment = target.partition("#")
        path: str | None = name.strip()
        if path and (path.startswith(("./", "../")) or path.startswith("/")):
            path = _inside(path if path.startswith("/") else posixpath.join(self._here, path))
        elif path and ".." in path.split("/"):
            path = None
        if path is not None and name.strip().startswith(("./", "../")):
            path = name.strip()  # resolved from where it stands
        return self._link(found, "wiki", target, path, fragment.strip(), label or target)

    def _inline(self, found: re.Match[str]) -> Link | None:
        target = found[2] if found[2] is not None else re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", found[3] or "")
        if not target.strip():
            return None
        label = re.sub(r"!\[([^\]]*)\]\([^)]*\)", r"\1", found[1])
        return self._markdown(found, target.strip(), re.sub(r"\\(.)", r"\1", label).strip())

    def _reference(self, found: re.Match[str]) -> Link | None:
        target = self._targets.get(self._written(found, 2 if found[2] else 1))
        return self._markdown(found, target, found[1]) if target is not None else None

    def _written(self, found: re.Match[str], group: int) -> str:
        """A label as it is written: code in it was blanked out, and [`b`] would be the same as [`a`]."""
        return _plain(self._text[found.start(group) : found.end(group)])

    def _markdown(self, found: re.Match[str], target: str, label: str) -> Link:
        if _SCHEME.match(target) or target.startswith("//"):
            return self._link(found, "url", target, None, "", label or target)
        name, _, fragment = target.partition("#")
        path: str | None = ""
        if name:
            path = None if name.startswith("~") else _inside(_from(self._here, unquote(name)))
        return self._link(found, "markdown", target, path, unquote(fragment), label or target)

    def _bare(self, found: re.Match[str]) -> Link:
        target = _without_end(found.group())
        return self._link(found, "url", target, None, "", target, found.start() + len(target))

    def _import(self, found: re.Match[str]) -> Link | None:
        written = found[1].rstrip(".:!?*_")
        target = written.replace("\\ ", " ")
        name = target.rpartition("/")[2]
        if not name or not ("/" in target or _EXTENSION.fullmatch(name) or (name.isupper() and len(name) > 2)):
            return None  # somebody's name
        path = None if target.startswith("~") else _inside(_from(self._here, target))
        end = found.start() + 1 + len(written)
        return self._link(found, "import", target, path, "", f"@{target}", end)


def _from(here: str, target: str) -> str:
    """A target as a path from the top of the folder, where it begins with `/`, or from where the note is."""
    return target if target.startswith("/") else posixpath.join(here, target)


def _inside(path: str) -> str | None:
    """A path as one relative to the folder; `None` if it leads out of it.

    `/memories/…` is how agents name places in the folder; any other path from the root of the file system is outside.
    """
    if "\\" in path or _CONTROL.search(path):
        return None
    if path.startswith("/"):
        if path != ROOT_NAME and not path.startswith(ROOT_NAME + "/"):
            return None
        path = path[len(ROOT_NAME) :].lstrip("/")
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def _ends_in(path: str, wanted: str) -> bool:
    """Whether a path, with or without its extension, is what is wanted, or ends in it at a border of names."""
    stem = path[: -len(path.rpartition(".")[2]) - 1] if "." in path.rpartition("/")[2] else path
    return any(one == wanted or one.endswith("/" + wanted) for one in (path, stem))


def _nearness(path: str, here: str, wanted: str) -> tuple[bool, bool, bool, int, int, str]:
    """How far a note is from a wiki link that names it: the least is meant."""
    directory, _, name = path.rpartition("/")
    is_exact = wanted.rpartition("/")[2] in (name, name.rpartition(".")[0])
    return (directory != here, not is_exact, not name.casefold().endswith(".md"), path.count("/"), len(path), path)


def _without_end(target: str) -> str:
    """An address without the point or bracket that ends the sentence around it."""
    while target and (target[-1] in ".,;:!?*_~" or (target[-1] == ")" and target.count("(") < target.count(")"))):
        target = target[:-1]
    return target
