"""Findings made of hits: location, evidence with secrets masked, and fingerprint."""

import hashlib
import os
from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from memtui.audit.context import AuditContext, LineOffsets, Note
from memtui.audit.masking import (
    MASK,
    build_evidence,
    build_passage,
    find_overlapping_spans,
    find_repeated_spans,
    find_secret_spans,
    get_masked_spans,
    mask_message,
    merge_spans,
)
from memtui.audit.model import AuditFinding, AuditRule, Family, FindingLocation, Hit, Severity
from memtui.audit.provenance import OriginTracer
from memtui.audit.ranking import GONE
from memtui.core.unicode import to_one_line
from memtui.notes.memory_index import is_team_note
from memtui.places.dialects import Dialect
from memtui.places.file_rules import Keeper
from memtui.scan.rule_matches import SecretRules
from memtui.scan.spots import Span

# Groups: many findings of one kind in one file are one finding.

FEW = 5
"""Findings of one rule in one file that are each told by itself; of more there is one."""
_NAMED = 3
_LINES = 200  # lines that are named for programs
_NAMES = ("target", "path", "symbol", "commit", "address", "part")  # facts that name what was found

_SHARED = (GONE, "gone_in", "gone_on")  # facts that a group has where each of its hits has the same


def group_hits(
    hits: Iterable[Hit], rules: Mapping[str, AuditRule], locate: Callable[[Hit], FindingLocation]
) -> list[Hit]:
    """The hits of one file, with more than a few of a rule grouped into one where the rule says how.

    A group stands where its first hit is. Its fingerprint depends on rule and file alone, whatever their number."""
    by_rule: dict[str, list[Hit]] = {}
    for hit in hits:
        by_rule.setdefault(hit.rule, []).append(hit)
    remaining: list[Hit] = []
    for rule, found in by_rule.items():
        together = rules[rule].together
        remaining += [_merge_hits(found, together, locate)] if together and len(found) > FEW else found
    return remaining


def _merge_hits(hits: Sequence[Hit], together: str, locate: Callable[[Hit], FindingLocation]) -> Hit:
    named = (next((str(hit.facts[name]) for name in _NAMES if name in hit.facts), "") for hit in hits)
    names = list(dict.fromkeys(filter(None, named)))
    lines = sorted({line for hit in hits[:_LINES] if (line := locate(hit).line) is not None})
    shown = [to_one_line(name) for name in names[:_NAMED]]
    some = " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
    first = hits[0].facts
    shared = {
        name: first[name] for name in _SHARED if name in first and len({hit.facts.get(name) for hit in hits}) == 1
    }
    return replace(
        hits[0],
        words=together.format(count=f"{len(hits):,}", some=some),
        facts={"count": len(hits), "lines": ", ".join(map(str, lines)), **shared},
        identity="",
    )


_DIGITS = 16
_LONGEST = 400  # characters of evidence that a rule gives itself


