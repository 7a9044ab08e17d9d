r"""The parser of queries: words as in fzf, filters, and a regular expression.

Words are separated by spaces, and all must match; `a | b` is either one. `'exact` is a run of letters, `^start` and
`end$` are at the edges, `^equal$` is the whole, `!not` must not be there, `\ ` is a space; a word with a capital minds
capitals. Beyond fzf, `"two words"` is a run with a space, and `name:value` a filter. An error carries the valid rest.
"""

import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime
from enum import StrEnum

from memtui.core import times
from memtui.core.errors import MemtuiError
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import ROOT_NAME
from memtui.core.suggestion import format_suggestion
from memtui.core.times import PointInTime
from memtui.core.unicode import to_one_line
from memtui.scan.flags import FLAGS

# Filters of a query: `by:claude since:2d in:projects/ tag:x type:json flag:secret`, each with its negation. The find
# screen, `memtui search` and the tool of an agent share them.

FILTERS: Mapping[str, str] = {
    "by": "by author: by:claude, by:you, by:outside",
    "since": "changed since: since:2d, since:10:14, since:yesterday",
    "until": "changed until: until:yesterday, until:2026-11-20",
    "in": "in a directory: in:projects/ from the top, in:proj by name",
    "tag": "with a tag: tag:decision also finds decision/old",
    "type": "of a type: type:json by format, type:feedback by front matter",
    "flag": f"with a flag: {', '.join(f'flag:{name}' for name in FLAGS)}",
    "re": "regular expression, to the end of the query: re:v\\d+ (in notes and names)",
}
"""The filters, each with its purpose and an example."""


class InvalidFilter(ValueError):
    """A filter that cannot be read; its words are a sentence for a person."""


@dataclass(frozen=True, slots=True)
class Filters:
    """The conditions on a note besides the words.

    Several values of `by`, `within` and `types` are alternatives, since a note has one of each at a time; of `tags`
    and `flags` a note must have all.

    Attributes:
        by: Beginnings of the names of its authors, in lower case.
        since: Changed since this moment; its beginning, where it is a span.
        until: Changed up to this moment; its end, where it is a span.
        within: Folders; one that ends in `/` is a path from the top, another one is like a part of the folder's path.
        tags: Tags, in lower case, without `#`.
        types: Formats or types of the front matter, in lower case.
        flags: Names out of `FLAGS`.
        without: What a note must have none of; its `since` and `until` are not used.
    """

    by: tuple[str, ...] = ()
    since: PointInTime | None = None
    until: PointInTime | None = None
    within: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    without: "Filters | None" = None

    def __bool__(self) -> bool:
        return self != Filters()

    @property
    def concerns_time(self) -> bool:
        return self.since is not None or self.until is not None

    @property
    def concerns_path(self) -> bool:
        return bool(self.within or (self.without and self.without.within))

    @property
    def concerns_actors(self) -> bool:
        return bool(self.by or (self.without and self.without.by))

    @property
    def concerns_text(self) -> bool:
        """Whether the text decides: tags, type or flags."""
        sides = (self, self.without or Filters())
        return any(side.tags or side.types or side.flags for side in sides)

    def accepts_path(self, path: str) -> bool:
        """Whether a note at this path, relative to the folder, passes `in:`."""
        if self.within and not any(_is_within_folder(path, folder) for folder in self.within):
            return False
        return not (self.without and any(_is_within_folder(path, folder) for folder in self.without.within))

    def accepts_actors(self, names: Collection[str]) -> bool:
        lower = [name.casefold() for name in names]
        if self.by and not any(name.startswith(self.by) for name in lower):
            return False
        return not (self.without and self.without.by and any(name.startswith(self.without.by) for name in lower))

    def accepts_event(self, seq: int, at_us: int) -> bool:
        """Whether a change by this event, at this microsecond, passes `since:` and `until:`."""
        if self.since is not None and not self.since.is_now:
            if self.since.seq is not None and seq <= self.since.seq:
                return False
            if self.since.first_us is not None and at_us < self.since.first_us:
                return False
        elif self.since is not None:
            return False
        if self.until is not None and not self.until.is_now:
            if self.until.seq is not None and seq > self.until.seq:
                return False
            if self.until.last_us is not None and at_us > self.until.last_us:
                return False
        return True

    def accepts_tags(self, tags: Collection[str]) -> bool:
        has = {tag.casefold() for tag in tags}
        if not all(any(_is_tag_match(tag, wanted) for tag in has) for wanted in self.tags):
            return False
        return not (self.without and any(_is_tag_match(tag, bad) for bad in self.without.tags for tag in has))

    def accepts_types(self, types: Collection[str]) -> bool:
        """Whether a note of these types (format and front matter) passes `type:`."""
        has = {name.casefold() for name in types}
        if self.types and not has.intersection(self.types):
            return False
        return not (self.without and has.intersection(self.without.types))

    def accepts_flags(self, flags: Collection[str]) -> bool:
        has = set(flags)
        return has.issuperset(self.flags) and not (self.without and has.intersection(self.without.flags))


