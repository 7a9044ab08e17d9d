"""Text from outside meets only work that grows with its length: every regular expression, every reader of text.

A note of one line once stopped the program at a click: an expression that backtracks cannot be interrupted.
"""

import contextlib
from collections.abc import Callable
from functools import partial
from itertools import chain

import pytest

from memtui.agents.transcripts.shell import parse_effects
from memtui.audit.masking import mask_lines, mask_message
from memtui.config.load import index_lines
from memtui.core import unicode
from memtui.core.diffs import compare_texts, diff_words
from memtui.core.edits import format_view
from memtui.core.merge import find_conflict_markers, merge_texts
from memtui.core.text_format import NotText, parse_text
from memtui.notes import formats, links
from memtui.notes.front_matter import parse_front_matter
from memtui.notes.memory_index import parse_index
from memtui.notes.spans import blank_code, find_markup_spans
from memtui.scan.hidden import find_hidden
from memtui.scan.injection import find_injections
from memtui.scan.names import find_oddities
from memtui.scan.rule_files import load_engine, parse_rule_file
from memtui.scan.rule_matches import SecretRules
from memtui.scan.secrets import find_secrets
from memtui.scan.syntax import find_broken
from memtui.search.query import parse_query
from memtui.ui.masking import mask_secrets
from memtui.ui.widgets.diff.layout import find_row_breaks
from memtui.ui.widgets.editor.paint import SyntaxHighlighter
from memtui.ui.widgets.editor.text import TextDocument, compute_edits
from memtui.ui.widgets.editor.wrap import find_breaks
from memtui.ui.widgets.markdown.document import NoteDocument, NoteLayout
from memtui.ui.widgets.markdown.links import NoteLinks
from memtui.ui.widgets.markdown.rows import detect_syntax
from tests.bench.hostile import UNITS
from tests.growth import LIMIT, find_growth
from tests.regexes import Pump, Regex, load_regexes, make_pumps
from tests.sampling import many, sampled

_PARTS = many(16, 1)
"""One where few are tried: each process that tries some has to load them all."""
_REGEXES = 200
_LONGEST = 4_096
_LONGEST_TEXT = 16_384


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(_PARTS))
def test_every_regular_expression_is_linear_over_what_nearly_fits_it(part: int) -> None:
    slow = [
        f"{regex.place}: {regex.pattern[:200]!r} over {pump[0]!r} + {pump[1]!r} * n + {pump[2][:8]!r}: x{growth:.1f}"
        for regex in sampled(load_regexes()[part::_PARTS], _REGEXES)
        for pump in _choose_pumps(regex)
        if (growth := find_growth(regex.compile(), partial(_fill, pump), _LONGEST)) > LIMIT
    ]
    assert not slow, "\n".join(slow)


