"""The findings of an audit as rows of a list: their filter, their order and their columns."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from enum import Enum
from fnmatch import fnmatchcase
from typing import Any, ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType

from memtui.audit.model import Audit, AuditFinding, PassedCheck, Severity, SuppressedFinding
from memtui.audit.ranking import FindingGroup, group_findings, rank_by_danger
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.review.inbox import ChangedFile
from memtui.ui.theme import truncate, truncate_middle
from memtui.ui.widgets.row_list import Cell, Column, FoldList, LabelRow

_PREFIXES = ("actor", "session", "path", "rule")
_WILD = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class FindingFilter:
    """Words that narrow the lists: all of them, as parts or as patterns, have to match.

    Attributes:
        words: In the text of the row.
        actor: In the name of an actor.
        session: In the id of the session.
        path: In the path.
        rule: In the id of the rule, or in its family.
    """

    words: tuple[str, ...] = ()
    actor: tuple[str, ...] = ()
    session: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    rule: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether everything matches."""
        return not (self.words or self._has_prefixes)

    @property
    def _has_prefixes(self) -> bool:
        return bool(self.actor or self.session or self.path or self.rule)

    def matches_finding(self, finding: AuditFinding) -> bool:
        """Whether a finding matches."""
        origin = finding.origin
        path = finding.location.path
        text = f"{finding.severity} {finding.family} {finding.rule} {path} {finding.words} {origin.actor}"
        return _matches_all(self.words, (text,)) and (
            not self._has_prefixes
            or self._matches((origin.actor,), (origin.session or "",), (path,), (finding.rule, finding.family))
        )

    def matches_change(self, file: ChangedFile, rules: Collection[str]) -> bool:
        """Whether a changed file matches, given ids and families of the rules with findings in it."""
        text = " ".join([file.path, file.previous_path, *file.actors, *(mark.words for mark in file.marks)])
        return _matches_all(self.words, (text,)) and (
            not self._has_prefixes or self._matches(file.actors, file.sessions, (file.path, file.previous_path), rules)
        )

    def matches_words(self, text: str) -> bool:
        """Whether a row without actor, session, path and rule matches."""
        return not self._has_prefixes and _matches_all(self.words, [text])

    def _matches(
        self, actors: Iterable[str], sessions: Iterable[str], paths: Iterable[str], rules: Iterable[str]
    ) -> bool:
        return (
            _matches_all(self.actor, actors)
            and _matches_all(self.session, sessions)
            and _matches_all(self.path, paths)
            and _matches_all(self.rule, rules)
        )


def parse_filter(text: str) -> FindingFilter:
    """Words, and `actor:`, `session:`, `path:` and `rule:` before a word; another prefix is part of the word."""
    found: dict[str, list[str]] = {"words": []}
    for word in text.casefold().split():
        name, colon, rest = word.partition(":")
        if colon and name in _PREFIXES:
            found.setdefault(name, []).extend([rest] if rest else [])
        else:
            found["words"].append(word)
    return FindingFilter(**{name: tuple(words) for name, words in found.items()})


def _matches_all(words: tuple[str, ...], texts: Iterable[str]) -> bool:
    if not words:  # first: this runs for ten thousand rows at each key
        return True
    folded = [text.casefold() for text in texts]
    return all(any(_matches_word(word, text) for text in folded) for word in words)


def _matches_word(word: str, text: str) -> bool:
    return word in text or (not _WILD.isdisjoint(word) and fnmatchcase(text, word))


WORDS = {Severity.FAIL: "FAIL", Severity.WARN: "WARN", Severity.INFO: "info"}
"""The words for severities: those that count are in capitals."""


