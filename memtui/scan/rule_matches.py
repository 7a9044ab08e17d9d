"""Secrets by the rules of a person's own files: what gitleaks would find in the same text.

RE2 takes a time that grows with the text for one match, but not for all: an expression may read on to the end behind
each. So a text is read in windows, and only so many matches are looked at.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from typing import Protocol

from memtui.core.lazy_dataclass import dataclass
from memtui.scan.spots import Spot

_WINDOW, _OVERLAP = 100_000, 16_000
"""Bytes that are read at once, and those of them that are read with the next, too: no secret is longer."""
_WORK, _MATCH = 1_000_000, 50
"""What may be done over one text, and what of it a match costs; to compare where two of them stand costs 1."""
_LINE = 100_000
"""Bytes after which a line is cut: all matches in between share it."""
_NEWLINES = b"\n"


class Match(Protocol):
    """A match of `Regex`."""

    def span(self, group: int = 0) -> tuple[int, int]:
        """From and to, in bytes; -1 for a group that took no part."""


class Regex(Protocol):
    """A compiled regex over UTF-8, which takes time that grows with the text alone."""

    groups: int

    def search(self, text: bytes) -> Match | None: ...

    @property
    def finditer(self) -> Callable[[bytes, int, int], Iterator[Match]]:
        """The matches in some bytes of a text, from and to."""


@dataclass(frozen=True, slots=True)
class Allowlist:
    """What a rule finds and does not tell.

    Attributes:
        stopwords: In small letters; looked for in the secret.
        target: What the regexes are about: `secret`, `match` or `line`.
        needs_all: Whether all kinds of checks must agree, and not one of them.
    """

    paths: tuple[Regex, ...]
    regexes: tuple[Regex, ...]
    stopwords: tuple[str, ...]
    target: str
    needs_all: bool

    def fits(self, text: bytes) -> bool:
        """Whether some text fits one of the regexes."""
        return any(regex.search(text) for regex in self.regexes)

    def allows_path(self, path: bytes) -> bool:
        """Whether nothing in a file is told, whatever it is."""
        is_all = not self.needs_all or not (self.regexes or self.stopwords)
        return is_all and any(regex.search(path) for regex in self.paths)

    def allows(self, path: bytes, secret: bytes, match: bytes, fits_line: Callable[["Allowlist"], bool]) -> bool:
        """Whether a secret is not told, by what is in it or stands around it.

        Args:
            fits_line: Whether the line that it is in fits a regex.
        """
        checks = []
        if self.regexes and self.target == "line":
            checks.append(fits_line(self))
        elif self.regexes:
            checks.append(self.fits(match if self.target == "match" else secret))
        if self.stopwords:
            lowered = secret.decode("utf-8", "replace").lower()
            checks.append(any(word in lowered for word in self.stopwords))
        if self.needs_all and self.paths:
            checks.append(any(regex.search(path) for regex in self.paths))
        return bool(checks) and (all(checks) if self.needs_all else any(checks))


@dataclass(frozen=True, slots=True)
class RequiredRule:
    """A rule that must find something, too, and how near: in lines and in columns, `None` for anywhere."""

    name: str
    lines: int | None
    columns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRule:
    """One rule.

    Attributes:
        id: Its own id behind the file's name: `team/deploy-token`.
        name: Its id as it stands in the file.
        regex: `None` for a rule that is about names of files alone.
        path: A regex of the files that it is about; `None` for all.
        group: The regex's group that is the secret; 0 for the first that is not empty.
        entropy: Bits for each character of a secret that it must be over; 0 for none.
        keywords: In small letters; one of them stands in the text.
        is_silent: Whether it only serves others, which require it.
    """

    id: str
    name: str
    description: str
    regex: Regex | None
    path: Regex | None
    group: int
    entropy: float
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    allowlists: tuple[Allowlist, ...]
    required: tuple[RequiredRule, ...]
    is_silent: bool


@dataclass(frozen=True, slots=True)
class SecretRuleFile:
    """The rules of a file, and what is not used of it, as sentences."""

    rules: tuple[SecretRule, ...]
    allowlists: tuple[Allowlist, ...] = ()
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleMatches:
    """What was found in a text, and whether there may be more."""

    spots: tuple[Spot, ...] = ()
    is_cut: bool = False


class SecretRules:
    """The rules of some files."""

    def __init__(self, files: Iterable[SecretRuleFile] = ()) -> None:
        self._files = tuple(files)
        self._keywords = frozenset(word for file in self._files for rule in file.rules for word in rule.keywords)

    def find(self, text: str, path: str) -> RuleMatches:
        """The secrets in a text.

        Args:
            path: Of its file, relative to the folder.
        """
        if not self._files or not text:
            return RuleMatches()
        lowered = text.lower()
        words = frozenset([word for word in self._keywords if word in lowered])
        scan = _TextScan(text, path)
        found: list[tuple[SecretRule, _Found]] = []
        for file in self._list_files(scan.path):
            for rule in file.rules:
                if not rule.is_silent and not (rule.keywords and words.isdisjoint(rule.keywords)):
                    found += [(rule, each) for each in scan.find_with_required(rule, file)]
        return RuleMatches(scan.locate(found), scan.is_cut)

    def find_for_path(self, path: str) -> Iterator[SecretRule]:
        """The rules that find a file by its name alone."""
        name = _encode(path)
        for file in self._list_files(name):
            for rule in file.rules:
                is_silent = rule.is_silent or rule.regex is not None or _allows_path(rule, name)
                if not is_silent and rule.path is not None and rule.path.search(name):
                    yield rule

    def _list_files(self, path: bytes) -> Iterator[SecretRuleFile]:
        return (each for each in self._files if not any(allowlist.allows_path(path) for allowlist in each.allowlists))


NO_SECRET_RULES = SecretRules()


@dataclass(frozen=True, slots=True)
class _Found:
    """A match, and the secret in it, from and to, in bytes."""

    match: tuple[int, int]
    secret: tuple[int, int]


class _TextScan:
    """One text under the rules of all files."""

    def __init__(self, text: str, path: str) -> None:
        self.path = _encode(path)
        self.is_cut = False
        self._data = _encode(text)
        self._is_ascii = len(self._data) == len(text)
        self._left = _WORK
        self._known: dict[str, list[_Found]] = {}
        self._lines: dict[tuple[int, int, int], bool] = {}

    def find_with_required(self, rule: SecretRule, file: SecretRuleFile) -> Iterator[_Found]:
        """What a rule finds where those find something that it requires."""
        found = self._find(rule, file)
        if not found or not rule.required:
            return iter(found)
        rules = {each.name: each for each in file.rules}
        others = [(each, self._find(rules[each.name], file)) for each in rule.required]
        return (each for each in found if all(self._is_near(each, near, how) for how, near in others))

    def _find(self, rule: SecretRule, file: SecretRuleFile) -> list[_Found]:
        if rule.id not in self._known:
            self._known[rule.id] = list(self._iter_found(rule, file))
        return self._known[rule.id]

    def _iter_found(self, rule: SecretRule, file: SecretRuleFile) -> Iterator[_Found]:
        if rule.regex is None or _allows_path(rule, self.path) or (rule.path and not rule.path.search(self.path)):
            return
        seen: set[tuple[int, int]] = set()
        for start in range(0, max(len(self._data) - _OVERLAP, 1), _WINDOW - _OVERLAP):
            for match in rule.regex.finditer(self._data, start, min(start + _WINDOW, len(self._data))):
                if not self._spend(_MATCH):
                    return
                each = self._build_found(rule, match)
                is_new = each.match[0] < each.match[1] and each.match not in seen
                if is_new and not self._is_allowed(rule, file, each):
                    seen.add(each.match)
                    yield each

    def _spend(self, work: int) -> bool:
        """Begin something; whether it may be."""
        self._left -= work
        self.is_cut = self.is_cut or self._left < 0
        return not self.is_cut

    def _build_found(self, rule: SecretRule, match: Match) -> _Found:
        start, end = match.span()
        written = self._data[start:end]
        end -= len(written) - len(written.rstrip(_NEWLINES))
        start = min(start + len(written) - len(written.lstrip(_NEWLINES)), end)
        groups = [rule.group] if rule.group else range(1, rule.regex.groups + 1 if rule.regex else 1)
        filled = (span for group in groups if (span := match.span(group))[0] < span[1])
        return _Found((start, end), next(filled, (start, end)))

    def _is_allowed(self, rule: SecretRule, file: SecretRuleFile, found: _Found) -> bool:
        """Whether it is no secret by its entropy, or is excepted in the file."""
        from memtui.scan.tokens import measure_entropy  # noqa: PLC0415 - first paint: an audit names this module's types

        secret, match = self._data[slice(*found.secret)], self._data[slice(*found.match)]
        if rule.entropy and measure_entropy(secret.decode("utf-8", "replace")) <= rule.entropy:
            return True
        lists = (*file.allowlists, *rule.allowlists)
        return any(each.allows(self.path, secret, match, partial(self._fits_line, found)) for each in lists)

    def _fits_line(self, found: _Found, allowlist: Allowlist) -> bool:
        """Whether the line of a match is one that an allowlist names; worked out once for all matches in it."""
        first, last = self._get_line(found)
        key = id(allowlist), first, last
        if key not in self._lines:
            self._lines[key] = allowlist.fits(self._data[first:last])
        return self._lines[key]

    def _get_line(self, found: _Found) -> tuple[int, int]:
        start, end = found.match
        first, last = start - start % _LINE, end + -end % _LINE
        first = max(first, self._data.rfind(_NEWLINES, first, start) + 1)
        newline = self._data.find(_NEWLINES, end, last)
        return first, last if newline < 0 else newline

    def _is_near(self, found: _Found, others: list[_Found], how: RequiredRule) -> bool:
        """Whether one of some other finds is as near as a rule wants it."""
        if how.lines is None and how.columns is None:
            return bool(others)
        line, column = self._get_position(found)
        return any(
            (how.lines is None or abs(line - other_line) <= how.lines)
            and (how.columns is None or abs(column - other_column) <= how.columns)
            for other_line, other_column in map(self._get_position, others)
            if self._spend(1)
        )

    def _get_position(self, found: _Found) -> tuple[int, int]:
        line = bisect_right(self._line_starts, found.match[0])
        return line, found.match[0] - self._line_starts[line - 1]

    @cached_property
    def _line_starts(self) -> list[int]:
        starts, at = [0], self._data.find(_NEWLINES)
        while at >= 0:
            starts.append(at + 1)
            at = self._data.find(_NEWLINES, at + 1)
        return starts

    def locate(self, found: list[tuple[SecretRule, _Found]]) -> tuple[Spot, ...]:
        """The finds as spots, in characters."""
        places = self._to_characters({at for _, each in found for at in (*each.match, *each.secret)})
        return tuple(
            Spot(
                "secret", rule.id, places[each.match[0]], places[each.match[1]], rule.description,
                (places[each.secret[0]], places[each.secret[1]]),
            )
            for rule, each in found
        )  # fmt: skip

    def _to_characters(self, offsets: set[int]) -> dict[int, int]:
        """The characters at some bytes."""
        if self._is_ascii:
            return {at: at for at in offsets}
        places: dict[int, int] = {}
        last = count = 0
        for at in sorted(offsets):
            count += len(self._data[last:at].decode("utf-8", "ignore"))
            places[at], last = count, at
        return places


def _encode(text: str) -> bytes:
    """A text as RE2 reads it; what no encoding has is one character there, too."""
    return text.encode("utf-8", "replace")


def _allows_path(rule: SecretRule, path: bytes) -> bool:
    return any(each.allows_path(path) for each in rule.allowlists)
