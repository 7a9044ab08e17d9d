"""The report for a pull request: Markdown that says the verdict first, and fits in a comment.

Names, texts and actors are hostile: a forge renders HTML, loads images, and tells whoever is named behind an `@`. They
stand in code spans and fenced code only, in which nothing is rendered, and nothing in them can end one: a fence is
longer than any row of its characters in the text (CommonMark 0.31.2, 4.5 and 6.1).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from memtui.audit.audit import Audit
from memtui.audit.findings import Finding, Severity
from memtui.audit.inbox import ChangedFile, Inbox, LostFact, Run
from memtui.audit.report.words import (
    CHANGES,
    SEVERITIES,
    TITLES,
    UNTOLD,
    because,
    counted,
    hand,
    knows_origins,
    said,
    shown,
    size,
    tokens,
    verdict,
    when,
    where,
    without_secrets,
    worst,
)

LIMIT = 65_000
"""Characters of a whole report: a forge takes 65,536 in a comment, counted in UTF-16."""
_EVIDENCE = 300
"""Characters of one piece of evidence."""
_WORDS = 600
"""Characters of what is told in a sentence."""
_NAME = 160
"""Characters of a name in a table."""
_OPEN = 12
"""Findings of one severity that are not folded; those that must not stay never are."""
_RULES = 12
"""Rules of one severity that are counted by name where their findings are folded, or may not all fit."""
_RESERVE = 1_500
"""Characters that are kept for the closing lines."""
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


def write(audit: Audit, *, limit: int = LIMIT) -> str:
    """The report as GitHub Flavored Markdown.

    Args:
        audit: What was found.
        limit: Characters, in UTF-16, after which the rest is only counted.
    """
    page = _Page(limit - _RESERVE)
    gravest = worst(audit)
    teller = _Teller(tells_origins=knows_origins(audit))
    files = len(audit.inbox.files) if audit.inbox is not None else 0
    kept = min(_FOR_CHANGES, _FOR_A_CHANGE * files)
    page.add(f"**{gravest.value.upper() if gravest else 'CLEAN'}: {verdict(audit)}**\n\n")
    page.add(f"memtui audit of {code(audit.title, limit=_NAME)}, {when(audit.taken_us)}.\n\n")
    page.add(_summary(audit))
    for severity in SEVERITIES:
        _findings(page, severity, [found for found in audit.findings if found.severity is severity], teller, kept)
    if audit.findings and not teller.tells_origins:
        page.add(f"{UNTOLD}\n\n")
    if audit.inbox is not None:
        _changes(page, audit.inbox)
        _lost(page, audit.inbox.runs)
    _rest(page, audit)
    return page.text(_foot(audit))


def code(text: str, *, limit: int = 0) -> str:
    """A text from outside as a code span, on one line, also within a table."""
    inner = shown(text, limit=limit) or " "
    if "|" in inner:  # nothing escapes it within a table on which all forges agree, least of all behind a backslash
        return f"<code>{_NOT_A_WORD.sub(lambda match: f'&#{ord(match.group())};', inner)}</code>"
    fence = "`" * (max(map(len, _TICKS.findall(inner)), default=0) + 1)
    pad = " " if inner.strip() and (inner[0] in "` " or inner[-1] in "` ") else ""
    return f"{fence}{pad}{inner}{pad}{fence}"


def sentence(text: str) -> str:
    """A sentence that may hold names from outside: what is no plain word of English stands in code spans."""
    return " ".join(map(_word, shown(text, limit=_WORDS).split()))


def _word(word: str) -> str:
    behind = word.rstrip(_CLOSING)
    inner = behind.lstrip(_OPENING)
    if not inner:
        return code(word)
    told = inner if _PLAIN.fullmatch(inner) else code(inner)
    return f"{behind[: len(behind) - len(inner)]}{told}{word[len(behind) :]}"


def fenced(text: str) -> str:
    """A text from outside as a block of code."""
    inner = "\n".join(shown(line, limit=_EVIDENCE) for line in text.split("\n")[:8])
    fence = "`" * max(max(map(len, _TICKS.findall(inner)), default=0) + 1, 3)
    return f"{fence}text\n{inner}\n{fence}\n"


class _Page:
    """A text that grows piece by piece, as long as there is room.

    A piece is in it as a whole or not at all, so that no table or fence is ever cut through.
    """

    def __init__(self, room: int) -> None:
        self._pieces: list[str] = []
        self._room = room

    def add(self, piece: str, *, keep: int = 0) -> bool:
        """Add a piece if it fits, and so much besides; say whether it did."""
        length = _length(piece)
        if length + keep > self._room:
            return False
        self._room -= length
        self._pieces.append(piece)
        return True

    def each(self, items: Sequence[_T], piece: Callable[[_T], str], *, keep: int = 0) -> int:
        """Add a piece for each item as far as there is room and so much besides, and return how many were left out."""
        for number, item in enumerate(items):
            if not self.add(piece(item), keep=200 + keep):
                return len(items) - number
        return 0

    def text(self, foot: str) -> str:
        """All pieces, and the closing lines behind them."""
        return "".join(self._pieces) + foot


def _length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _summary(audit: Audit) -> str:
    fails, warns, infos = (audit.count(severity) for severity in SEVERITIES)
    actors = ", ".join(f"{code(hand(name), limit=_NAME)} {events:,}" for name, events in list(audit.actors.items())[:5])
    rows = [
        ("Findings", f"fail {fails:,}, warn {warns:,}, info {infos:,}; excepted {len(audit.excepted):,}"),
        ("Folder", f"{counted(audit.files, 'file')}, {size(audit.bytes)}, {tokens(audit.tokens)} tokens"),
        ("Events", f"{audit.events:,}; {counted(audit.refused, 'call')} refused" + (f"; {actors}" if actors else "")),
        ("Journal", sentence(audit.chain.words)),
    ]
    if audit.budgets:
        used = (f"{budget.percent} of {budget.of:,} {budget.name}" for budget in audit.budgets)
        rows.append(("Budgets", ", ".join(used)))
    if audit.inbox is not None:
        runs = audit.inbox.runs
        lost = sum(map(_facts, runs))
        changed = f"{counted(len(audit.inbox.files), 'file')} changed"
        more = ", perhaps more" if any(run.unsearched for run in runs) else ""
        rows.append(("Since " + sentence(audit.inbox.since_words), f"{changed}, {counted(lost, 'fact')} lost{more}"))
    return _table(("", ""), rows) + "\n"


def _findings(page: _Page, severity: Severity, findings: Sequence[Finding], teller: "_Teller", kept: int) -> None:
    if not findings:
        return
    is_folded = severity is not Severity.FAIL and len(findings) > _OPEN
    title = f"{TITLES[severity]} ({severity.value} {len(findings):,})"
    opening = f"### {title}\n\n"
    if len(findings) > _OPEN:
        opening += f"{_by_rule(findings)}\n\n"
    if is_folded:
        opening += "<details><summary>The findings</summary>\n\n"
    if not page.add(opening, keep=1_000 + kept):
        page.add(f"{counted(len(findings), 'finding')} more ({severity.value}) did not fit here.\n\n")
        return
    left = page.each(findings, teller.finding, keep=kept)
    if left:
        teller.forget(findings[-left])
        page.add(f"{left:,} more of them did not fit here.\n\n")
    if is_folded:
        page.add("</details>\n\n")


def _by_rule(findings: Iterable[Finding]) -> str:
    """How many findings there are of each rule, the most first, on one line."""
    counts = Counter(found.rule for found in findings).most_common()
    named = ", ".join(f"{code(rule)} {count:,}" for rule, count in counts[:_RULES])
    rest = counted(len(counts) - _RULES, "rule") if len(counts) > _RULES else ""
    return f"By rule: {named}{f', and {rest} more' if rest else ''}."


class _Teller:
    """Tells findings; what to do is told once, and referred to after that.

    Args:
        tells_origins: Whether anything is known of who brought in what.
    """

    def __init__(self, *, tells_origins: bool) -> None:
        self.tells_origins = tells_origins
        self._told_at: dict[str, str] = {}
        """By what to do, the rule of the finding at which that was told."""

    def finding(self, found: Finding) -> str:
        """One finding, as paragraphs."""
        lines = [f"**{code(found.rule)}** at {code(where(found.place))}: {sentence(said(found.words))}", ""]
        if found.evidence:
            lines.append(fenced(found.evidence))
        last = [self._origin(found)] if self.tells_origins else []
        first = self._told_at.setdefault(found.do, "")
        if not first:
            self._told_at[found.do] = found.rule
            last.append(f"What to do: {sentence(found.do)}")
        elif first != found.rule:
            last.append(f"What to do: as for {code(first)}.")
        if last:
            lines += [" ".join(last), ""]
        return "\n".join([*lines, ""])

    def forget(self, found: Finding) -> None:
        """A finding did not fit, so what it said to do was not told with it."""
        self._told_at.pop(found.do, None)

    def _origin(self, found: Finding) -> str:
        first, *others = because(found.origin)
        first = code(first, limit=_NAME) if found.origin.is_known else first
        return f"Brought in by: {', '.join((first, *map(sentence, others)))}."


def _changes(page: _Page, inbox: Inbox) -> None:
    since = f"### Changed since {sentence(inbox.since_words)}\n\n"
    if not page.add(since, keep=1_000):
        page.add(f"{counted(len(inbox.files), 'changed file')} did not fit here.\n\n")
        return
    if inbox.problem:
        page.add(f"**Review file:** {sentence(inbox.problem)}\n\n")
    if not inbox.files:
        page.add("Nothing changed.\n\n")
        return
    page.add(_table(("change", "file", "lines", "by", "review"), []))
    left = page.each(inbox.files, _row)
    page.add("\n")
    if left:
        page.add(f"{counted(left, 'changed file')} more did not fit here.\n\n")


def _row(changed: ChangedFile) -> str:
    name = code(changed.path, limit=_NAME)
    if changed.was:
        name = f"{code(changed.was, limit=_NAME)} to {name}"
    lines = "" if changed.added is None else f"+{changed.added:,} -{changed.removed or 0:,}"
    who = ", ".join(code(hand(actor), limit=_NAME) for actor in changed.actors[:4])
    if len(changed.actors) > 4:
        who += f" and {len(changed.actors) - 4} more"
    marks = [f"{mark.verdict.value} by {code(mark.reviewer, limit=_NAME)}" for mark in changed.marks[-2:]]
    return _cells(
        (
            f"{changed.sign} {CHANGES[changed.sign]}",
            name,
            lines,
            who,
            ", ".join(marks) or changed.changed_since or "open",
        )
    )


def _lost(page: _Page, runs: Iterable[Run]) -> None:
    for run in runs:
        if not run.lost and not run.unsearched:
            continue
        title = f"{counted(_facts(run), 'fact')} lost in a run of {code(hand(run.actor), limit=_NAME)}"
        if not page.add(f"### {title}, {when(run.at_us)}\n\n", keep=800):
            return
        left = page.each(run.lost, _fact)
        left += run.unlisted
        page.add("\n" if not left else f"\n{counted(left, 'fact')} more are not listed here.\n\n")
        if run.unsearched:
            page.add(f"More may be lost: {run.unsearched}.\n\n")


def _facts(run: Run) -> int:
    return len(run.lost) + run.unlisted


def _fact(fact: LostFact) -> str:
    return f"- {code(f'{fact.path}:{fact.line}')} {code(without_secrets(fact.text).strip(), limit=_WORDS)}\n"


def _rest(page: _Page, audit: Audit) -> None:
    passed = [f"- {sentence(each.name)}: {sentence(each.words)}\n" for each in audit.passed]
    excepted = [
        f"- {code(each.finding.rule)} at {code(where(each.finding.place))}: {sentence(each.reason)}"
        + (f" (until {each.until})" if each.until else "")
        + "\n"
        for each in audit.excepted
    ]
    expired = [f"- {sentence(each)}\n" for each in audit.expired]
    skipped = [f"- {code(each.rule)}: {sentence(each.reason)}\n" for each in audit.skipped]
    settings = [f"- {code(name)}: {code(value, limit=_NAME)}\n" for name, value in audit.settings.items()]
    neutral = [f"- {sentence(each)}\n" for each in audit.neutral]
    for title, lines in (
        ("Exemptions that hold no more", expired),
        ("Excepted", excepted),
        ("In order", passed),
        ("Rules that did not run", skipped),
        ("Settings", settings),
        ("How nothing was changed", neutral),
    ):
        _folded(page, title, lines)


def _folded(page: _Page, title: str, lines: Sequence[str]) -> None:
    if not lines or not page.add(f"<details><summary>{title} ({len(lines):,})</summary>\n\n", keep=600):
        return
    left = page.each(lines, str)
    page.add(f"- {left:,} more did not fit here\n" if left else "")
    page.add("\n</details>\n\n")


def _foot(audit: Audit) -> str:
    head = f"head {code(f'{audit.chain.seq}:{audit.chain.hash}', limit=90)}, " if audit.chain.hash else ""
    rules = f"{counted(audit.rules, 'rule')} ran, digest {code(audit.digest or 'none', limit=40)}"
    version = code(audit.version or "unknown", limit=40)
    return f"memtui {version}, {head}{rules}. All of it: `memtui audit --format json`.\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return _cells(head) + _cells(["---"] * len(head)) + "".join(map(_cells, rows))


def _cells(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
