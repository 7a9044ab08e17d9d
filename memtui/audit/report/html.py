"""The report as one page: for people who were not there, with charts, light and dark, and on paper.

What a page says of one folder stands here, for its own page and for that of many (`html_many`).
"""

import html
from collections.abc import Sequence

from memtui.audit.masking import mask_message
from memtui.audit.model import Audit, AuditFinding, Family
from memtui.audit.ranking import SHOWN, FindingGroup, group_findings
from memtui.audit.report.figures import render_figures
from memtui.audit.report.page import (
    escape_name,
    escape_text,
    render_document,
    render_filters,
    render_fold,
    render_navigation,
    render_section,
    wrap_wide_table,
)
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
)
from memtui.core.lazy_dataclass import dataclass
from memtui.core.wording import PLAIN, format_count, format_short_count, format_size
from memtui.review.inbox import ChangedFile, ChangeRun, Inbox, LostFact

MOST = 5_000
"""Findings, and changed files, that a page shows; more would not be scrolled through."""
_MEMBERS = 500
"""Findings of a group that a page lists."""
_EVIDENCE = 600
_ELSEWHERE = "memtui audit --format json"


@dataclass(frozen=True, slots=True)
class FolderExtent:
    """How much of one folder a page of many shows.

    Attributes:
        most: Findings, places of each, and changed files.
        draws: Whether there are charts.
    """

    most: int
    draws: bool


def render_html(audit: Audit) -> str:
    """The report as one HTML document."""
    figures, changes, lost = render_figures(audit), _render_changes(audit.inbox), _render_lost_facts(audit.inbox)
    more = _render_appendix(audit)
    sections = [
        _render_glance(audit),
        render_section("findings", "Findings", _render_filters(audit) + render_findings(audit)),
        render_section("changes", "Changes", changes, css="changes"),
        render_section("lost", "Facts lost", lost),
        render_section("figures", "In figures", figures),
        f'<section id="more" aria-label="More about this audit">{more}</section>\n' if more else "",
        render_section("made", "How it was made", _render_colophon(audit), css="made"),
    ]
    links = [("at-a-glance", "At a glance"), ("findings", "Findings")]
    links += [("changes", "Changes")] if changes else []
    links += [("lost", "Facts lost")] if lost else []
    links += [("figures", "In figures")] if figures else []
    header = _render_header(audit) + render_navigation([*links, ("made", "How it was made")])
    return render_document(f"memtui audit of {audit.title}", header, "".join(sections))


def render_folder(audit: Audit, extent: FolderExtent) -> str:
    """What a page of many folders says of one, without its name; nothing in it has an identifier."""
    files = f"{format_count(audit.files, 'file')}, {format_size(audit.bytes, PLAIN)}"
    most = extent.most
    journal = f"journal {audit.chain.state}, {format_count(audit.events, 'event')}"
    return (
        f'<p class="since">As it was on {format_minute(audit.taken_us)}: {escape_text(f"{files}; {journal}")}.</p>\n'
        + render_findings(audit, most)
        + render_fold("Changes", _render_changes(audit.inbox, most), css="changes", level=3)
        + render_fold("Facts lost", _render_lost_facts(audit.inbox), level=3)
        + render_fold("In figures", render_figures(audit) if extent.draws else "", level=3)
        + _render_appendix(audit, most, level=3, is_open=False)
        + render_fold("How it was made", _render_colophon(audit), css="made", level=3)
    )


def _render_header(audit: Audit) -> str:
    trend = f'<p class="since">{format_trend(audit.trend)}.</p>\n' if audit.trend is not None else ""
    trend += f'<p class="since">{escape_text(audit.opinions)}</p>\n' if audit.opinions else ""
    return (
        f'<p class="eyebrow">memtui audit</p>\n<h1>{escape_name(audit.title, 300)}</h1>\n'
        f'<p class="taken">As it was on {format_minute(audit.taken_us)}</p>\n{render_verdict(audit)}{trend}'
    )


def render_verdict(audit: Audit) -> str:
    """The gravest severity in its colors, and how many there are of each."""
    gravest = find_worst_severity(audit)
    css = gravest.value if gravest else "clean"
    words = html.escape(format_verdict(audit))
    return f'<p class="verdict {css}"><strong>{css.upper()}</strong> <span>{words}</span></p>\n'


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
    return f'<li class="card {css}"><b>{escape_text(number)}</b><span>{escape_text(words, 200)}</span></li>'


def _render_filters(audit: Audit) -> str:
    severities = [each.value for each in SEVERITIES if audit.count_findings(each)]
    families = [each.value for each in Family if any(found.family is each for found in audit.findings)]
    return render_filters(severities, families)