class FindingBuilder:
    """Makes findings of hits.

    Args:
        rules: All rules by id; of overlapping secrets the first rule wins.
        passages: Whether findings hold the lines around them, too.
    """

    def __init__(
        self,
        rules: Mapping[str, AuditRule],
        severities: Mapping[str, Severity],
        subject: AuditContext,
        origins: OriginTracer,
        *,
        passages: bool = False,
    ) -> None:
        self._rules = rules
        self._order = {rule: number for number, rule in enumerate(rules)}
        self._subject = subject
        self._severities = severities
        self._origins = origins
        self._passages = passages
        self._secret: dict[str, list[Span]] = {}
        self._known: dict[str, list[Span]] = {}
        self._key = os.urandom(16)
        self._same: Counter[tuple[str, str, str]] = Counter()

    def build_findings(self, hits: Sequence[Hit]) -> list[AuditFinding]:
        """The findings of one family, by path and place.

        Args:
            hits: Of the rules of one family; those of disabled rules only tell what is secret.
        """
        by_path: dict[str, list[Hit]] = {}
        for hit in hits:
            by_path.setdefault(hit.path, []).append(hit)
        found: list[AuditFinding] = []
        for path in sorted(by_path):
            mine = by_path[path]
            page = self._get_page(path, mine)
            remaining = [hit for hit in self._remove_duplicates(mine) if hit.rule in self._severities]
            found += [self._build_finding(hit, page) for hit in group_hits(remaining, self._rules, page.locate)]
        return found

    def _is_secret(self, hit: Hit) -> bool:
        return self._rules[hit.rule].family is Family.SECRET and hit.start is not None

    def _remove_duplicates(self, hits: Sequence[Hit]) -> list[Hit]:
        """Hits of one note, none told twice: of secrets that overlap, the rule that stands first is kept.

        A rule of a person's own file is kept beside a rule that is off, too, since that one tells nothing.
        """
        secret = [hit for hit in hits if self._is_secret(hit)]
        remaining: list[Hit] = []
        taken: list[Span] = []  # in order, and none over another: a note may hold thousands
        told: list[Span] = []  # the same, of the rules that run
        for hit in sorted(secret, key=lambda hit: (self._order[hit.rule], _find_secret_span(hit))):
            span, runs = _find_secret_span(hit), hit.rule in self._severities
            rule = self._rules[hit.rule]
            if find_overlapping_spans(told if rule.is_custom else taken, *span) or (rule.is_custom and not runs):
                continue
            if not rule.is_custom:
                insort(taken, span)
            if runs:
                insort(told, span)
            remaining.append(hit)
        others: dict[tuple[object, ...], Hit] = {}
        for hit in hits:
            if not self._is_secret(hit):
                others.setdefault((hit.rule, hit.start, hit.end, hit.words if hit.start is None else ""), hit)
        return sorted([*remaining, *others.values()], key=lambda hit: (hit.start or 0, hit.rule))

    def _get_page(self, path: str, hits: Iterable[Hit]) -> "_MaskedNote":
        """A note, with what is secret in it by these hits, or was by those of families before."""
        secret = [_find_secret_span(hit) for hit in hits if self._is_secret(hit)]
        if secret:
            self._secret.setdefault(path, []).extend(secret)
        note = self._subject.notes.get(path)
        if path not in self._known:
            self._known[path] = get_masked_spans(note.secrets) if note is not None else []
        known = merge_spans([*self._known[path], *self._secret.get(path, ())])
        text = note.text if note is not None else None
        hidden = known if text is None else find_repeated_spans(text, known)
        return _MaskedNote(note, path, hidden, self._subject.custom.matcher)

    def _build_finding(self, hit: Hit, page: "_MaskedNote") -> AuditFinding:
        rule = self._rules[hit.rule]
        place = page.locate(hit)
        identity = self._compute_identity(hit, page)
        ordinal = self._same[hit.rule, hit.path, identity]
        self._same[hit.rule, hit.path, identity] += 1
        return AuditFinding(
            rule=rule.id,
            family=rule.family,
            severity=self._severities[rule.id],
            location=place,
            words=page.mask(hit.words),
            evidence=self._build_evidence(hit, page),
            do=_advise(rule, hit, self._subject.dialect),
            origin=self._origins.trace(hit, page.data, place.line),
            fingerprint=_compute_fingerprint(hit.rule, hit.path, identity, ordinal),
            facts={name: page.mask(fact) if isinstance(fact, str) else fact for name, fact in hit.facts.items()},
            masked=_find_secret_span(hit) if hit.masked is not None or self._is_secret(hit) else None,
            certainty=rule.certainty,
            secret=self._hash_secret(hit, page) if self._is_secret(hit) else "",
            passage=self._build_passage(hit, page) if self._passages else "",
            among=rule.among,
        )

    def _hash_secret(self, hit: Hit, page: "_MaskedNote") -> str:
        """What tells a secret from others in this audit, and nobody what it is."""
        start, end = _find_secret_span(hit)
        value = (page.text or "")[start:end].encode("utf-8", "surrogatepass")
        return hashlib.blake2b(value, key=self._key, digest_size=16).hexdigest() if value else ""

    def _build_evidence(self, hit: Hit, page: "_MaskedNote") -> str:
        if hit.evidence is not None:
            shown = to_one_line(page.mask(hit.evidence))
            return shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "..."
        if page.text is None or hit.start is None:
            return ""
        return build_evidence(
            page.text, hit.start, hit.start if hit.end is None else hit.end, page.hidden, page.find_more
        )

    def _build_passage(self, hit: Hit, page: "_MaskedNote") -> str:
        """The evidence and what stands around it; empty where that is masked, or a rule's own, which may name paths."""
        if hit.evidence is not None or page.text is None or hit.start is None:
            return ""
        start, end = hit.start, hit.start if hit.end is None else hit.end
        if find_overlapping_spans(page.hidden, start, end):
            return ""
        return build_passage(page.text, start, end, page.hidden, page.find_more)

    def _compute_identity(self, hit: Hit, page: "_MaskedNote") -> str:
        """What a finding is known by when lines move: nothing that a secret could be guessed from."""
        if hit.identity is not None:
            return page.mask(hit.identity)
        if page.text is None or hit.start is None:
            return ""
        start, end = hit.start, hit.start if hit.end is None else hit.end
        if self._is_secret(hit) or hit.masked is not None or start == end:
            return page.mask_line(start)
        return " ".join(page.mask_range(start, end).split())


