"""The report as one page: for people who were not there, with charts, light and dark, and on paper.

The page runs no script and loads nothing: its own policy forbids both. Whatever is from outside is escaped, and what is
hidden in it is made visible, so that a note cannot become a part of the page.
"""

import html
from collections.abc import Iterable, Mapping, Sequence

from memtui.audit.audit import Audit, Growth
from memtui.audit.findings import Family, Finding
from memtui.audit.growth import OTHERS
from memtui.audit.inbox import ChangedFile, Inbox, LostFact, Run
from memtui.audit.report import charts
from memtui.audit.report.charts import Series
from memtui.audit.report.style import STYLE
from memtui.audit.report.words import (
    CHANGES,
    SEVERITIES,
    TITLES,
    UNTOLD,
    because,
    counted,
    day,
    hand,
    knows_origins,
    said,
    shown,
    size,
    span,
    tokens,
    verdict,
    when,
    where,
    without_secrets,
    worst,
)
from memtui.core.budgets import Budget

MOST = 5_000
"""Findings, and changed files, that a page shows; more would not be scrolled through."""
_EVIDENCE = 600
_SENTENCE = 1_200
_ACTORS = 4
"""Actors that have a color of their own; the rest are gathered."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_FAMILIES = {
    Family.SECRET: "Secrets",
    Family.HIDDEN: "Deceptive text",
    Family.PLANTED: "Planted instructions",
    Family.INTEGRITY: "Integrity",
    Family.UPKEEP: "Upkeep",
    Family.CLAIMS: "Claims",
}


def write(audit: Audit) -> str:
    """The report as one HTML document."""
    sections = [
        _glance(audit),
        _findings(audit),
        _changes(audit.inbox) if audit.inbox is not None else "",
        _lost(audit.inbox.runs) if audit.inbox is not None else "",
        _more(audit),
        _made(audit),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>memtui audit of {_text(audit.title, 200)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"{_header(audit)}<main>\n{''.join(sections)}</main>\n</body>\n</html>\n"
    )


def _text(text: str, limit: int = _SENTENCE) -> str:
    """A text from outside, for the inside of an element."""
    return html.escape(shown(text, limit=limit))


def _name(text: str, limit: int = _SENTENCE) -> str:
    """A name from outside: the letters around it keep their direction whatever its own is."""
    return f"<bdi>{_text(text, limit)}</bdi>"


def _header(audit: Audit) -> str:
    gravest = worst(audit)
    css = gravest.value if gravest else "clean"
    links = [("at-a-glance", "At a glance"), ("findings", "Findings")]
    if audit.inbox is not None:
        links.append(("changes", "Changes"))
        if any(run.lost or run.unsearched for run in audit.inbox.runs):
            links.append(("lost", "Facts lost"))
    links.append(("made", "How it was made"))
    navigation = "".join(f'<a href="#{target}">{words}</a>' for target, words in links)
    return (
        f'<header>\n<p class="eyebrow">memtui audit</p>\n<h1>{_name(audit.title, 300)}</h1>\n'
        f'<p class="taken">As it was on {when(audit.taken_us)}</p>\n'
        f'<p class="verdict {css}"><strong>{css.upper()}</strong> <span>{html.escape(verdict(audit))}</span></p>\n'
        f'<nav aria-label="Sections">{navigation}</nav>\n</header>\n'
    )


def _glance(audit: Audit) -> str:
    cards = [
        _card(f"{audit.count(severity):,}", TITLES[severity], severity.value if audit.count(severity) else "none")
        for severity in SEVERITIES
    ]
    cards.append(_card(f"{len(audit.excepted):,}", "Excepted"))
    cards.append(_card(f"{audit.files:,}", f"{'File' if audit.files == 1 else 'Files'}, {size(audit.bytes)}"))
    cards.append(_card(tokens(audit.tokens), "Tokens, estimated"))
    cards.append(_card(f"{audit.events:,}", f"Events, {counted(audit.refused, 'call')} refused"))
    state = {"intact": "clean", "broken": "fail", "unknown": "warn", "none": "none"}.get(audit.chain.state, "none")
    words = audit.chain.words.removeprefix(f"{audit.chain.state}, ")
    cards.append(_card(audit.chain.state.capitalize(), f"Journal: {words}", state))
    figures = _figures(audit)
    return (
        f'<section id="at-a-glance" aria-label="At a glance">\n<ul class="cards">{"".join(cards)}</ul>\n'
        f'<div class="figures">{figures}</div>{_budgets(audit.budgets)}\n</section>\n'
    )


def _card(number: str, words: str, css: str = "") -> str:
    return f'<li class="card {css}"><b>{_text(number)}</b><span>{_text(words, 200)}</span></li>'


def _figures(audit: Audit) -> str:
    growth = audit.growth
    if growth is None or not growth.at_us:
        words = "It was not asked for." if growth is None else "There is no journal, so how it went is not known."
        families = _by_family(audit)
        return _figure("Over time", words, "") + (_figure("Findings", "By family.", families) if families else "")
    return _files(growth) + _bytes(growth) + _who(growth) + _over_time(audit, growth)


def _budgets(budgets: Sequence[Budget]) -> str:
    """How much of each limit is used, as a bar; also in words, for who sees no color."""
    if not budgets:
        return ""
    rows = []
    for budget in budgets:
        css, words = (
            ("fail", "over")
            if budget.is_over
            else ("warn", "used up" if budget.used == budget.of else "nearly used up")
            if budget.is_near
            else ("clean", "")
        )
        write = size if budget.name == "bytes" else "{:,}".format
        rows.append(
            f'<tr><th scope="row">{budget.name}</th>'
            f'<td class="bar"><i class="{css}" style="width:{100 * min(budget.share, 1):.1f}%"></i></td>'
            f"<td>{write(budget.used)} of {write(budget.of)}</td>"
            f"<td>{', '.join(filter(None, (budget.percent, words)))}</td></tr>"
        )
    head = "<tr><th>what</th><th></th><th>used</th><th>share</th></tr>"
    table = f'<table class="shares"><thead class="unseen">{head}</thead><tbody>{"".join(rows)}</tbody></table>'
    return f'<div class="budgets">{_figure("Budgets", "How much of what the folder may hold is used.", table)}</div>'


def _files(growth: Growth) -> str:
    words = f"{counted(growth.files[-1], 'file')} now{_once(growth, f'{growth.files[0]:,}')}."
    series = Series("files", "s0", growth.files)
    chart = charts.line("Files over time", words, growth.at_us, series, charts.number, unit="files")
    rows = [(when(at), f"{files:,}") for at, files in zip(growth.at_us, growth.files, strict=True)]
    return _figure("Files", words, chart + _numbers(("when", "files"), rows))


def _bytes(growth: Growth) -> str:
    words = f"{size(growth.bytes[-1])} now{_once(growth, size(growth.bytes[0]))}."
    chart = charts.line("Bytes over time", words, growth.at_us, Series("bytes", "s2", growth.bytes), _tick, base=1_024)
    rows = [(when(at), f"{octets:,}") for at, octets in zip(growth.at_us, growth.bytes, strict=True)]
    return _figure("Size", words, chart + _numbers(("when", "bytes"), rows))


def _once(growth: Growth, then: str) -> str:
    first, last = day(growth.at_us[0]), day(growth.at_us[-1])
    if len(growth.at_us) < 2:
        return ""
    return f", {then} at first" if first == last else f", {then} on {first}"


def _who(growth: Growth) -> str:
    writes = {name: counts for name, counts in growth.writes.items() if any(counts)}
    if not writes:
        return _figure("Who wrote", "Nobody has changed anything yet.", "")
    parts = _actors(writes, growth.gathered)
    total = sum(sum(part.values) for part in parts)
    hands = len(writes) + max(growth.gathered - 1, 0)
    words = f"{counted(total, 'change')} by {counted(hands, 'actor')} since {day(growth.at_us[0])}"
    if len(growth.at_us) > 1:
        words += f", {span((growth.at_us[-1] - growth.at_us[0]) / (len(growth.at_us) - 1))} a column"
    words += "."
    title = "Changes over time, by who made them"
    chart = charts.stacked_columns(title, words, growth.at_us, parts, unit="changes")
    shares = _shares([(part.name, part.css, sum(part.values)) for part in parts], total)
    rows = [(when(at), *(f"{part.values[number]:,}" for part in parts)) for number, at in enumerate(growth.at_us)]
    return _figure("Who wrote", words, chart + shares + _numbers(("when", *(part.name for part in parts)), rows))


def _actors(writes: Mapping[str, Sequence[int]], gathered: int) -> list[Series]:
    """Those who wrote most, each in a color of its own, and the rest together; so many of these already are."""
    alone = [name for name in writes if not gathered or name != OTHERS]
    most = sorted(alone, key=lambda name: -sum(writes[name]))
    parts = [Series(hand(name), f"s{number}", writes[name]) for number, name in enumerate(most[:_ACTORS])]
    rest = most[_ACTORS:]
    if number := len(rest) + gathered:
        others = [counts for name, counts in writes.items() if name not in most[:_ACTORS]]
        together = [sum(counts) for counts in zip(*others, strict=True)]
        parts.append(Series(f"{number:,} others" if number > 1 else hand(rest[0]), "s9", together))
    return parts


def _shares(shares: Sequence[tuple[str, str, int]], total: int) -> str:
    rows = [
        f'<tr><th scope="row"><i class="swatch {css}"></i>{_name(name, 60)}</th>'
        f'<td class="bar"><i class="{css}" style="width:{100 * number / max(total, 1):.1f}%"></i></td>'
        f"<td>{number:,}</td><td>{_percent(number, total)}</td></tr>"
        for name, css, number in shares
    ]
    head = "<tr><th>who</th><th></th><th>changes</th><th>share</th></tr>"
    return f'<table class="shares"><thead class="unseen">{head}</thead><tbody>{"".join(rows)}</tbody></table>'


def _percent(number: int, of: int) -> str:
    """A share as people read it; none that is anything is `0%`, and none but all is `100%`."""
    share = 100 * number / max(of, 1)
    return "under 1%" if 0 < share < 1 else "over 99%" if 99 < share < 100 else f"{share:.0f}%"


def _over_time(audit: Audit, growth: Growth) -> str:
    none = (0,) * len(growth.at_us)
    parts = [Series(each.value, each.value, growth.findings.get(each.value, none)) for each in SEVERITIES]
    known = sum(part.values[-1] for part in parts)
    if not known:
        ran = counted(audit.rules, "rule")
        words = "It is not known when any of them was brought in." if audit.findings else f"{ran} ran and found none."
        return _figure("Findings", words, _by_family(audit))
    words = f"{counted(known, 'finding')} of today, by when they were brought in."
    chart = charts.stacked_steps("Findings over time, by severity", words, growth.at_us, parts, unit="findings")
    rows = [(when(at), *(f"{part.values[number]:,}" for part in parts)) for number, at in enumerate(growth.at_us)]
    table = _numbers(("when", *(part.name for part in parts)), rows)
    return _figure("Findings", words, chart + _by_family(audit) + table)


def _by_family(audit: Audit) -> str:
    """How many findings of each family there are, as bars in the colors of the severities; it is the legend too."""
    counts = {
        family: [
            sum(found.family is family and found.severity is each for found in audit.findings) for each in SEVERITIES
        ]
        for family in Family
    }
    most = max(map(sum, counts.values()))
    if not most:
        return ""
    rows = []
    for family, by_severity in counts.items():
        if not sum(by_severity):
            continue
        bars = "".join(
            f'<i class="{each.value}" style="width:{100 * number / most:.1f}%"></i>'
            for each, number in zip(SEVERITIES, by_severity, strict=True)
            if number
        )
        cells = "".join(f'<td class="{"" if number else "zero"}">{number:,}</td>' for number in by_severity)
        rows.append(f'<tr><th scope="row">{_FAMILIES[family]}</th><td class="bar">{bars}</td>{cells}</tr>')
    head = "".join(f'<th scope="col"><i class="swatch {each.value}"></i>{each.value}</th>' for each in SEVERITIES)
    return (
        f'<table class="shares"><thead><tr><th></th><th></th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )


def _tick(octets: float) -> str:
    return size(round(octets)).replace(".0 ", " ")


def _figure(title: str, words: str, inside: str) -> str:
    return f"<figure><figcaption><h2>{title}</h2><p>{html.escape(words)}</p></figcaption>{inside}</figure>"


def _numbers(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The numbers of a chart, for who would rather read them."""
    titles = "".join(f'<th scope="col">{_name(title, 40)}</th>' for title in head)
    lines = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return (
        '<details class="numbers"><summary>The numbers</summary><div class="wide" tabindex="0" role="region" '
        f'aria-label="The numbers"><table><thead><tr>{titles}</tr></thead><tbody>{lines}</tbody></table></div>'
        "</details>"
    )