def render_findings(audit: Audit, most: int = MOST) -> str:
    """The findings, grouped, the most dangerous first."""
    if not audit.findings:
        return '<p class="nothing">No findings.</p>'
    tells_origins = has_known_origins(audit)
    groups = group_findings(audit.findings)
    members = min(most, _MEMBERS)
    items = "".join(_render_group(group, members, tells_origin=tells_origins) for group in groups[:most])
    note = "" if tells_origins else f'<p class="since">{NO_ORIGINS}</p>'
    inside = f'<ol class="findings">{items}</ol>'
    if left := sum(len(group.findings) for group in groups[most:]):
        inside += f"<p>{format_count(left, 'finding')} more: see {_ELSEWHERE}.</p>"
    return note + inside


def _render_group(group: FindingGroup, members: int, *, tells_origin: bool) -> str:
    """A finding, or findings with one cause: the first few places, and the others folded."""
    found, is_single = group.worst, group.cause is None
    who, *details = describe_origin(found.origin)
    origin = "".join(f", {escape_text(part, 160)}" for part in details)
    where = f'<span class="place">{format_count(len(group.findings), "place")}</span>'
    inside = _render_evidence(found) if is_single else _render_members(group, members)
    brought = "Written by" if is_single else "The first was written by"
    return (
        f'<li class="finding {found.severity.value} {found.family.value}">'
        f'<p class="head"><span class="badge {found.severity.value}">{found.severity.value}</span> '
        f'<code class="rule">{escape_text(found.rule)}</code> {_render_place(found) if is_single else where}</p>'
        f'<p class="words">{escape_name(format_message(found.words if is_single else group.words))}</p>'
        f'{inside}<p class="do"><b>What to do:</b> {escape_name(found.do)}</p>'
        + (f'<p class="origin">{brought}: <b>{escape_name(who, 160)}</b>{origin}</p>' if tells_origin else "")
        + "</li>\n"
    )


def _render_members(group: FindingGroup, most: int) -> str:
    items = [
        f"<li>{_render_place(found)} "
        + ("" if group.is_uniform else f"<span>{escape_name(format_message(found.words))}</span>")
        + f"{_render_evidence(found)}</li>"
        for found in group.findings[:most]
    ]
    if (left := len(group.findings) - most) > 0:
        items.append(f"<li>{left:,} more: see {_ELSEWHERE}.</li>")
    shown, folded = (f'<ul class="members">{"".join(part)}</ul>' for part in (items[:SHOWN], items[SHOWN:]))
    if (more := len(group.findings) - SHOWN) > 0:
        shown += f"<details><summary>and {more:,} more</summary>{folded}</details>"
    return shown


def _render_place(found: AuditFinding) -> str:
    return f'<code class="place">{escape_name(format_location(found.location))}</code>'


def _render_evidence(found: AuditFinding) -> str:
    opinion = f"<p>{escape_text(format_opinion(found.opinion))}</p>" if found.opinion is not None else ""
    if not found.evidence:
        return opinion
    evidence = "\n".join(escape_text(line, _EVIDENCE) for line in found.evidence.split("\n")[:12])
    return f'<pre class="evidence"><code>{evidence}</code></pre>{opinion}'


