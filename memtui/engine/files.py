"""What a person does to files: moving, copying, deleting and making them, one or thousands as one event.

None of it can be asked for by a command that `execute` takes, so no agent reaches it. Each promises what restoring
promises: everything is looked at before anything is touched, what is in the way is said path by path, and `undo`
takes all of it back in one step.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, NamedTuple, Unpack

from memtui.core import paths as core_paths
from memtui.core.attributes import UNKNOWN
from memtui.core.errors import Refusal, SymlinkEscape
from memtui.core.events import Actor, EntryKind, Event, Person, Version, sha256
from memtui.core.history import ActionResult, SkippedPath, SkipReason, describe_skipped
from memtui.core.messages import MessageKey
from memtui.core.paths import MemoryPath, parse_path, validate_relative_paths
from memtui.engine import reconcile
from memtui.engine.apply import ChangeSet
from memtui.engine.context import EngineContext
from memtui.engine.ledger import Ledger
from memtui.engine.moves import find_common_directory, find_nearest
from memtui.engine.protection import note_protected
from memtui.engine.refusals import explain_error
from memtui.engine.restore import ActionOptions, ActionRecord, Restorer, add_remaining
from memtui.store.base import Node

_YOU = Person()
_DIRECTORY = Version(EntryKind.DIRECTORY)
_WHY_BAD = {
    MessageKey.BAD_CHARACTER: "a character in it is not allowed",
    MessageKey.NAME_TOO_LONG: "a name of over 255 bytes",
    MessageKey.PATH_TOO_LONG: "over 1,024 bytes long",
    MessageKey.TOO_DEEP: "more than 20 levels deep",
}


class NoteEdits(NamedTuple):
    """What notes say after something was moved, copied or deleted, because their links follow it.

    Attributes:
        texts: New texts, by the paths afterwards.
        expected: What must stand at their paths before.
        gone: The paths of notes whose text went into others.
    """

    texts: Mapping[str, bytes] = MappingProxyType({})
    expected: Mapping[str, Version | None] = MappingProxyType({})
    gone: Collection[str] = ()


class FileOperations:
    """Puts files in order, for a person. Reached as `engine.files`; every method may be called from any thread.

    Paths are relative to the folder. A path that is none raises `ValueError`, except as a new name: people type those,
    so they are told. All methods raise `LockTimeout`, `FolderMissing`, `StateUnusable` or `MemoryClosed` where nothing
    could be tried.
    """

    def __init__(self, context: EngineContext, restorer: Restorer) -> None:
        self._context = context
        self._restorer = restorer

    def move(
        self,
        moves: Mapping[str, str],
        *,
        expected: Mapping[str, Version | None] | None = None,
        edit: Callable[[], NoteEdits] = NoteEdits,
        actor: Actor = _YOU,
        **options: Unpack[ActionOptions],
    ) -> ActionResult:
        """Give things other names. All old names are those from before, all new ones those afterwards.

        So `{a: b, b: a}` swaps two things, and `{a: b, b: c}` moves both. A directory takes along what is in it, save
        what is moved by itself. Missing directories are made. Nothing is ever written over.

        Args:
            moves: New names by old ones.
            expected: What must stand at a path now, where that matters.
            edit: Tells what notes say afterwards. It is called while no other writer can come between.
            actor: Who does it.
            options: See `ActionOptions`.
        """
        validate_relative_paths(moves)
        pairs = {old: new for old, new in moves.items() if old != new}
        same = [old for old, new in moves.items() if old == new]
        bad = [problem for new in pairs.values() if (problem := _find_name_problem(new))]
        refused = {problem.path for problem in bad}

        def build(_: Ledger) -> ChangeSet:
            edits = edit()
            standing = {**(expected or {}), **edits.expected}
            real = reconcile.resolve_paths(self._context.store, [*pairs.keys(), *pairs.values(), *standing])
            found = {real[old]: real[new] for old, new in pairs.items() if new not in refused}
            known = {real[path]: version for path, version in standing.items()}
            missing = [SkippedPath(path, SkipReason.MISSING) for path in same if not self._exists(path)]
            target, data = self._make_target(edits.texts, {new: real[new] for new in pairs.values()})
            return ChangeSet(
                target, known, data, moves=tuple(found.items()), known_conflicts=(*bad, *missing), fresh=True
            )

        path, new_path = next(iter(pairs.items())) if len(pairs) == 1 else (None, None)
        action = ActionRecord("rename", actor, "Not moved", path=path, new_path=new_path)
        return self._restorer.run(build, action, **options)

    def copy(
        self,
        copies: Mapping[str, str],
        *,
        expected: Mapping[str, Version | None] | None = None,
        edit: Callable[[], NoteEdits] = NoteEdits,
        actor: Actor = _YOU,
        **options: Unpack[ActionOptions],
    ) -> ActionResult:
        """Copy files, and directories with all that is in them, to free names, by the originals'. See `move`."""
        validate_relative_paths(copies)
        old, new = next(iter(copies.items())) if len(copies) == 1 else (None, None)
        action = ActionRecord("copy", actor, "Not copied", path=new, note=f"of {old}" if old is not None else "")
        return self._restorer.run(
            lambda ledger: self._build_copy(copies, expected or {}, edit(), ledger), action, **options
        )

    def delete(
        self,
        paths: Collection[str],
        *,
        expected: Mapping[str, Version | None] | None = None,
        edit: Callable[[], NoteEdits] = NoteEdits,
        actor: Actor = _YOU,
        **options: Unpack[ActionOptions],
    ) -> ActionResult:
        """Delete files, links, and directories with all that is in them. Every text that can be read is kept.

        What cannot be read is not deleted; a file that is too large for it is, and is gone for good: see
        `ActionResult.unkept`. Arguments are as for `move`.
        """
        validate_relative_paths(paths)

        one = next(iter(paths)) if len(paths) == 1 else None
        action = ActionRecord("delete", actor, "Not deleted", path=one)
        restored = self._restorer.run(lambda _: self._build_deletion(paths, expected or {}, edit()), action, **options)
        if options.get("rehearse") or restored.event is None:
            return restored
        return add_remaining(reconcile.resolve_paths(self._context.store, paths).values(), restored)

    def rearrange(
        self,
        action: Literal["merge", "split"],
        path: str,
        edit: Callable[[], NoteEdits],
        *,
        note: str = "",
        actor: Actor = _YOU,
        **options: Unpack[ActionOptions],
    ) -> ActionResult:
        """Merge notes, or split one: several notes get other texts, some are new, and some go, as one event.

        Args:
            action: Its name in the log.
            path: The note that stays.
            edit: Tells what notes say afterwards, and what must stand at every path of it before. It is called while no
                other writer can come between, and what it raises goes to the caller.
            note: For the log, such as `with b.md`.
            actor: Who does it.
            options: See `ActionOptions`.
        """

        def build(_: Ledger) -> ChangeSet:
            edits = edit()
            validate_relative_paths([*edits.texts, *edits.gone])
            bad = [problem for path in edits.texts if (problem := _find_name_problem(path))]
            bad += [SkippedPath(path, SkipReason.CHANGED) for path in edits.gone if not self._exists(path)]
            real = reconcile.resolve_paths(self._context.store, [*edits.texts, *edits.gone, *edits.expected])
            target, data = self._make_target(edits.texts, {})
            target |= {real[path]: None for path in edits.gone}
            known = {real[path]: version for path, version in edits.expected.items()}
            return ChangeSet(target, known, data, known_conflicts=tuple(bad), fresh=True)

        failure = "Not merged" if action == "merge" else "Not split"
        return self._restorer.run(build, ActionRecord(action, actor, failure, path=path, note=note), **options)

    def carry(
        self,
        wanted: Mapping[str, Version | None],
        *,
        expected: Mapping[str, Version | None],
        texts: Mapping[str, bytes] = MappingProxyType({}),
        moves: tuple[tuple[str, str], ...] = (),
        command: str,
        note: str,
        call_id: str | None,
        actor: Actor,
    ) -> ActionResult:
        """Do here, as one event, what somebody did in another place of the same memories.

        Args:
            wanted: The version that each path is to hold; `None` for nothing.
            expected: What must stand at a path now; where something else does, nothing is done.
            texts: Bytes by SHA-256, of versions that the record may lack.
            moves: New names, as `(old, new)`.
            command: What it is called in the log.
            note: Where it comes from, for the log.
            call_id: What the caller finds the event by.
            actor: Who did it there.
        """
        validate_relative_paths([*wanted, *(each for pair in moves for each in pair)])
        new = [path for path, version in wanted.items() if version is not None and expected.get(path) is None]
        bad = [problem for path in (*new, *(pair[1] for pair in moves)) if (problem := _find_name_problem(path))]
        path, new_path = moves[0] if len(moves) == 1 and not wanted else (None, None)
        action = ActionRecord(command, actor, "Not carried", path, new_path, note, call_id=call_id)
        change_set = ChangeSet(wanted, expected, texts, moves, known_conflicts=tuple(bad))
        return self._restorer.run(change_set, action)

    def make_directory(self, path: str, *, actor: Actor = _YOU) -> ActionResult:
        """Make an empty directory, and those above it that are missing."""
        return self._create_path(path, _DIRECTORY, {}, actor)

    def create(self, path: str, data: bytes = b"", *, note: str = "", actor: Actor = _YOU) -> ActionResult:
        """Make a file at a free name, and its missing directories; `note` is for the log, such as a template's name."""
        version = Version(EntryKind.FILE, sha256(data), len(data))
        return self._create_path(path, version, {version.sha256 or "": data}, actor, note)

    # Protecting

    def protect(self, paths: Collection[str], *, actor: Actor = _YOU) -> ActionResult:
        """Let no agent's command change paths (`""`: the whole folder) and all below them; they can still be viewed.

        Recorded as an event that changed nothing. What a person moves stays protected under its new name.
        """
        validate_relative_paths(path for path in paths if path)
        return self._context.run_action("Not protected", False, lambda: self._protect(paths, actor))

    def unprotect(self, paths: Collection[str], *, actor: Actor = _YOU) -> ActionResult:
        """Let agents change paths again, and all below them; one that is protected with its directory stays so."""
        validate_relative_paths(path for path in paths if path)
        return self._context.run_action("Still protected", False, lambda: self._unprotect(paths, actor))

    def get_protected(self) -> tuple[str, ...]:
        with self._context.calls.track():
            return self._context.protection.get_paths()

    # How

    def _protect(self, paths: Collection[str], actor: Actor) -> ActionResult:
        with self._context.begin_transaction():
            before = self._context.protection.get_paths()
            real = [self._resolve(path) for path in paths]
            missing = tuple(SkippedPath(path, SkipReason.MISSING) for path in real if path and not self._exists(path))
            if missing:
                return ActionResult((), missing, problem=f"Not protected: {describe_skipped(missing)}.")
            new = [path for path in real if not any(core_paths.covers(each, path) for each in before)]
            if not new:
                return ActionResult(problem="Already protected.")
            return self._record_protection("protect", new, actor, before, core_paths.merge_protected(before, new))

    def _unprotect(self, paths: Collection[str], actor: Actor) -> ActionResult:
        with self._context.begin_transaction():
            before = self._context.protection.get_paths()
            real = [path if path in before else self._resolve(path) for path in paths]
            gone = {each for each in before if any(core_paths.covers(path, each) for path in real)}
            holders = {
                path: each for path in real for each in before if each not in gone and core_paths.covers(each, path)
            }
            if holders:
                path, holder = next(iter(holders.items()))
                inner, outer = MemoryPath.from_relative(path), MemoryPath.from_relative(holder)
                words = f"{inner} is protected with {outer}. Unprotect that first"
                return ActionResult(problem=f"Still protected: {words}.")
            if not gone:
                return ActionResult(problem="Not protected: nothing to do.")
            return self._record_protection("unprotect", sorted(gone), actor, before, set(before) - gone)

    def _record_protection(
        self, command: str, paths: Collection[str], actor: Actor, before: Collection[str], protected: Collection[str]
    ) -> ActionResult:
        path = next(iter(paths)) if len(paths) == 1 else find_common_directory(list(paths))
        event = Event(
            at_us=self._context.get_now_us(),
            actor=actor,
            command=command,
            path=str(MemoryPath.from_relative(path)),
            no_change=True,
            note=f"{len(paths):,} paths" if len(paths) > 1 else "",
        )
        recorded = self._context.journal.append_events([note_protected(event, before, protected)])[-1]
        self._context.calls.mark_changed()
        return ActionResult(event=recorded)

    def _create_path(
        self, path: str, version: Version, texts: Mapping[str, bytes], actor: Actor, note: str = ""
    ) -> ActionResult:
        if (bad := _find_name_problem(path)) is not None:
            return ActionResult((), (bad,), problem=f"Not created: {bad.sentence}.")

        def build(_: Ledger) -> ChangeSet:
            real = self._resolve(path)
            return ChangeSet({real: version}, {real: None}, texts, fresh=True)

        action = ActionRecord("create", actor, "Not created", path=path, note=note)
        return self._restorer.run(build, action)

    def _build_copy(
        self,
        copies: Mapping[str, str],
        expected: Mapping[str, Version | None],
        edits: NoteEdits,
        ledger: Ledger,
    ) -> ChangeSet:
        expected = {**expected, **edits.expected}
        versions: dict[str, Version | None] = {}
        skipped: list[SkippedPath] = []
        for old, new in copies.items():
            target = self._resolve(new)
            if (bad := _find_name_problem(new)) is not None:
                skipped.append(bad)
                continue
            try:
                nodes = self._collect_tree(self._resolve(old))
                found = [(node, ledger.compare_path(node.path, node)) for node in nodes]
            except (OSError, SymlinkEscape) as error:
                skipped.append(SkippedPath(old, SkipReason.UNREADABLE, detail=explain_error(error)))
                continue
            if not found:
                skipped.append(SkippedPath(old, SkipReason.MISSING))
                continue
            top = found[0][0].path
            if target == top or (found[0][0].kind is EntryKind.DIRECTORY and target.startswith(top + "/")):
                skipped.append(SkippedPath(old, SkipReason.TAKEN if target == top else SkipReason.INTO_ITSELF))
                continue
            for node, version in found:
                path = target + node.path[len(top) :]
                if path in versions:
                    skipped.append(SkippedPath(path, SkipReason.TWICE))
                elif expected.get(node.path, version) != version:
                    skipped.append(SkippedPath(node.path, SkipReason.CHANGED))
                elif version is not None and version.kind is EntryKind.FILE and version.sha256 is None:
                    skipped.append(SkippedPath(node.path, SkipReason.UNREADABLE, detail="it could not be kept"))
                else:
                    versions[path] = replace(version, attributes=UNKNOWN) if version is not None else None
        free: dict[str, Version | None] = dict.fromkeys(versions, None)
        rewritten, data = self._make_target(edits.texts, {new: self._resolve(new) for new in copies.values()})
        free |= {path: expected[path] for path in rewritten if path not in versions and path in expected}
        versions |= {path: version for path, version in rewritten.items() if path in free}
        return ChangeSet(versions, free, {**ledger.texts, **data}, known_conflicts=tuple(skipped), fresh=True)

    def _build_deletion(
        self, paths: Collection[str], expected: Mapping[str, Version | None], edits: NoteEdits
    ) -> ChangeSet:
        expected = {**expected, **edits.expected}
        versions: dict[str, Version | None] = {}
        skipped: list[SkippedPath] = []
        real = reconcile.resolve_paths(self._context.store, [*paths, *expected])
        for path in paths:
            try:
                nodes = self._collect_tree(real[path])
            except (OSError, SymlinkEscape) as error:
                skipped.append(SkippedPath(path, SkipReason.UNREADABLE, detail=explain_error(error)))
                continue
            if not nodes:
                skipped.append(SkippedPath(path, SkipReason.MISSING))
            versions.update(dict.fromkeys((node.path for node in nodes), None))
        known = {real[path]: version for path, version in expected.items()}
        rewritten, data = self._make_target(edits.texts, {})
        return ChangeSet(rewritten | versions, known, data, known_conflicts=tuple(skipped), others=True)

    def _make_target(
        self, texts: Mapping[str, bytes], arrivals: Mapping[str, str]
    ) -> tuple[dict[str, Version | None], dict[str, bytes]]:
        """The versions that notes are to hold, by their real paths, and the bytes by their hashes.

        Args:
            arrivals: The real paths of new names.
        """
        target: dict[str, Version | None] = {}
        for path, data in texts.items():
            top = find_nearest(path, arrivals)
            real = arrivals[top] + path[len(top) :] if top is not None else self._resolve(path)
            target[real] = Version(EntryKind.FILE, sha256(data), len(data))
        return target, {sha256(data): data for data in texts.values()}

    def _collect_tree(self, path: str) -> list[Node]:
        """What stands at a path itself, and all that is in it; nothing where nothing stands."""
        top = reconcile.find_node(self._context.store, path)
        if top is None:
            return []
        if top.kind is not EntryKind.DIRECTORY:
            return [top]
        return [top, *self._context.store.scan(MemoryPath.from_relative(path), complete=True)]

    def _exists(self, path: str) -> bool:
        try:
            return reconcile.find_node(self._context.store, self._resolve(path)) is not None
        except OSError:
            return True  # nobody can tell, and it stays where it is

    def _resolve(self, path: str) -> str:
        return reconcile.resolve_path(self._context.store, path)


def _find_name_problem(path: str) -> SkippedPath | None:
    """Why nothing is given a name; `None` if it can be. What agents may not name is not made by a person either."""
    try:
        validate_relative_paths([path])
        parse_path(str(MemoryPath.from_relative(path)), making=True)
    except ValueError:
        words = _WHY_BAD[MessageKey.BAD_CHARACTER] if "\0" in path else "a part of it is empty, a dot or two dots"
        return SkippedPath(path, SkipReason.BAD_NAME, detail=words)
    except Refusal as refusal:
        return SkippedPath(
            path, SkipReason.BAD_NAME, detail=_WHY_BAD.get(refusal.message, "it could be read as a different path")
        )
    return None