class FindingOrder(Enum):
    """The order of findings."""

    DANGER = "danger"
    PATH = "path"
    RULE = "rule"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding, and its exception if it does not count."""

    finding: AuditFinding
    excepted: SuppressedFinding | None = None
    is_inside: bool = False

    @property
    def key(self) -> tuple[str, str, int | None]:
        """The identity of the finding among audits."""
        return (self.finding.fingerprint, self.finding.location.path, self.finding.location.line)


@dataclass(frozen=True, slots=True)
class FindingGroupRow:
    """Findings with one cause."""

    group: FindingGroup
    is_open: bool = False

    @property
    def key(self) -> tuple[str, str, int | None]:
        """The identity of the group among audits."""
        return ("group", self.group.id, None)


@dataclass(frozen=True, slots=True)
class PassedRow:
    """A check that passed."""

    passed: PassedCheck

    @property
    def key(self) -> tuple[str, str, int | None]:
        """The identity of the check among audits."""
        return ("", f"{self.passed.family} {self.passed.name}", None)


FindingListItem = FindingRow | FindingGroupRow | PassedRow
FindingListRow = FindingListItem | LabelRow


def get_row_findings(row: FindingListRow | None) -> tuple[AuditFinding, ...]:
    """The finding of a row, or those of its group; none of another row."""
    match row:
        case FindingRow(finding):
            return (finding,)
        case FindingGroupRow(group):
            return group.findings
        case _:
            return ()


def build_finding_rows(
    audit: Audit, order: FindingOrder, only: FindingFilter, *, excepted: bool, opened: Collection[object] = ()
) -> list[FindingListRow]:
    """The rows of an audit that match a filter: findings in an order, exceptions if listed, and passed checks.

    Args:
        opened: Keys of unfolded groups. By path and by time, findings are listed one by one.
    """
    found = sort_findings(filter(only.matches_finding, audit.findings), order)
    is_grouped = order in (FindingOrder.DANGER, FindingOrder.RULE)
    groups = group_findings(found) if is_grouped else [FindingGroup((each,)) for each in found]
    rows: list[FindingListRow] = [row for group in groups for row in _build_group_rows(group, opened)]
    if excepted:
        exceptions = {id(each.finding): each for each in audit.excepted if only.matches_finding(each.finding)}
        findings = sort_findings((each.finding for each in exceptions.values()), order)
        rows += [LabelRow(f"excepted {len(findings):,}")] if findings else []
        rows += [FindingRow(each, exceptions[id(each)]) for each in findings]
    if not rows:
        notice = format_empty_notice(audit) if only.is_empty else "No finding matches the filter."
        rows.append(LabelRow(notice))
    passed = (each for each in audit.passed if only.matches_words(f"ok {each.family} {each.name} {each.words}"))
    return [*rows, *map(PassedRow, passed)]


def _build_group_rows(group: FindingGroup, opened: Collection[object]) -> list[FindingListRow]:
    if group.cause is None:
        return [FindingRow(group.worst)]
    row = FindingGroupRow(group)
    if row.key not in opened:
        return [row]
    return [replace(row, is_open=True), *(FindingRow(each, is_inside=True) for each in group.findings)]


def sort_findings(findings: Iterable[AuditFinding], order: FindingOrder) -> list[AuditFinding]:
    """Findings in an order, and then by danger."""

    def get_key(each: AuditFinding) -> tuple[object, ...]:
        match order:
            case FindingOrder.PATH:
                return each.location.path, each.location.line or 0
            case FindingOrder.RULE:
                return list(type(each.family)).index(each.family), each.rule
            case FindingOrder.TIME:
                return (-(each.origin.at_us or 0),)  # an unknown time comes last
            case FindingOrder.DANGER:
                return ()

    return sorted(findings, key=lambda each: (*get_key(each), *rank_by_danger(each)))


def format_empty_notice(audit: Audit) -> str:
    """A sentence for an audit without findings."""
    return f"No findings: {format_count(audit.rules, 'rule')} checked {format_count(audit.files, 'file')}."


def format_location(finding: AuditFinding) -> str:
    """The location of a finding, such as `notes/a.md:3`, or the folder."""
    path, line = finding.location.path or "the folder", finding.location.line
    return path if line is None else f"{path}:{line}"


def describe_finding(finding: AuditFinding) -> str:
    """The rule of a finding in a word or two, with its days or lines if known."""
    days, lines, limit = (finding.facts.get(name) for name in ("days", "lines", "limit"))
    if isinstance(days, int):
        return f"{finding.rule} {days:,} d"
    if isinstance(lines, int) and isinstance(limit, int):
        return f"{lines:,} lines > {limit:,}"
    return finding.rule


def count_by_severity(audit: Audit) -> Sequence[tuple[str, int]]:
    """The numbers of `FAIL`, `WARN`, `info` and `ok`."""
    return [*((WORDS[each], audit.count_findings(each)) for each in Severity), ("ok", len(audit.passed))]


_SEVERITY, _FAMILY, _RULE, _LONG_RULE = 4, 10, 15, 19
"""Cells of the columns: `FAIL`, `duplicates`, the rule where both do not fit, and where locations are short."""
_WIDTH_WITH_FAMILIES = 56
"""Cells from which on family, location and rule all have a column."""
_STYLES = {Severity.FAIL: "fail", Severity.WARN: "warn", Severity.INFO: "info"}


class FindingsView(FoldList[FindingListItem]):
    """Severity, family, location and rule; passed checks at the end."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="audit.open", tooltip="Open the finding, or unfold the group"),
        Binding(
            "right,l",
            "unfold(True)",
            "unfold",
            id="audit.unfold_group",
            tooltip="Show the findings of a group",
            show=False,
        ),
        Binding(
            "left,h", "unfold(False)", "fold", id="audit.fold_group", tooltip="Show the group as one row", show=False
        ),
    ]

    STYLES = "findings--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"findings--{name}" for name in ("fail", "warn", "info", "ok", "family", "detail", "held", "group", "words")
    }

    DEFAULT_CSS = """
    FindingsView {
        & > .findings--fail { color: $text-error; text-style: bold; }
        & > .findings--warn { color: $text-warning; text-style: bold; }
        & > .findings--info { color: $text-primary; }
        & > .findings--ok { color: $text-success; }
        & > .findings--family { color: $foreground; }
        & > .findings--detail { color: $foreground-muted; }
        & > .findings--held { color: $foreground-muted; text-style: italic; }
        & > .findings--group { color: $text-primary; text-style: bold; }
        & > .findings--words { color: $text-secondary; }
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._longest_location = 0
        self._places = 0
        self.is_moved = False
        """Whether the person moved the cursor."""

    def show(self, rows: Sequence[FindingListRow], *, keep: bool = True, notice: Sequence[str] = ()) -> None:
        """Show other rows; see `ItemList.show`."""
        groups = [row.group.worst for row in rows if isinstance(row, FindingGroupRow)]
        found = [*groups, *(row.finding for row in rows if isinstance(row, FindingRow))]
        names = [len(row.passed.name) for row in rows if isinstance(row, PassedRow)]
        self._longest_location = max([*(len(each.rule) for each in found), *names], default=_RULE)
        self._places = max((len(format_location(each)) for each in found), default=0)
        super().show(rows, keep=keep, notice=notice)

    def go_to(self, fingerprint: str) -> bool:
        """Put the cursor on a finding, or on the group that it is in; returns whether it is listed."""
        for at, row in enumerate(self._rows):
            if any(each.fingerprint == fingerprint for each in get_row_findings(row)):
                self._go_to_row(at)
                return True
        return False

    def _go_to_row(self, row: int) -> None:
        self.is_moved = True
        super()._go_to_row(row)

    def _get_key(self, item: FindingListItem) -> object:
        return item.key

    def _count_item(self, item: FindingListItem) -> int:
        match item:
            case FindingGroupRow(group, is_open):
                return 0 if is_open else len(group.findings)
            case FindingRow():
                return 1
            case _:
                return 0

    def _is_open(self, item: FindingListItem) -> bool | None:
        return item.is_open if isinstance(item, FindingGroupRow) else None

    def _is_inside(self, item: FindingListItem) -> bool:
        return isinstance(item, FindingRow) and item.is_inside

    # Columns

    def _get_columns(self, item: FindingListItem, width: int) -> Sequence[Column[Any]]:
        roomy = width > _WIDTH_WITH_FAMILIES
        gap = "  " if roomy else " "
        first = _FAMILY if roomy else self._measure_rule_column(width - 1)
        end = Column[Any]("end", "", gap=" ")
        if isinstance(item, PassedRow):
            name, words = to_one_line(item.passed.name), to_one_line(item.passed.words)
            return (
                Column("severity", "ok", "ok", width=_SEVERITY),
                Column("check", lambda _, width: truncate(name, width), "family", width=first, gap=gap, tail=gap),
                Column("words", lambda _, width: truncate(words, width), "detail", share=True, align=""),
                end,
            )
        is_group = isinstance(item, FindingGroupRow)
        finding = item.group.worst if isinstance(item, FindingGroupRow) else item.finding
        severity, is_held = finding.severity, isinstance(item, FindingRow) and item.excepted is not None
        name = to_one_line(finding.family if roomy else finding.rule)
        where = to_one_line(format_location(finding))
        if isinstance(item, FindingGroupRow):
            where = f"{'▾' if item.is_open else '▸'} {len(item.group.findings):,} {item.group.label}"
        elif item.is_inside:
            where = f"  {where}"

        def format_place(_: FindingRow, width: int) -> Cell:
            place = truncate_middle(where, width)
            return [
                (place, "group" if is_group else "held" if is_held else ""),
                (" " * (width - cell_len(place)), "detail"),
            ]

        style = "held" if is_held else "family"
        return (
            Column(
                "severity",
                str(severity) if is_held else WORDS[severity],
                "held" if is_held else _STYLES[severity],
                width=_SEVERITY,
            ),
            Column("rule", lambda _, width: truncate(name, width), style, width=first, gap=gap, tail=gap),
            Column("place", format_place, width=8, share=True),
            *([Column[Any]("finding", describe_finding(finding), "detail", gap="  ")] if roomy else []),
            end,
        )

    def _measure_rule_column(self, width: int) -> int:
        """Cells of the rules before the locations: the rest of these, but at least a third."""
        rest = min(width - _SEVERITY - 2 - self._places, _LONG_RULE)
        return min(self._longest_location, max(rest, min(width // 3, _RULE), 8))