def _render_changes(inbox: Inbox | None, most: int = MOST) -> str:
    if inbox is None:
        return ""
    problem = f'<p class="notice warn">{escape_name(inbox.problem)}</p>' if inbox.problem else ""
    if not inbox.files:
        table = '<p class="nothing">Nothing changed.</p>'
    else:
        rows = "".join(_render_change(changed) for changed in inbox.files[:most])
        head = "<tr><th>change</th><th>file</th><th>lines</th><th>by</th><th>review</th></tr>"
        table = wrap_wide_table("Changes", f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>")
        if len(inbox.files) > most:
            table += f"<p>{format_count(len(inbox.files) - most, 'file')} more: see {_ELSEWHERE}.</p>"
    since = f'<p class="since">Since {escape_name(inbox.since_words)}</p>'
    return since + problem + table


def _render_change(changed: ChangedFile) -> str:
    was = f'<span class="was">was {escape_name(changed.previous_path, 300)}</span>' if changed.previous_path else ""
    lines = ""
    if changed.added is not None:
        lines = f'<span class="added">+{changed.added:,}</span> <span class="removed">-{changed.removed or 0:,}</span>'
    who = ", ".join(escape_name(format_actor(actor), 60) for actor in changed.actors[:6])
    if len(changed.actors) > 6:
        who += f" and {len(changed.actors) - 6} more"
    parts = [
        f'<span class="mark {mark.verdict.value}">{mark.verdict.value}</span> by {escape_name(mark.reviewer, 60)}'
        + (f": {escape_name(mask_message(mark.words), 300)}" if mark.words else "")
        for mark in changed.marks
    ]
    return (
        f"<tr><td>{html.escape(changed.sign)} {CHANGES[changed.sign]}</td>"
        f'<td><code>{escape_name(changed.path, 300)}</code>{was}</td><td class="lines">{lines}</td><td>{who}</td>'
        f"<td>{'<br>'.join(parts) or changed.staleness_note or 'open'}</td></tr>"
    )


def _render_lost_facts(inbox: Inbox | None) -> str:
    inside = ""
    losing: list[ChangeRun] = [run for run in inbox.runs if run.lost or run.unsearched] if inbox is not None else []
    for run in losing:
        inside += (
            f'<p class="since">A run of {escape_name(format_actor(run.actor), 160)}'
            f", {format_minute(run.at_us)}, events {run.first:,} to "
            f"{run.last:,}, {format_count(len(run.paths), 'file')}, +{run.added:,} -{run.removed:,} lines. "
        )
        if run.lost:
            inside += 'Deleted text that is in no note now:</p><ul class="lost">' + "".join(map(_render_fact, run.lost))
            inside += f"<li>{run.unlisted:,} more are not listed.</li></ul>" if run.unlisted else "</ul>"
        else:
            inside += "</p>"
        if run.unsearched:
            inside += f'<p class="since">More may be lost: {html.escape(run.unsearched)}.</p>'
    return inside


def _render_fact(fact: LostFact) -> str:
    place = escape_name(f"{fact.path}:{fact.line}", 300)
    return f"<li><code>{place}</code> <q>{escape_name(mask_message(fact.text).strip())}</q></li>"


def _render_appendix(audit: Audit, most: int = MOST, *, level: int = 2, is_open: bool = True) -> str:
    """What is in order, what does not count, and what did not run."""
    excepted = [
        (
            f"<code>{escape_text(each.finding.rule)}</code> <code>"
            f"{escape_name(format_location(each.finding.location))}</code> {escape_name(describe_suppression(each))}"
        )
        for each in audit.excepted[:most]
    ]
    parts = (
        ("In order", [f"<b>{escape_name(each.name)}</b> {escape_name(each.words)}" for each in audit.passed], is_open),
        ("Expired exemptions", [escape_name(each) for each in audit.expired], is_open),
        ("Excepted", excepted, False),
        (
            "Rules not run",
            [f"<code>{escape_text(each.rule)}</code> {escape_name(each.reason)}" for each in audit.skipped],
            False,
        ),
    )
    return "".join(_render_items(title, items, level=level, is_open=opened) for title, items, opened in parts)


def _render_items(title: str, items: Sequence[str], *, level: int, is_open: bool) -> str:
    lines = "".join(f"<li>{item}</li>" for item in items)
    inside = f"<ul>{lines}</ul>" if items else ""
    return render_fold(title, inside, count=len(items), level=level, is_open=is_open)


def _render_colophon(audit: Audit) -> str:
    chain = audit.chain
    facts = [
        ("Tool", f"memtui {escape_text(audit.version)}".strip()),
        (
            "Rules",
            f"{format_count(audit.rules, 'rule')} ran, digest <code>{escape_text(audit.digest or 'none')}</code>",
        ),
        ("Journal", escape_name(chain.words)),
        (
            "Head of the chain",
            f"<code>{chain.seq}:{escape_text(chain.hash)}</code>" if chain.hash else "there is none",
        ),
        (
            "Time",
            ", ".join(f"{escape_text(name)} {value:.2f} s" for name, value in audit.seconds.items()) or "not measured",
        ),
        (
            "Settings",
            ", ".join(f"<code>{escape_text(k)} = {escape_text(v)}</code>" for k, v in audit.settings.items())
            or "as they come",
        ),
        ("Review", " ".join(map(escape_name, _list_review_sentences(audit))) or "No review was signed off."),
        ("Neutral", " ".join(escape_name(sentence) for sentence in audit.neutral) or "The folder was only read."),
    ]
    rows = "".join(f"<dt>{name}</dt><dd>{words}</dd>" for name, words in facts)
    note = "Keep the head elsewhere: it proves later that the history was not rewritten"
    note += " (memtui verify --head)."
    return f"<dl>{rows}</dl>\n" + (f'<p class="since">{note}</p>' if chain.hash else "")


def _list_review_sentences(audit: Audit) -> list[str]:
    problem = [audit.review_problem] if audit.review_problem and audit.inbox is None else []
    return [*(format_sign_off(audit.sign_off) if audit.sign_off is not None else ()), *problem]
