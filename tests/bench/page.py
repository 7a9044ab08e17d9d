"""The page `memtui/docs/benchmarks.md`: a section for each measurement, made anew by itself."""

import re
from collections.abc import Iterable
from pathlib import Path

from tests.bench.table import Row, markdown

PAGE = Path(__file__).parents[2] / "memtui" / "docs" / "benchmarks.md"


def write_section(name: str, rows: Iterable[Row], machine: str, page: Path = PAGE) -> None:
    """Put the rows of a measurement into its section, which is made at the end if there is none."""
    section = f"<!-- {name} -->\n{machine}\n\n{markdown(rows)}\n<!-- end of {name} -->"
    text = page.read_text(encoding="utf-8")
    held = re.compile(rf"<!-- {name} -->\n.*?<!-- end of {name} -->", re.DOTALL)
    if held.search(text):
        text = held.sub(lambda _: section, text)
    else:
        text = f"{text.rstrip()}\n\n## {name.capitalize()}\n\n{section}\n"
    page.write_text(text, encoding="utf-8")
