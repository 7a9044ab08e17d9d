"""Putting files in order: what is asked first, and what is said afterwards.

Loaded when such a key is pressed. Each of these is a course of its own, as in `memtui.ui.taking_back`: look, ask where
more than one file is at stake, act in a thread, and answer with what is to be said and where the person wants to be.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from textual.app import App
from textual.screen import Screen

from memtui.core.restoring import Restored
from memtui.core.visible import one_line
from memtui.engine import Engine
from memtui.ui import said_keys, wording
from memtui.ui.external import NoEditor, command_of, edited
from memtui.ui.files.contents import name_of, parent_of
from memtui.ui.managing.buffer import BufferScreen
from memtui.ui.managing.progress import with_progress
from memtui.ui.managing.renames import HEAD, Renames, can_be_written, read, written
from memtui.ui.managing.summary import SummaryScreen
from memtui.ui.managing.words import files_in, left_of, named, told
from memtui.ui.screens.ask import AskScreen
from memtui.ui.taking_back import Said

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Came:
    """What came of it.

    Attributes:
        said: What is to be said; `None` for nothing.
        path: Where the person wants to be; empty for where she is.
        done: Whether something was done.
    """

    said: Said | None = None
    path: str = ""
    done: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """What the screen knows of the folder.

    Attributes:
        is_folder: Whether a path is a directory.
        exists: Whether there is something at a path.
        is_protected: Whether no agent may change a path.
    """

    is_folder: Callable[[str], bool]
    exists: Callable[[str], bool]
    is_protected: Callable[[str], bool]


async def make(engine: Engine, path: str, data: bytes | None, *, note: str = "") -> Came:
    """Make a memory, or a folder.

    Args:
        engine: The memory.
        path: Where.
        data: What it begins with; `None` for a folder.
        note: For the log.
    """
    if data is None:
        restored = await _in_thread(lambda: engine.files.make_directory(path))
        done = f"Created the folder {one_line(path)}/."
    else:
        restored = await _in_thread(lambda: engine.files.create(path, data, note=note))
        done = f"Created {one_line(path)}."
    return _came(restored, told(restored, done), path)


async def rename(app: App[Any], engine: Engine, old: str, new: str, known: Known) -> Came:
    """Give one memory, or a folder with all that is in it, another path."""
    was_folder = known.is_folder(old)
    restored = await with_progress(
        app, f"Renaming {one_line(old)}", lambda step: engine.files.move({old: new}, progress=step)
    )
    verb = "Renamed" if parent_of(old) == parent_of(new) else "Moved"
    end = "/" if was_folder else ""
    return _came(restored, told(restored, f"{verb} {one_line(old)}{end} to {one_line(new)}{end}."), new)


async def move_into(app: App[Any], engine: Engine, paths: Collection[str], folder: str, known: Known) -> Came:
    """Move memories into a folder, under their own names."""
    moves = {path: new for path in paths if (new := _inside(folder, path)) != path}
    if not moves:
        return Came(Said(f"{_all(paths)} in {_place(folder)} already."))
    restored = await _moved(app, engine, moves, f"Moving {named(moves, known.is_folder)}")
    done = f"Moved {named(moves, known.is_folder)} to {_place(folder)}."
    return _came(restored, told(restored, done, again=_again(moves)), next(iter(moves.values())))


async def copy_to(app: App[Any], engine: Engine, copies: Mapping[str, str], known: Known) -> Came:
    """Copy memories, or folders with all that is in them."""
    what = named(copies, known.is_folder)
    restored = await with_progress(app, f"Copying {what}", lambda step: engine.files.copy(copies, progress=step))
    new = next(iter(copies.values()))
    where = _place(parent_of(new)) if len(copies) > 1 else one_line(new)
    return _came(restored, told(restored, f"Copied {what} to {where}."), new)


async def delete(app: App[Any], engine: Engine, paths: Sequence[str], known: Known) -> Came:
    """Delete memories; a folder, several at once and what is protected only after a question.

    What is deleted then is what was counted: a memory that an agent changes meanwhile stays.
    """
    what = named(paths, known.is_folder)
    guarded = [path for path in paths if known.is_protected(path)]
    if len(paths) == 1 and not known.is_folder(paths[0]) and not guarded:
        restored = await _in_thread(lambda: engine.files.delete(paths))
        return _came(restored, told(restored, f"Deleted {what}.", again=_gone("it")))
    rehearsal = await _looked(
        app, f"Looking at {what}", lambda: engine.files.delete(paths, partial=True, rehearse=True)
    )
    if not rehearsal.changes:
        return Came(told(rehearsal, ""))
    question = _question(what, paths, rehearsal, guarded, known)
    if not await ask(app, question):
        return Came(Said("Nothing was deleted."))
    expected = {change.path: change.before for change in rehearsal.changes}
    restored = await with_progress(
        app,
        f"Deleting {what}",
        lambda step: engine.files.delete(paths, expected=expected, partial=True, progress=step),
    )
    it = "it" if len(paths) == 1 and not known.is_folder(paths[0]) else "all of it"
    stayed = {left.path for left in restored.left}
    what = named([path for path in paths if path not in stayed] or paths, known.is_folder)
    return _came(restored, told(restored, f"Deleted {what}.", again=_gone(it)))


def _question(what: str, paths: Sequence[str], rehearsal: Restored, guarded: Collection[str], known: Known) -> str:
    count = files_in(rehearsal.changes)
    words = f"Delete {what}"
    if any(map(known.is_folder, paths)):
        if len(paths) == 1:
            words += f" and the {wording.files(count)} in it" if count else ", which is empty"
        else:
            words += f", {wording.files(count)} in all"
    words += "?"
    if guarded:
        them = "It is" if len(paths) == 1 else f"{len(guarded):,} of them {'is' if len(guarded) == 1 else 'are'}"
        words += f" {them} protected from agents."
    if rehearsal.left:
        words += f" Left as it is: {left_of(rehearsal)}."
    them = "it" if len(paths) == 1 and count <= 1 else "them"
    return f"{words} {said_keys.deleted()} lists {them} afterwards, {said_keys.undo()} brings {them} back."


async def rename_many(app: App[Any], engine: Engine, paths: Sequence[str], known: Known) -> Came:
    """Rename memories in a text, one a line: in the person's own editor if she has set one, else in ours."""
    plain = [path for path in paths if can_be_written(path)]
    if not plain:
        return Came(Said(f"These names hold characters that cannot be seen: {_one_at_a_time()}", True))
    text = written(plain, known.is_folder)

    def said(text: str) -> Renames:
        return read(text, plain, is_folder=known.is_folder, exists=known.exists)

    nothing = Came(Said("Nothing was renamed."))
    while True:
        try:
            changed = await _edited(app, text, said)
        except NoEditor as error:
            return Came(Said(str(error), is_warning=True))
        if changed is None:
            return nothing
        text, renames = changed, said(changed)
        if renames.problems:
            answer = await _show(app, "These names cannot be", [(str(each), "") for each in renames.problems], "")
        elif not renames.moves:
            return Came(Said("No name was changed: nothing was renamed."))
        else:
            moves = dict(renames.moves)
            words = f"Looking at {len(moves):,} names"
            rehearsal = await _looked(app, words, partial(engine.files.move, moves, rehearse=True))
            if rehearsal.problem or rehearsal.left:
                lines = [(left.sentence, "") for left in rehearsal.left] or [(rehearsal.problem, "")]
                answer = await _show(app, "These names cannot be", lines, "")
            else:
                answer = await _show(app, _title(moves, known), list(moves.items()), _asked(moves, paths, plain))
        if answer is None:
            return nothing
        if answer == "yes":
            break
    restored = await _moved(app, engine, moves, f"Renaming {named(moves, known.is_folder)}")
    words = f"Renamed {_renamed(moves, known)}."
    return _came(restored, told(restored, words, again=_again(moves)), next(iter(moves.values())))


