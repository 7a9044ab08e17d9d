r"""What a person types into the find box, read once: words as fzf has them, filters, and a regular expression.

Words are parted by spaces, and all must match; `a | b` is either one. `'exact` is a run of letters, `^start` and
`end$` are at the edges, `^equal$` is the whole, `!not` must not be there, `\ ` is a space. As in fzf, a word with a
capital minds capitals. Beyond fzf, `"two words"` is a run with a space in it, and `name:value` a filter.

Reading is lenient while somebody types: a filter without a value yet is ignored. What is wrong is said in a sentence,
and the error carries the rest of the query, so that a screen can go on showing what that finds.
"""

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from memtui.core.errors import MemtuiError
from memtui.core.visible import one_line
from memtui.search.filters import FILTERS, BadFilter, Filters, Gathered, nearest

__all__ = ["FILTERS", "Alternatives", "BadQuery", "Filters", "Kind", "Query", "Term", "parse"]

_FILTER = re.compile(r"([!-]?)([A-Za-z]{2,}):(?!//|:)(.*)", re.DOTALL)
_PHRASE = re.compile(r'(!?)"([^"]+)"(?=\s|\Z)')
_FILTER_IN_PATTERN = re.compile(
    rf"(?:(?<=\s)|\A)([!-]?(?:{'|'.join(sorted(FILTERS.keys() - {'re'}))}):(?:\"[^\"]*\"|(?:\\ |[^\s\"])+))(?=\s|\Z)",
    re.IGNORECASE,
)
_ESCAPED_SPACE = "\\ "
_LONGEST = 10_000
"""Characters of a query. More is a mistake, such as a file that was pasted; reading it would take seconds."""


class Kind(StrEnum):
    """How a word has to be there."""

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
        text: What to look for; in lower case unless `case` is set.
        kind: How it has to be there.
        negated: Whether it must not be there.
        case: Whether capitals count: it was typed with one.
    """

    text: str
    kind: Kind = Kind.FUZZY
    negated: bool = False
    case: bool = False


Alternatives = tuple[Term, ...]
"""Words of which one has to match."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for.

    Attributes:
        written: As it was typed.
        terms: Words, all of which have to match; each may have alternatives.
        pattern: A regular expression that has to match as well; `^` and `$` are the edges of lines.
        filters: What the notes have to be.
    """

    written: str = ""
    terms: tuple[Alternatives, ...] = ()
    pattern: re.Pattern[str] | None = None
    filters: Filters = field(default_factory=Filters)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for at all."""
        return not (self.terms or self.pattern or self.filters)

    @property
    def looks_for_something(self) -> bool:
        """Whether there is anything to find in a line or a name, and not only to leave out or to filter by."""
        return self.pattern is not None or any(not term.negated for group in self.terms for term in group)

    @property
    def words(self) -> tuple[Alternatives, ...]:
        """The terms as they are looked for in texts: a fuzzy word is a run of letters there."""
        return tuple(
            tuple(replace(term, kind=Kind.EXACT) if term.kind is Kind.FUZZY else term for term in group)
            for group in self.terms
        )


class BadQuery(MemtuiError):
    """A query that cannot be read in full; the words say what is wrong with it and what there is instead.

    Attributes:
        rest: What could be read of it.
    """

    def __init__(self, words: str, rest: Query) -> None:
        super().__init__(words)
        self.rest = rest


@dataclass(frozen=True, slots=True)
class _Token:
    """A piece of a query: a word, a phrase in quotes, or the regular expression."""

    text: str
    is_phrase: bool = False
    negated: bool = False


def parse(text: str, *, now_us: int) -> Query:
    """Read a query.

    Args:
        text: As a person typed it.
        now_us: The time, in microseconds since 1970 (UTC), for `since:2d`.

    Raises:
        BadQuery: A filter or the regular expression cannot be read, or it is too long to be a query.
    """
    if len(text) > _LONGEST:
        long = f"The query is {len(text):,} characters long, and at most {_LONGEST:,} can be looked for."
        raise BadQuery(long, Query(text[:_LONGEST]))
    reading = _Reading(now_us)
    words, pattern = _parted(text)
    for token in words:
        reading.take(token)
    if pattern is not None:
        reading.take_pattern(pattern)
    return reading.query(text)


