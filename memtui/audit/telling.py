"""From hits to findings: where each is, what is shown of it, and how it is known again; nothing secret goes along."""

import hashlib
from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from memtui.audit.findings import Family, Finding, Hit, Place, Severity
from memtui.audit.gathering import gathered
from memtui.audit.masking import MASK, Span, again, cleaned, evidence_of, merged, secret_spans, touched
from memtui.audit.origins import Origins
from memtui.audit.rule import Rule
from memtui.audit.subject import Note, Subject
from memtui.core.visible import one_line

_DIGITS = 16
_LONGEST = 400
"""Characters of evidence that a rule gives itself."""


class Teller:
    """Makes findings of hits.

    Args:
        rules: All there are, by id; of secrets that overlap, the rule that stands first is told.
        severities: By the id of each rule that runs, how much its findings matter.
        subject: The folder.
        origins: Who brought things in.
    """

    def __init__(
        self, rules: Mapping[str, Rule], severities: Mapping[str, Severity], subject: Subject, origins: Origins
    ) -> None:
        self._rules = rules
        self._order = {rule: number for number, rule in enumerate(rules)}
        self._subject = subject
        self._severities = severities
        self._origins = origins
        self._secret: dict[str, list[Span]] = {}
        self._known: dict[str, list[Span]] = {}
        self._same: Counter[tuple[str, str, str]] = Counter()

    def findings(self, hits: Sequence[Hit]) -> list[Finding]:
        """The findings of one family, by path and place.

        Args:
            hits: What its rules found; those of rules that do not run are only used to know what is secret.
        """
        by_path: dict[str, list[Hit]] = {}
        for hit in hits:
            by_path.setdefault(hit.path, []).append(hit)
        found: list[Finding] = []
        for path in sorted(by_path):
            mine = by_path[path]
            page = self._page_of(path, mine)
            kept = [hit for hit in self._without_doubles(mine) if hit.rule in self._severities]
            found += [self._finding(hit, page) for hit in gathered(kept, self._rules, page.line_of)]
        return found

    def _is_secret(self, hit: Hit) -> bool:
        return self._rules[hit.rule].family is Family.SECRET and hit.start is not None

    def _without_doubles(self, hits: Sequence[Hit]) -> list[Hit]:
        """Hits of one note, none told twice: of secrets that overlap, the rule that stands first is kept."""
        secret = [hit for hit in hits if self._is_secret(hit)]
        kept: list[Hit] = []
        taken: list[Span] = []  # in order, and none over another: a note may hold thousands
        for hit in sorted(secret, key=lambda hit: (self._order[hit.rule], _secret_of(hit))):
            span = _secret_of(hit)
            if not touched(taken, *span):
                insort(taken, span)
                kept.append(hit)
        others: dict[tuple[object, ...], Hit] = {}
        for hit in hits:
            if not self._is_secret(hit):
                others.setdefault((hit.rule, hit.start, hit.end, hit.words if hit.start is None else ""), hit)
        return sorted([*kept, *others.values()], key=lambda hit: (hit.start or 0, hit.rule))

    def _page_of(self, path: str, hits: Iterable[Hit]) -> "_Page":
        """A note, with what is secret in it by these hits, or was by those of families before."""
        secret = [_secret_of(hit) for hit in hits if self._is_secret(hit)]
        if secret:
            self._secret.setdefault(path, []).extend(secret)
        note = self._subject.notes.get(path)
        if path not in self._known:
            self._known[path] = secret_spans(note.text) if note is not None and note.text is not None else []
        known = merged([*self._known[path], *self._secret.get(path, ())])
        text = note.text if note is not None else None
        return _Page(note, known if text is None else again(text, known))

    def _finding(self, hit: Hit, page: "_Page") -> Finding:
        rule = self._rules[hit.rule]
        place = page.place(hit)
        identity = self._identity(hit, page)
        ordinal = self._same[hit.rule, hit.path, identity]
        self._same[hit.rule, hit.path, identity] += 1
        return Finding(
            rule=rule.id,
            family=rule.family,
            severity=self._severities[rule.id],
            place=place,
            words=page.cleaned(hit.words),
            evidence=self._evidence(hit, page),
            do=rule.do,
            origin=self._origins.of(hit, page.data, place.line),
            fingerprint=_fingerprint(hit.rule, hit.path, identity, ordinal),
            facts={name: page.cleaned(fact) if isinstance(fact, str) else fact for name, fact in hit.facts.items()},
            masked=_secret_of(hit) if hit.masked is not None or self._is_secret(hit) else None,
        )

    def _evidence(self, hit: Hit, page: "_Page") -> str:
        if hit.evidence is not None:
            shown = one_line(page.cleaned(hit.evidence))
            return shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "..."
        if page.text is None or hit.start is None:
            return ""
        return evidence_of(page.text, hit.start, hit.start if hit.end is None else hit.end, page.hidden)

    def _identity(self, hit: Hit, page: "_Page") -> str:
        """What a finding is known by when lines move: nothing that a secret could be guessed from."""
        if hit.identity is not None:
            return page.cleaned(hit.identity)
        if page.text is None or hit.start is None:
            return ""
        start, end = hit.start, hit.start if hit.end is None else hit.end
        if self._is_secret(hit) or hit.masked is not None or start == end:
            return page.line_without_secrets(start)
        return " ".join(page.without_secrets(start, end).split())