async def _edited(app: App[Any], text: str, said: Callable[[str], Renames]) -> str | None:
    """The text as the person leaves it; `None` if she turned away."""
    try:
        command_of(app)
    except NoEditor:
        screen: Screen[Any] = BufferScreen(text, said)
        answer: str | None = await app.push_screen_wait(screen)
        return answer
    return edited(app, text, name="names.txt", line=HEAD.count("\n") + 1)


async def _show(app: App[Any], title: str, rows: Sequence[tuple[str, str]], question: str) -> str | None:
    screen: Screen[Any] = SummaryScreen(title, rows, question)
    answer: str | None = await app.push_screen_wait(screen)
    return answer


def _title(moves: Mapping[str, str], known: Known) -> str:
    return f"{named(moves, known.is_folder)} to be renamed"


def _asked(moves: Mapping[str, str], paths: Collection[str], plain: Collection[str]) -> str:
    words = f"Rename {'it' if len(moves) == 1 else f'all {len(moves):,}'}? {_again(moves)}"
    hidden = len(paths) - len(plain)
    if hidden:
        were = "was" if hidden == 1 else "were"
        words += f" {hidden:,} with characters that cannot be seen {were} not offered: {_one_at_a_time()}"
    return words


def _renamed(moves: Mapping[str, str], known: Known) -> str:
    what = named(moves, known.is_folder)
    return f"{what} to {one_line(next(iter(moves.values())))}" if len(moves) == 1 else what