@dataclass(slots=True)
class _Reading:
    """A query while it is read, as fzf reads its terms."""

    now_us: int
    groups: list[Alternatives] = field(default_factory=list)
    group: list[Term] = field(default_factory=list)
    pattern: re.Pattern[str] | None = None
    gathered: Gathered = field(init=False)
    wrong: list[str] = field(default_factory=list)
    after_bar: bool = False

    def __post_init__(self) -> None:
        self.gathered = Gathered(self.now_us)

    def take(self, token: _Token) -> None:
        """Take in a word, a phrase, a filter or a bar."""
        if token.is_phrase:
            self._add(_term(token.text, Kind.EXACT, negated=token.negated))
        elif token.text == "|" and self.group and not self.after_bar:
            self.after_bar = True
        elif not self._is_filter(token.text) and (term := _term_of(token.text)):
            self._add(term)

    def take_pattern(self, written: str) -> None:
        """Take in what follows `re:`."""
        for found in _FILTER_IN_PATTERN.finditer(written):
            self._is_filter(found[1])
        kept = _FILTER_IN_PATTERN.sub("", written)
        kept = kept.strip() + (" " if kept.rstrip().endswith("\\") and kept != kept.rstrip() else "")
        if not kept:
            return
        try:
            self.pattern = _compiled(kept)
        except re.error as error:
            at = f", at character {error.pos + 1}" if error.pos is not None else ""
            self.wrong.append(f"re: is followed by no regular expression: {error.msg}{at} of {one_line(kept)}")
        except (OverflowError, RecursionError):
            self.wrong.append(f"re: is followed by too large a regular expression: {one_line(kept)[:60]}")

    def query(self, written: str) -> Query:
        """All of it.

        Raises:
            BadQuery: Something could not be read.
        """
        self._close()
        query = Query(written, tuple(self.groups), self.pattern, self.gathered.filters())
        if self.wrong:
            raise BadQuery(self.wrong[0], query)
        return query

    def _add(self, term: Term) -> None:
        if not self.after_bar:
            self._close()
        self.group.append(term)
        self.after_bar = False

    def _close(self) -> None:
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
            like = nearest(name)
            hint = f"Did you mean {like}:? " if like else ""
            self.wrong.append(
                f"There is no filter {name[:40]}:. {hint}There are {', '.join(f'{known}:' for known in FILTERS)}."
                f" To look for the words themselves, write '{one_line(text.lstrip('!-')[:80])}"
            )
            return True
        try:
            self.gathered.add(name.casefold(), _unquoted(value), negated=bool(sign))
        except BadFilter as error:
            self.wrong.append(str(error))
        return True


def _parted(text: str) -> tuple[Iterator[_Token], str | None]:
    """The words of a query, and what follows `re:` if it has one."""
    found = re.search(r"(?:(?<=\s)|\A)re:", text, re.IGNORECASE)
    while found and text[: found.start()].endswith(_ESCAPED_SPACE):
        found = re.compile(r"(?<=\s)re:", re.IGNORECASE).search(text, found.end())
    return (_tokens(text[: found.start()]), text[found.end() :]) if found else (_tokens(text), None)


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif phrase := _PHRASE.match(text, at):
            yield _Token(phrase[2], is_phrase=True, negated=bool(phrase[1]))
            at = phrase.end()
        else:
            end = _end_of_word(text, at)
            yield _Token(text[at:end].replace(_ESCAPED_SPACE, " "))
            at = end


def _end_of_word(text: str, at: int) -> int:
    """Where a word ends: at a space that is neither escaped nor in the quotes of a filter's value."""
    value = re.compile(r"[!-]?[A-Za-z]{2,}:\"[^\"]*\"").match(text, at)
    end = value.end() if value else at
    while end < len(text) and not (text[end].isspace() and text[end - 1 : end + 1] != _ESCAPED_SPACE):
        end += 1
    return end


def _term_of(text: str) -> Term | None:
    """A word with its signs read, in the order in which fzf reads them; `None` if nothing is left of it."""
    kind, negated = Kind.FUZZY, False
    if text.startswith("!"):
        kind, negated, text = Kind.EXACT, True, text[1:]
    if text != "$" and text.endswith("$"):
        kind, text = Kind.SUFFIX, text[:-1]
    if text.startswith("'"):
        kind, text = (Kind.FUZZY if negated else Kind.EXACT), text[1:]
    elif text.startswith("^"):
        kind, text = (Kind.EQUAL if kind is Kind.SUFFIX else Kind.PREFIX), text[1:]
    return _term(text, kind, negated=negated) if text else None


def _term(text: str, kind: Kind, *, negated: bool) -> Term:
    return Term(text, kind, negated, case=text != text.lower())


def _unquoted(value: str) -> str:
    if value.startswith('"'):
        return value[1:].removesuffix('"')
    return value


def _compiled(pattern: str) -> re.Pattern[str]:
    """A regular expression with smart case; its escapes, such as `\\S`, are no capitals."""
    letters = re.sub(r"\\.|\(\?P?<\w+>|\(\?P[=>]\w+", "", pattern, flags=re.DOTALL)
    flags = re.MULTILINE if letters != letters.lower() else re.MULTILINE | re.IGNORECASE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as of a set that may mean something else one day
        return re.compile(pattern, flags)
