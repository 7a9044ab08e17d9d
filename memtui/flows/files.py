"""Create, rename, move, copy, delete and protect: which question is asked first, and which sentence is reported.

A question is asked where more than one file, or something protected, is at stake.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Literal, Protocol

from memtui.core.events import Change, EntryKind
from memtui.core.history import ActionResult, SkipReason, describe_rest
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count, format_file_count
from memtui.editing.external_editor import EditorUnavailable
from memtui.engine import Engine
from memtui.flows import link_rewriting
from memtui.flows.dialog import Choice, Dialog, FlowOutcome, Phrases, format_hint
from memtui.flows.link_rewriting import PlannedLinks, plan_deleted_links, plan_moved_links
from memtui.flows.rename_plan import RenamePlan, can_be_written, format_paths, parse_renames
from memtui.knowledge.rewriting import LinkPlan
from memtui.places.dialects import Dialect
from memtui.places.file_rules import NO_RULE


@dataclass(frozen=True, slots=True)
class FileFlowOutcome:
    """The sentence to report, the path to go to (empty for none), and whether something was changed."""

    outcome: FlowOutcome | None = None
    path: str = ""
    is_changed: bool = False


@dataclass(frozen=True, slots=True)
class FolderContext:
    """The state of the folder as its user interface knows it, by path."""

    is_folder: Callable[[str], bool]
    exists: Callable[[str], bool]
    is_protected: Callable[[str], bool]


class RenameDialog(Dialog, Protocol):
    """A dialog in which many names are changed as a text."""

    async def edit_names(self, text: str, parse: Callable[[str], RenamePlan]) -> str | None:
        """The text as the person leaves it; `None` to go back. Raises `EditorUnavailable`."""

    async def review_renames(
        self, title: str, rows: Sequence[tuple[str, str]], question: str
    ) -> Literal["yes", "edit"] | None:
        """Show old and new names, or problems; without a question the only ways are to edit again or to go back."""


def describe_paths(paths: Collection[str], is_folder: Callable[[str], bool]) -> str:
    """Some entries in a few words: `plan.md`, `notes/`, `3 files in notes/`, `2 directories and 5 files`."""
    if len(paths) == 1:
        path = next(iter(paths))
        return f"{to_one_line(path)}{'/' if is_folder(path) else ''}"
    folders = sum(map(is_folder, paths))
    files = len(paths) - folders
    words = [format_count(folders, "directory", "directories")] if folders else []
    words += [format_file_count(files)] if files else []
    parents = {_get_parent(path) for path in paths}
    parent = next(iter(parents)) if len(parents) == 1 else ""
    return " and ".join(words) + (f" in {to_one_line(parent)}/" if parent else "")


def make_directory(phrases: Phrases, engine: Engine, path: str) -> FileFlowOutcome:
    """Make a folder."""
    result = engine.files.make_directory(path)
    return make_outcome(phrases, result, f"Created the directory {to_one_line(path)}/.", path=path)


def create(phrases: Phrases, engine: Engine, path: str, data: bytes, note: str) -> FileFlowOutcome:
    """Create a memory with its first text; `note` is for the log."""
    result = engine.files.create(path, data, note=note)
    return make_outcome(phrases, result, f"Created {to_one_line(path)}.", path=path)


async def rename(dialog: Dialog, engine: Engine, old: str, new: str, known: FolderContext) -> FileFlowOutcome:
    """Give one memory, or a folder with all that is in it, another path."""
    end = "/" if known.is_folder(old) else ""
    moved = await _move(dialog, engine, {old: new}, f"Renaming {to_one_line(old)}")
    if moved is None:
        return FileFlowOutcome(FlowOutcome("Nothing was renamed."))
    result, links = moved
    verb = "Renamed" if _get_parent(old) == _get_parent(new) else "Moved"
    words = f"{verb} {to_one_line(old)}{end} to {to_one_line(new)}{end}."
    return make_outcome(dialog.phrases, result, words, path=new, links=links)


async def move_into(
    dialog: Dialog, engine: Engine, paths: Collection[str], folder: str, known: FolderContext
) -> FileFlowOutcome:
    """Move memories into a folder, under their own names."""
    moves = {path: new for path in paths if (new := join_folder(folder, path)) != path}
    if not moves:
        subject = "It is" if len(paths) == 1 else "All are"
        return FileFlowOutcome(FlowOutcome(f"{subject} already in {_format_folder(folder)}."))
    words = describe_paths(moves, known.is_folder)
    moved = await _move(dialog, engine, moves, f"Moving {words}")
    if moved is None:
        return FileFlowOutcome(FlowOutcome("Nothing was moved."))
    result, links = moved
    return make_outcome(
        dialog.phrases,
        result,
        f"Moved {words} to {_format_folder(folder)}.",
        _format_undo_hint(dialog.phrases, moves),
        path=next(iter(moves.values())),
        links=links,
    )


async def copy_to(dialog: Dialog, engine: Engine, copies: Mapping[str, str], known: FolderContext) -> FileFlowOutcome:
    """Copy memories, or folders with all that is in them."""
    words = describe_paths(copies, known.is_folder)
    result = await dialog.run(f"Copying {words}", lambda step: engine.files.copy(copies, progress=step))
    new = next(iter(copies.values()))
    target = _format_folder(_get_parent(new)) if len(copies) > 1 else to_one_line(new)
    return make_outcome(dialog.phrases, result, f"Copied {words} to {target}.", path=new)


_UNKEPT = "Files too large to keep were deleted for good."


async def delete(dialog: Dialog, engine: Engine, paths: Sequence[str], known: FolderContext) -> FileFlowOutcome:
    """Delete memories; folders, several and protected ones after a question. Only the files that were counted go: one
    that an agent changes meanwhile stays.
    """
    phrases, words = dialog.phrases, describe_paths(paths, known.is_folder)
    protected = [path for path in paths if known.is_protected(path)]
    is_kept = len(paths) == 1 and await dialog.call(lambda: engine.can_be_kept(paths[0]))
    planned = await dialog.call(lambda: plan_deleted_links(engine, paths), "Checking links")
    answer: str | None = LEAVE
    if planned.plan.rewritten:
        answer = await _ask_about_links(dialog, planned.plan, "Keep only the words of", "links to it stay, broken")
    if answer is None:
        return FileFlowOutcome(FlowOutcome("Nothing was deleted."))
    used = planned if answer == REWRITE else PlannedLinks()
    if is_kept and not known.is_folder(paths[0]) and not protected and not engine.dialect.get_rule(paths[0]).kept:
        result, plan = await dialog.call(lambda: link_rewriting.delete(engine, paths, used))
        links = link_rewriting.format_done(plan if used is planned else planned.plan, is_rewritten=used is planned)
        return make_outcome(phrases, result, f"Deleted {words}.", _format_restore_hint(phrases, "it"), links=links)
    rehearsal = await dialog.call(lambda: engine.files.delete(paths, partial=True, rehearse=True), f"Checking {words}")
    if not rehearsal.changes:
        return make_outcome(phrases, rehearsal, "")
    keeper = _describe_keeper(engine.dialect, [*paths, *(change.path for change in rehearsal.changes)])
    if not await dialog.confirm(_format_delete_question(phrases, words, paths, rehearsal, protected, keeper, known)):
        return FileFlowOutcome(FlowOutcome("Nothing was deleted."))
    if rehearsal.skipped:
        used = PlannedLinks()  # what stays keeps its links
    expected = {change.path: change.before for change in rehearsal.changes}
    result, plan = await dialog.run(
        f"Deleting {words}",
        lambda step: link_rewriting.delete(engine, paths, used, expected=expected, partial=True, progress=step),
    )
    links = link_rewriting.format_done(plan if used is planned else planned.plan, is_rewritten=used is planned)
    them = "it" if len(paths) == 1 and not known.is_folder(paths[0]) else "all of it"
    skipped = {left.path for left in result.skipped}
    words = describe_paths([path for path in paths if path not in skipped] or paths, known.is_folder)
    again = _UNKEPT if result.unkept else _format_restore_hint(phrases, them)
    return make_outcome(phrases, result, f"Deleted {words}.", again, links=links)


def _describe_keeper(dialect: Dialect, paths: Iterable[str]) -> str:
    """A sentence, after a space, where one of some files is kept by the program of the folder's agent."""
    path, rule = next(((path, rule) for path in paths if (rule := dialect.get_rule(path)).kept), ("", NO_RULE))
    return f" {to_one_line(path)} is {rule.kept}. {rule.why}" if path else ""


