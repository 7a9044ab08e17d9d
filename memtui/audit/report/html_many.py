"""The audits of many folders as one page: a table of folders and families, then what was found in each."""

import html
from collections.abc import Sequence
from itertools import starmap

from memtui.audit.model import Family
from memtui.audit.report.figures import render_family_bars, render_figure
from memtui.audit.report.folder_report import FolderReport, format_total
from memtui.audit.report.html import MOST, FolderExtent
from memtui.audit.report.page import (
    FAMILIES,
    escape_name,
    render_document,
    render_filters,
    render_navigation,
    render_section,
    wrap_wide_table,
)
from memtui.audit.report.wording import SEVERITIES, format_minute, format_severity_counts
from memtui.core.wording import format_count

_FEWEST = 25
"""Findings of each folder that a page shows at least."""
_MOST_DRAWN = 20
"""Folders of which a page draws charts."""


def choose_extent(folders: int) -> FolderExtent:
    """How much a page of so many folders shows of each, so that it is no longer than can be opened."""
    return FolderExtent(max(MOST // max(folders, 1), _FEWEST), draws=folders <= _MOST_DRAWN)


def render_folders(reports: Sequence[FolderReport], taken_us: int | None) -> str:
    """The page of folders in their order, each with a part of a page as its report.

    Args:
        taken_us: When the first of them was begun.
    """
    severities = [each.value for each in SEVERITIES if any(report.count(each) for report in reports)]
    families = [each.value for each in Family if any(sum(report.counts.get(each, ())) for report in reports)]
    audited = "".join(_render_folder(number, each) for number, each in enumerate(reports, 1) if not each.problem)
    filters = render_filters(severities, families)
    sections = [
        render_section("folders", "Folders", _render_table(reports) + _render_bars(reports), css="folders"),
        render_section("findings", "Findings", f'{filters}<div class="findings">{audited}</div>' if audited else ""),
    ]
    css = "fail" if any(each.problem for each in reports) else next(iter(severities), "clean")
    verdict = f"<strong>{css.upper()}</strong> <span>{html.escape(format_total(reports))}</span>"
    header = (
        f'<p class="eyebrow">memtui audits</p>\n<h1>{format_count(len(reports), "folder")}</h1>\n'
        f'<p class="taken">Begun on {format_minute(taken_us)}</p>\n'
        f'<p class="verdict {css}">{verdict}</p>\n'
        + render_navigation([("folders", "Folders"), *([("findings", "Findings")] if audited else [])])
    )
    return render_document(f"memtui audit of {format_count(len(reports), 'folder')}", header, "".join(sections))


def _render_table(reports: Sequence[FolderReport]) -> str:
    titles = "".join(f'<th scope="col">{FAMILIES[family]}</th>' for family in Family)
    head = f'<thead><tr><th scope="col">Folder</th>{titles}</tr></thead>'
    rows = "".join(starmap(_render_row, enumerate(reports, 1)))
    note = '<p class="since">Failures / warnings.</p>'
    return note + wrap_wide_table("Folders", f"<table>{head}<tbody>{rows}</tbody></table>")


def _render_row(number: int, each: FolderReport) -> str:
    name = escape_name(each.title, 300)
    if each.problem:
        words = f'<td class="fail" colspan="{len(Family)}"><b>not audited</b>: {escape_name(each.problem)}</td>'
        return f'<tr><th scope="row">{name}</th>{words}</tr>\n'
    cells = "".join(_render_cell(FAMILIES[family], each.counts[family.value]) for family in Family)
    return f'<tr><th scope="row"><a href="#folder-{number}">{name}</a></th>{cells}</tr>\n'


def _render_cell(family: str, numbers: Sequence[int]) -> str:
    """Two numbers, with the family's name for a narrow page, where each stands by itself."""
    fails, warns, _ = numbers
    if not fails + warns:
        return '<td class="zero">-</td>'
    css = "fail" if fails else "warn"
    return f'<td class="{css}"><span class="name">{family} </span><b>{fails:,}/{warns:,}</b></td>'


def _render_bars(reports: Sequence[FolderReport]) -> str:
    """The findings of all folders by family, where there are any in two folders or more."""
    counts = {
        family.value: [sum(each.counts[family.value][at] for each in reports if each.counts) for at in range(3)]
        for family in Family
    }
    holding = sum(any(map(sum, each.counts.values())) for each in reports)
    if holding < 2:
        return ""
    words = f"By family and severity, in {format_count(holding, 'folder')}."
    return render_figure("Findings", words, render_family_bars(counts))


def _render_folder(number: int, each: FolderReport) -> str:
    """A folder; it is open where anything is to be looked at."""
    fails, warns, infos = (each.count(severity) for severity in SEVERITIES)
    css = next((severity.value for severity in SEVERITIES if each.count(severity)), "clean")
    opened = " open" if fails or warns else ""
    words = format_severity_counts(fails, warns, infos) or "no findings"
    head = f'<h2>{escape_name(each.title, 300)}</h2> <span class="badge {css}">{css}</span> <span>{words}</span>'
    return f'<details class="folder" id="folder-{number}"{opened}><summary>{head}</summary>\n{each.report}</details>\n'
