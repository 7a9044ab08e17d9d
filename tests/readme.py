"""What is generated: six rows of the README, the pages of keys and settings, the man page and the completions.

`python -m tests.readme` writes them. A test compares each with what is in the repository, so a key, a setting or an
option that is added, moved or dropped cannot be forgotten there.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from memtui.cli.completion import render_completion
from tests.docs.keys import list_screens, render_key_tables
from tests.docs.man_page import render_man_page
from tests.docs.settings import render_setting_tables

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
DOCS = ROOT / "memtui" / "docs"
_ROWS = (
    "create, 1 KB",
    "start: first paint",
    "live: a changed note on screen, among 1,000",
    "search: 100,000 names, first letter",
    "restore: 10,000 files",
    "audit: 10,000 notes of 2 KB",
)
COMPLETIONS = {
    "bash": "share/bash-completion/completions/memtui",
    "zsh": "share/zsh/site-functions/_memtui",
    "fish": "share/fish/vendor_completions.d/memtui.fish",
}
"""Where each shell looks below the prefix that memtui is installed to."""


def render_rows() -> str:
    """The rows of the page of benchmarks that a user cares about most."""
    page = (DOCS / "benchmarks.md").read_text(encoding="utf-8").splitlines()
    rows = [next(line for line in page if line.startswith(f"| {what} |")) for what in _ROWS]
    head = next(number for number, line in enumerate(page) if line.startswith("| what |"))
    return "\n".join([*page[head : head + 2], *rows]) + "\n"


def render_files() -> Mapping[Path, str]:
    """Every file with something generated in it, as it has to be now."""
    screens = list_screens()
    own = {
        "audit.md": ["Keys of audit and review"],
        "chat.md": ["Keys of the chat"],
        "knowledge.md": ["Keys of links", "Keys of graph, map and lists"],
    }
    own["keys.md"] = [screen for screen in screens if not any(screen in listed for listed in own.values())]
    return {
        README: _replace_section(README, "six rows", render_rows()),
        **{DOCS / name: _replace_section(DOCS / name, "keys", render_key_tables(own[name])) for name in own},
        DOCS / "settings.md": _replace_section(DOCS / "settings.md", "settings", render_setting_tables()),
        ROOT / "share/man/man1/memtui.1": render_man_page(),
        **{ROOT / path: render_completion(shell) for shell, path in COMPLETIONS.items()},
    }


def _replace_section(path: Path, name: str, text: str) -> str:
    """A file with another text between its comments `name` and `end of name`."""
    section = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    new, count = section.subn(lambda match: match[1] + text + match[2], path.read_text(encoding="utf-8"))
    if count != 1:
        raise ValueError(f"{path.name} has {count} sections called {name}, not one")
    return new


def main() -> None:
    """Write them all."""
    for path, text in render_files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