def _format_delete_question(
    phrases: Phrases,
    target: str,
    paths: Sequence[str],
    rehearsal: ActionResult,
    protected: Collection[str],
    keeper: str,
    known: FolderContext,
) -> str:
    count = _count_files(rehearsal.changes)
    words = f"Delete {target}"
    if any(map(known.is_folder, paths)):
        if len(paths) == 1:
            words += f" and the {format_file_count(count)} in it" if count else ", which is empty"
        else:
            words += f", {format_file_count(count)} in all"
    words += "?"
    if protected:
        them = "It is" if len(paths) == 1 else f"{len(protected):,} of them {'is' if len(protected) == 1 else 'are'}"
        words += f" {them} protected from agents."
    words += keeper
    if rehearsal.skipped:
        words += f" {describe_rest(rehearsal.skipped)}."
    if rehearsal.unkept:
        return f"{words} {format_file_count(rehearsal.unkept)} too large to keep: deleted for good."
    them = "it" if len(paths) == 1 and count <= 1 else "them"
    lists, undo = phrases.name_action("browse.deleted"), phrases.name_action("browse.undo")
    return f"{words} {undo} restores {them}, {lists} lists deleted notes."


async def rename_many(
    dialog: RenameDialog, engine: Engine, paths: Sequence[str], known: FolderContext
) -> FileFlowOutcome:
    """Rename memories in a text, one a line."""
    phrases, plain = dialog.phrases, [path for path in paths if can_be_written(path)]
    if not plain:
        one_by_one = format_hint(phrases, "file.rename", "renames them one at a time.")
        return FileFlowOutcome(FlowOutcome(f"These names have invisible characters:{one_by_one}", True))
    text = format_paths(plain, known.is_folder)

    def parse(text: str) -> RenamePlan:
        return parse_renames(text, plain, is_folder=known.is_folder, exists=known.exists, phrases=phrases)

    while True:
        try:
            edited = await dialog.edit_names(text, parse)
        except EditorUnavailable as error:
            return FileFlowOutcome(FlowOutcome(str(error), is_warning=True))
        if edited is None:
            return FileFlowOutcome(FlowOutcome("Nothing was renamed."))
        text, plan = edited, parse(edited)
        moves, problems = dict(plan.moves), [str(each) for each in plan.problems]
        if not problems and not moves:
            return FileFlowOutcome(FlowOutcome("Nothing was renamed: no name was changed."))
        words = describe_paths(moves, known.is_folder) if moves else ""
        if not problems:
            rehearse = partial(engine.files.move, moves, rehearse=True)
            rehearsal = await dialog.call(rehearse, f"Checking {len(moves):,} names")
            problems = [left.sentence for left in rehearsal.skipped] or [rehearsal.problem] * bool(rehearsal.problem)
        if problems:
            answer = await dialog.review_renames("These names cannot be used", [(each, "") for each in problems], "")
        else:
            question = _format_rename_question(phrases, moves, hidden=len(paths) - len(plain))
            answer = await dialog.review_renames(f"{words} to be renamed", list(moves.items()), question)
        if answer is None:
            return FileFlowOutcome(FlowOutcome("Nothing was renamed."))
        if answer == "yes":
            break
    moved = await _move(dialog, engine, moves, f"Renaming {words}")
    if moved is None:
        return FileFlowOutcome(FlowOutcome("Nothing was renamed."))
    result, links = moved
    new = next(iter(moves.values()))
    done = f"Renamed {words} to {to_one_line(new)}." if len(moves) == 1 else f"Renamed {words}."
    return make_outcome(phrases, result, done, _format_undo_hint(phrases, moves), path=new, links=links)