class _MaskedNote:
    """A note with what is secret in it."""

    def __init__(self, note: Note | None, path: str, hidden: list[Span], rules: SecretRules) -> None:
        self._path = path
        self._rules = rules
        self.data = note.data if note is not None else None
        self.text = note.text if note is not None else None
        self.hidden = hidden
        self._is_cut = note is not None and note.secrets.is_cut
        self._cleaned: dict[str, str] = {}
        self._lines: dict[int, str] = {}

    @cached_property
    def secret_values(self) -> tuple[str, ...]:
        """The secrets themselves, each once, so that no other words hold them."""
        text = self.text
        return () if text is None else tuple(dict.fromkeys(text[start:end] for start, end in self.hidden))

    @property
    def find_more(self) -> Callable[[str], list[Span]] | None:
        """Finds the secrets in a part of it, where not all of them are known."""
        return (lambda part: find_secret_spans(part, self._rules, self._path)) if self._is_cut else None

    def mask(self, words: str) -> str:
        """Words about the note without any secret. A rule says the same of many places, so it is worked out once."""
        if words not in self._cleaned:
            self._cleaned[words] = mask_message(words, self.secret_values, self._rules, self._path)
        return self._cleaned[words]

    def locate(self, hit: Hit) -> FindingLocation:
        """Where a hit is, in lines and columns."""
        if self.text is None or hit.start is None:
            line = hit.facts.get("line")  # of bytes that are no text it is known, too
            return FindingLocation(hit.path, line if isinstance(line, int) else None)
        line, column = self._offsets.to_position(hit.start)
        end_line, end_column = self._offsets.to_position(hit.start if hit.end is None else hit.end)
        return FindingLocation(hit.path, line, column, end_line, end_column)

    @cached_property
    def _offsets(self) -> LineOffsets:
        return LineOffsets(self.text or "")

    def mask_line(self, at: int) -> str:
        """The line that a character is in, secrets masked, with one blank between its words."""
        line, _ = self._offsets.to_position(at)
        if line not in self._lines:
            self._lines[line] = " ".join(self.mask_range(*self._offsets.get_bounds(line)).split())
        return self._lines[line]

    def mask_range(self, first: int, last: int) -> str:
        """Characters of the text in which every secret is the same word, whatever it is and however long."""
        assert self.text is not None
        parts: list[str] = []
        at = first
        for start, end in find_overlapping_spans(self.hidden, first, last):
            parts += [self.text[at : max(start, at)], MASK]
            at = min(end, last)
        return "".join([*parts, self.text[at:last]])


def _find_secret_span(hit: Hit) -> Span:
    """The characters of a secret."""
    if hit.masked is not None:
        return hit.masked
    assert hit.start is not None
    return hit.start, hit.start if hit.end is None else hit.end


_TEAM_NOTE = "It is a team's note, mirrored from a server: a change here may affect everybody."


def _advise(rule: AuditRule, hit: Hit, dialect: Dialect) -> str:
    """What to do. No advice deletes a note of a team, nor one that is said to be the same as it."""
    kept = dialect.get_rule(hit.path)
    if kept.kept is Keeper.GENERATED:
        return (
            f"{dialect.title} generates this file. {kept.why or rule.do}"
            if rule.family is Family.UPKEEP
            else (f"{rule.do} {dialect.title} generates this file: {kept.why[:1].lower()}{kept.why[1:]}")
        )
    if not any(is_team_note(str(path)) for path in (hit.path, hit.facts.get("of", ""))):
        return rule.do
    if rule.family is Family.UPKEEP:
        return f"{_TEAM_NOTE} Leave it there, and report it to its owners."
    return f"{rule.do} {_TEAM_NOTE}"


def _compute_fingerprint(rule: str, path: str, identity: str, ordinal: int) -> str:
    parts = "\0".join((rule, path, identity, str(ordinal)))
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
