"""A page in HTML: its frame, its style, and how texts from outside become a part of it.

The page runs no script and loads nothing: its own policy forbids both. Whatever is from outside is escaped, and what is
hidden in it is made visible, so that a note cannot become a part of the page.
"""

import html
from collections.abc import Collection, Sequence
from importlib import resources

from memtui.audit.model import Family
from memtui.audit.report.wording import SEVERITIES, sanitize_text

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
FAMILIES = {
    Family.SECRET: "Secrets",
    Family.HIDDEN: "Deceptive text",
    Family.PLANTED: "Planted instructions",
    Family.COVERAGE: "Not checked",
    Family.INTEGRITY: "Integrity",
    Family.UPKEEP: "Upkeep",
    Family.CLAIMS: "Claims",
}
"""Their names as titles."""
_SENTENCE = 1_200

# The style sheet of a report, legible in light, in dark and on paper.

STYLE = "\n" + resources.files("memtui.audit.report").joinpath("report.css").read_text(encoding="utf-8")
for _group, _values in (
    ("severity", [each.value for each in SEVERITIES]),
    ("family", [each.value for each in FAMILIES]),
):
    for _value in _values:
        _chosen = f"#{_group}-{_value}:checked~.findings"
        STYLE += f"{_chosen} .finding:not(.{_value}){{display:none}}\n"
        STYLE += f"{_chosen} .folder:not(:has(.finding.{_value})){{display:none}}\n"


def render_document(title: str, header: str, main: str) -> str:
    """A whole document of a title, which is from outside, and of what was rendered already."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape_text(title, 300)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<header>\n{header}</header>\n<main>\n{main}</main>\n</body>\n</html>\n"
    )


def escape_text(text: str, limit: int = _SENTENCE) -> str:
    """A text from outside, for the inside of an element."""
    return html.escape(sanitize_text(text, limit=limit))


def escape_name(text: str, limit: int = _SENTENCE) -> str:
    """A name from outside: the letters around it keep their direction whatever its own is."""
    return f"<bdi>{escape_text(text, limit)}</bdi>"


def render_navigation(links: Sequence[tuple[str, str]]) -> str:
    """Links to the sections by their names."""
    anchors = "".join(f'<a href="#{target}">{words}</a>' for target, words in links)
    return f'<nav aria-label="Sections">{anchors}</nav>\n'


def render_section(name: str, title: str, inside: str, *, css: str = "") -> str:
    """A section with a heading; empty without anything in it."""
    return f'<section id="{name}" class="{css}"><h2>{title}</h2>\n{inside}\n</section>\n' if inside else ""


def render_fold(
    title: str, inside: str, *, css: str = "", count: int | None = None, level: int = 2, is_open: bool = False
) -> str:
    """What opens with a click; empty without anything in it."""
    if not inside:
        return ""
    number = "" if count is None else f' <span class="count">{count:,}</span>'
    opened = " open" if is_open else ""
    return (
        f'<details class="fold {css}"{opened}><summary><h{level}>{title}</h{level}>{number}</summary>{inside}</details>'
    )


def render_filters(severities: Collection[str], families: Collection[str]) -> str:
    """Buttons that show some findings only, without a script: what is not chosen is not displayed."""
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


def wrap_wide_table(title: str, table: str) -> str:
    """A table that scrolls sideways by itself where the page is narrow."""
    return f'<div class="wide" tabindex="0" role="region" aria-label="{title}">{table}</div>'
