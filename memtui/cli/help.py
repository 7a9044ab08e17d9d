"""`memtui help`: the pages of the manual in the terminal, and the help of a verb.

The pages are the Markdown files in `memtui/docs`, so what is read here is what is read in the repository. They are laid
out by the renderer that shows notes, and printed without starting the application.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.cli import output
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, UsageError
from memtui.cli.parsing import OpenChoices, Parser, Verb, build_parser, format_verb_help
from memtui.cli.verbs import VERBS
from memtui.core.suggestion import format_suggestion

if TYPE_CHECKING:
    from memtui.ui.widgets.markdown.rows import MarkdownRow, TextSpan

PAGES = Path(__file__).parent.parent / "docs"
TOPICS = (
    *(
        "getting-started",
        "browse",
        "edit",
        "history",
        "find",
        "knowledge",
        "chat",
        "agents",
        "folders",
        "shared",
        "audit",
        "scripting",
    ),
    *("python", "settings", "keys", "security", "troubleshooting", "glossary", "architecture", "decisions"),
    *("benchmarks", "audit-accuracy"),
)
"""The names of the pages, in reading order."""
_WIDEST = 100
_PIPED = 80
"""Columns of text: at most on a terminal, and in a pipe."""
_COMMENT = re.compile(r"(?m)^<!--.*?-->\n")
_LINK = re.compile(r"\[([^\[\]\n]+)\]\(([a-z][a-z-]*)\.md(?:#[^()]*)?\)")
_IMAGE = re.compile(r"(?m)^!\[[^\]]*\]\([^)]*\)\n+")
_COLORS = {
    **dict.fromkeys(("h1", "h2", "h3"), "1;34"),
    **dict.fromkeys(("h1-rule", "h2-rule", "rule", "marker", "quote-bar"), "34"),
    **dict.fromkeys(("strong", "table-header"), "1"),
    **dict.fromkeys(("comment", "target"), "2"),
    "emphasis": "3",
    "code": "36",
    "link": "4",
}
"""Colors of the terminal by role of text; what is not listed has none."""


def add_help_options(parser: Parser) -> None:
    parser.add_value(
        "topic", "TOPIC", "a page, or a verb; else a list", nargs="?", choices=OpenChoices((*TOPICS, *VERBS))
    )


def run_help(options: Options, arguments: argparse.Namespace) -> int:
    topic: str | None = arguments.topic
    if topic is None:
        _print_topics()
    elif topic in TOPICS:
        _print_page(topic, options)
    elif topic in VERBS:
        output.print_line(format_verb_help(build_parser(VERBS[topic])))
    else:
        hint = format_suggestion(topic, (*TOPICS, *VERBS), "To list the pages: memtui help", shown="'{}'")
        raise UsageError(f"No page or command called '{topic}'. {hint}")
    return ExitCode.OK


def read_page(topic: str) -> str:
    """The Markdown of a page, without pictures and comments, and with links to pages as commands."""
    text = (PAGES / f"{topic}.md").read_text(encoding="utf-8")
    return _LINK.sub(r"\1 (`memtui help \2`)", _IMAGE.sub("", _COMMENT.sub("", text)))


def _print_topics() -> None:
    width = max(map(len, TOPICS))
    for topic in TOPICS:
        with (PAGES / f"{topic}.md").open(encoding="utf-8") as page:
            title = page.readline().lstrip("# ").strip()
        output.print_line(f"  {topic:<{width}}  {title}")
    output.print_line("\nmemtui help TOPIC shows a page; memtui VERB --help the options of a command")


def _print_page(topic: str, options: Options) -> None:
    if options.json:
        output.print_json({"topic": topic, "text": read_page(topic)})
        return
    size = shutil.get_terminal_size()
    is_terminal = output.is_terminal(sys.stdout)
    width = min(size.columns - 1, _WIDEST) if is_terminal else _PIPED
    lines = list(render_page(read_page(topic), width))
    if not (is_terminal and len(lines) >= size.lines and _page_lines(lines)):
        for line in lines:
            output.print_line(line)


def render_page(text: str, width: int) -> Iterator[str]:
    """The lines of a page, coloured where output is."""
    from memtui.ui.widgets.markdown.document import NoteDocument, NoteLayout  # noqa: PLC0415 - start-up: only here

    document = NoteDocument(text, NoteLayout("markdown", "rendered", max(20, width)))
    for index in range(len(document.chunks)):
        for row in document.get_rows(index):
            if not any(span.style == "panel language" for span in row.spans):
                yield _format_row(row)


def _format_row(row: "MarkdownRow") -> str:
    indent = "   " if row.fill == "panel" else ""
    return (indent + "".join(map(_format_span, row.spans))).rstrip()


def _format_span(span: "TextSpan") -> str:
    color = next((_COLORS[role] for role in reversed(span.style.split()) if role in _COLORS), None)
    return output.colorize(span.text, color) if span.text.strip() else span.text


def _page_lines(lines: Iterable[str]) -> bool:
    """Show lines with the person's pager; `False` where there is none."""
    command: Sequence[str] = shlex.split(os.environ.get("PAGER", "") or "less")
    if shutil.which(command[0]) is None:
        return False
    output.flush()
    text = "".join(f"{line}\n" for line in lines)
    environment = {"LESS": "FRX", **os.environ}
    subprocess.run(command, input=text.encode(), env=environment, check=False)
    return True


HELP_VERB = Verb("help", add_help_options, run_help, keeps_rights=True)
