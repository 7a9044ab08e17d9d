"""The report for a pull request: Markdown that says the verdict first, and fits in a comment.

Names, texts and actors are hostile: a forge renders HTML, loads images, and tells whoever is named behind an `@`. They
stand in code spans and fenced code only, in which nothing is rendered, and nothing in them can end one: a fence is
longer than any row of its characters in the text (CommonMark 0.31.2, 4.5 and 6.1).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from memtui.audit.masking import mask_message
from memtui.audit.model import Audit, AuditFinding, Severity
from memtui.audit.ranking import SHOWN, FindingGroup, group_findings
from memtui.audit.report.wording import (
    CHANGES,
    NO_ORIGINS,
    SEVERITIES,
    TITLES,
    describe_origin,
    describe_suppression,
    find_worst_severity,
    format_actor,
    format_location,
    format_message,
    format_minute,
    format_opinion,
    format_sign_off,
    format_suppressed_counts,
    format_trend,
    format_verdict,
    has_known_origins,
    sanitize_text,
)
from memtui.core.wording import PLAIN, format_count, format_short_count, format_size
from memtui.review.inbox import ChangedFile, ChangeRun, Inbox, LostFact

LIMIT = 65_000
"""Characters of a whole report: a forge takes 65,536 in a comment, counted in UTF-16."""
_EVIDENCE = 300  # characters of one piece of evidence
_WORDS = 600  # characters of what is told in a sentence
_NAME = 160  # characters of a name in a table
_OPEN = 12  # findings of one severity that are not folded; those that must not stay never are
_MEMBERS = 60  # findings of a group whose places are listed
_RULES = 12  # rules of one severity that are counted by name where their findings are folded, or may not all fit
_RESERVE = 1_500  # characters that are kept for the closing lines
_FOR_CHANGES, _FOR_A_CHANGE = 16_000, 300
"""Characters that findings leave for what changed, at most, and for each changed file."""
_TICKS = re.compile("`+")
_NOT_A_WORD = re.compile("[^A-Za-z0-9 ]")
_PLAIN = re.compile(
    r"[A-Za-z]+(?:['’-][A-Za-z]+)*|[0-9][0-9,]*(?:\.[0-9]+)?%?|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{2}:[0-9]{2}"
)
"""A word that no forge makes anything of: not a name behind an `@`, an address, a number behind a `#`, a shortcode."""
_OPENING, _CLOSING = '("“', ',.;:?)"”'
"""What stands around a word and is none of it, nor of what a forge makes something of."""
_T = TypeVar("_T")


def render_markdown(audit: Audit, *, limit: int = LIMIT) -> str:
    """The report as GitHub Flavored Markdown.

    Args:
        limit: Characters, in UTF-16; beyond them findings are only counted.
    """
    page = _BoundedMarkdown(limit - _RESERVE)
    gravest = find_worst_severity(audit)
    teller = _FindingRenderer(tells_origins=has_known_origins(audit))
    files = len(audit.inbox.files) if audit.inbox is not None else 0
    room = min(_FOR_CHANGES, _FOR_A_CHANGE * files)
    page.add(f"**{gravest.value.upper() if gravest else 'CLEAN'}: {format_verdict(audit)}**\n\n")
    page.add(f"memtui audit of {_format_name(audit.title)}, {format_minute(audit.taken_us)}.\n\n")
    if audit.trend is not None:
        page.add(f"{format_trend(audit.trend)}.\n\n")
    if audit.opinions:
        page.add(f"{format_sentence(audit.opinions)}\n\n")
    page.add(_render_summary(audit))
    for severity in SEVERITIES:
        _add_findings(page, severity, [found for found in audit.findings if found.severity is severity], teller, room)
    if audit.findings and not teller.tells_origins:
        page.add(f"{NO_ORIGINS}\n\n")
    if audit.inbox is not None:
        _add_changes(page, audit.inbox)
        _add_lost_facts(page, audit.inbox.runs)
    _add_appendix(page, audit)
    return page.build_text(_render_footer(audit))


def format_code(text: str, *, limit: int = 0) -> str:
    """A text from outside as a code span, on one line, also within a table."""
    inner = sanitize_text(text, limit=limit) or " "
    if "|" in inner:  # nothing escapes it within a table on which all forges agree, least of all behind a backslash
        return f"<code>{_NOT_A_WORD.sub(lambda match: f'&#{ord(match.group())};', inner)}</code>"
    fence = "`" * (max(map(len, _TICKS.findall(inner)), default=0) + 1)
    pad = " " if inner.strip() and (inner[0] in "` " or inner[-1] in "` ") else ""
    return f"{fence}{pad}{inner}{pad}{fence}"


def _format_name(text: str) -> str:
    return format_code(text, limit=_NAME)


def _format_actor(actor: str) -> str:
    return _format_name(format_actor(actor))


def format_sentence(text: str) -> str:
    """A sentence that may hold names from outside: what is no plain word of English stands in code spans."""
    return " ".join(map(_format_word, sanitize_text(text, limit=_WORDS).split()))


def _format_word(word: str) -> str:
    behind = word.rstrip(_CLOSING)
    inner = behind.lstrip(_OPENING)
    if not inner:
        return format_code(word)
    shown = inner if _PLAIN.fullmatch(inner) else format_code(inner)
    return f"{behind[: len(behind) - len(inner)]}{shown}{word[len(behind) :]}"


def format_code_block(text: str) -> str:
    """A text from outside as a block of code."""
    inner = "\n".join(sanitize_text(line, limit=_EVIDENCE) for line in text.split("\n")[:8])
    fence = "`" * max(max(map(len, _TICKS.findall(inner)), default=0) + 1, 3)
    return f"{fence}text\n{inner}\n{fence}\n"


class _BoundedMarkdown:
    """A text that grows piece by piece, as long as there is room.

    A piece is in it as a whole or not at all, so that no table or fence is ever cut through.
    """

    def __init__(self, room: int) -> None:
        self._pieces: list[str] = []
        self._room = room

    def add(self, piece: str, *, keep: int = 0) -> bool:
        """Add a piece if it fits, and so much besides; say whether it did."""
        length = _measure_length(piece)
        if length + keep > self._room:
            return False
        self._room -= length
        self._pieces.append(piece)
        return True

    def add_each(self, items: Sequence[_T], piece: Callable[[_T], str], *, keep: int = 0) -> int:
        """Add a piece for each item as far as there is room and so much besides, and return how many were left out."""
        for number, item in enumerate(items):
            if not self.add(piece(item), keep=200 + keep):
                return len(items) - number
        return 0

    def build_text(self, foot: str) -> str:
        """All pieces, and the closing lines behind them."""
        return "".join(self._pieces) + foot


def _measure_length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _render_summary(audit: Audit) -> str:
    fails, warns, infos = (audit.count_findings(severity) for severity in SEVERITIES)
    actors = ", ".join(f"{_format_actor(name)} {events:,}" for name, events in list(audit.actors.items())[:5])
    rows = [
        ("Findings", f"fail {fails:,}, warn {warns:,}, info {infos:,}; excepted {_count_suppressed(audit)}"),
        (
            "Folder",
            f"{format_count(audit.files, 'file')}, {format_size(audit.bytes, PLAIN)}, "
            f"~{format_short_count(audit.tokens)} tokens",
        ),
        (
            "Events",
            f"{audit.events:,}; {format_count(audit.refused, 'call')} refused" + (f"; {actors}" if actors else ""),
        ),
        ("Journal", format_sentence(audit.chain.words)),
    ]
    if audit.sign_off is not None:
        rows.append(("Review", " ".join(map(format_sentence, format_sign_off(audit.sign_off)))))
    if audit.review_problem and audit.inbox is None:
        rows.append(("Review file", format_sentence(audit.review_problem)))
    if audit.budgets:
        used = (f"{budget.percent} of {budget.limit:,} {budget.name}" for budget in audit.budgets)
        rows.append(("Budgets", ", ".join(used)))
    if audit.inbox is not None:
        runs = audit.inbox.runs
        lost = sum(run.lost_count for run in runs)
        changed = f"{format_count(len(audit.inbox.files), 'file')} changed"
        more = ", perhaps more" if any(run.unsearched for run in runs) else ""
        rows.append(
            ("Since " + format_sentence(audit.inbox.since_words), f"{changed}, {format_count(lost, 'fact')} lost{more}")
        )
    return _render_table(("", ""), rows) + "\n"


def _count_suppressed(audit: Audit) -> str:
    by = format_suppressed_counts(audit)
    return f"{len(audit.excepted):,} ({by})" if by else "0"


def _add_findings(
    page: _BoundedMarkdown, severity: Severity, findings: Sequence[AuditFinding], teller: "_FindingRenderer", kept: int
) -> None:
    if not findings:
        return
    groups = group_findings(findings)
    is_folded = severity is not Severity.FAIL and len(groups) > _OPEN
    title = f"{TITLES[severity]} ({severity.value} {len(findings):,})"
    opening = f"### {title}\n\n"
    if len(findings) > _OPEN and len(groups) > 1:
        opening += f"{_render_rule_counts(findings)}\n\n"
    if is_folded:
        opening += "<details><summary>The findings</summary>\n\n"
    if not page.add(opening, keep=1_000 + kept):
        page.add(f"{format_count(len(findings), 'finding')} more ({severity.value}) did not fit here.\n\n")
        return
    left = page.add_each(groups, teller.render, keep=kept)
    if left:
        teller.discard(groups[-left].worst)
        page.add(f"{sum(len(group.findings) for group in groups[-left:]):,} more of them did not fit here.\n\n")
    if is_folded:
        page.add("</details>\n\n")


def _render_rule_counts(findings: Iterable[AuditFinding]) -> str:
    """How many findings there are of each rule, the most first, on one line."""
    counts = Counter(found.rule for found in findings).most_common()
    named = ", ".join(f"{format_code(rule)} {count:,}" for rule, count in counts[:_RULES])
    rest = format_count(len(counts) - _RULES, "rule") if len(counts) > _RULES else ""
    return f"By rule: {named}{f', and {rest} more' if rest else ''}."


class _FindingRenderer:
    """Renders findings; the remedy of a rule is written once, and referred to after that."""

    def __init__(self, *, tells_origins: bool) -> None:
        self.tells_origins = tells_origins
        self._told_at: dict[str, str] = {}
        """By what to do, the rule of the finding at which that was told."""

    def render(self, group: FindingGroup) -> str:
        """One finding, or the findings of a group, as paragraphs."""
        found, count = group.worst, len(group.findings)
        where = format_code(format_location(found.location)) if count == 1 else format_count(count, "place")
        words = format_sentence(format_message(group.words or found.words))
        lines = [f"**{format_code(found.rule)}** at {where}: {words}", ""]
        if count > 1:
            lines += [_render_members(group), ""]
        if found.evidence:
            lines.append(format_code_block(found.evidence))
        if found.opinion is not None and count == 1:
            lines += [format_sentence(format_opinion(found.opinion)), ""]
        brought = "The first was written by" if count > 1 else "Written by"
        last = [f"{brought}: {self._render_origin(found)}"] if self.tells_origins else []
        first = self._told_at.setdefault(found.do, "")
        if not first:
            self._told_at[found.do] = found.rule
            last.append(f"What to do: {format_sentence(found.do)}")
        elif first != found.rule:
            last.append(f"What to do: as for {format_code(first)}.")
        if last:
            lines += [" ".join(last), ""]
        return "\n".join([*lines, ""])

    def discard(self, found: AuditFinding) -> None:
        """A finding did not fit, so what it said to do was not told with it."""
        self._told_at.pop(found.do, None)

    def _render_origin(self, found: AuditFinding) -> str:
        first, *others = describe_origin(found.origin)
        first = _format_name(first) if found.origin.is_known else first
        return f"{', '.join((first, *map(format_sentence, others)))}."


def _render_members(group: FindingGroup) -> str:
    """The places of a group: the first few, and the others folded, as far as a comment has room for them."""
    items = [
        f"- {format_code(format_location(found.location))}"
        + (f" ({format_sentence(format_opinion(found.opinion))})" if found.opinion is not None else "")
        for found in group.findings[:_MEMBERS]
    ]
    shown, folded = items[:SHOWN], items[SHOWN:]
    if not group.is_uniform:
        words = (f": {format_sentence(format_message(found.words))}" for found in group.findings)
        shown = [item + end for item, end in zip(shown, words, strict=False)]
    if folded:
        more = [f"- and {left:,} more"] if (left := len(group.findings) - _MEMBERS) > 0 else []
        summary = f"<details><summary>and {len(group.findings) - SHOWN:,} more</summary>"
        shown += ["", summary, "", *folded, *more, "", "</details>"]
    return "\n".join(shown)


def _add_changes(page: _BoundedMarkdown, inbox: Inbox) -> None:
    since = f"### Changed since {format_sentence(inbox.since_words)}\n\n"
    if not page.add(since, keep=1_000):
        page.add(f"{format_count(len(inbox.files), 'changed file')} did not fit here.\n\n")
        return
    if inbox.problem:
        page.add(f"**Review file:** {format_sentence(inbox.problem)}\n\n")
    if not inbox.files:
        page.add("Nothing changed.\n\n")
        return
    page.add(_render_table(("change", "file", "lines", "by", "review"), []))
    left = page.add_each(inbox.files, _render_change_row)
    page.add("\n")
    if left:
        page.add(f"{format_count(left, 'changed file')} more did not fit here.\n\n")


def _render_change_row(changed: ChangedFile) -> str:
    name = _format_name(changed.path)
    if changed.previous_path:
        name = f"{_format_name(changed.previous_path)} to {name}"
    lines = "" if changed.added is None else f"+{changed.added:,} -{changed.removed or 0:,}"
    who = ", ".join(_format_actor(actor) for actor in changed.actors[:4])
    if len(changed.actors) > 4:
        who += f" and {len(changed.actors) - 4} more"
    marks = [f"{mark.verdict.value} by {_format_name(mark.reviewer)}" for mark in changed.marks[-2:]]
    return _render_cells(
        (
            f"{changed.sign} {CHANGES[changed.sign]}",
            name,
            lines,
            who,
            ", ".join(marks) or changed.staleness_note or "open",
        )
    )


def _add_lost_facts(page: _BoundedMarkdown, runs: Iterable[ChangeRun]) -> None:
    for run in runs:
        if not run.lost and not run.unsearched:
            continue
        title = f"{format_count(run.lost_count, 'fact')} lost in a run of {_format_actor(run.actor)}"
        if not page.add(f"### {title}, {format_minute(run.at_us)}\n\n", keep=800):
            return
        left = page.add_each(run.lost, _render_fact)
        left += run.unlisted
        page.add("\n" if not left else f"\n{format_count(left, 'fact')} more are not listed here.\n\n")
        if run.unsearched:
            page.add(f"More may be lost: {run.unsearched}.\n\n")


def _render_fact(fact: LostFact) -> str:
    return f"- {format_code(f'{fact.path}:{fact.line}')} {format_code(mask_message(fact.text).strip(), limit=_WORDS)}\n"


def _add_appendix(page: _BoundedMarkdown, audit: Audit) -> None:
    passed = [f"- {format_sentence(each.name)}: {format_sentence(each.words)}\n" for each in audit.passed]
    excepted = [
        (
            f"- {format_code(each.finding.rule)} at {format_code(format_location(each.finding.location))}"
            f": {format_sentence(describe_suppression(each))}"
        )
        + "\n"
        for each in audit.excepted
    ]
    expired = [f"- {format_sentence(each)}\n" for each in audit.expired]
    skipped = [f"- {format_code(each.rule)}: {format_sentence(each.reason)}\n" for each in audit.skipped]
    settings = [f"- {format_code(name)}: {_format_name(value)}\n" for name, value in audit.settings.items()]
    neutral = [f"- {format_sentence(each)}\n" for each in audit.neutral]
    for title, lines in (
        ("Expired exemptions", expired),
        ("Excepted", excepted),
        ("In order", passed),
        ("Rules not run", skipped),
        ("Settings", settings),
        ("Read only", neutral),
    ):
        _add_folded(page, title, lines)


def _add_folded(page: _BoundedMarkdown, title: str, lines: Sequence[str]) -> None:
    if not lines or not page.add(f"<details><summary>{title} ({len(lines):,})</summary>\n\n", keep=600):
        return
    left = page.add_each(lines, str)
    page.add(f"- {left:,} more did not fit here\n" if left else "")
    page.add("\n</details>\n\n")


def _render_footer(audit: Audit) -> str:
    head = f"head {format_code(f'{audit.chain.seq}:{audit.chain.hash}', limit=90)}, " if audit.chain.hash else ""
    rules = f"{format_count(audit.rules, 'rule')} ran, digest {format_code(audit.digest or 'none', limit=40)}"
    version = format_code(audit.version or "unknown", limit=40)
    return f"memtui {version}, {head}{rules}. All of it: `memtui audit --format json`.\n"


def _render_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return _render_cells(head) + _render_cells(["---"] * len(head)) + "".join(map(_render_cells, rows))


def _render_cells(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
