"""Templates of new notes, and names as people type them.

Agents read notes without context, so each template asks what the note is about, when it was written and why.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import date

from memtui.core.errors import Refusal
from memtui.core.lazy_dataclass import dataclass
from memtui.core.messages import MessageKey
from memtui.core.paths import ROOT_NAME, parse_path
from memtui.places.file_rules import NoteStart

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
class NoteTemplate:
    """A kind of note.

    Attributes:
        name: Its name in the log.
        key: The key that chooses it.
        label: Its purpose, in a few words.
        text: With `{title}` and `{today}` to fill in.
    """

    name: str
    key: str
    label: str
    text: str


TEMPLATES: Sequence[NoteTemplate] = (
    NoteTemplate("note", "n", "a note: its title, and what you write", "# {title}\n\n"),
    NoteTemplate(
        "project", "j", "a project: what it is, where it stands, what is next",
        "# {title}\n\nWhat it is:\n\n## Where it stands ({today})\n\n- \n\n## Next\n\n- \n\n## Good to know\n\n- \n",
    ),
    NoteTemplate(
        "person", "u", "a person: who, how you work together",
        "# {title}\n\n- Role: \n- Reach: \n\n## Working together\n\n- \n\n## Good to know\n\n- \n",
    ),
    NoteTemplate(
        "decision", "d", "a decision: what, when, why, what else was thought of",
        "# {title}\n\n- Decided: {today}\n- By: \n\n## Why\n\n\n\n## What else was thought of\n\n- \n",
    ),
    NoteTemplate(
        "learning", "l", "a learning: what happened, what to do next time",
        "# {title}\n\nSeen: {today}\n\n## What happened\n\n\n\n## Next time\n\n- \n",
    ),
    NoteTemplate(
        "preferences", "f", "preferences: how you like things done",
        "# {title}\n\n## Always\n\n- \n\n## Never\n\n- \n",
    ),
    NoteTemplate(
        "claude-code", "c", "a Claude Code note, with front matter",
        "---\nname: {name}\ndescription: \ntype: project\n---\n\n",
    ),
)  # fmt: skip
"""The plainest first."""

_FREE_KEYS = "agitmxy"
"""Keys of the templates that belong to an agent, as far as no other has them."""

_PLAIN = {"json": "{}\n", "yaml": "", "yml": "", "toml": "", "txt": "", "csv": "", "xml": ""}
_NOTES = frozenset({"md", "markdown"})


def is_note_name(path: str) -> bool:
    """Whether a name is one of a note in Markdown, for which there are templates."""
    return path.rpartition("/")[2].rpartition(".")[2].lower() in _NOTES


def add_extension(path: str) -> str:
    """A name with `.md` where it has no extension; a `.` at its end says that it needs none."""
    name = path.rpartition("/")[2]
    if name.endswith(".") and len(name) > 1:
        return path[:-1]
    return path if "." in name else f"{path}.md"


def list_templates(path: str, starts: Iterable[NoteStart] = ()) -> list[NoteTemplate]:
    """The templates for a name, the likeliest by its folder first.

    Args:
        path: Relative to the folder.
        starts: First texts of the agent whose folder it is; those that are for the path come before all others.
    """
    folders = path.casefold().split("/")[:-1]
    likely = next(
        (kind for folder in reversed(folders) for start, kind in _KINDS_BY_FOLDER.items() if folder.startswith(start)),
        "note",
    )
    own = [start for start in starts if start.is_for(path)]
    keys = iter(key for key in _FREE_KEYS if key not in {template.key for template in TEMPLATES})
    first = [NoteTemplate(start.name, key, start.label, start.text) for start, key in zip(own, keys, strict=False)]
    return [*first, *sorted(TEMPLATES, key=lambda template: template.name != likely)]


def fill_template(template: NoteTemplate, path: str, today: date) -> str:
    title = build_title(path)
    text = template.text.replace("{today}", today.isoformat())
    text = text.replace("{slug}", build_slug(path))
    return text.replace("{title}", title).replace("{name}", json.dumps(title, ensure_ascii=False))


def build_plain_text(path: str) -> str:
    """The first text of a file without a template."""
    return _PLAIN.get(path.rpartition(".")[2].lower(), "")


def build_title(path: str) -> str:
    """The title that a name suggests: `API keys` for `notes/API-keys.md`."""
    stem = path.rpartition("/")[2]
    stem = stem.rpartition(".")[0] or stem
    words = stem.replace("-", " ").replace("_", " ").split() if not _has_date_prefix(stem) else [stem]
    title = " ".join(words) or stem
    return title[:1].upper() + title[1:]


def build_slug(path: str) -> str:
    """The name of a note without its extension, in small letters, digits and hyphens: `api-keys` for `API keys.md`."""
    name = path.rpartition("/")[2]
    letters = (letter if letter.isalnum() else "-" for letter in (name.rpartition(".")[0] or name).lower())
    return "-".join(filter(None, "".join(letters).split("-"))) or "note"


def _has_date_prefix(stem: str) -> bool:
    """Whether a name begins with a date, which needs its hyphens."""
    return stem[:4].isdecimal() and stem[4:5] == "-" and stem[5:7].isdecimal()


def find_first_gap(text: str) -> tuple[int, int]:
    """Where one begins to fill in a template: a line, counted from 1, and the characters before the place."""
    lines = text.split("\n")
    for at, line in enumerate(lines, start=1):
        is_open_field = line.endswith((": ", "- ", ":")) and not line.startswith("#")
        if is_open_field or (
            at > 1 and not line and lines[at - 2 : at + 1] == ["", "", ""]
        ):  # a section without a word
            return at, len(line)
    return (len(lines) if len(lines) > 2 else 1), 0


# Names as people type them: what is meant, why it cannot be, and which folders they may be about to name.
#
# Everything is validated while it is typed, and once more by the engine when it is done. So a person never waits for a
# refusal that could have been said a letter earlier.

_MANY = 50
"""Most folders that are offered."""
_WHY = {
    MessageKey.BAD_CHARACTER: "A name cannot hold a backslash, a control character or an invisible one.",
    MessageKey.NAME_TOO_LONG: "Too long: a name has at most 255 bytes.",
    MessageKey.PATH_TOO_LONG: "Too long: a path has at most 1,024 bytes.",
    MessageKey.TOO_DEEP: "Too deep: a path has at most 20 levels.",
    MessageKey.ESCAPES: "Write the path from the memory folder down; nothing can be outside it.",
}


class InvalidName(ValueError):
    """A name that is not valid; says why, as a sentence."""


@dataclass(frozen=True, slots=True)
class TypedPath:
    """A path relative to the folder, `""` being the folder itself, and whether it was typed with a `/` at its end."""

    path: str
    is_folder: bool


def parse_name(typed: str) -> TypedPath:
    """The path that a person typed from the folder down; `/memories/` may stand before it, as agents have it.

    Raises:
        InvalidName: It is not valid.
    """
    words = typed.strip()
    is_folder = words.endswith("/")
    if words == ROOT_NAME or words.startswith(ROOT_NAME + "/"):
        words = words[len(ROOT_NAME) :]
    try:
        place = parse_path(f"{ROOT_NAME}/{words.strip('/')}", making=True)
    except Refusal as refusal:
        raise InvalidName(_WHY.get(refusal.message, "This name could be read as another path.")) from None
    if any(part != part.strip() for part in place.parts):
        raise InvalidName("A name cannot begin or end with a space.")
    return TypedPath(place.relative, is_folder)


def find_completions(typed: str, folders_in: Callable[[str], Iterable[str]]) -> list[str]:
    """The folders that a path may begin with, each ending with `/`, in order; `folders_in` lists a folder's folders."""
    above, _, begun = typed.lstrip("/").rpartition("/")
    folded = begun.casefold()
    found = sorted(
        (path for path in folders_in(above) if path.rpartition("/")[2].casefold().startswith(folded)), key=str.casefold
    )
    if not begun.startswith("."):
        found = [path for path in found if not path.rpartition("/")[2].startswith(".")]
    return [f"{path}/" for path in found[:_MANY]]


def find_common_prefix(paths: list[str]) -> str:
    """How all of some paths begin, without regard to case; as the first one is written."""
    if not paths:
        return ""
    first = paths[0]
    length = min(map(len, paths))
    for at in range(length):
        if len({path[at].casefold() for path in paths}) > 1:
            return first[:at]
    return first[:length]


def find_extension_start(path: str) -> int:
    """The index of the extension in a path; its end if it has none."""
    start = path.rstrip("/").rfind("/") + 1
    dot = path.rfind(".", start + 1)
    return dot if dot > 0 else len(path.rstrip("/"))


def find_free_name(path: str, taken: Callable[[str], bool]) -> str:
    """A name for a copy where nothing stands: `notes/plan-2.md` for `notes/plan.md`."""
    at = find_extension_start(path)
    number = 2
    while taken(new := f"{path[:at]}-{number}{path[at:]}"):
        number += 1
    return new