def _findings(audit: Audit) -> str:
    if not audit.findings:
        inside = '<p class="nothing">Nothing was found.</p>'
    else:
        tells_origins = knows_origins(audit)
        items = "".join(_finding(found, tells_origin=tells_origins) for found in audit.findings[:MOST])
        note = "" if tells_origins else f'<p class="since">{UNTOLD}</p>'
        inside = f'{note}{_filters(audit)}<ol class="findings">{items}</ol>'
        if left := len(audit.findings) - MOST:
            inside += f"<p>{counted(left, 'finding')} more: see memtui audit --format json.</p>" if left > 0 else ""
    return f'<section id="findings"><h2>Findings</h2>\n{inside}</section>\n'


def _filters(audit: Audit) -> str:
    """Buttons that show some findings only, without a script: what is not chosen is not displayed."""
    severities = [each for each in SEVERITIES if audit.count(each)]
    families = [each for each in Family if any(found.family is each for found in audit.findings)]
    if len(audit.findings) < 2:
        return ""
    pills = []
    for group, chosen in (
        ("severity", [each.value for each in severities]),
        ("family", [each.value for each in families]),
    ):
        if len(chosen) < 2:
            continue
        pills += [
            f'<input type="radio" name="{group}" id="{group}-{value}" aria-label="{group}: {value}"'
            f'{" checked" if value == "all" else ""}><label for="{group}-{value}">{value}</label>'
            for value in ("all", *chosen)
        ]
        pills.append('<i class="gap"></i>')
    return "".join(pills)


