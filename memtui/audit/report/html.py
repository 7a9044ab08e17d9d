"""The report as one page: for people who were not there, with charts, light and dark, and on paper.

The page runs no script and loads nothing: its own policy forbids both. Whatever is from outside is escaped, and what is
hidden in it is made visible, so that a note cannot become a part of the page.
"""

import html
from collections.abc import Mapping, Sequence
from importlib import resources

from memtui.audit.growth import OTHERS
from memtui.audit.masking import mask_message
from memtui.audit.model import Audit, AuditFinding, AuditGrowth, Family
from memtui.audit.ranking import SHOWN, FindingGroup, group_findings
from memtui.audit.report import charts
from memtui.audit.report.charts import ChartSeries
from memtui.audit.report.wording import (
    CHANGES,
    NO_ORIGINS,
    SEVERITIES,
    TITLES,
    describe_origin,
    describe_suppression,
    find_worst_severity,
    format_actor,
    format_day,
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
from memtui.core.settings import Budget
from memtui.core.wording import PLAIN, format_count, format_duration, format_short_count, format_size
from memtui.review.inbox import ChangedFile, ChangeRun, Inbox, LostFact

# The style sheet of a report, legible in light, in dark and on paper.

STYLE = "\n" + resources.files("memtui.audit.report").joinpath("report.css").read_text(encoding="utf-8")
for _group, _values in (
    ("severity", ("fail", "warn", "info")),
    ("family", ("secret", "hidden", "planted", "coverage", "integrity", "upkeep", "claims")),
):
    for _value in _values:
        STYLE += f"#{_group}-{_value}:checked~.findings .finding:not(.{_value}){{display:none}}\n"


MOST = 5_000
"""Findings, and changed files, that a page shows; more would not be scrolled through."""
_FEWEST_AUDITS = 3
"""Audits of which a chart is drawn."""
_MEMBERS = 500
"""Findings of a group that a page lists."""
_EVIDENCE = 600
_SENTENCE = 1_200
_ACTORS = 4  # actors that have a color of their own; the rest are gathered
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_FAMILIES = {
    Family.SECRET: "Secrets",
    Family.HIDDEN: "Deceptive text",
    Family.PLANTED: "Planted instructions",
    Family.COVERAGE: "Not looked at",
    Family.INTEGRITY: "Integrity",
    Family.UPKEEP: "Upkeep",
    Family.CLAIMS: "Claims",
}


def render_html(audit: Audit) -> str:
    """The report as one HTML document."""
    sections = [
        _render_glance(audit),
        _render_findings(audit),
        _render_changes(audit.inbox) if audit.inbox is not None else "",
        _render_lost_facts(audit.inbox.runs) if audit.inbox is not None else "",
        _render_figures(audit),
        _render_appendix(audit),
        _render_colophon(audit),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>memtui audit of {_escape_text(audit.title, 200)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"{_render_header(audit)}<main>\n{''.join(sections)}</main>\n</body>\n</html>\n"
    )


def _escape_text(text: str, limit: int = _SENTENCE) -> str:
    """A text from outside, for the inside of an element."""
    return html.escape(sanitize_text(text, limit=limit))


def _escape_name(text: str, limit: int = _SENTENCE) -> str:
    """A name from outside: the letters around it keep their direction whatever its own is."""
    return f"<bdi>{_escape_text(text, limit)}</bdi>"


def _render_header(audit: Audit) -> str:
    gravest = find_worst_severity(audit)
    css = gravest.value if gravest else "clean"
    links = [("at-a-glance", "At a glance"), ("findings", "Findings")]
    if audit.inbox is not None:
        links.append(("changes", "Changes"))
        if any(run.lost or run.unsearched for run in audit.inbox.runs):
            links.append(("lost", "Facts lost"))
    if _render_figures(audit):
        links.append(("figures", "In figures"))
    links.append(("made", "How it was made"))
    trend = f'<p class="since">{format_trend(audit.trend)}.</p>\n' if audit.trend is not None else ""
    trend += f'<p class="since">{_escape_text(audit.opinions)}</p>\n' if audit.opinions else ""
    navigation = "".join(f'<a href="#{target}">{words}</a>' for target, words in links)
    return (
        f'<header>\n<p class="eyebrow">memtui audit</p>\n<h1>{_escape_name(audit.title, 300)}</h1>\n'
        f'<p class="taken">As it was on {format_minute(audit.taken_us)}</p>\n'
        f'<p class="verdict {css}"><strong>{css.upper()}</strong> <span>'
        f"{html.escape(format_verdict(audit))}</span></p>\n{trend}"
        f'<nav aria-label="Sections">{navigation}</nav>\n</header>\n'
    )


def _render_glance(audit: Audit) -> str:
    counts = {severity: audit.count_findings(severity) for severity in SEVERITIES}
    files = "File" if audit.files == 1 else "Files"
    cards = [
        *(_render_card(f"{counts[each]:,}", TITLES[each], each.value if counts[each] else "none") for each in counts),
        _render_card(
            f"{len(audit.excepted):,}", ": ".join(filter(None, ("Excepted", format_suppressed_counts(audit))))
        ),
        _render_card(f"{audit.files:,}", f"{files}, {format_size(audit.bytes, PLAIN)}"),
        _render_card(f"~{format_short_count(audit.tokens)}", "Tokens, estimated"),
        _render_card(f"{audit.events:,}", f"Events, {format_count(audit.refused, 'call')} refused"),
    ]
    state = {"intact": "clean", "broken": "fail", "unknown": "warn", "none": "none"}.get(audit.chain.state, "none")
    words = audit.chain.words.removeprefix(f"{audit.chain.state}, ")
    cards.append(_render_card(audit.chain.state.capitalize(), f"Journal: {words}", state))
    return f'<section id="at-a-glance" aria-label="At a glance">\n<ul class="cards">{"".join(cards)}</ul>\n</section>\n'


def _render_card(number: str, words: str, css: str = "") -> str:
    return f'<li class="card {css}"><b>{_escape_text(number)}</b><span>{_escape_text(words, 200)}</span></li>'


def _render_figures(audit: Audit) -> str:
    """How the folder went over time, the findings by family, and the budgets, as far as there is anything to draw."""
    growth = audit.growth if audit.growth is not None and audit.growth.at_us else None
    figures = _render_findings_chart(audit, growth) + _render_trend_chart(audit)
    if growth is not None:
        figures += _render_writers_chart(growth)
        if len(growth.at_us) > 1:
            figures += _render_files_chart(growth) + _render_bytes_chart(growth)
    budgets = _render_budgets(audit.budgets)
    if not figures and not budgets:
        return ""
    inside = f'<div class="figures">{figures}</div>{budgets}'
    return f'<section id="figures"><h2>In figures</h2>\n{inside}\n</section>\n'


def _render_budgets(budgets: Sequence[Budget]) -> str:
    """How much of each limit is used, as a bar; also in words, for who sees no color."""
    if not budgets:
        return ""
    rows = []
    for budget in budgets:
        css, words = "clean", ""
        if budget.is_over:
            css, words = "fail", "over"
        elif budget.is_near:
            css, words = "warn", "used up" if budget.used == budget.limit else "nearly used up"
        write = format_size if budget.name == "bytes" else "{:,}".format
        rows.append(
            f'<tr><th scope="row">{budget.name}</th>'
            f'<td class="bar"><i class="{css}" style="width:{100 * min(budget.share, 1):.1f}%"></i></td>'
            f"<td>{write(budget.used)} of {write(budget.limit)}</td>"
            f"<td>{', '.join(filter(None, (budget.percent, words)))}</td></tr>"
        )
    head = "<tr><th>what</th><th></th><th>used</th><th>share</th></tr>"
    table = f'<table class="shares"><thead class="unseen">{head}</thead><tbody>{"".join(rows)}</tbody></table>'
    figure = _render_figure("Budgets", "How much of what the folder may hold is used.", table)
    return f'<div class="budgets">{figure}</div>'


def _render_files_chart(growth: AuditGrowth) -> str:
    words = f"{format_count(growth.files[-1], 'file')} now{_describe_initial_value(growth, f'{growth.files[0]:,}')}."
    series = ChartSeries("files", "s0", growth.files)
    chart = charts.draw_line("Files over time", words, growth.at_us, series, charts.format_number, unit="files")
    return _render_figure("Files", words, chart + _render_numbers(growth.at_us, [series]))


def _render_bytes_chart(growth: AuditGrowth) -> str:
    first, last = (format_size(growth.bytes[at], PLAIN) for at in (0, -1))
    words = f"{last} now{_describe_initial_value(growth, first)}."
    series = ChartSeries("bytes", "s2", growth.bytes)
    chart = charts.draw_line("Bytes over time", words, growth.at_us, series, _format_tick, base=1_024)
    return _render_figure("Size", words, chart + _render_numbers(growth.at_us, [series]))


def _describe_initial_value(growth: AuditGrowth, then: str) -> str:
    first, last = format_day(growth.at_us[0]), format_day(growth.at_us[-1])
    if len(growth.at_us) < 2:
        return ""
    return f", {then} at first" if first == last else f", {then} on {first}"


def _render_writers_chart(growth: AuditGrowth) -> str:
    writes = {name: counts for name, counts in growth.writes.items() if any(counts)}
    if not writes:
        return ""
    parts = _rank_actors(writes, growth.gathered)
    total = sum(sum(part.values) for part in parts)
    hands = len(writes) + max(growth.gathered - 1, 0)
    words = f"{format_count(total, 'change')} by {format_count(hands, 'actor')} since {format_day(growth.at_us[0])}"
    if len(growth.at_us) > 1:
        words += f", {format_duration((growth.at_us[-1] - growth.at_us[0]) / (len(growth.at_us) - 1) / 1e6)} a column"
    words += "."
    title = "Changes over time, by who made them"
    chart = charts.draw_stacked_columns(title, words, growth.at_us, parts, unit="changes")
    shares = _render_shares([(part.name, part.css, sum(part.values)) for part in parts], total)
    return _render_figure("Who wrote", words, chart + shares + _render_numbers(growth.at_us, parts))


def _rank_actors(writes: Mapping[str, Sequence[int]], gathered: int) -> list[ChartSeries]:
    """Those who wrote most, each in a color of its own, and the rest together; so many of these already are."""
    alone = [name for name in writes if not gathered or name != OTHERS]
    most = sorted(alone, key=lambda name: -sum(writes[name]))
    parts = [ChartSeries(format_actor(name), f"s{number}", writes[name]) for number, name in enumerate(most[:_ACTORS])]
    rest = most[_ACTORS:]
    if number := len(rest) + gathered:
        others = [counts for name, counts in writes.items() if name not in most[:_ACTORS]]
        together = [sum(counts) for counts in zip(*others, strict=True)]
        parts.append(ChartSeries(f"{number:,} others" if number > 1 else format_actor(rest[0]), "s9", together))
    return parts


def _render_shares(shares: Sequence[tuple[str, str, int]], total: int) -> str:
    rows = [
        f'<tr><th scope="row"><i class="swatch {css}"></i>{_escape_name(name, 60)}</th>'
        f'<td class="bar"><i class="{css}" style="width:{100 * number / max(total, 1):.1f}%"></i></td>'
        f"<td>{number:,}</td><td>{_format_percent(number, total)}</td></tr>"
        for name, css, number in shares
    ]
    head = "<tr><th>who</th><th></th><th>changes</th><th>share</th></tr>"
    return f'<table class="shares"><thead class="unseen">{head}</thead><tbody>{"".join(rows)}</tbody></table>'


def _format_percent(number: int, of: int) -> str:
    """A share as people read it; none that is anything is `0%`, and none but all is `100%`."""
    share = 100 * number / max(of, 1)
    return "under 1%" if 0 < share < 1 else "over 99%" if 99 < share < 100 else f"{share:.0f}%"


def _render_findings_chart(audit: Audit, growth: AuditGrowth | None) -> str:
    """By severity over time, as far as that is known, and by family; empty without findings."""
    if not audit.findings:
        return ""
    if growth is None or len(growth.at_us) < 2:
        return _render_figure("Findings", "By family and severity.", _render_family_bars(audit))
    none = (0,) * len(growth.at_us)
    parts = [ChartSeries(each.value, each.value, growth.findings.get(each.value, none)) for each in SEVERITIES]
    known = sum(part.values[-1] for part in parts)
    if not known:
        words = "It is not known when any of them was brought in."
        return _render_figure("Findings", words, _render_family_bars(audit))
    words = f"{format_count(known, 'finding')} of today, by when they were brought in."
    chart = charts.draw_stacked_steps("Findings over time, by severity", words, growth.at_us, parts, unit="findings")
    table = _render_numbers(growth.at_us, parts)
    return _render_figure("Findings", words, chart + _render_family_bars(audit) + table)


def _render_trend_chart(audit: Audit) -> str:
    """How many findings each audit had, of three or more."""
    if audit.trend is None or len(audit.trend.audits) < _FEWEST_AUDITS - 1:
        return ""
    before = audit.trend.audits
    moments = [*(each.taken_us for each in before), audit.taken_us]
    fail, warn, info = map(audit.count_findings, SEVERITIES)
    parts = [
        ChartSeries("fail", "fail", (*(each.fail for each in before), fail)),
        ChartSeries("warn", "warn", (*(each.warn for each in before), warn)),
        ChartSeries("info", "info", (*(each.info for each in before), info)),
    ]
    words = f"How many each of {len(moments):,} audits had."
    chart = charts.draw_stacked_columns("Findings, audit by audit", words, moments, parts, unit="findings")
    return _render_figure("Audit by audit", words, chart + _render_numbers(moments, parts))


def _render_family_bars(audit: Audit) -> str:
    """How many findings of each family there are, as bars in the colors of the severities; it is the legend too."""
    counts = {
        family: [
            sum(found.family is family and found.severity is each for found in audit.findings) for each in SEVERITIES
        ]
        for family in Family
    }
    most = max(map(sum, counts.values()))
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
    head = f"<tr><th></th><th></th>{head}</tr>"
    return f'<table class="shares"><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>'


def _format_tick(octets: float) -> str:
    return format_size(round(octets), PLAIN).replace(".0 ", " ")


def _render_figure(title: str, words: str, inside: str) -> str:
    return f"<figure><figcaption><h2>{title}</h2><p>{html.escape(words)}</p></figcaption>{inside}</figure>"


def _render_numbers(at_us: Sequence[int], parts: Sequence[ChartSeries]) -> str:
    """The numbers of a chart as a table, for readers without the picture."""
    names = ("when", *(part.name for part in parts))
    titles = "".join(f'<th scope="col">{_escape_name(name, 40)}</th>' for name in names)
    rows = [(format_minute(at), *(f"{part.values[number]:,}" for part in parts)) for number, at in enumerate(at_us)]
    lines = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return (
        '<details class="numbers"><summary>The numbers</summary>'
        + _wrap_wide_table("The numbers", f"<table><thead><tr>{titles}</tr></thead><tbody>{lines}</tbody></table>")
        + "</details>"
    )


def _render_findings(audit: Audit) -> str:
    if not audit.findings:
        inside = '<p class="nothing">Nothing was found.</p>'
    else:
        tells_origins = has_known_origins(audit)
        groups = group_findings(audit.findings)
        items = "".join(_render_group(group, tells_origin=tells_origins) for group in groups[:MOST])
        note = "" if tells_origins else f'<p class="since">{NO_ORIGINS}</p>'
        inside = f'{note}{_render_filters(audit)}<ol class="findings">{items}</ol>'
        if left := sum(len(group.findings) for group in groups[MOST:]):
            inside += f"<p>{format_count(left, 'finding')} more: see memtui audit --format json.</p>"
    return f'<section id="findings"><h2>Findings</h2>\n{inside}</section>\n'


def _render_filters(audit: Audit) -> str:
    """Buttons that show some findings only, without a script: what is not chosen is not displayed."""
    severities = [each.value for each in SEVERITIES if audit.count_findings(each)]
    families = [each.value for each in Family if any(found.family is each for found in audit.findings)]
    if len(audit.findings) < 2:
        return ""
    pills = []
    for group, chosen in (("severity", severities), ("family", families)):
        if len(chosen) < 2:
            continue
        pills += [
            f'<input type="radio" name="{group}" id="{group}-{value}" aria-label="{group}: {value}"'
            f'{" checked" if value == "all" else ""}><label for="{group}-{value}">{value}</label>'
            for value in ("all", *chosen)
        ]
        pills.append('<i class="gap"></i>')
    return "".join(pills)


def _render_group(group: FindingGroup, *, tells_origin: bool) -> str:
    """A finding, or findings with one cause: the first few places, and the others folded."""
    found, is_single = group.worst, group.cause is None
    who, *details = describe_origin(found.origin)
    origin = "".join(f", {_escape_text(part, 160)}" for part in details)
    where = f'<span class="place">{format_count(len(group.findings), "place")}</span>'
    inside = _render_evidence(found) if is_single else _render_members(group)
    brought = "Brought in by" if is_single else "The first was brought in by"
    return (
        f'<li class="finding {found.severity.value} {found.family.value}">'
        f'<p class="head"><span class="badge {found.severity.value}">{found.severity.value}</span> '
        f'<code class="rule">{_escape_text(found.rule)}</code> {_render_place(found) if is_single else where}</p>'
        f'<p class="words">{_escape_name(format_message(found.words if is_single else group.words))}</p>'
        f'{inside}<p class="do"><b>What to do:</b> {_escape_name(found.do)}</p>'
        + (f'<p class="origin">{brought}: <b>{_escape_name(who, 160)}</b>{origin}</p>' if tells_origin else "")
        + "</li>\n"
    )


def _render_members(group: FindingGroup) -> str:
    items = [
        f"<li>{_render_place(found)} "
        + ("" if group.is_uniform else f"<span>{_escape_name(format_message(found.words))}</span>")
        + f"{_render_evidence(found)}</li>"
        for found in group.findings[:_MEMBERS]
    ]
    if (left := len(group.findings) - _MEMBERS) > 0:
        items.append(f"<li>{left:,} more: see memtui audit --format json.</li>")
    shown, folded = (f'<ul class="members">{"".join(part)}</ul>' for part in (items[:SHOWN], items[SHOWN:]))
    if (more := len(group.findings) - SHOWN) > 0:
        shown += f"<details><summary>and {more:,} more</summary>{folded}</details>"
    return shown


def _render_place(found: AuditFinding) -> str:
    return f'<code class="place">{_escape_name(format_location(found.location))}</code>'


def _render_evidence(found: AuditFinding) -> str:
    opinion = f"<p>{_escape_text(format_opinion(found.opinion))}</p>" if found.opinion is not None else ""
    if not found.evidence:
        return opinion
    evidence = "\n".join(_escape_text(line, _EVIDENCE) for line in found.evidence.split("\n")[:12])
    return f'<pre class="evidence"><code>{evidence}</code></pre>{opinion}'


def _render_changes(inbox: Inbox) -> str:
    problem = f'<p class="notice warn">{_escape_name(inbox.problem)}</p>' if inbox.problem else ""
    if not inbox.files:
        table = '<p class="nothing">Nothing changed.</p>'
    else:
        rows = "".join(_render_change(changed) for changed in inbox.files[:MOST])
        head = "<tr><th>change</th><th>file</th><th>lines</th><th>by</th><th>review</th></tr>"
        table = _wrap_wide_table("Changes", f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>")
        if len(inbox.files) > MOST:
            table += f"<p>{format_count(len(inbox.files) - MOST, 'file')} more: see memtui audit --format json.</p>"
    since = f'<p class="since">Since {_escape_name(inbox.since_words)}</p>'
    return f'<section id="changes"><h2>Changes</h2>\n{since}{problem}{table}</section>\n'


def _render_change(changed: ChangedFile) -> str:
    was = f'<span class="was">was {_escape_name(changed.previous_path, 300)}</span>' if changed.previous_path else ""
    lines = ""
    if changed.added is not None:
        lines = f'<span class="added">+{changed.added:,}</span> <span class="removed">-{changed.removed or 0:,}</span>'
    who = ", ".join(_escape_name(format_actor(actor), 60) for actor in changed.actors[:6])
    if len(changed.actors) > 6:
        who += f" and {len(changed.actors) - 6} more"
    parts = [
        f'<span class="mark {mark.verdict.value}">{mark.verdict.value}</span> by {_escape_name(mark.reviewer, 60)}'
        + (f": {_escape_name(mask_message(mark.words), 300)}" if mark.words else "")
        for mark in changed.marks
    ]
    return (
        f"<tr><td>{html.escape(changed.sign)} {CHANGES[changed.sign]}</td>"
        f'<td><code>{_escape_name(changed.path, 300)}</code>{was}</td><td class="lines">{lines}</td><td>{who}</td>'
        f"<td>{'<br>'.join(parts) or changed.staleness_note or 'open'}</td></tr>"
    )


def _render_lost_facts(runs: Sequence[ChangeRun]) -> str:
    losing = [run for run in runs if run.lost or run.unsearched]
    if not losing:
        return ""
    inside = ""
    for run in losing:
        inside += (
            f'<p class="since">A run of {_escape_name(format_actor(run.actor), 160)}'
            f", {format_minute(run.at_us)}, events {run.first:,} to "
            f"{run.last:,}, {format_count(len(run.paths), 'file')}, +{run.added:,} -{run.removed:,} lines. "
        )
        if run.lost:
            inside += 'What it dropped stands nowhere any more:</p><ul class="lost">' + "".join(
                map(_render_fact, run.lost)
            )
            inside += f"<li>{run.unlisted:,} more are not listed.</li></ul>" if run.unlisted else "</ul>"
        else:
            inside += "</p>"
        if run.unsearched:
            inside += f'<p class="since">More may be lost: {html.escape(run.unsearched)}.</p>'
    return f'<section id="lost"><h2>Facts lost</h2>\n{inside}</section>\n'


def _render_fact(fact: LostFact) -> str:
    place = _escape_name(f"{fact.path}:{fact.line}", 300)
    return f"<li><code>{place}</code> <q>{_escape_name(mask_message(fact.text).strip())}</q></li>"


def _render_appendix(audit: Audit) -> str:
    """What is in order, what does not count, and what did not run."""
    excepted = [
        (
            f"<code>{_escape_text(each.finding.rule)}</code> <code>"
            f"{_escape_name(format_location(each.finding.location))}</code> {_escape_name(describe_suppression(each))}"
        )
        for each in audit.excepted[:MOST]
    ]
    parts = (
        ("In order", [f"<b>{_escape_name(each.name)}</b> {_escape_name(each.words)}" for each in audit.passed], True),
        ("Exemptions that hold no more", [_escape_name(each) for each in audit.expired], True),
        ("Excepted", excepted, False),
        (
            "Rules that did not run",
            [f"<code>{_escape_text(each.rule)}</code> {_escape_name(each.reason)}" for each in audit.skipped],
            False,
        ),
    )
    inside = "".join(_render_folded(title, items, is_open=is_open) for title, items, is_open in parts if items)
    return f'<section id="more" aria-label="What else there is to say">{inside}</section>\n' if inside else ""


def _render_folded(title: str, items: Sequence[str], *, is_open: bool) -> str:
    lines = "".join(f"<li>{item}</li>" for item in items)
    return (
        f'<details class="fold"{" open" if is_open else ""}><summary><h2>{title}</h2> '
        f'<span class="count">{len(items):,}</span></summary><ul>{lines}</ul></details>'
    )


def _render_colophon(audit: Audit) -> str:
    chain = audit.chain
    facts = [
        ("Tool", f"memtui {_escape_text(audit.version)}".strip()),
        (
            "Rules",
            f"{format_count(audit.rules, 'rule')} ran, digest <code>{_escape_text(audit.digest or 'none')}</code>",
        ),
        ("Journal", _escape_name(chain.words)),
        (
            "Head of the chain",
            f"<code>{chain.seq}:{_escape_text(chain.hash)}</code>" if chain.hash else "there is none",
        ),
        (
            "Time",
            ", ".join(f"{_escape_text(name)} {value:.2f} s" for name, value in audit.seconds.items()) or "not measured",
        ),
        (
            "Settings",
            ", ".join(f"<code>{_escape_text(k)} = {_escape_text(v)}</code>" for k, v in audit.settings.items())
            or "as they come",
        ),
        ("Review", " ".join(map(_escape_name, _list_review_sentences(audit))) or "No review has been ended."),
        ("Neutral", " ".join(_escape_name(sentence) for sentence in audit.neutral) or "The folder was only read."),
    ]
    rows = "".join(f"<dt>{name}</dt><dd>{words}</dd>" for name, words in facts)
    note = "Note the head down somewhere else: it proves later that the record was not rewritten"
    note += " (memtui verify --head)."
    return (
        f'<section id="made"><h2>How it was made</h2>\n<dl>{rows}</dl>\n'
        + (f'<p class="since">{note}</p>' if chain.hash else "")
        + "</section>\n"
    )


def _list_review_sentences(audit: Audit) -> list[str]:
    problem = [audit.review_problem] if audit.review_problem and audit.inbox is None else []
    return [*(format_sign_off(audit.sign_off) if audit.sign_off is not None else ()), *problem]


def _wrap_wide_table(title: str, table: str) -> str:
    """A table that scrolls sideways by itself where the page is narrow."""
    return f'<div class="wide" tabindex="0" role="region" aria-label="{title}">{table}</div>'