class _Page:
    """A note with what is secret in it.

    Attributes:
        data: Its bytes; `None` where there are none.
        text: What it says; `None` where that is no text.
        hidden: Characters that are shown to nobody.
    """

    def __init__(self, note: Note | None, hidden: list[Span]) -> None:
        self.data = note.data if note is not None else None
        self.text = note.text if note is not None else None
        self.hidden = hidden
        self._cleaned: dict[str, str] = {}
        self._lines: dict[int, str] = {}

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The secrets themselves, each once, so that no other words hold them."""
        text = self.text
        return () if text is None else tuple(dict.fromkeys(text[start:end] for start, end in self.hidden))

    def cleaned(self, words: str) -> str:
        """Words about the note without any secret. A rule says the same of many places, so it is worked out once."""
        if words not in self._cleaned:
            self._cleaned[words] = cleaned(words, self.values)
        return self._cleaned[words]

    def place(self, hit: Hit) -> Place:
        """Where a hit is, in lines and columns."""
        if self.text is None or hit.start is None:
            line = hit.facts.get("line")  # of bytes that are no text it is known, too
            return Place(hit.path, line if isinstance(line, int) else None)
        line, column = self._line(hit.start)
        end_line, end_column = self._line(hit.start if hit.end is None else hit.end)
        return Place(hit.path, line, column, end_line, end_column)

    def line_of(self, hit: Hit) -> int | None:
        """The line that a hit is in, from 1; `None` if it is in none."""
        return self.place(hit).line

    def _line(self, at: int) -> tuple[int, int]:
        """The line and the column of a character, both from 1."""
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line begins."""
        assert self.text is not None
        starts = [0]
        feed = self.text.find("\n")
        while feed >= 0:
            starts.append(feed + 1)
            feed = self.text.find("\n", feed + 1)
        return starts

    def line_without_secrets(self, at: int) -> str:
        """The line that a character is in, as `without_secrets` has it, with one blank between its words."""
        assert self.text is not None
        line = bisect_right(self._starts, at)
        if line not in self._lines:
            end = self._starts[line] - 1 if line < len(self._starts) else len(self.text)
            self._lines[line] = " ".join(self.without_secrets(self._starts[line - 1], end).split())
        return self._lines[line]

    def without_secrets(self, first: int, last: int) -> str:
        """Characters of the text in which every secret is the same word, whatever it is and however long."""
        assert self.text is not None
        parts: list[str] = []
        at = first
        for start, end in touched(self.hidden, first, last):
            parts += [self.text[at : max(start, at)], MASK]
            at = min(end, last)
        return "".join([*parts, self.text[at:last]])


def _secret_of(hit: Hit) -> Span:
    """The characters of a secret."""
    if hit.masked is not None:
        return hit.masked
    assert hit.start is not None
    return hit.start, hit.start if hit.end is None else hit.end


def _fingerprint(rule: str, path: str, identity: str, ordinal: int) -> str:
    parts = "\0".join((rule, path, identity, str(ordinal)))
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
