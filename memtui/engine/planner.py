"""What each of the five writing commands would do to a store: refused in the contract's words, or ready to apply.

A plan knows the versions before and after, so the journal can be told before the disk is touched.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from memtui.core import commands, diffs, edits
from memtui.core.attributes import Attributes
from memtui.core.edits import format_size_over
from memtui.core.errors import MemtuiError, Refusal, UnconfirmedChange
from memtui.core.events import Change, EntryKind, Version
from memtui.core.lazy_dataclass import dataclass
from memtui.core.messages import MessageKey, format_message
from memtui.core.paths import MemoryPath
from memtui.core.settings import Settings
from memtui.core.wording import format_count
from memtui.engine.ledger import Ledger
from memtui.journal.record import FolderTotals, KnownPath
from memtui.scan.secret_policy import ScreenedText, screen_text
from memtui.store.base import (
    NEW_DIRECTORY,
    NEW_FILE,
    ConcurrentChange,
    FileTooLarge,
    Node,
    NotRegularFile,
    Store,
    Transaction,
    get_lasting_stamp,
)

Apply = Callable[[Transaction], Mapping[str, KnownPath | None]]


@dataclass(frozen=True, slots=True)
class ChangePlan:
    """A change that may be made.

    Attributes:
        answer: What is answered once it is made.
        changes: The versions before and after, path by path; empty where nothing would change.
        apply: Makes it, and returns what is known then.
        note: For the event.
    """

    answer: str
    changes: tuple[Change, ...]
    apply: Apply
    counts: diffs.LineCounts | None = None
    note: str = ""


class Planner:
    """Plans commands against a store as it is now; without `totals` the limits of the folder do not bind the actor."""

    def __init__(self, store: Store, ledger: Ledger, settings: Settings, totals: FolderTotals | None) -> None:
        self._store = store
        self._ledger = ledger
        self._settings = settings
        self._totals = totals
        self._secrets = settings.secrets

    def plan(self, command: commands.ChangeCommand) -> ChangePlan:
        """The plan of a command; raises `Refusal` where it may not, or cannot, be done."""
        match command:
            case commands.Create():
                return self._plan_create(command)
            case commands.StrReplace():
                return self._plan_str_replace(command)
            case commands.Insert():
                return self._plan_insert(command)
            case commands.Delete():
                return self._plan_delete(command)
            case commands.Rename():
                return self._plan_rename(command)

    def _plan_create(self, command: commands.Create) -> ChangePlan:
        path = command.path
        node = self._store.get_node(path)
        if node is not None and node.kind is EntryKind.LINK:
            node = self._store.get_node(path, follow=True) or node  # a link to nothing: its name is taken
        if node and (node.kind is not EntryKind.FILE or self._settings.create == "refuse"):
            raise Refusal(MessageKey.EXISTS, path=path)
        answer = format_message(MessageKey.CREATED, path=path)
        if node is None:
            destination = self._resolve_destination(path, MessageKey.CREATE_BELOW_FILE)
            screened = screen_text(path, "", command.file_text, self._secrets)
            return self._plan_write(path, None, None, "", screened, answer, destination)
        before = self._read_file(path, node, None)
        text = decode_text(before)
        screened = screen_text(path, text or "", command.file_text, self._secrets)
        return self._plan_write(path, node, before, text, screened, answer)

    def _plan_str_replace(self, command: commands.StrReplace) -> ChangePlan:
        node, before, text = self._read_editable(command.path, MessageKey.EDIT_MISSING)
        edit = edits.replace_once(text, command.old_str, command.new_str, str(command.path))
        screened = screen_text(command.path, text, edit.text, self._secrets)
        position = edit.position if screened.start is None else min(edit.position, screened.start)
        answer = format_message(MessageKey.REPLACED, snippet=edits.format_snippet(screened.text, position))
        return self._plan_write(command.path, node, before, text, screened, answer)

    def _plan_insert(self, command: commands.Insert) -> ChangePlan:
        node, before, text = self._read_editable(command.path, MessageKey.INSERT_MISSING)
        edited = edits.insert_at_line(text, command.insert_line, command.insert_text)
        answer = format_message(MessageKey.INSERTED, path=command.path)
        screened = screen_text(command.path, text, edited, self._secrets)
        return self._plan_write(command.path, node, before, text, screened, answer)

    def _plan_delete(self, command: commands.Delete) -> ChangePlan:
        path = command.path
        if path.is_root:
            raise Refusal(MessageKey.DELETE_ROOT)
        node = self._store.get_node(path)
        if node is None:
            raise Refusal(MessageKey.MISSING, path=path)
        gone = self._collect_versions(node)
        real = MemoryPath.from_relative(node.path)

        def apply(transaction: Transaction) -> Mapping[str, KnownPath | None]:
            transaction.delete(real, expected={each.path: each.stamp for each, _ in gone})
            return dict.fromkeys((each.path for each, _ in gone), None)

        changes = tuple(Change(each.path, version, None) for each, version in gone)
        text = self._ledger.get_text(gone[0][1]) if node.kind is EntryKind.FILE else None
        counts = None if text is None else diffs.count_changes(text, "")
        unkept = sum(self._ledger.is_too_large(version) for _, version in gone)
        note = f"text not kept of {format_count(unkept, 'file')}" if unkept else ""
        return ChangePlan(format_message(MessageKey.DELETED, path=path), changes, apply, counts, note)

    def _plan_rename(self, command: commands.Rename) -> ChangePlan:
        old, new = command.old_path, command.new_path
        if old.is_root:
            raise Refusal(MessageKey.RENAME_ROOT)
        node = self._store.get_node(old)
        if node is None:
            raise Refusal(MessageKey.MISSING, path=old)
        if old != new and old.contains(new):
            raise Refusal(MessageKey.RENAME_INTO_ITSELF, old_path=old, new_path=new)
        if self._store.get_node(new) is not None:
            raise Refusal(MessageKey.DESTINATION_EXISTS, path=new)
        destination, missing = self._resolve_destination(new, MessageKey.RENAME_BELOW_FILE)
        self._ledger.compare_path(destination.relative, None)
        source = MemoryPath.from_relative(node.path)
        moved = self._collect_versions(node)

        def map_path(path: str) -> str:
            return destination.relative + path[len(source.relative) :]

        for each, _ in moved[1:]:
            self._ledger.compare_path(map_path(each.path), None)  # what was there before, in a directory that has gone

        def apply(transaction: Transaction) -> Mapping[str, KnownPath | None]:
            transaction.rename(source, destination)
            known = self._get_made_directories(missing)
            for each, version in moved:
                known[each.path] = None
                known[map_path(each.path)] = KnownPath(version, each.stamp)
            top = self._get_node_after(destination)
            if top:
                settled = moved[0][0].stamp
                is_same = get_lasting_stamp(top.stamp) == get_lasting_stamp(settled)
                known[top.path] = KnownPath(moved[0][1], top.stamp if is_same else settled)  # else the next look tells
            return known

        changes = [
            change
            for each, version in moved
            for change in (Change(each.path, version, None), Change(map_path(each.path), None, version))
        ]
        answer = format_message(MessageKey.RENAMED, old_path=old, new_path=new)
        return ChangePlan(answer, (*_make_directory_changes(missing), *changes), apply)

    def _plan_write(
        self,
        path: MemoryPath,
        node: Node | None,
        before: bytes | None,
        text: str | None,
        screened: ScreenedText,
        answer: str,
        destination: tuple[MemoryPath, list[str]] | None = None,
    ) -> ChangePlan:
        """A plan that puts a screened text where `before` stands (`text`, if it is any), or where nothing does."""
        after = screened.text.encode("utf-8")
        if node is not None:
            was = self._ledger.compare_path(node.path, node, before)
            if before == after:
                return ChangePlan(answer, (), lambda _: {}, diffs.LineCounts(0, 0))
            real, missing, stamp = MemoryPath.from_relative(node.path), list[str](), node.stamp
        else:
            assert destination is not None
            was, stamp = None, None
            real, missing = destination
            self._ledger.compare_path(real.relative, None)
        self._refuse_over_limits(path, len(after), node)
        version = self._ledger.add_text(after)
        attributes = Attributes(node.mode if node is not None else NEW_FILE, self._ledger.now_ns)
        version = replace(version, attributes=attributes)

        def apply(transaction: Transaction) -> Mapping[str, KnownPath | None]:
            written = transaction.write(real, after, expected=stamp, attributes=Attributes(None, attributes.mtime_ns))
            return {**self._get_made_directories(missing), written.node.path: KnownPath(version, written.node.stamp)}

        changes = (*_make_directory_changes(missing), Change(real.relative, was, version))
        counts = None if text is None else diffs.count_changes(text, screened.text)
        return ChangePlan(answer, changes, apply, counts, screened.note)

    def _read_editable(self, path: MemoryPath, missing: MessageKey) -> tuple[Node, bytes, str]:
        node = self._store.get_node(path, follow=True)
        if node is None or node.kind is EntryKind.DIRECTORY:
            raise Refusal(missing, path=path)
        if node.kind is not EntryKind.FILE:
            raise Refusal(MessageKey.UNSUPPORTED_TYPE, path=path)
        data = self._read_file(path, node, missing)
        text = decode_text(data)
        if text is None:
            raise Refusal(MessageKey.NOT_UTF8, path=path)
        return node, data, text

    def _read_file(self, path: MemoryPath, node: Node, missing: MessageKey | None) -> bytes:
        """The bytes of a file; if it is gone, `missing` is answered, or else it is planned anew."""
        limit = self._settings.read_limit
        try:
            return self._store.read(MemoryPath.from_relative(node.path), limit=limit).data
        except FileNotFoundError:
            if missing is None:
                raise ConcurrentChange from None
            raise Refusal(missing, path=path) from None
        except NotRegularFile:
            raise Refusal(MessageKey.UNSUPPORTED_TYPE, path=path) from None
        except FileTooLarge as error:
            over, most = format_size_over(error.size, limit)
            raise Refusal(MessageKey.TOO_LARGE_TO_READ, path=path, size=over, limit=most) from None

    def _collect_versions(self, node: Node) -> list[tuple[Node, Version]]:
        """A thing and everything below it, each with its version, which the journal then has unless it is too large."""
        nodes = [node]
        if node.kind is EntryKind.DIRECTORY:
            nodes += self._store.scan(MemoryPath.from_relative(node.path), complete=True)
        settled = []
        for each in nodes:
            version = self._ledger.compare_path(each.path, each)
            if version is not None:
                if version.kind is EntryKind.FILE and version.sha256 is None and not self._ledger.is_too_large(version):
                    path = MemoryPath.from_relative(each.path)
                    self._read_file(path, each, MessageKey.MISSING)  # says why it cannot be kept
                    raise ConcurrentChange  # it can be read by now
                settled.append((each, version))
        return settled

    def _resolve_destination(self, path: MemoryPath, below_file: MessageKey) -> tuple[MemoryPath, list[str]]:
        """Where a path that is free really is, and the directories that are missing on the way, outermost first.

        Raises:
            Refusal: It is below a file, in the words of `below_file`.
        """
        missing = 0
        parent = path.parent
        while (node := self._store.get_node(parent, follow=True) or self._store.get_node(parent)) is None:
            parent = parent.parent
            missing += 1
        if node.kind is not EntryKind.DIRECTORY:
            raise Refusal(below_file, path=path, new_path=path, parent=parent)
        rest = path.parts[len(parent.parts) :]
        base = MemoryPath.from_relative(node.path).parts
        real = MemoryPath((*base, *rest))
        directories = ["/".join((*base, *rest[: depth + 1])) for depth in range(missing)]
        for directory in directories:
            self._ledger.compare_path(directory, None)  # one that was there before and has gone
        return real, directories

    def _get_made_directories(self, missing: list[str]) -> dict[str, KnownPath | None]:
        made: dict[str, KnownPath | None] = {}
        for directory in missing:
            node = self._get_node_after(MemoryPath.from_relative(directory))
            if node:
                made[directory] = KnownPath(Version(node.kind), node.stamp)
        return made

    def _get_node_after(self, path: MemoryPath) -> Node | None:
        """Look at what a change has made. That it cannot be looked at does not undo the change."""
        try:
            return self._store.get_node(path)
        except (OSError, MemtuiError) as error:
            raise UnconfirmedChange(str(error)) from error

    def _refuse_over_limits(self, path: MemoryPath, size: int, node: Node | None) -> None:
        if self._totals is None:
            return
        settings, before = self._settings, node.size if node else 0
        if 0 < settings.max_file_bytes < size and size > before:
            over, limit = format_size_over(size, settings.max_file_bytes)
            raise Refusal(MessageKey.FILE_TOO_LARGE, path=path, size=over, limit=limit)
        total = self._totals.bytes - before + size
        if 0 < settings.max_total_bytes < total and size > before:
            over, limit = format_size_over(total, settings.max_total_bytes)
            raise Refusal(MessageKey.FOLDER_TOO_LARGE, size=over, limit=limit)
        if node is None and 0 < settings.max_files <= self._totals.files:
            raise Refusal(MessageKey.TOO_MANY_FILES, count=self._totals.files, limit=settings.max_files)


def _make_directory_changes(missing: list[str]) -> list[Change]:
    made = Version(EntryKind.DIRECTORY, attributes=Attributes(NEW_DIRECTORY))
    return [Change(directory, None, made) for directory in missing]


def decode_text(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