def _parse_value(name: str, value: str) -> str:
    """A value in the form in which it is compared."""
    match name:
        case "in":
            below = value.removeprefix(ROOT_NAME + "/") if value.startswith(ROOT_NAME + "/") else value.lstrip("/")
            return below or "/"
        case "tag":
            return value.casefold().lstrip("#").strip("/")
        case "flag":
            given = value.casefold()
            known = [flag for flag in FLAGS if flag.startswith(given)]
            if len(known) != 1 and given not in FLAGS:
                raise InvalidFilter(f"There is no flag {value}. Flags: {', '.join(FLAGS)}.")
            return given if given in FLAGS else known[0]
        case "type":
            return value.casefold().lstrip(".")
        case _:
            return value.casefold()


def _is_within_folder(path: str, folder: str) -> bool:
    if folder == "/":
        return True
    directory = path.rpartition("/")[0]
    if folder == folder.casefold():
        path, directory = path.casefold(), directory.casefold()
    if folder.endswith("/"):
        return path.startswith(folder)
    if "/" in folder:
        return folder in directory
    return any(_is_subsequence(folder, part) for part in directory.split("/"))


def _is_subsequence(short: str, long: str) -> bool:
    letters = iter(long)
    return all(letter in letters for letter in short)


def _is_tag_match(tag: str, wanted: str) -> bool:
    return tag == wanted or tag.startswith(wanted + "/")


__all__ = ["FILTERS", "Alternatives", "Filters", "InvalidQuery", "MatchKind", "Query", "Term", "parse_query"]

_FILTER = re.compile(r"([!-]?)([A-Za-z]{2,}):(?!//|:)(.*)", re.DOTALL)
_PHRASE = re.compile(r'(!?)"([^"]+)"(?=\s|\Z)')
_FILTER_IN_PATTERN = re.compile(
    rf"(?:(?<=\s)|\A)([!-]?(?:{'|'.join(sorted(FILTERS.keys() - {'re'}))}):(?:\"[^\"]*\"|(?:\\ |[^\s\"])+))(?=\s|\Z)",
    re.IGNORECASE,
)
_ESCAPED_SPACE = "\\ "
_LONGEST = 10_000
"""Characters of a query; parsing a pasted file would take seconds."""


class MatchKind(StrEnum):
    """How a word must occur."""

    FUZZY = "fuzzy"
    """Its letters in this order, with anything between them."""
    EXACT = "exact"
    """Its letters in a run."""
    PREFIX = "prefix"
    SUFFIX = "suffix"
    EQUAL = "equal"


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a query.

    Attributes:
        text: In lower case unless `case` is set.
        case: Whether case counts: it was typed with a capital.
    """

    text: str
    kind: MatchKind = MatchKind.FUZZY
    negated: bool = False
    case: bool = False


Alternatives = tuple[Term, ...]
"""Words of which one has to match."""


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query.

    Attributes:
        written: As it was typed.
        terms: Words, all of which have to match; each may have alternatives.
        pattern: A regular expression that has to match as well; `^` and `$` are the edges of lines.
    """

    written: str = ""
    terms: tuple[Alternatives, ...] = ()
    pattern: re.Pattern[str] | None = None
    filters: Filters = field(default_factory=Filters)

    @property
    def is_empty(self) -> bool:
        return not (self.terms or self.pattern or self.filters)

    @property
    def has_positive_terms(self) -> bool:
        """Whether there is anything to find in a line or a name, and not only to exclude or to filter by."""
        return self.pattern is not None or any(not term.negated for group in self.terms for term in group)

    @property
    def text_terms(self) -> tuple[Alternatives, ...]:
        """The terms for texts, where a fuzzy word is a run of letters."""
        return tuple(
            tuple(replace(term, kind=MatchKind.EXACT) if term.kind is MatchKind.FUZZY else term for term in group)
            for group in self.terms
        )


