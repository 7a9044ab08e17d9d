"""Links of a note: `[[wiki]]`, Markdown links, `@imports` and addresses, and the note that each leads to.

A link comes from the author of the note, so it is checked here once: what leads out of the folder never becomes a path
inside it, however it is spelled, and what has a scheme is an address.
"""

import posixpath
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from urllib.parse import unquote, urlsplit

from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import ROOT_NAME
from memtui.core.unicode import to_one_line
from memtui.notes.front_matter import find_front_matter_end, read_properties
from memtui.notes.spans import blank_code, blank_text, has_mark

_WIKI = re.compile(r"(?:!(?<!\\!))?\[(?<!\\\[)\[([^\[\]\n|]{1,400})(?:\|([^\[\]\n]{0,400}))?\]\]")
_PLAIN_TARGET = re.compile(r"[A-Za-z0-9_-]+(?:[ ./][A-Za-z0-9_-]+)*")
"""A name or a path without what would have to be looked at twice."""
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
_BETWEEN = re.compile(r"[\s_-]+")  # what stands between the words of a name: which of these it is, nobody remembers
_PLAIN_KEY = re.compile(r"[a-z0-9.]++(?:-[a-z0-9.]++)*+")
_TITLE = re.compile(r"^# ++([^ \n].{0,199})(?<![ #])[ #]*+$", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
MOST_LINKS = 2_000
"""Links that are read of one note; a note of more is no page to click through."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it stands in a note.

    Attributes:
        kind: `wiki`, `markdown`, `import`, or `url` for any scheme.
        path: The target relative to the folder; `None` if it is outside. For a `wiki` link, the name to look for in
            all directories.
        fragment: The heading after `#`; empty for none.
        span: The columns in that line, in characters.
        form: How it is written: `wiki`, `inline`, `angled` (`[a](<b c.md>)`), `reference` (`[a][b]`, whose target
            stands in a `definition`), `definition`, `autolink`, `bare` or `import`.
        target_span: The columns of the target as it is written, without label and fragment behind `|`; `None` where it
            stands in another line, or in a definition.
    """

    kind: str
    target: str
    path: str | None
    fragment: str
    label: str
    line: int
    span: tuple[int, int]
    form: str = ""
    target_span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Backlink:
    """A link in another note that leads to one."""

    path: str
    link: Link
    text: str


class LinkTargets:
    """The notes of a folder, as links name them.

    Args:
        names: The notes' own names (title, name, aliases) by path, under which wiki links find them too.
    """

    def __init__(self, paths: Iterable[str], names: Mapping[str, Iterable[str]] | None = None) -> None:
        self._paths: set[str] = set()
        self._by_name: dict[str, list[str]] = {}
        self._by_path: dict[str, list[str]] = {}
        self._by_words: dict[str, list[str]] = {}
        self._by_title: dict[str, list[str]] = {}
        said = names or {}
        for path in frozenset(paths):
            self.add(path, said.get(path, ()))

    def add(self, path: str, names: Iterable[str] = ()) -> None:
        """Add a note, which is not there yet, with its own names."""
        self._paths.add(path)
        for index, key in _iter_keys(path, names):
            getattr(self, index).setdefault(key, []).append(path)

    def remove(self, path: str, names: Iterable[str] = ()) -> None:
        """Remove a note that was added with these names."""
        self._paths.discard(path)
        for index, key in _iter_keys(path, names):
            found = getattr(self, index)[key]
            found.remove(path)
            if not found:
                del getattr(self, index)[key]

    def resolve(self, link: Link, from_path: str) -> str | None:
        """The note that a link leads to, `None` if there is none inside the folder."""
        if link.path is None or link.kind == "url":
            return None
        if not link.path:
            return from_path if link.fragment and from_path in self._paths else None
        if link.kind == "wiki":
            return self._resolve_wiki(link.path, from_path)
        return self.find_at(link.path)

    def find_all(self, link: Link, from_path: str) -> tuple[str, ...]:
        """All notes that a link may mean equally well, the one that `resolve` returns first."""
        best = self.resolve(link, from_path)
        if best is None:
            return ()
        if link.kind != "wiki" or not link.path or link.path.startswith(("./", "../")):
            return (best,)
        if best.rpartition(".")[0] == link.path or best == link.path:
            return (best,)  # its whole path
        here = from_path.rpartition("/")[0]
        rank = _measure_distance(best, here, link.path)[:3]
        others = {path for path in self._find_named(link.path) if _measure_distance(path, here, link.path)[:3] == rank}
        return (best, *sorted(others - {best}))

    def find_at(self, path: str) -> str | None:
        """What stands at a path; without its extension, or in other capitals, if nothing does exactly."""
        if path in self._paths:
            return path
        lower = path.casefold()
        for spelled in (lower, f"{lower}.md", f"{lower}.txt"):
            if found := self._by_path.get(spelled):
                return min(found)
        return None

    def _resolve_wiki(self, wanted: str, from_path: str) -> str | None:
        here = from_path.rpartition("/")[0]
        if wanted.startswith(("./", "../")):
            inside = _normalize_inside(posixpath.join(here, wanted))
            return self.find_at(inside) if inside is not None else None
        found = self._find_named(wanted)
        return min(found, key=lambda path: _measure_distance(path, here, wanted)) if found else None

    def _find_named(self, wanted: str) -> list[str]:
        """The notes of a name: by their paths, by what they call themselves, or by the words of their names."""
        lower = wanted.casefold().strip("/")
        name = lower.rpartition("/")[2]
        found = [path for path in self._by_name.get(name, ()) if _has_suffix(path.casefold(), lower)]
        if not found:
            found = self._by_title.get(_normalize_name(wanted), [])
        if not found and "/" not in lower:
            words = _BETWEEN.sub("-", name)
            spelled = (words, *(f"{kind}-{words}" for kind in _KINDS))
            found = next(filter(None, map(self._by_words.get, spelled)), [])
        return found


def _iter_keys(path: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Under what a note is found: the index of `LinkTargets`, and the key in it."""
    lower = path.casefold()
    yield "_by_path", lower
    name = lower.rpartition("/")[2]
    stem, dot, _ = name.rpartition(".")
    for each in (name, stem) if dot and stem else (name,):
        yield "_by_name", each
        if "_" in each or "-" in each or " " in each:
            yield "_by_words", each if _PLAIN_KEY.fullmatch(each) else _BETWEEN.sub("-", each)
    for title in {_normalize_name(each) for each in names}:
        yield "_by_title", title


def find_links(text: str, path: str) -> list[Link]:
    """The links of a note in the order in which they stand; what stands in code is none."""
    has_brackets = "]" in text and ("](" in text or "[[" in text or "]:" in text)
    if not (has_brackets or "@" in text or "<" in text or has_mark(text, "://")):
        return []
    return _LinkFinder(text, path, blank_code(text), find_front_matter_end(text)).find()


def find_links_in(text: str, path: str, body: str, start: int) -> list[Link]:
    """The links of a note whose code was blanked out (`blank_code`), and whose body begins at a character."""
    return _LinkFinder(text, path, body, start).find()


def find_backlinks(
    path: str,
    notes: Iterable[tuple[str, str]],
    places: LinkTargets | None = None,
    *,
    stop: Callable[[], bool] = lambda: False,
) -> list[Backlink]:
    """The links in other notes that lead to one, in the order of the notes.

    Args:
        stop: Returns true to stop early with the links found so far.
    """
    notes = list(notes) if places is None else notes
    places = places or LinkTargets(other for other, _ in notes)
    found: list[Backlink] = []
    for other, text in notes:
        if stop():
            break
        if other == path:
            continue
        links = [link for link in find_links(text, other) if places.resolve(link, other) == path]
        if links:
            lines = text.split("\n")
            found += [Backlink(other, link, lines[link.line - 1].rstrip("\r")) for link in links]
    return found


def make_link_key(name: str) -> str:
    """A name as it is compared at least: two that differ in this never mean the same note by name.

    The last name of a path, without the extension of a text, in lower case, with hyphens between its words.
    """
    last = name.casefold().rstrip("/").rpartition("/")[2].removesuffix(".md").removesuffix(".txt")
    return last if _PLAIN_KEY.fullmatch(last) else _BETWEEN.sub("-", last.strip())


def strip_note_kind(key: str) -> str:
    """A key without the kind that Claude Code writes before it; the same if there is none."""
    kind, hyphen, rest = key.partition("-")
    return rest if hyphen and kind in _KINDS else key


def get_note_names(text: str) -> tuple[str, ...]:
    """What a note calls itself: its `title`, `name` and `aliases`, and its first heading."""
    return collect_names(read_properties(text), text, find_front_matter_end(text))


def collect_names(properties: Mapping[str, object], text: str, start: int) -> tuple[str, ...]:
    """The names of a note whose front matter was read, and whose body begins at a character."""
    names: list[str] = []
    for key in ("title", "name", "alias", "aliases"):
        value = properties.get(key)
        names += [str(one) for one in (value if isinstance(value, list) else [value]) if isinstance(one, str) and one]
    heading = _TITLE.search(text, start) if "# " in text else None
    return (*names, heading[1]) if heading else tuple(names)


class _LinkFinder:
    """Finds the links of one note: each kind blanks out what it took, so that no letter is in two links."""

    def __init__(self, text: str, path: str, body: str, start: int) -> None:
        self._here = path.rpartition("/")[0]
        self._text = text
        self._body = blank_text(body[:start]) + body[start:]
        self._found: list[tuple[int, Link]] = []

    def find(self) -> list[Link]:
        """All of them."""
        if "[[" in self._body:
            self._match_wiki_links()
        self._match_all(_INLINE, "](", self._parse_inline)
        self._match_all(_ANGLED, "<", lambda found: self._make_markdown_link(found, found[1], found[1], "autolink", 1))
        self._targets: dict[str, str] = {}
        for found in _DEFINITION.finditer(self._body) if "]:" in self._body else ():
            self._targets.setdefault(self._get_label(found, 1), found[2])
        if self._targets:
            self._match_all(
                _DEFINITION, "]:", lambda found: self._make_markdown_link(found, found[2], found[1], "definition", 2)
            )
            self._match_all(_REFERENCE, "]", self._parse_reference)
        self._match_all(_BARE, "://", self._parse_bare_url)
        self._match_all(_IMPORT, "@", self._parse_import)
        return [link for _, link in sorted(self._found, key=lambda one: one[0])]

    @cached_property
    def _line_starts(self) -> list[int]:
        """Where each line begins: most notes have no link, and are not asked."""
        starts, at = [0], self._body.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self._body.find("\n", at + 1)
        return starts

    def _match_wiki_links(self) -> None:
        """Read the wiki links: looked for by their brackets, which is many times as fast as to look by a pattern."""
        body, parts, end = self._body, [], 0
        at = body.find("[[")
        while at >= 0 and len(self._found) < MOST_LINKS:
            begin = at - 1 if at > end and body[at - 1] == "!" and not (at > 1 and body[at - 2] == "\\") else at
            found = _WIKI.match(body, begin)
            if found is None:
                at = body.find("[[", at + 1)
                continue
            self._found.append((begin, self._parse_wiki(found)))
            parts += [body[end:begin], " " * (found.end() - begin)]
            end = found.end()
            at = body.find("[[", end)
        self._body = "".join((*parts, body[end:]))

    def _match_all(self, pattern: re.Pattern[str], sign: str, read: "Callable[[re.Match[str]], Link | None]") -> None:
        """Read what a pattern finds; all of that has the sign in it, so that most notes are passed at once."""
        if sign not in self._body:
            return

        def replace_match(found: re.Match[str]) -> str:
            link = read(found) if len(self._found) < MOST_LINKS else None
            if link is None:
                return found.group()
            self._found.append((found.start(), link))
            return blank_text(found.group())

        self._body = pattern.sub(replace_match, self._body)

    def _make_link(
        self,
        found: re.Match[str],
        kind: str,
        target: str,
        path: str | None,
        fragment: str,
        label: str,
        form: str,
        place: tuple[int, int] | None,
        end: int | None = None,
    ) -> Link:
        line = bisect_right(self._line_starts, found.start())
        first = self._line_starts[line - 1]
        until = (self._line_starts[line] - 1) if line < len(self._line_starts) else len(self._body)
        last = min(found.end() if end is None else end, until)
        target_span = (place[0] - first, place[1] - first) if place is not None and place[1] <= until else None
        span = (found.start() - first, last - first)
        return Link(kind, target, path, fragment, label, line, span, form, target_span)

    def _parse_wiki(self, found: re.Match[str]) -> Link:
        if found[2] is None and _PLAIN_TARGET.fullmatch(found[1]):
            target = found[1]
            return self._make_link(found, "wiki", target, target, "", target, "wiki", found.span(1))
        target, label = found[1].strip().removesuffix("\\"), (found[2] or "").strip()
        name, _, fragment = target.partition("#")
        path: str | None = name.strip()
        if path and (path.startswith(("./", "../")) or path.startswith("/")):
            path = _normalize_inside(path if path.startswith("/") else posixpath.join(self._here, path))
        elif path and ".." in path.split("/"):
            path = None
        if path is not None and name.strip().startswith(("./", "../")):
            path = name.strip()  # resolved from where it stands
        begin = found.start(1) + len(name) - len(name.lstrip()) + len(found[1]) - len(found[1].lstrip())
        place = (begin, begin + len(name.strip()))
        return self._make_link(found, "wiki", target, path, fragment.strip(), label or target, "wiki", place)

    def _parse_inline(self, found: re.Match[str]) -> Link | None:
        target = found[2] if found[2] is not None else re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", found[3] or "")
        if not target.strip():
            return None
        label = re.sub(r"!\[([^\[\]]*)\]\([^()]*\)", r"\1", found[1]) if "![" in found[1] else found[1]
        label = re.sub(r"\\(.)", r"\1", label) if "\\" in label else label
        form, group = ("inline", 3) if found[2] is None else ("angled", 2)
        return self._make_markdown_link(found, target.strip(), label.strip(), form, group)

    def _parse_reference(self, found: re.Match[str]) -> Link | None:
        target = self._targets.get(self._get_label(found, 2 if found[2] else 1))
        return self._make_markdown_link(found, target, found[1], "reference") if target is not None else None

    def _get_label(self, found: re.Match[str], group: int) -> str:
        """A label as it is written: code in it was blanked out, and [`b`] would be the same as [`a`]."""
        return _normalize_name(self._text[found.start(group) : found.end(group)])

    def _make_markdown_link(self, found: re.Match[str], target: str, label: str, form: str, group: int = 0) -> Link:
        """A link with a target, which stands in a group of what was found; 0 where it stands elsewhere."""
        place = found.span(group) if group else None
        if _SCHEME.match(target) or target.startswith("//"):
            return self._make_link(found, "url", target, None, "", label or target, form, place)
        name, _, fragment = target.partition("#")
        if place is not None and fragment and (mark := found[group].find("#")) >= 0:
            place = (place[0], place[0] + mark)
        path: str | None = ""
        if name:
            path = None if name.startswith("~") else _normalize_inside(_resolve_target(self._here, unquote(name)))
        return self._make_link(found, "markdown", target, path, unquote(fragment), label or target, form, place)

    def _parse_bare_url(self, found: re.Match[str]) -> Link:
        target = _strip_trailing(found.group())
        place = (found.start(), found.start() + len(target))
        return self._make_link(found, "url", target, None, "", target, "bare", place, place[1])

    def _parse_import(self, found: re.Match[str]) -> Link | None:
        written = found[1].rstrip(".:!?*_")
        target = written.replace("\\ ", " ")
        name = target.rpartition("/")[2]
        if not name or not ("/" in target or _EXTENSION.fullmatch(name) or (name.isupper() and len(name) > 2)):
            return None  # somebody's name
        path = None if target.startswith("~") else _normalize_inside(_resolve_target(self._here, target))
        place = (found.start(1), found.start(1) + len(written))
        return self._make_link(found, "import", target, path, "", f"@{target}", "import", place, place[1])


def _resolve_target(here: str, target: str) -> str:
    """A target as a path from the top of the folder, where it begins with `/`, or from where the note is."""
    return target if target.startswith("/") else posixpath.join(here, target)


def _normalize_inside(path: str) -> str | None:
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


def _normalize_name(name: str) -> str:
    return " ".join(name.split()).casefold()


def _has_suffix(path: str, wanted: str) -> bool:
    """Whether a path, with or without its extension, is what is wanted, or ends in it at a border of names."""
    stem = path[: -len(path.rpartition(".")[2]) - 1] if "." in path.rpartition("/")[2] else path
    return any(one == wanted or one.endswith("/" + wanted) for one in (path, stem))


def _measure_distance(path: str, here: str, wanted: str) -> tuple[bool, bool, bool, int, int, str]:
    """How far a note is from a wiki link that names it: the least is meant."""
    directory, _, name = path.rpartition("/")
    is_exact = wanted.rpartition("/")[2] in (name, name.rpartition(".")[0])
    return (directory != here, not is_exact, not name.casefold().endswith(".md"), path.count("/"), len(path), path)


def _strip_trailing(target: str) -> str:
    """An address without the point or bracket that ends the sentence around it."""
    while target and (target[-1] in ".,;:!?*_~" or (target[-1] == ")" and target.count("(") < target.count(")"))):
        target = target[:-1]
    return target


# Headings, as links name them behind `#`.

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]++([^ \t\n].{0,399})(?<![ \t#])[ \t#]*+$", re.MULTILINE)
_UNDERLINED = re.compile(r"^(?![ \t]*[-=#>*+|])(.{1,400})\n {0,3}(?:=+|-{2,})[ \t]*$", re.MULTILINE)


_MAY_UNDERLINE = re.compile(r"^ {0,3}(?:==|--|=[ \t]*$)", re.MULTILINE)


def find_headings(body: str, start: int = 0) -> list[tuple[int, int, str]]:
    """The headings of a text without its code (`blank_code`): line, from 1, level, and words.

    Args:
        start: Where they begin to count, in characters: behind the front matter.
    """
    headings = _HEADING.finditer(body, start) if "#" in body else ()
    found = [(heading.start(1), len(heading.group().split(None, 1)[0]), heading[1]) for heading in headings]
    if (body.find("--", start) >= 0 or body.find("=", start) >= 0) and _MAY_UNDERLINE.search(body, start):
        for heading in _UNDERLINED.finditer(body, start):
            level = 1 if heading.group().rpartition("\n")[2].lstrip().startswith("=") else 2
            found.append((heading.start(1), level, heading[1].strip()))
        found.sort()
    lines: list[tuple[int, int, str]] = []
    at, line = 0, 1
    for place, level, words in found:
        line += body.count("\n", at, place)
        at = place
        lines.append((line, level, words))
    return lines


def find_heading_line(text: str, fragment: str) -> int | None:
    """The line, from 1, that a link's fragment names; `None` if there is none.

    A heading is named by its words, by the words of the headings above it and its own (`Plan#Risks`), or as it becomes
    an anchor (`open-questions`); a block by its mark (`^abc`).
    """
    if not fragment:
        return None
    if fragment.startswith("^"):
        found = re.search(rf"(?:^|\s){re.escape(fragment)}[ \t]*$", text, re.MULTILINE)
        return text.count("\n", 0, found.end()) + 1 if found else None
    end = find_front_matter_end(text)
    body = blank_text(text[:end]) + blank_code(text)[end:]
    headings = [(line, level, slugify(words)) for line, level, words in find_headings(body, end)]
    *above, last = map(slugify, fragment.split("#"))
    if above and last and (line := _find_heading_below(headings, above, last)) is not None:
        return line
    wanted = {slugify(fragment), last}
    return next((line for line, _, words in headings if words in wanted), None)


def _find_heading_below(headings: Iterable[tuple[int, int, str]], above: Sequence[str], last: str) -> int | None:
    """The line of a heading that stands below others, the highest first; all are anchors."""
    open_headings: list[tuple[int, str]] = []
    for line, level, words in headings:
        open_headings = [each for each in open_headings if each[0] < level]
        if words == last:
            names = iter(name for _, name in open_headings)
            if all(wanted in names for wanted in above):
                return line
        open_headings.append((level, words))
    return None


def slugify(heading: str) -> str:
    """A heading as an anchor: its letters and digits, in lower case, with hyphens between them."""
    plain = unicodedata.normalize("NFKC", heading).casefold()
    return "-".join(re.findall(r"[^\W_]+", plain))


# Tags: of the front matter, and `#tags` in the text.

_INLINE_TAG = re.compile(r"#(?<![^\s(\[{>,;]#)(?=[\w/-]*[^\W\d])([\w/-]+)")
_PARTED = re.compile(r"[,\s]+")
_NAMES = ("tags", "tag")


def find_tags(text: str) -> frozenset[str]:
    """The tags of a note as they are written, without `#`; what stands in code is none."""
    return collect_tags(read_properties(text), blank_code(text[find_front_matter_end(text) :]) if "#" in text else "")


def collect_tags(properties: Mapping[str, object], body: str) -> frozenset[str]:
    """The tags of a note whose front matter was read, and whose body is without code."""
    found = set(_read_declared_tags(properties))
    if "#" in body:
        found.update(tag.strip("/") for tag in _INLINE_TAG.findall(body))
    found.discard("")
    return frozenset(found)


def _read_declared_tags(properties: Mapping[str, object]) -> list[str]:
    """The tags of the front matter: a list, or words parted by commas or spaces."""
    tags: list[str] = []
    for name, value in properties.items():
        if name.casefold() not in _NAMES or value is None:
            continue
        if isinstance(value, list):
            tags += [str(one) for one in value if isinstance(one, str | int | float)]
        elif isinstance(value, str | int | float):
            tags += _PARTED.split(str(value))
    return [tag.strip().lstrip("#").strip("/") for tag in tags]


# Where a link leads: to a note, to an address outside, or nowhere, and why. It protects the person who follows it: only
# notes inside the folder are opened, and only web and mail addresses can be opened at all.

_WEB = ("http", "https")
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class InternalLink:
    """A note."""

    path: str
    line: int | None = None  # the line of the linked heading, from 1; `None` for the note itself
    words: str = ""  # A remark, such as a missing heading; else empty


@dataclass(frozen=True, slots=True)
class ExternalLink:
    """An address that can be opened elsewhere, if the person wants to."""

    address: str
    host: str
    warning: str = ""  # suspicious parts of the address; else empty


@dataclass(frozen=True, slots=True)
class UnresolvedLink:
    """Nothing can be gone to; says why."""

    words: str


LinkTarget = InternalLink | ExternalLink | UnresolvedLink


def resolve_link_target(
    link: Link, *, source: str, path: str, places: Callable[[bool], LinkTargets], text_of: Callable[[str], str | None]
) -> LinkTarget:
    """Where a link leads.

    Args:
        places: Returns the link targets of the folder, with the notes' own names if asked (which reads all notes).
        text_of: Returns the text of a note; `None` for binary.
    """
    if link.kind == "url":
        return _parse_address(link.target)
    here = next((one for one in find_links(source, path) if (one.line, one.span) == (link.line, link.span)), link)
    shown = shorten_target(here.target)
    if here.path is None:
        return UnresolvedLink(f"Not opened: {shown} leads out of the memory folder.")
    found = places(False).resolve(here, path)
    if found is None and here.kind == "wiki" and here.path:
        found = places(True).resolve(here, path)
    if found is None and not here.path and not here.fragment:
        return UnresolvedLink(f"Not opened: {shown} is the folder itself.")
    if found is None and not here.path:
        found = path
    if found is None:
        return UnresolvedLink(f"Broken link: there is no note {shown}.")
    if not here.fragment:
        return InternalLink(found)
    line = find_heading_line(text_of(found) or "", here.fragment)
    if line is None:
        return InternalLink(found, None, f"{to_one_line(found)} has no heading {shorten_target(here.fragment)}.")
    return InternalLink(found, line)


def shorten_target(target: str) -> str:
    """A target in a sentence."""
    target = to_one_line(target)
    return target if len(target) <= _SHOWN else target[: _SHOWN - 2] + ".."


def _parse_address(target: str) -> LinkTarget:
    """An address, validated."""
    if target.startswith("//"):
        target = "https:" + target
    scheme = target.partition(":")[0].casefold()
    if any(character == " " or unicodedata.category(character)[0] in "CZ" for character in target):
        return UnresolvedLink(f"Not opened: {shorten_target(target)} contains characters that are invalid in a URL.")
    if scheme == "mailto":
        who = unquote(target[len("mailto:") :].partition("?")[0])
        if "@" not in who or any(unicodedata.category(character)[0] == "C" for character in who):
            return UnresolvedLink(f"Not opened: {shorten_target(target)} is not an email address.")
        return ExternalLink(target, to_one_line(who), _describe_suspicious_host(who.rpartition("@")[2]))
    if scheme not in _WEB:
        return UnresolvedLink(
            f"Not opened: {shorten_target(target)}. Only http, https and mailto are, not {to_one_line(scheme)[:20]}."
        )
    try:
        parts = urlsplit(target)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        return UnresolvedLink(f"Not opened: {shorten_target(target)} has no host.")
    warning = _describe_suspicious_host(host)
    if parts.username is not None:
        warning = f"The part before the @ is not the host: this opens {to_one_line(host)}. {warning}".rstrip()
    return ExternalLink(target, to_one_line(host) + (f":{port}" if port else ""), warning)


def _describe_suspicious_host(host: str) -> str:
    """What a person should know of a host whose name is not what it seems."""
    if host.isascii():
        coded = "xn--" in host
        return "Its name has letters of other scripts (xn--)." if coded else ""
    try:
        plain = host.encode("idna").decode("ascii")
    except UnicodeError:
        plain = "an invalid host name"
    return f"Its name has letters of other scripts: {plain}"