def _choose_pumps(regex: Regex) -> list[Pump]:
    pumps = sorted(make_pumps(regex))
    return pumps[:: max(len(pumps) // many(len(pumps), 3), 1)] if pumps else []


def _fill(pump: Pump, size: int) -> str:
    before, body, behind = pump
    return before + body * (size // len(body)) + behind


def _draw(language: str, mode: str, text: str) -> None:
    """Lay a note out, draw its ends, and look for links where somebody clicks."""
    document = NoteDocument(text, NoteLayout(language, mode, 80))
    places = NoteLinks(document)
    for chunk in {*range(min(3, len(document.chunks))), *range(max(len(document.chunks) - 3, 0), len(document.chunks))}:
        document.get_rows(chunk)
        places.find_link_at(chunk, 0, 0)


def _color(syntax: str, text: str) -> None:
    document = TextDocument(text)
    highlighter = SyntaxHighlighter(document, syntax)
    for row in range(document.line_count):
        highlighter.get_runs(row)


def _change(text: str) -> str:
    return text[: len(text) // 2] + "x" + text[len(text) // 2 :].replace("a", "b")


def _parse(text: str) -> None:
    with contextlib.suppress(NotText):
        parse_text(text.encode("utf-8", "surrogatepass"))


_OWN_RULES = SecretRules(
    [
        parse_rule_file(
            """
            allowlists = [{ regexTarget = "line", regexes = ['(x+x+)+y'] }]
            rules = [
                { id = "nested", regex = '((?:a+)+|(?:[a-z]+ ?)+)$' },
                { id = "far", regex = '(?i)(?:[a-z]|#)[\\s\\S]{0,200}?=' },
                { id = "any", regex = '[^a-z]{4}' },
            ]
            """,
            "team",
            "team.toml",
            load_engine(),
            lambda path: path,
        )
    ]
)
READERS: dict[str, Callable[[str], object]] = {
    "visible": unicode.visible,
    "visible JSON": unicode.visible_json,
    "skeleton": unicode.skeleton,
    "lookalikes": unicode.find_lookalikes,
    "JSON": formats.check_json,
    "JSON with comments": formats.check_jsonc,
    "TOML": formats.check_toml,
    "YAML": formats.check_yaml,
    "XML": formats.check_xml,
    "format": _parse,
    "front matter": lambda text: parse_front_matter(f"---\n{text}\n---\n"),
    "links": lambda text: links.find_links(text, "a.md"),
    "names of a note": lambda text: links.get_note_names(f"# {text}"),
    "headings": lambda text: links.find_heading_line(f"# {text}\n\n{text}", "a heading"),
    "tags": lambda text: links.find_tags(f"#a {text}"),
    "index": parse_index,
    "code": blank_code,
    "markup": find_markup_spans,
    "secrets": lambda text: [*find_secrets(text)],
    "rules of one's own": lambda text: [*_OWN_RULES.find(text, "a.md").spots],
    "hidden": lambda text: [*find_hidden(text, "a.md")],
    "injections": lambda text: [*find_injections(text, "a.md")],
    "broken": lambda text: [*chain.from_iterable(find_broken(text, f"a.{kind}") for kind in ("md", "json", "yaml"))],
    "names": lambda text: [*find_oddities(text)],
    "masks": mask_secrets,
    "masked lines": lambda text: mask_lines(text.split("\n")),
    "masked message": mask_message,
    "diff": lambda text: compare_texts(text, _change(text)),
    "words": lambda text: diff_words(text.replace("\n", ""), _change(text).replace("\n", "")),
    "merge": lambda text: merge_texts(text, f"{text}\nmine", _change(text)),
    "markers": find_conflict_markers,
    "edits": lambda text: [*compute_edits(text, _change(text))],
    "view": lambda text: format_view(text, "/memories/a.md"),
    "rendered": partial(_draw, "markdown", "rendered"),
    "source": partial(_draw, "markdown", "source"),
    "plain": partial(_draw, "text", "source"),
    "editor": lambda text: [find_breaks(line, 80, 4) for line in text.split("\n")],
    "editor's colors": partial(_color, "markdown"),
    "editor's JSON": partial(_color, "json"),
    "rows of a diff": lambda text: [find_row_breaks(line, 80) for line in text.split("\n")],
    "syntax": lambda text: detect_syntax("a", text),
    "shell": lambda text: parse_effects(text, "/memories"),
    "query": lambda text: parse_query(text[:9_000], now_us=0),
    "settings": index_lines,
}
"""What reads text from notes, names, agents, sessions and settings."""


@pytest.mark.sweep(keep=14)
@pytest.mark.parametrize("reader", READERS)
def test_every_reader_of_text_is_linear_over_hostile_text(reader: str) -> None:
    slow = [
        f"{start + unit!r} * n: x{growth:.1f}"
        for unit in sampled(UNITS, 6, always=("\u0301", " ", "[a]("))
        for start in ("", "    [a")
        if (growth := _find_growth(READERS[reader], partial(_fill, (start, unit, "b](x)")))) > LIMIT
    ]
    assert not slow, "\n".join(slow)


def _find_growth(read: Callable[[str], object], make: Callable[[int], str]) -> float:
    """How it grows; behind its budget, if it has one."""
    growth = find_growth(read, make, _LONGEST_TEXT)
    return growth if growth <= LIMIT else find_growth(read, make, 2 * _LONGEST_TEXT, least=2 * _LONGEST_TEXT)
