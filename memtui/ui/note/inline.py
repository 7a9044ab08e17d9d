"""Turn the inside of a Markdown block into spans in which nothing is hidden.

A Markdown renderer hides a lot: where a link goes, its title, HTML, comments, characters spelled as
entities. Here the text comes first and what it would have hidden comes after it, in words. What would take
too long to parse is shown as it is written.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memtui.ui.note.lines import Span, clean

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONG = 4000
"""Characters of one paragraph beyond which it is shown as it is written."""
EFFORT = 50_000
"""What one chunk may cost, in units of `_cost`, before the rest of it is shown as it is written."""

_MARK = re.compile(r"[*_`\[<!&~\\]")
_WIKI = re.compile(r"\[\[([^\[\]|\n]+)(?:\|([^\[\]|\n]+))?\]\]")

Lines = list[list[Span]]
"""Spans of a block, in one list for each line that the text itself breaks."""


class Inline:
    """Parses the insides of the blocks of one chunk, within a budget for all of them."""

    def __init__(self, md: "MarkdownIt", env: Mapping[str, Any]) -> None:
        """Begin a chunk.

        Args:
            md: A parser.
            env: What `[text][label]` refers to, as markdown-it expects it.
        """
        self._md = md
        self._env = dict(env)
        self._effort = EFFORT

    def __call__(self, text: str, line: int, style: str = "") -> Lines:
        """The spans of a paragraph, heading or cell.

        Args:
            text: The inside of the block.
            line: Source line of its first character, counted from 0.
            style: Roles of the whole block.
        """
        marks = 0 if text.isalnum() else len(_MARK.findall(text))
        if not marks:
            return _broken(text, line, style) if "  \n" in text else [_plain(text, line, style)]
        cost = _cost(text, marks)
        if len(text) > LONG or cost > self._effort:
            return [clean(one, style, line + index) for index, one in enumerate(text.split("\n"))]
        self._effort -= cost
        tokens: list[Token] = []
        self._md.inline.parse(text, self._md, self._env, tokens)
        writer = _Writer(line, style)
        writer.write(tokens)
        return writer.lines


def _cost(text: str, marks: int) -> int:
    """What the text may take to parse: links and tags look ahead over all that follows, others less."""
    looks = text.count("[") + text.count("<")
    return looks * looks + marks * marks // 8


def _plain(text: str, line: int, style: str) -> list[Span]:
    if "\n" not in text:
        return clean(text, style, line)
    spans: list[Span] = []
    for index, one in enumerate(text.split("\n")):
        if index:
            spans.append(Span(" ", style, line + index))
        spans += clean(one.strip(" "), style, line + index)
    return spans


def _broken(text: str, line: int, style: str) -> Lines:
    lines: Lines = []
    for part in re.split(r" {2,}\n", text):
        lines.append(_plain(part, line, style))
        line += part.count("\n") + 1
    return lines


class _Writer:
    """Walks over inline tokens and keeps the roles that are open."""

    def __init__(self, line: int, style: str) -> None:
        self.lines: Lines = [[]]
        self._line = line
        self._styles = [style] if style else []
        self._links: list[tuple[Token, int]] = []

    def write(self, tokens: "Sequence[Token]") -> None:
        for token in tokens:
            self._token(token)

    def _put(self, text: str, style: str = "") -> None:
        self.lines[-1] += clean(text, " ".join([*self._styles, style] if style else self._styles), self._line)

    def _token(self, token: "Token") -> None:
        match token.type:
            case "text" | "text_special":
                self._text(token.content)
            case "softbreak":
                self._line += 1
                self._put(" ")
            case "hardbreak":
                self._line += 1
                self.lines.append([])
            case "code_inline":
                self._put(token.content, "code")
            case "html_inline":
                self._literal(token.content, "warning")
            case "strong_open" | "em_open" | "s_open":
                self._styles.append({"strong_open": "strong", "em_open": "emphasis", "s_open": "strike"}[token.type])
            case "strong_close" | "em_close" | "s_close":
                self._styles.pop()
            case "link_open":
                self._links.append((token, len(self._text_so_far())))
                self._styles.append("link")
            case "link_close":
                self._styles.pop()
                self._link_end()
            case "image":
                self._put(f"[image: {token.content}]", "image")
                self._put(_aside(token, "src"), "target")
            case _:
                self._literal(token.content, "warning")

    def _text(self, text: str) -> None:
        at = 0
        if "[[" in text:
            for match in _WIKI.finditer(text):
                self._put(text[at : match.start()])
                name, alias = match.groups()
                self._put(alias or match.group(), "link")
                if alias:
                    self._put(f" ({name})", "target")
                at = match.end()
        self._put(text[at:])

    def _literal(self, text: str, style: str) -> None:
        first, *rest = text.split("\n")
        self._put(first, style)
        for one in rest:
            self._line += 1
            self._put(" " + one, style)

    def _text_so_far(self) -> str:
        return "".join(span.text for line in self.lines for span in line)

    def _link_end(self) -> None:
        token, start = self._links.pop()
        shown = self._text_so_far()[start:]
        href = str(token.attrGet("href") or "")
        if token.attrGet("title") or shown not in (href, href.removeprefix("mailto:")):
            self._put(_aside(token, "href"), "target")


def _aside(token: "Token", attribute: str) -> str:
    """Where a link or picture leads, and its title."""
    target = str(token.attrGet(attribute) or "")
    title = token.attrGet("title")
    return f' ({target} "{title}")' if title else f" ({target})"
