"""Notes that were made to stop the screen: what SECURITY.md lists, and every unit that hostile texts are made of."""

from collections.abc import Mapping

UNITS = (
    "[", "]", "](", "[[", "[a](", "[a](b)", "![", "(", ")", "<", "<a", "<a>", "<!--", "-->", "{", "{%", '{"a":', "[1,",
    " ", "\t", "\n", " \n", "\r\n", "*", "**a", "_a", "`", "``a", "```\n", "~~~\n", '"', "'", "\\", '\\"', "“",
    "\u0301", "a\u0301", "\u200d", "\u200b", "👨\u200d", "\ufe0f", "\u202e", "\u2800", "\ud800", "\x00", "\x1b[",
    "0", "9 ", "0.", "a", "aB", "a ", "word ", "漢", "key: ", "key: value\n", "password: abc123\n", "https://a.b/",
    "http://a.b/c?d=e ", "a@b.c ", "../", "@a", "#tag ", "- ", "- a\n", "  - a\n", "> a\n", "# a\n", "| a | b |\n",
    "===\n", "---\n", "&#1", "%41", "|-", "<<<<<<<\n", "=======\n", "ignore all ", "<script>", "]: ",
)  # fmt: skip
"""What hostile texts are made of."""
_LENGTH = 200_000
_LINE = 120


def notes() -> Mapping[str, str]:
    """The texts by name."""
    wide = "|" + "|".join(["cell"] * 1_000) + "|\n|" + "-|" * 1_000 + "\n"
    python = "def f(x):\n    return [y for y in x if y != 'a string']  # a comment\n"
    return {
        "table-200x200": _table(200, 200),
        "table-2x5000": _table(5_000, 2),
        "table-3000-columns": _table(3, 3_000),
        "table-1000-columns": wide + ("|" + "|".join(["cell"] * 1_000) + "|\n") * 20,
        "headings-2000": "".join(f"# Heading {number}\n\n" for number in range(2_000)),
        "headings-10000": "".join(f"## Heading {number}\n" for number in range(10_000)),
        "paragraphs-5000": "".join(f"Paragraph {number} with some words.\n\n" for number in range(5_000)),
        "items-5000": "".join(f"- item {number}\n" for number in range(5_000)),
        "tasks-5000": "".join(f"- [ ] task {number}\n" for number in range(5_000)),
        "rules-5000": "---\n\n" * 5_000,
        "fence-1mb": "```\n" + "a line in a fence\n" * 60_000 + "```\n",
        "fence-python-200kb": "```python\n" + python * 2_700 + "```\n",
        "fence-unclosed": "```python\n" + python * 2_700,
        "fence-one-line-1mb": "```\n" + "x" * 1_000_000 + "\n```\n",
        "lists-200-deep": "".join("  " * depth + f"- depth {depth}\n" for depth in range(200)),
        "quotes-50000": ">" * 50_000 + " deep\n",
        "quotes-spaced-20000": "> " * 20_000 + "deep\n",
        "brackets-100000": "[" * 100_000 + "\n",
        "stars-100000": "*" * 100_000 + "\n",
        "stars-spaced-50000": "*a " * 50_000 + "\n",
        "angles-100000": "<" * 100_000 + "\n",
        "images-20000": "![" * 20_000 + "\n",
        "backticks-50000": "`a" * 50_000 + "\n",
        "one-line-1mb": "word " * 200_000 + "\n",
        "one-word-1mb": "w" * 1_000_000 + "\n",
        "short-lines-100000": "ab\n" * 100_000,
        "references-5000": "".join(f"[r{number}]: /target/{number}\n" for number in range(5_000)) + "\n[r1] [r2]\n",
        "bidi-100kb": "\u202eabc\u202c\u200b" * 16_000,
        "json-one-line-1mb": "[" + ",".join(f'{{"a": {number}}}' for number in range(70_000)) + "]",
    }


def repeated() -> Mapping[str, str]:
    """Each unit again and again in one line, and every fourth in many, by a name of its number."""
    texts = {}
    for number, unit in enumerate(UNITS):
        line = unit * max(_LINE // len(unit), 1)
        texts[f"unit-{number:02d}-one-line"] = f"    [a{unit * (_LENGTH // len(unit))}b](x)\n"
        if number % 4 == 0:
            texts[f"unit-{number:02d}-many-lines"] = f"{line}\n" * (_LENGTH // len(line))
    return texts


def _table(rows: int, columns: int) -> str:
    line = "|" + "|".join(f"c{column}" for column in range(columns)) + "|\n"
    return line + "|" + "---|" * columns + "\n" + line * rows
