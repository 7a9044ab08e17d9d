"""What is said of a name while it is typed: what Enter will do, or why it cannot."""

from collections.abc import Collection

from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.files.contents import ancestors, is_at_or_below, name_of, parent_of
from memtui.ui.managing.courses import Known
from memtui.ui.managing.line import Judge, Verdict
from memtui.ui.managing.names import BadName, Typed, judged
from memtui.ui.managing.renames import in_the_way, target_of
from memtui.ui.managing.templates import with_extension


def new_path(typed: str) -> Typed:
    """What is made of a name that was typed.

    Raises:
        BadName: It cannot be a name here.
    """
    words = typed.strip()
    given = judged(words)
    if not given.path:
        raise BadName("Type a name.")
    if given.is_folder:
        return given
    return judged(with_extension(given.path))


def judge_new(known: Known, start: str) -> Judge:
    """Judges the name of a new memory.

    Args:
        known: What there is.
        start: The folder that stood there at first; nothing but that is no name yet.
    """

    def judge(typed: str) -> Verdict:
        if not typed.strip():
            return Verdict("Type a name; one that ends with / makes a folder.")
        try:
            new = new_path(typed)
        except BadName as error:
            return Verdict(str(error), is_problem=True)
        if known.exists(new.path):
            there = f"{one_line(new.path)}{'/' if known.is_folder(new.path) else ''} is there already"
            return Verdict(f"{there}; type a name." if typed == start else f"{there}.", is_problem=True)
        if blocked := _blocked(new.path, known):
            return Verdict(blocked, is_problem=True)
        what = f"the folder {one_line(new.path)}/" if new.is_folder else one_line(new.path)
        return Verdict(f"Makes {what}{_also_made(new.path, known)}.")

    return judge


def judge_rename(known: Known, old: str) -> Judge:
    """Judges the new path of a memory or a folder, which an agent may move or delete meanwhile."""

    def judge(typed: str) -> Verdict:
        if not known.exists(old):
            return Verdict(_gone(old), is_problem=True)
        try:
            new = target_of(typed, old, known.is_folder(old))
        except BadName as error:
            return Verdict(str(error), is_problem=True)
        if new == old:
            return Verdict("That is its name.")
        words = in_the_way(old, new, {old: new}, known.is_folder, known.exists)
        if words:
            if known.is_folder(new) and not known.is_folder(old):
                words += f" {one_line(new)}/ moves it there."
            return Verdict(words, is_problem=True)
        verb = "Renames it to" if parent_of(old) == parent_of(new) else "Moves it to"
        return Verdict(f"{verb} {one_line(new)}{_also_made(new, known)}.")

    return judge


def judge_copy(known: Known, old: str) -> Judge:
    """Judges the path of a copy."""

    def judge(typed: str) -> Verdict:
        if not known.exists(old):
            return Verdict(_gone(old), is_problem=True)
        try:
            new = target_of(typed, old, known.is_folder(old))
        except BadName as error:
            return Verdict(str(error), is_problem=True)
        if known.exists(new):
            return Verdict(f"{one_line(new)} is there already.", is_problem=True)
        if is_at_or_below(new, old):
            return Verdict("It cannot be copied into itself.", is_problem=True)
        if blocked := _blocked(new, known):
            return Verdict(blocked, is_problem=True)
        return Verdict(f"Copies it to {one_line(new)}{_also_made(new, known)}.")

    return judge


def judge_folder(known: Known, paths: Collection[str], does: str) -> Judge:
    """Judges the folder into which some memories go.

    Args:
        known: What there is.
        paths: Which.
        does: Such as `Moves`.
    """
    unnameable = next((path for path in paths if not _can_be_named(name_of(path))), None)

    def judge(typed: str) -> Verdict:
        try:
            folder = judged(typed).path
        except BadName as error:
            return Verdict(str(error), is_problem=True)
        if unnameable is not None:
            return Verdict(f"{one_line(unnameable)} cannot have that name again. Give it another one first.", True)
        if folder and known.exists(folder) and not known.is_folder(folder):
            return Verdict(f"{one_line(folder)} is no folder.", is_problem=True)
        if folder and (blocked := _blocked(folder, known)):
            return Verdict(blocked, is_problem=True)
        inside = next((path for path in paths if folder and is_at_or_below(folder, path)), None)
        if inside is not None:
            return Verdict(f"{one_line(inside)}/ cannot be put into itself.", is_problem=True)
        new = [f"{folder}/{name_of(path)}" if folder else name_of(path) for path in paths]
        taken = next((path for path in new if known.exists(path) and path not in paths), None)
        if taken is not None:
            return Verdict(f"{one_line(taken)} is there already.", is_problem=True)
        if len(set(new)) < len(new):
            twice = next(path for path in new if new.count(path) > 1)
            return Verdict(f"Two of them would be {one_line(twice)}.", is_problem=True)
        place = f"{one_line(folder)}/" if folder else "the memory folder itself"
        made = "" if not folder or known.exists(folder) else ", which is made"
        return Verdict(f"{does} {wording.memories(len(paths))} to {place}{made}.")

    return judge


def _can_be_named(name: str) -> bool:
    """Whether something new may have the name of what is there."""
    try:
        return judged(name).path == name
    except BadName:
        return False


def _gone(path: str) -> str:
    return f"{one_line(path)} has gone meanwhile: it was moved or deleted. Esc goes back."


def _blocked(path: str, known: Known) -> str:
    for parent in ancestors(path):
        if known.exists(parent) and not known.is_folder(parent):
            return f"{one_line(parent)} is no folder; nothing can lie in it."
    return ""


def _also_made(path: str, known: Known) -> str:
    """The folders that are made for it."""
    missing = [parent for parent in ancestors(path) if not known.exists(parent)]
    return f", and the folder {one_line(missing[0])}/ for it" if missing else ""
