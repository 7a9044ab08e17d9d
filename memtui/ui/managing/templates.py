"""What a new memory begins with: nothing but its title, or the headings that its kind goes by.

Agents read memories cold, with nothing around them. A note that says from the start what it is about, when it was
written and why is one that they can use; so each kind asks for just that, and for no more.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

_KINDS_BY_FOLDER = {
    "project": "project",
    "people": "person",
    "person": "person",
    "team": "person",
    "decision": "decision",
    "adr": "decision",
    "learning": "learning",
    "lesson": "learning",
    "preference": "preferences",
}


@dataclass(frozen=True, slots=True)
class Template:
    """A kind of note.

    Attributes:
        name: What it is called in the log.
        key: The character that chooses it.
        label: What it is for, in a few words.
        text: What such a note begins with; `{title}` and `{today}` are filled in.
    """

    name: str
    key: str
    label: str
    text: str


TEMPLATES: Sequence[Template] = (
    Template("note", "n", "a note: its title, and what you write", "# {title}\n\n"),
    Template(
        "project", "j", "a project: what it is, where it stands, what is next",
        "# {title}\n\nWhat it is:\n\n## Where it stands ({today})\n\n- \n\n## Next\n\n- \n\n## Good to know\n\n- \n",
    ),
    Template(
        "person", "u", "a person: who, how you work together",
        "# {title}\n\n- Role: \n- Reach: \n\n## Working together\n\n- \n\n## Good to know\n\n- \n",
    ),
    Template(
        "decision", "d", "a decision: what, when, why, what else was thought of",
        "# {title}\n\n- Decided: {today}\n- By: \n\n## Why\n\n\n\n## What else was thought of\n\n- \n",
    ),
    Template(
        "learning", "l", "a learning: what happened, what to do next time",
        "# {title}\n\nSeen: {today}\n\n## What happened\n\n\n\n## Next time\n\n- \n",
    ),
    Template(
        "preferences", "f", "preferences: how you like things done",
        "# {title}\n\n## Always\n\n- \n\n## Never\n\n- \n",
    ),
    Template(
        "claude-code", "c", "a memory for Claude Code, with front matter",
        "---\nname: {name}\ndescription: \ntype: project\n---\n\n",
    ),
)  # fmt: skip
"""The kinds that are offered, the plainest first."""

_PLAIN = {"json": "{}\n", "yaml": "", "yml": "", "toml": "", "txt": "", "csv": "", "xml": ""}
_NOTES = frozenset({"md", "markdown"})


def is_note(path: str) -> bool:
    """Whether a name is one of a note in Markdown, for which a kind can be chosen."""
    return path.rpartition("/")[2].rpartition(".")[2].lower() in _NOTES


def with_extension(path: str) -> str:
    """A name as it is made: `.md` is added where there is no extension; a `.` at its end says that there is none."""
    name = path.rpartition("/")[2]
    if name.endswith(".") and len(name) > 1:
        return path[:-1]
    return path if "." in name else f"{path}.md"


def offered(path: str) -> list[Template]:
    """The kinds for a name, the likeliest first: what its folder speaks of, else the plain one."""
    folders = path.casefold().split("/")[:-1]
    likely = next(
        (kind for folder in reversed(folders) for start, kind in _KINDS_BY_FOLDER.items() if folder.startswith(start)),
        "note",
    )
    return sorted(TEMPLATES, key=lambda template: template.name != likely)


def filled(template: Template, path: str, today: date) -> str:
    """What a note of that kind and name begins with."""
    title = title_of(path)
    text = template.text.replace("{today}", today.isoformat())
    return text.replace("{title}", title).replace("{name}", json.dumps(title, ensure_ascii=False))


def plain(path: str) -> str:
    """What a file begins with for which no kind is chosen."""
    return _PLAIN.get(path.rpartition(".")[2].lower(), "")


def title_of(path: str) -> str:
    """The title that a name suggests: `API keys` for `notes/API-keys.md`."""
    stem = path.rpartition("/")[2]
    stem = stem.rpartition(".")[0] or stem
    words = stem.replace("-", " ").replace("_", " ").split() if not _is_dated(stem) else [stem]
    title = " ".join(words) or stem
    return title[:1].upper() + title[1:]


def _is_dated(stem: str) -> bool:
    """Whether a name begins with a date, which loses its sense without its strokes."""
    return stem[:4].isdecimal() and stem[4:5] == "-" and stem[5:7].isdecimal()


def first_gap(text: str) -> int:
    """The line at which one begins to write, counted from 1: the first that waits for something."""
    lines = text.split("\n")
    waiting = (at for at, line in enumerate(lines, start=1) if line.endswith((": ", "- ")) or line.endswith(":"))
    return next(waiting, max(len(lines) - 1, 1) if len(lines) > 2 else 1)