def _format_rename_question(phrases: Phrases, moves: Mapping[str, str], *, hidden: int) -> str:
    target = "it" if len(moves) == 1 else f"all {len(moves):,}"
    question = f"Rename {target}? {_format_undo_hint(phrases, moves)}"
    if hidden:
        one_by_one = format_hint(phrases, "file.rename", "renames them one at a time.")
        were = "was" if hidden == 1 else "were"
        question += f" {hidden:,} with invisible characters {were} left out:{one_by_one}"
    return question


def protect(
    phrases: Phrases, engine: Engine, paths: Sequence[str], known: FolderContext, *, on: bool
) -> FileFlowOutcome:
    """Let no agent change these paths, or let them again."""
    words = describe_paths(paths, known.is_folder)
    if on:
        result = engine.files.protect(paths)
        again = format_hint(phrases, "file.protect", "removes the protection.")
        words = f"Protected {words}: no agent can change {'it' if len(paths) == 1 else 'them'}.{again}"
    else:
        result = engine.files.unprotect(paths)
        words = f"No longer protected: {words}. Agents can change {'it' if len(paths) == 1 else 'them'} again."
    if result.problem:
        return FileFlowOutcome(FlowOutcome(result.problem, is_warning=True))
    return FileFlowOutcome(FlowOutcome(words, event=result.event.seq if result.event else 0), is_changed=True)