def _again(moves: Mapping[str, str]) -> str:
    return f"{said_keys.undo()} takes {'all of it' if len(moves) > 1 else 'it'} back."


def _gone(what: str) -> str:
    return f"{said_keys.undo()} brings {what} back, {said_keys.deleted()} lists what is gone."


def _one_at_a_time() -> str:
    return f"{said_keys.rename()} renames them one at a time."


async def _moved(app: App[Any], engine: Engine, moves: Mapping[str, str], words: str) -> Restored:
    return await with_progress(app, words, lambda step: engine.files.move(moves, progress=step))


def _came(restored: Restored, said: Said, path: str = "") -> Came:
    return Came(said, path if restored.event is not None else "", restored.event is not None)


def _inside(folder: str, path: str) -> str:
    return f"{folder}/{name_of(path)}" if folder else name_of(path)


def _place(folder: str) -> str:
    return f"{one_line(folder)}/" if folder else "the memory folder"


def _all(paths: Collection[str]) -> str:
    return "It is" if len(paths) == 1 else "All are"


async def ask(app: App[Any], question: str) -> bool:
    """Ask yes or no."""
    screen: Screen[Any] = AskScreen(question)
    return bool(await app.push_screen_wait(screen))


async def _looked(app: App[Any], words: str, call: Callable[[], Restored]) -> Restored:
    """Find out what would happen; of thousands of files that takes a moment, in which no key may do something else."""
    return await with_progress(app, words, lambda _: call(), can_stop=False)


async def _in_thread(call: Callable[[], T]) -> T:
    """Disk and database are slow now and then: never on the screen's loop."""
    return await asyncio.to_thread(call)


async def protect(engine: Engine, paths: Sequence[str], known: Known, *, on: bool) -> Came:
    """Let no agent change these, or let them again."""
    what = named(paths, known.is_folder)
    them = "it" if len(paths) == 1 else "them"
    if on:
        restored = await _in_thread(lambda: engine.files.protect(paths))
        words = f"Protected {what}: no agent can change {them}. :protect again lets them."
    else:
        restored = await _in_thread(lambda: engine.files.unprotect(paths))
        words = f"No longer protected: {what}. Agents can change {them} again."
    if restored.problem:
        return Came(Said(restored.problem, is_warning=True))
    return Came(Said(words, event=restored.event.seq if restored.event else 0), done=True)
