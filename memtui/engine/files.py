"""What a person does to files: moving, copying, deleting and making them, one or thousands as one event.

None of it can be asked for by a command that `execute` takes, so no agent reaches it. Each promises what restoring
promises: everything is looked at before anything is touched, what is in the way is said path by path, and `undo`
takes all of it back in one step.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager

from memtui.core.errors import LeavesRoot, Refusal
from memtui.core.events import Actor, Person, Version, sha256
from memtui.core.messages import Message
from memtui.core.paths import MemoryPath, parse
from memtui.core.restoring import Left, Restored, Why
from memtui.core.snapshot import Kind
from memtui.engine import reconcile
from memtui.engine.arranging import Arrangement, Progress
from memtui.engine.ledger import Ledger
from memtui.engine.protecting import Protection
from memtui.engine.restoring import Deed, Restorer, Wanted
from memtui.store.base import Node, Store

PutBack = Callable[[str, bool, Callable[[], Restored]], Restored]
"""Runs something as a call of the engine: told what it was not done as, and whether it is only rehearsed."""

_YOU = Person()
_DIRECTORY = Version(Kind.DIRECTORY)
_WHY_BAD = {
    Message.BAD_CHARACTER: "a character in it is not allowed",
    Message.NAME_TOO_LONG: "a name of over 255 bytes",
    Message.PATH_TOO_LONG: "over 1,024 bytes long",
    Message.TOO_DEEP: "more than 20 levels deep",
}


class Files:
    """Puts files in order, for a person. Reached as `engine.files`; every method may be called from any thread.

    Paths are relative to the folder. A path that is none raises `ValueError`, except as a new name: people type
    those, so they are told. All methods raise `Busy`, `FolderMissing`, `StateUnusable` or `Closed` where nothing could
    be tried.

    Args:
        restorer: Does and records it.
        store: Where the files are.
        protection: What no agent may change.
        put_back: Runs something as a call of the engine.
        in_flight: Held while something is read, so that the memory is not closed meanwhile.
    """

    def __init__(
        self,
        restorer: Restorer,
        store: Store,
        protection: Protection,
        *,
        put_back: PutBack,
        in_flight: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._restorer = restorer
        self._store = store
        self._protection = protection
        self._put_back = put_back
        self._in_flight = in_flight

    def move(
        self,
        moves: Mapping[str, str],
        *,
        expected: Mapping[str, Version | None] | None = None,
        partial: bool = False,
        rehearse: bool = False,
        progress: Progress | None = None,
        actor: Actor = _YOU,
    ) -> Restored:
        """Give things other names. All old names are those from before, all new ones those afterwards.

        So `{a: b, b: a}` swaps two things, and `{a: b, b: c}` moves both. A directory takes along what is in it, save
        what is moved by itself. Missing directories are made. Nothing is ever written over.

        Args:
            moves: New names by old ones.
            expected: What must stand at a path now, where that matters.
            partial: Whether what can be moved is, if not all can; else nothing is.
            rehearse: Whether it is only found out what would be changed.
            progress: Told how many are done; `False` stops, and what is done by then stays done.
            actor: Who does it.
        """
        insist_on_plain(moves)
        pairs = {old: new for old, new in moves.items() if old != new}
        same = [old for old, new in moves.items() if old == new]
        bad = [left for new in pairs.values() if (left := _bad_name(new))]
        refused = {left.path for left in bad}

        def wanted(_: Ledger) -> Arrangement:
            real = reconcile.reals(self._store, [*pairs.keys(), *pairs.values(), *(expected or {})])
            found = {real[old]: real[new] for old, new in pairs.items() if new not in refused}
            known = {real[path]: version for path, version in (expected or {}).items()}
            missing = [Left(path, Why.MISSING) for path in same if not self._stands(path)]
            return Arrangement({}, known, moves=tuple(found.items()), known_conflicts=(*bad, *missing), fresh=True)

        one = next(iter(pairs.items())) if len(pairs) == 1 else (None, None)
        deed = Deed("rename", actor, "Not moved", path=one[0], new_path=one[1])
        return self._do(wanted, deed, partial=partial, rehearse=rehearse, progress=progress)

    def copy(
        self,
        copies: Mapping[str, str],
        *,
        expected: Mapping[str, Version | None] | None = None,
        partial: bool = False,
        rehearse: bool = False,
        progress: Progress | None = None,
        actor: Actor = _YOU,
    ) -> Restored:
        """Copy files, and directories with all that is in them, to names where nothing stands.

        Args:
            copies: The copies' names by the originals'.
            expected: See `move`.
            partial: See `move`.
            rehearse: See `move`.
            progress: See `move`.
            actor: Who does it.
        """
        insist_on_plain(copies)

        def wanted(ledger: Ledger) -> Arrangement:
            return self._copying(copies, expected or {}, ledger)

        one = next(iter(copies.values())) if len(copies) == 1 else None
        note = f"of {next(iter(copies))}" if len(copies) == 1 else ""
        deed = Deed("copy", actor, "Not copied", path=one, note=note)
        return self._do(wanted, deed, partial=partial, rehearse=rehearse, progress=progress)

    def delete(
        self,
        paths: Collection[str],
        *,
        expected: Mapping[str, Version | None] | None = None,
        partial: bool = False,
        rehearse: bool = False,
        progress: Progress | None = None,
        actor: Actor = _YOU,
    ) -> Restored:
        """Delete files, links, and directories with all that is in them. Every text stays in the record.

        What cannot be kept, such as a file that is too large to be read, is not deleted.

        Args:
            paths: Which.
            expected: See `move`.
            partial: See `move`.
            rehearse: See `move`.
            progress: See `move`.
            actor: Who does it.
        """
        insist_on_plain(paths)

        def wanted(_: Ledger) -> Arrangement:
            return self._deleting(paths, expected or {})

        one = next(iter(paths)) if len(paths) == 1 else None
        deed = Deed("delete", actor, "Not deleted", path=one)
        restored = self._do(wanted, deed, partial=partial, rehearse=rehearse, progress=progress)
        return restored if rehearse or restored.event is None else self._with_what_stays(paths, restored)

    def make_directory(self, path: str, *, actor: Actor = _YOU) -> Restored:
        """Make an empty directory, and those above it that are missing."""
        return self._make(path, _DIRECTORY, {}, "create", actor)

    def create(self, path: str, data: bytes = b"", *, note: str = "", actor: Actor = _YOU) -> Restored:
        """Make a file at a name where nothing stands, and the directories above it that are missing.

        Args:
            path: Its name.
            data: All of its bytes.
            note: For the log, such as the template that it was made from.
            actor: Who does it.
        """
        version = Version(Kind.FILE, sha256(data), len(data))
        return self._make(path, version, {version.sha256 or "": data}, "create", actor, note)

    # Protecting

    def protect(self, paths: Collection[str], *, actor: Actor = _YOU) -> Restored:
        """Let no agent's command change some paths, or anything below them; they can still be viewed.

        Recorded as an event that changed nothing. What a person moves stays protected under its new name.

        Args:
            paths: What stands in the folder; `""` for the whole folder.
            actor: Who does it.
        """
        insist_on_plain(path for path in paths if path)
        return self._put_back("Not protected", False, lambda: self._protection.protect(paths, actor=actor))

    def unprotect(self, paths: Collection[str], *, actor: Actor = _YOU) -> Restored:
        """Let agents change paths again, and all below them.

        Args:
            paths: Which; one that is protected with the directory above it stays so, and that is said.
            actor: Who does it.
        """
        insist_on_plain(path for path in paths if path)
        return self._put_back("Still protected", False, lambda: self._protection.unprotect(paths, actor=actor))

    def protected(self) -> tuple[str, ...]:
        """What is protected: each path, with all below it."""
        with self._in_flight():
            return self._protection.paths()

    # How

    def _make(
        self, path: str, version: Version, texts: Mapping[str, bytes], command: str, actor: Actor, note: str = ""
    ) -> Restored:
        if (bad := _bad_name(path)) is not None:
            return Restored((), (bad,), problem=f"Not created: {bad.sentence}.")

        def wanted(_: Ledger) -> Arrangement:
            real = self._real(path)
            return Arrangement({real: version}, {real: None}, texts, fresh=True)

        deed = Deed(command, actor, "Not created", path=path, note=note)
        return self._do(wanted, deed, partial=False, rehearse=False)

    def _do(
        self, wanted: Wanted, deed: Deed, *, partial: bool, rehearse: bool, progress: Progress | None = None
    ) -> Restored:
        def act() -> Restored:
            return self._restorer.arrange(wanted, deed, partial=partial, rehearse=rehearse, progress=progress)

        return self._put_back(deed.past, rehearse, act)

    def _copying(
        self, copies: Mapping[str, str], expected: Mapping[str, Version | None], ledger: Ledger
    ) -> Arrangement:
        wanted: dict[str, Version | None] = {}
        left: list[Left] = []
        for old, new in copies.items():
            target = self._real(new)
            if (bad := _bad_name(new)) is not None:
                left.append(bad)
                continue
            try:
                nodes = self._with_all_below(self._real(old))
                found = [(node, ledger.settle(node.path, node)) for node in nodes]
            except (OSError, LeavesRoot) as error:
                left.append(Left(old, Why.UNREADABLE, detail=_words(error)))
                continue
            if not found:
                left.append(Left(old, Why.MISSING))
                continue
            top = found[0][0].path
            if target == top or (found[0][0].kind is Kind.DIRECTORY and target.startswith(top + "/")):
                left.append(Left(old, Why.TAKEN if target == top else Why.INTO_ITSELF))
                continue
            for node, version in found:
                path = target + node.path[len(top) :]
                if path in wanted:
                    left.append(Left(path, Why.TWICE))
                elif expected.get(node.path, version) != version:
                    left.append(Left(node.path, Why.CHANGED))
                elif version is not None and version.kind is Kind.FILE and version.sha256 is None:
                    left.append(Left(node.path, Why.UNREADABLE, detail="it could not be kept"))
                else:
                    wanted[path] = version
        free: dict[str, Version | None] = dict.fromkeys(wanted, None)
        return Arrangement(wanted, free, dict(ledger.texts), known_conflicts=tuple(left), fresh=True)

    def _deleting(self, paths: Collection[str], expected: Mapping[str, Version | None]) -> Arrangement:
        wanted: dict[str, Version | None] = {}
        left: list[Left] = []
        real = reconcile.reals(self._store, [*paths, *expected])
        for path in paths:
            try:
                nodes = self._with_all_below(real[path])
            except (OSError, LeavesRoot) as error:
                left.append(Left(path, Why.UNREADABLE, detail=_words(error)))
                continue
            if not nodes:
                left.append(Left(path, Why.MISSING))
            wanted.update(dict.fromkeys((node.path for node in nodes), None))
        known = {real[path]: version for path, version in expected.items()}
        return Arrangement(wanted, known, known_conflicts=tuple(left), others=True)

    def _with_all_below(self, path: str) -> list[Node]:
        """What stands at a path itself, and all that is in it; nothing where nothing stands."""
        top = reconcile.standing(self._store, path)
        if top is None:
            return []
        return [top, *(self._store.scan(MemoryPath.of(path), complete=True) if top.kind is Kind.DIRECTORY else ())]

    def _stands(self, path: str) -> bool:
        try:
            return reconcile.standing(self._store, self._real(path)) is not None
        except OSError:
            return True  # nobody can tell, and it stays where it is

    def _real(self, path: str) -> str:
        return reconcile.real(self._store, path)

    def _with_what_stays(self, paths: Iterable[str], restored: Restored) -> Restored:
        """Of what was to go, also a directory that stays because something came into it is told."""
        gone = {change.path for change in restored.changes}
        told = {left.path for left in restored.left}
        stay = [path for path in reconcile.reals(self._store, paths).values() if path not in gone and path not in told]
        came = [Left(path, Why.NOT_WRITTEN, detail="something came into it just now") for path in stay]
        return Restored(restored.changes, (*restored.left, *came), restored.event, restored.problem)


def insist_on_plain(paths: Iterable[str]) -> None:
    """Refuse what is no path relative to the folder: only commands of agents are judged on their way in.

    Raises:
        ValueError: One of them is none.
    """
    for path in paths:
        if "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
            raise ValueError(f"not a path relative to the folder: {path!r}")


def _bad_name(path: str) -> Left | None:
    """Why nothing is given a name; `None` if it can be. What agents may not name is not made by a person either."""
    try:
        insist_on_plain([path])
        parse(str(MemoryPath.of(path)), making=True)
    except ValueError:
        words = _WHY_BAD[Message.BAD_CHARACTER] if "\0" in path else "a part of it is empty, a dot or two dots"
        return Left(path, Why.BAD_NAME, detail=words)
    except Refusal as refusal:
        return Left(path, Why.BAD_NAME, detail=_WHY_BAD.get(refusal.message, "it could be read as another path"))
    return None


def _words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return "it leads out of the memory folder by a link"
