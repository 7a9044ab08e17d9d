"""The charts and bars of a page: how a folder went over time, its findings by family, how much of its budgets is used.

Each figure has a caption in words and its numbers in a table, and there is none where there is nothing to draw.
"""

import html
from collections.abc import Mapping, Sequence

from memtui.audit.growth import OTHERS
from memtui.audit.model import Audit, AuditGrowth, Family
from memtui.audit.report import charts
from memtui.audit.report.charts import ChartSeries
from memtui.audit.report.page import FAMILIES, escape_name, wrap_wide_table
from memtui.audit.report.wording import SEVERITIES, format_actor, format_day, format_minute
from memtui.core.settings import Budget
from memtui.core.wording import PLAIN, format_count, format_duration, format_size

_FEWEST_AUDITS = 3
"""Audits of which a chart is drawn."""
_ACTORS = 4  # actors that have a color of their own; the rest are gathered


def render_figures(audit: Audit) -> str:
    """How the folder went over time, the findings by family, and the budgets; empty without anything to draw."""
    growth = audit.growth if audit.growth is not None and audit.growth.at_us else None
    figures = _render_findings_chart(audit, growth) + _render_trend_chart(audit)
    if growth is not None:
        figures += _render_writers_chart(growth)
        if len(growth.at_us) > 1:
            figures += _render_files_chart(growth) + _render_bytes_chart(growth)
    budgets = _render_budgets(audit.budgets)
    if not figures and not budgets:
        return ""
    return f'<div class="figures">{figures}</div>{budgets}'


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
    figure = render_figure("Budgets", "How much of each limit is used.", table)
    return f'<div class="budgets">{figure}</div>'


def _render_files_chart(growth: AuditGrowth) -> str:
    words = f"{format_count(growth.files[-1], 'file')} now{_describe_initial_value(growth, f'{growth.files[0]:,}')}."
    series = ChartSeries("files", "s0", growth.files)
    chart = charts.draw_line("Files over time", words, growth.at_us, series, charts.format_number, unit="files")
    return render_figure("Files", words, chart + _render_numbers(growth.at_us, [series]))


def _render_bytes_chart(growth: AuditGrowth) -> str:
    first, last = (format_size(growth.bytes[at], PLAIN) for at in (0, -1))
    words = f"{last} now{_describe_initial_value(growth, first)}."
    series = ChartSeries("bytes", "s2", growth.bytes)
    chart = charts.draw_line("Bytes over time", words, growth.at_us, series, format_tick, base=1_024)
    return render_figure("Size", words, chart + _render_numbers(growth.at_us, [series]))


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
    title = "Changes over time, by author"
    chart = charts.draw_stacked_columns(title, words, growth.at_us, parts, unit="changes")
    shares = _render_shares([(part.name, part.css, sum(part.values)) for part in parts], total)
    return render_figure("Who wrote", words, chart + shares + _render_numbers(growth.at_us, parts))


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
        f'<tr><th scope="row"><i class="swatch {css}"></i>{escape_name(name, 60)}</th>'
        f'<td class="bar"><i class="{css}" style="width:{100 * number / max(total, 1):.1f}%"></i></td>'
        f"<td>{number:,}</td><td>{format_percent(number, total)}</td></tr>"
        for name, css, number in shares
    ]
    head = "<tr><th>who</th><th></th><th>changes</th><th>share</th></tr>"
    return f'<table class="shares"><thead class="unseen">{head}</thead><tbody>{"".join(rows)}</tbody></table>'


def format_percent(number: int, of: int) -> str:
    """A share as people read it; none that is anything is `0%`, and none but all is `100%`."""
    share = 100 * number / max(of, 1)
    return "under 1%" if 0 < share < 1 else "over 99%" if 99 < share < 100 else f"{share:.0f}%"


def _render_findings_chart(audit: Audit, growth: AuditGrowth | None) -> str:
    """By severity over time, as far as that is known, and by family; empty without findings."""
    if not audit.findings:
        return ""
    if growth is None or len(growth.at_us) < 2:
        return render_figure("Findings", "By family and severity.", render_family_bars(audit.count_by_family()))
    none = (0,) * len(growth.at_us)
    parts = [ChartSeries(each.value, each.value, growth.findings.get(each.value, none)) for each in SEVERITIES]
    known = sum(part.values[-1] for part in parts)
    if not known:
        words = "It is unknown when any of them was written."
        return render_figure("Findings", words, render_family_bars(audit.count_by_family()))
    words = f"{format_count(known, 'finding')} of today, by when they were written."
    chart = charts.draw_stacked_steps("Findings over time, by severity", words, growth.at_us, parts, unit="findings")
    table = _render_numbers(growth.at_us, parts)
    return render_figure("Findings", words, chart + render_family_bars(audit.count_by_family()) + table)


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
    words = f"Findings of each of {len(moments):,} audits."
    chart = charts.draw_stacked_columns("Findings, audit by audit", words, moments, parts, unit="findings")
    return render_figure("Audit by audit", words, chart + _render_numbers(moments, parts))


def render_family_bars(counts: Mapping[str, Sequence[int]]) -> str:
    """How many findings of each family there are, as bars in the colors of the severities; it is the legend too.

    Args:
        counts: By family, the numbers of each severity, the gravest first.
    """
    most = max(map(sum, counts.values()))
    rows = []
    for family in Family:
        by_severity = counts[family]
        if not sum(by_severity):
            continue
        bars = "".join(
            f'<i class="{each.value}" style="width:{100 * number / most:.1f}%"></i>'
            for each, number in zip(SEVERITIES, by_severity, strict=True)
            if number
        )
        cells = "".join(f'<td class="{"" if number else "zero"}">{number:,}</td>' for number in by_severity)
        rows.append(f'<tr><th scope="row">{FAMILIES[family]}</th><td class="bar">{bars}</td>{cells}</tr>')
    head = "".join(f'<th scope="col"><i class="swatch {each.value}"></i>{each.value}</th>' for each in SEVERITIES)
    head = f"<tr><th></th><th></th>{head}</tr>"
    return f'<table class="shares"><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>'


def format_tick(octets: float) -> str:
    return format_size(round(octets), PLAIN).replace(".0 ", " ")


def render_figure(title: str, words: str, inside: str) -> str:
    return f"<figure><figcaption><h2>{title}</h2><p>{html.escape(words)}</p></figcaption>{inside}</figure>"


def _render_numbers(at_us: Sequence[int], parts: Sequence[ChartSeries]) -> str:
    """The numbers of a chart as a table, for readers without the picture."""
    names = ("when", *(part.name for part in parts))
    titles = "".join(f'<th scope="col">{escape_name(name, 40)}</th>' for name in names)
    rows = [(format_minute(at), *(f"{part.values[number]:,}" for part in parts)) for number, at in enumerate(at_us)]
    lines = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return (
        '<details class="numbers"><summary>The numbers</summary>'
        + wrap_wide_table("The numbers", f"<table><thead><tr>{titles}</tr></thead><tbody>{lines}</tbody></table>")
        + "</details>"
    )