def _finding(found: Finding, *, tells_origin: bool) -> str:
    who, *details = because(found.origin)
    origin = "".join(f", {_text(part, 160)}" for part in details)
    evidence = "\n".join(_text(line, _EVIDENCE) for line in found.evidence.split("\n")[:12])
    return (
        f'<li class="finding {found.severity.value} {found.family.value}">'
        f'<p class="head"><span class="badge {found.severity.value}">{found.severity.value}</span> '
        f'<code class="rule">{_text(found.rule)}</code> <code class="place">{_name(where(found.place))}</code></p>'
        f'<p class="words">{_name(said(found.words))}</p>'
        + (f'<pre class="evidence"><code>{evidence}</code></pre>' if found.evidence else "")
        + f'<p class="do"><b>What to do:</b> {_name(found.do)}</p>'
        + (f'<p class="origin">Brought in by: <b>{_name(who, 160)}</b>{origin}</p>' if tells_origin else "")
        + "</li>\n"
    )


def _changes(inbox: Inbox) -> str:
    problem = f'<p class="notice warn">{_name(inbox.problem)}</p>' if inbox.problem else ""
    if not inbox.files:
        table = '<p class="nothing">Nothing changed.</p>'
    else:
        rows = "".join(_change(changed) for changed in inbox.files[:MOST])
        head = "<tr><th>change</th><th>file</th><th>lines</th><th>by</th><th>review</th></tr>"
        table = _wide("Changes", f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>")
        if len(inbox.files) > MOST:
            table += f"<p>{counted(len(inbox.files) - MOST, 'file')} more: see memtui audit --format json.</p>"
    return (
        f'<section id="changes"><h2>Changes</h2>\n<p class="since">Since {_name(inbox.since_words)}</p>{problem}{table}'
        "</section>\n"
    )


def _change(changed: ChangedFile) -> str:
    was = f'<span class="was">was {_name(changed.was, 300)}</span>' if changed.was else ""
    lines = ""
    if changed.added is not None:
        lines = f'<span class="added">+{changed.added:,}</span> <span class="removed">-{changed.removed or 0:,}</span>'
    who = ", ".join(_name(hand(actor), 60) for actor in changed.actors[:6])
    if len(changed.actors) > 6:
        who += f" and {len(changed.actors) - 6} more"
    said = [
        f'<span class="mark {mark.verdict.value}">{mark.verdict.value}</span> by {_name(mark.reviewer, 60)}'
        + (f": {_name(without_secrets(mark.words), 300)}" if mark.words else "")
        for mark in changed.marks
    ]
    return (
        f"<tr><td>{html.escape(changed.sign)} {CHANGES[changed.sign]}</td>"
        f'<td><code>{_name(changed.path, 300)}</code>{was}</td><td class="lines">{lines}</td><td>{who}</td>'
        f"<td>{'<br>'.join(said) or changed.changed_since or 'open'}</td></tr>"
    )


def _lost(runs: Sequence[Run]) -> str:
    losing = [run for run in runs if run.lost or run.unsearched]
    if not losing:
        return ""
    inside = ""
    for run in losing:
        inside += (
            f'<p class="since">A run of {_name(hand(run.actor), 160)}, {when(run.at_us)}, events {run.first:,} to '
            f"{run.last:,}, {counted(len(run.paths), 'file')}, +{run.added:,} -{run.removed:,} lines. "
        )
        if run.lost:
            inside += 'What it dropped stands nowhere any more:</p><ul class="lost">' + "".join(map(_fact, run.lost))
            inside += f"<li>{run.unlisted:,} more are not listed.</li></ul>" if run.unlisted else "</ul>"
        else:
            inside += "</p>"
        if run.unsearched:
            inside += f'<p class="since">More may be lost: {html.escape(run.unsearched)}.</p>'
    return f'<section id="lost"><h2>Facts lost</h2>\n{inside}</section>\n'


def _fact(fact: LostFact) -> str:
    place = _name(f"{fact.path}:{fact.line}", 300)
    return f"<li><code>{place}</code> <q>{_name(without_secrets(fact.text).strip())}</q></li>"


def _more(audit: Audit) -> str:
    """What is in order, what does not count, and what did not run."""
    excepted = [
        f"<code>{_text(each.finding.rule)}</code> <code>{_name(where(each.finding.place))}</code> {_name(each.reason)}"
        + (f" <span>until {_text(each.until)}</span>" if each.until else "")
        for each in audit.excepted[:MOST]
    ]
    parts = (
        ("In order", [f"<b>{_name(each.name)}</b> {_name(each.words)}" for each in audit.passed], True),
        ("Exemptions that hold no more", [_name(each) for each in audit.expired], True),
        ("Excepted", excepted, False),
        (
            "Rules that did not run",
            [f"<code>{_text(each.rule)}</code> {_name(each.reason)}" for each in audit.skipped],
            False,
        ),
    )
    inside = "".join(_folded(title, items, is_open=is_open) for title, items, is_open in parts if items)
    return f'<section id="more" aria-label="What else there is to say">{inside}</section>\n' if inside else ""


def _folded(title: str, items: Sequence[str], *, is_open: bool) -> str:
    lines = "".join(f"<li>{item}</li>" for item in items)
    return (
        f'<details class="fold"{" open" if is_open else ""}><summary><h2>{title}</h2> '
        f'<span class="count">{len(items):,}</span></summary><ul>{lines}</ul></details>'
    )


def _made(audit: Audit) -> str:
    chain = audit.chain
    facts = [
        ("Tool", f"memtui {_text(audit.version)}".strip()),
        ("Rules", f"{counted(audit.rules, 'rule')} ran, digest <code>{_text(audit.digest or 'none')}</code>"),
        ("Journal", _name(chain.words)),
        ("Head of the chain", f"<code>{chain.seq}:{_text(chain.hash)}</code>" if chain.hash else "there is none"),
        ("Time", ", ".join(f"{_text(name)} {value:.2f} s" for name, value in audit.seconds.items()) or "not measured"),
        (
            "Settings",
            ", ".join(f"<code>{_text(k)} = {_text(v)}</code>" for k, v in audit.settings.items()) or "as they come",
        ),
        ("Neutral", " ".join(_name(sentence) for sentence in audit.neutral) or "The folder was only read."),
    ]
    rows = "".join(f"<dt>{name}</dt><dd>{words}</dd>" for name, words in facts)
    note = (
        "Note the head down somewhere else: it proves later that the record was not rewritten (memtui verify --head)."
    )
    return (
        f'<section id="made"><h2>How it was made</h2>\n<dl>{rows}</dl>\n'
        + (f'<p class="since">{note}</p>' if chain.hash else "")
        + "</section>\n"
    )


def _wide(title: str, table: str) -> str:
    """A table that scrolls sideways by itself where the page is narrow."""
    return f'<div class="wide" tabindex="0" role="region" aria-label="{title}">{table}</div>'
