"""Colour code by role: Pygments' tokens mapped to the few roles that every theme has.

A fence names its own language, so the name is a stranger's choice: only languages on our list are looked
up, and only a bounded piece of text with lines of bounded length is given to a lexer, whose expressions may
backtrack.
"""

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from memtui.ui.note.lines import Span, clean

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LIMIT = 9000
"""Characters given to a lexer at once."""
LONG = 1000
"""Characters of a line beyond which the piece is not coloured."""

_OWN_NAME = (
    "bash c cpp css diff go html ini java javascript json kotlin lua php python ruby rust sql swift toml"
    " typescript xml yaml"
)
_LEXERS = {name: name for name in _OWN_NAME.split()} | {
    "c++": "cpp", "dockerfile": "docker", "js": "javascript", "jsonc": "json", "jsonl": "json",
    "jsx": "javascript", "makefile": "make", "patch": "diff", "py": "python", "python3": "python",
    "rb": "ruby", "rs": "rust", "sh": "bash", "shell": "bash", "ts": "typescript", "yml": "yaml",
    "zsh": "bash",
}  # fmt: skip
"""Languages that are coloured, by the name that a fence may give, and what Pygments calls them."""

_ROLES = (
    ("Token.Comment", "comment"),
    ("Token.Keyword", "keyword"),
    ("Token.Literal.String", "string"),
    ("Token.Literal.Number", "number"),
    ("Token.Literal", "string"),
    ("Token.Name.Tag", "name"),
    ("Token.Name.Attribute", "name"),
    ("Token.Name.Function", "name"),
    ("Token.Name.Class", "name"),
    ("Token.Name.Decorator", "name"),
    ("Token.Name.Builtin", "keyword"),
    ("Token.Operator.Word", "keyword"),
    ("Token.Generic.Deleted", "deleted"),
    ("Token.Generic.Inserted", "inserted"),
    ("Token.Generic.Heading", "name"),
    ("Token.Generic.Subheading", "name"),
)


def coloured(text: str, language: str, line: int, style: str = "") -> list[list[Span]]:
    """The lines of the text as spans.

    Args:
        text: Code; a line feed at its end begins no further line.
        language: A name as it stands after a fence; any other text gives no colours.
        line: Number of the first line, counted from 0.
        style: Roles that stand before the role of each token.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    language = language.lower()
    if language == "markdown":
        return _markdown(lines, line, style)
    if language not in _LEXERS or len(text) > LIMIT or any(len(one) > LONG for one in lines):
        return [clean(one, style, line + index) for index, one in enumerate(lines)]
    spans: list[list[Span]] = [[]]
    for kind, value in _lexer(_LEXERS[language]).get_tokens("\n".join([*lines, ""])):
        role = _role(str(kind))
        first, *rest = value.split("\n")
        named = f"{style} {role}".strip()
        spans[-1] += clean(first, named, line + len(spans) - 1)
        for one in rest:
            spans.append(clean(one, named, line + len(spans)))
    del spans[len(lines) :]
    return spans + [[] for _ in range(len(lines) - len(spans))]


@lru_cache
def _lexer(name: str) -> "Lexer":
    # Deferred: 30 ms that a note without code, and the first paint, do not pay.
    from pygments.lexers import get_lexer_by_name

    lexer: Lexer = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    return lexer


@lru_cache(256)
def _role(kind: str) -> str:
    return next((role for start, role in _ROLES if kind.startswith(start)), "")


_SOURCE = re.compile(
    r"(?P<heading>^#{1,6}[ ].*)"
    r"|(?P<marker>^[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ ])(?:[ ]\[[ xX]\])?|^[ \t]*>+"
    r"|^[ \t]*(?:`{3,}|~{3,}).*|^---+$)"
    r"|(?P<warning></?[a-zA-Z!?][^<>]{0,500}>|<!--|-->)"
    r"|(?P<code>`[^`]{1,500}`)"
    r"|(?P<link>\[\[[^\[\]]{1,300}\]\]|\]\([^()\s]{1,500}\))"
    r"|(?P<strong>\*\*[^*\s][^*]{0,300}\*\*)"
)


def _markdown(lines: list[str], number: int, style: str) -> list[list[Span]]:
    """Markdown as it is written, line by line: what a fence or a quote around them means is left alone."""
    spans: list[list[Span]] = []
    for index, text in enumerate(lines, number):
        row: list[Span] = []
        at = 0
        if len(text) <= LONG:
            text = text.expandtabs(4)  # noqa: PLW2901
            for match in _SOURCE.finditer(text):
                row += clean(text[at : match.start()], style, index)
                row += clean(match.group(), f"{style} {match.lastgroup}".strip(), index)
                at = match.end()
        spans.append(row + clean(text[at:], style, index))
    return spans
