"""Names as people type them: what is meant, why it cannot be, and which folders they may be about to name.

Everything is judged while it is typed, and once more by the engine when it is done. So a person never waits for a
refusal that could have been said a letter earlier.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memtui.core.errors import Refusal
from memtui.core.messages import Message
from memtui.core.paths import ROOT_NAME, parse

_MANY = 50
"""So many folders are offered at most."""
_WHY = {
    Message.BAD_CHARACTER: "A name cannot hold a backslash, a control character or an invisible one.",
    Message.NAME_TOO_LONG: "A name can be 255 bytes long at most.",
    Message.PATH_TOO_LONG: "That is too long: 1,024 bytes is the most.",
    Message.TOO_DEEP: "That is too deep: 20 levels is the most.",
    Message.ESCAPES: "Write the whole path, from the memory folder down; nothing can lie outside it.",
}


class BadName(ValueError):
    """A name that cannot be; says why, as a sentence."""


@dataclass(frozen=True, slots=True)
class Typed:
    """What somebody typed.

    Attributes:
        path: Relative to the folder; `""` is the folder itself.
        is_folder: Whether it ends with a `/`.
    """

    path: str
    is_folder: bool


def judged(typed: str) -> Typed:
    """What is meant by what somebody typed.

    Args:
        typed: A path from the folder down; `/memories/` may stand before it, as agents have it.

    Raises:
        BadName: It cannot be a name here.
    """
    words = typed.strip()
    is_folder = words.endswith("/")
    if words == ROOT_NAME or words.startswith(ROOT_NAME + "/"):
        words = words[len(ROOT_NAME) :]
    try:
        place = parse(f"{ROOT_NAME}/{words.strip('/')}", making=True)
    except Refusal as refusal:
        raise BadName(_WHY.get(refusal.message, "That could be read as another path than it is.")) from None
    if any(part != part.strip() for part in place.parts):
        raise BadName("A name cannot begin or end with a space.")
    return Typed(place.relative, is_folder)


def completions(typed: str, folders_in: Callable[[str], Iterable[str]]) -> list[str]:
    """The folders that a path may be about to name, each ending with `/`; in order.

    Args:
        typed: The path, as far as it was typed.
        folders_in: The paths of the directories that lie directly in one; `""` is the folder itself.
    """
    above, _, begun = typed.lstrip("/").rpartition("/")
    folded = begun.casefold()
    found = sorted(
        (path for path in folders_in(above) if path.rpartition("/")[2].casefold().startswith(folded)),
        key=str.casefold,
    )
    if not begun.startswith("."):
        found = [path for path in found if not path.rpartition("/")[2].startswith(".")]
    return [f"{path}/" for path in found[:_MANY]]


def common_start(paths: list[str]) -> str:
    """How all of some paths begin, without regard to case; as the first one is written."""
    if not paths:
        return ""
    first = paths[0]
    length = min(map(len, paths))
    for at in range(length):
        if len({path[at].casefold() for path in paths}) > 1:
            return first[:at]
    return first[:length]


def before_extension(path: str) -> int:
    """Where in a path the name ends and its extension begins; its end if it has none."""
    start = path.rstrip("/").rfind("/") + 1
    dot = path.rfind(".", start + 1)
    return dot if dot > 0 else len(path.rstrip("/"))


def free_name(path: str, taken: Callable[[str], bool]) -> str:
    """A name for a copy where nothing stands: `notes/plan-2.md` for `notes/plan.md`."""
    at = before_extension(path)
    number = 2
    while taken(new := f"{path[:at]}-{number}{path[at:]}"):
        number += 1
    return new