def make_outcome(
    phrases: Phrases, result: ActionResult, done: str, again: str = "", *, path: str = "", links: str = ""
) -> FileFlowOutcome:
    """The outcome: done, partly done, or not done and why; what became of the links, and how it is undone."""
    if result.event is None:
        return FileFlowOutcome(FlowOutcome(result.problem or "Nothing to do.", is_warning=True))
    undo = phrases.name_action("browse.undo")
    done = f"{done} {links}" if links else done
    again = again or f"{undo} undoes it."
    words = f"{done} {again}"
    stopped = sum(left.reason is SkipReason.STOPPED for left in result.skipped)
    if stopped:
        words = f"Stopped: {format_file_count(stopped)} left as before. The rest is done; "
        words += f"{undo} undoes it."
    elif result.skipped:  # named first: lines are cut at the end
        words = f"{done} {describe_rest(result.skipped)}. {again}"
    if result.problem:
        words = result.problem
    return FileFlowOutcome(
        FlowOutcome(words, bool(result.skipped or result.problem or "broken" in links), result.event.seq),
        path,
        is_changed=True,
    )


# Links that a move breaks

REWRITE, LEAVE = "rewrite", "leave"
"""What becomes of links, as a person answers."""


async def _move(
    dialog: Dialog, engine: Engine, moves: Mapping[str, str], label: str
) -> tuple[ActionResult, str] | None:
    """Move files; if links would break, have them follow or not, as the person says.

    Returns:
        The result, and what became of the links as sentences; `None` if she went back.
    """
    planned = await dialog.call(lambda: plan_moved_links(engine, moves), "Checking links")
    answer: str | None = LEAVE
    if planned.plan.rewritten:
        answer = await _ask_about_links(dialog, planned.plan, "Rewrite", "leave them broken")
    if answer is None:
        return None
    used = planned if answer == REWRITE else PlannedLinks()
    result, plan = await dialog.run(label, lambda step: link_rewriting.move(engine, moves, used, progress=step))
    plan = plan if answer == REWRITE else planned.plan
    return result, link_rewriting.format_done(plan, is_rewritten=answer == REWRITE)


async def _ask_about_links(dialog: Dialog, plan: LinkPlan, verb: str, other: str) -> str | None:
    """Ask what becomes of links; `None` to go back."""
    choices = [
        Choice("y", f"yes: {link_rewriting.format_places(plan.rewritten)}", REWRITE),
        Choice("n", f"no, {other}", LEAVE),
    ]
    return await dialog.choose(f"{verb} {link_rewriting.format_count_of_links(plan.rewritten)}?", choices)


def _count_files(changes: Iterable[Change]) -> int:
    """How many files, links and the like are concerned, directories left aside."""
    versions = {change.path: change.after or change.before for change in changes}
    return sum(version is not None and version.kind is not EntryKind.DIRECTORY for version in versions.values())


def _format_undo_hint(phrases: Phrases, moves: Mapping[str, str]) -> str:
    return f"{phrases.name_action('browse.undo')} undoes {'all of it' if len(moves) > 1 else 'it'}."


def _format_restore_hint(phrases: Phrases, target: str) -> str:
    undo, deleted = phrases.name_action("browse.undo"), phrases.name_action("browse.deleted")
    return f"{undo} restores {target}, {deleted} lists deleted notes."


def join_folder(folder: str, path: str) -> str:
    """The path of an entry in another folder, under its own name."""
    name = path.rpartition("/")[2]
    return f"{folder}/{name}" if folder else name


def _get_parent(path: str) -> str:
    return path.rpartition("/")[0]


def _format_folder(folder: str) -> str:
    return f"{to_one_line(folder)}/" if folder else "the memory folder"