class InvalidQuery(MemtuiError):
    """A query with an error; `rest` is its valid part."""

    def __init__(self, words: str, rest: Query) -> None:
        super().__init__(words)
        self.rest = rest


@dataclass(frozen=True, slots=True)
class _QueryToken:
    """A piece of a query: a word, a phrase in quotes, or the regular expression."""

    text: str
    is_phrase: bool = False
    negated: bool = False


def parse_query(text: str, *, now_us: int) -> Query:
    """Parse a query that a person typed.

    Args:
        text: The query.
        now_us: The time, in microseconds since 1970 (UTC), for `since:2d`.

    Raises:
        InvalidQuery: A filter or the regular expression cannot be parsed, or it is too long.
    """
    if len(text) > _LONGEST:
        long = f"The query has {len(text):,} characters; the limit is {_LONGEST:,}."
        raise InvalidQuery(long, Query(text[:_LONGEST]))
    parser = _QueryParser(now_us)
    words, pattern = _split_pattern(text)
    for token in words:
        parser.add_token(token)
    if pattern is not None:
        parser.add_pattern(pattern)
    return parser.build(text)


@dataclass(slots=True)
class _QueryParser:
    """The state of the parser, with the rules of fzf for terms."""

    now_us: int
    groups: list[Alternatives] = field(default_factory=list)
    group: list[Term] = field(default_factory=list)
    pattern: re.Pattern[str] | None = None
    required: dict[str, list[str]] = field(default_factory=dict)
    excluded: dict[str, list[str]] = field(default_factory=dict)
    moments: dict[str, PointInTime] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    after_bar: bool = False

    def add_token(self, token: _QueryToken) -> None:
        """Add a word, a phrase, a filter or a bar."""
        if token.is_phrase:
            self._add_term(_build_term(token.text, MatchKind.EXACT, negated=token.negated))
        elif token.text == "|" and self.group and not self.after_bar:
            self.after_bar = True
        elif not self._is_filter(token.text) and (term := _parse_term(token.text)):
            self._add_term(term)

    def add_pattern(self, written: str) -> None:
        """Add the text behind `re:`."""
        for found in _FILTER_IN_PATTERN.finditer(written):
            self._is_filter(found[1])
        rest = _FILTER_IN_PATTERN.sub("", written)
        rest = rest.strip() + (" " if rest.rstrip().endswith("\\") and rest != rest.rstrip() else "")
        if not rest:
            return
        try:
            self.pattern = _compile_pattern(rest)
        except re.error as error:
            at = f", at character {error.pos + 1}" if error.pos is not None else ""
            self.wrong.append(f"Invalid regular expression after re: {error.msg}{at} of {to_one_line(rest)}")
        except (OverflowError, RecursionError):
            self.wrong.append(f"The regular expression after re: is too large: {to_one_line(rest)[:60]}")

    def build(self, written: str) -> Query:
        """The query.

        Raises:
            InvalidQuery: A part could not be parsed.
        """
        self._close_group()
        without = _build_filters(self.excluded) if self.excluded else None
        filters = replace(
            _build_filters(self.required),
            since=self.moments.get("since"),
            until=self.moments.get("until"),
            without=without,
        )
        query = Query(written, tuple(self.groups), self.pattern, filters)
        if self.wrong:
            raise InvalidQuery(self.wrong[0], query)
        return query

    def _add_term(self, term: Term) -> None:
        if not self.after_bar:
            self._close_group()
        self.group.append(term)
        self.after_bar = False

    def _close_group(self) -> None:
        if self.group:
            self.groups.append(tuple(self.group))
        self.group = []

    def _is_filter(self, text: str) -> bool:
        found = _FILTER.fullmatch(text)
        if found is None:
            return False
        sign, name, value = found.groups()
        if name.casefold() not in FILTERS:
            if name != name.casefold() or not value:
                return False  # such as "TODO:", a word like any other
            hint = format_suggestion(name, FILTERS, shown="{}:", cutoff=0.5)
            self.wrong.append(
                f"There is no filter {name[:40]}:. {hint}{' ' * bool(hint)}"
                f"Filters: {', '.join(f'{known}:' for known in FILTERS)}."
                f" To search for the text itself, write '{to_one_line(text.lstrip('!-')[:80])}"
            )
            return True
        if value.startswith('"'):
            value = value[1:].removesuffix('"')
        try:
            self._add_filter(name.casefold(), value.strip(), negated=bool(sign))
        except InvalidFilter as error:
            self.wrong.append(str(error))
        return True

    def _add_filter(self, name: str, value: str, *, negated: bool) -> None:
        """Add a filter; one without a value is still being typed, and ignored."""
        if value and name in ("since", "until"):
            self.moments[name] = self._parse_time(name, value, negated=negated)
        elif value:
            side = self.excluded if negated else self.required
            side.setdefault(name, []).append(_parse_value(name, value))

    def _parse_time(self, name: str, value: str, *, negated: bool) -> PointInTime:
        if negated:
            other = "until" if name == "since" else "since"
            raise InvalidFilter(f"{name}: cannot be negated. Use {other}:{value}.")
        try:
            return times.parse_point_in_time(value, now=datetime.fromtimestamp(self.now_us / 1e6, UTC))
        except ValueError as error:
            raise InvalidFilter(f"{name}: {error}") from None


def _build_filters(values: Mapping[str, list[str]]) -> Filters:
    by, within, tags, types, flags = (tuple(values.get(name, ())) for name in ("by", "in", "tag", "type", "flag"))
    return Filters(by, within=within, tags=tags, types=types, flags=flags)


def _split_pattern(text: str) -> tuple[Iterator[_QueryToken], str | None]:
    """The words of a query, and the text behind `re:`."""
    found = re.search(r"(?:(?<=\s)|\A)re:", text, re.IGNORECASE)
    while found and text[: found.start()].endswith(_ESCAPED_SPACE):
        found = re.compile(r"(?<=\s)re:", re.IGNORECASE).search(text, found.end())
    return (_iter_tokens(text[: found.start()]), text[found.end() :]) if found else (_iter_tokens(text), None)


def _iter_tokens(text: str) -> Iterator[_QueryToken]:
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif phrase := _PHRASE.match(text, at):
            yield _QueryToken(phrase[2], is_phrase=True, negated=bool(phrase[1]))
            at = phrase.end()
        else:
            end = _find_word_end(text, at)
            yield _QueryToken(text[at:end].replace(_ESCAPED_SPACE, " "))
            at = end


def _find_word_end(text: str, at: int) -> int:
    """Where a word ends: at a space that is neither escaped nor in the quotes of a filter's value."""
    value = re.compile(r"[!-]?[A-Za-z]{2,}:\"[^\"]*\"").match(text, at)
    end = value.end() if value else at
    while end < len(text) and not (text[end].isspace() and text[end - 1 : end + 1] != _ESCAPED_SPACE):
        end += 1
    return end


def _parse_term(text: str) -> Term | None:
    """A word without its signs, in the order of fzf; `None` if nothing is left of it."""
    kind, negated = MatchKind.FUZZY, False
    if text.startswith("!"):
        kind, negated, text = MatchKind.EXACT, True, text[1:]
    if text != "$" and text.endswith("$"):
        kind, text = MatchKind.SUFFIX, text[:-1]
    if text.startswith("'"):
        kind, text = (MatchKind.FUZZY if negated else MatchKind.EXACT), text[1:]
    elif text.startswith("^"):
        kind, text = (MatchKind.EQUAL if kind is MatchKind.SUFFIX else MatchKind.PREFIX), text[1:]
    return _build_term(text, kind, negated=negated) if text else None


def _build_term(text: str, kind: MatchKind, *, negated: bool) -> Term:
    return Term(text, kind, negated, case=text != text.lower())


def _compile_pattern(pattern: str) -> re.Pattern[str]:
    """A regular expression with smart case; its escapes, such as `\\S`, are no capitals."""
    letters = re.sub(r"\\.|\(\?P?<\w+>|\(\?P[=>]\w+", "", pattern, flags=re.DOTALL)
    flags = re.MULTILINE if letters != letters.lower() else re.MULTILINE | re.IGNORECASE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as of a set that may mean something else one day
        return re.compile(pattern, flags)
