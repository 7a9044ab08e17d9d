"""What each of the five writing commands would do to a store: refused in the contract's words, or ready to apply.

A plan knows the versions before and after, so the journal can be told before the disk is touched.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memtui.core import commands, diffs, edits
from memtui.core.errors import MemtuiError, Refusal, Uncertain
from memtui.core.events import Change, Version
from memtui.core.listing import human_size
from memtui.core.messages import Message, say
from memtui.core.paths import MemoryPath
from memtui.core.settings import Settings
from memtui.core.snapshot import Kind
from memtui.engine.ledger import Ledger
from memtui.journal.sqlite import Known, Totals
from memtui.store.base import Node, NotRegular, Outdated, Store, TooLarge, Transaction, lasting

Apply = Callable[[Transaction], Mapping[str, Known | None]]


@dataclass(frozen=True, slots=True)
class Plan:
    """A change that may be made.

    Attributes:
        answer: What is answered once it is made.
        changes: The versions before and after, path by path; empty where nothing would change.
        apply: Makes it, and tells what is known then.
        counts: Lines added and removed, where lines apply.
    """

    answer: str
    changes: tuple[Change, ...]
    apply: Apply
    counts: diffs.Counts | None = None


class Planner:
    """Plans commands against a store as it is now.

    Args:
        store: What to look at.
        ledger: Where what is found there is settled.
        settings: How commands behave.
        totals: What the folder holds, or `None` if the limits do not bind the actor.
    """

    def __init__(self, store: Store, ledger: Ledger, settings: Settings, totals: Totals | None) -> None:
        self._store = store
        self._ledger = ledger
        self._settings = settings
        self._totals = totals

    def plan(self, command: commands.Change) -> Plan:
        """What a command would do.

        Raises:
            Refusal: It may not, or cannot, be done.
        """
        match command:
            case commands.Create():
                return self._create(command)
            case commands.StrReplace():
                return self._str_replace(command)
            case commands.Insert():
                return self._insert(command)
            case commands.Delete():
                return self._delete(command)
            case commands.Rename():
                return self._rename(command)

    def _create(self, command: commands.Create) -> Plan:
        path = command.path
        node = self._store.node(path, follow=True)
        if node and (node.kind is not Kind.FILE or self._settings.create == "refuse"):
            raise Refusal(Message.EXISTS, path=path)
        after = command.file_text.encode("utf-8")
        answer = say(Message.CREATED, path=path)
        if node is None:
            if self._store.node(path) is not None:
                raise Refusal(Message.EXISTS, path=path)  # a link to nothing: its name is taken
            self._refuse_below_file(path, Message.CREATE_BELOW_FILE)
            return self._writing(path, None, None, after, answer, diffs.counts("", command.file_text))
        before = self._read(path, node, None)
        text = _decoded(before)
        counts = None if text is None else diffs.counts(text, command.file_text)
        return self._writing(path, node, before, after, answer, counts)

    def _str_replace(self, command: commands.StrReplace) -> Plan:
        node, before, text = self._editable(command.path, Message.EDIT_MISSING)
        edit = edits.replace(text, command.old_str, command.new_str, str(command.path))
        answer = say(Message.REPLACED, snippet=edit.snippet)
        counts = diffs.counts(text, edit.text)
        return self._writing(command.path, node, before, edit.text.encode("utf-8"), answer, counts)

    def _insert(self, command: commands.Insert) -> Plan:
        node, before, text = self._editable(command.path, Message.INSERT_MISSING)
        edited = edits.insert(text, command.insert_line, command.insert_text)
        answer = say(Message.INSERTED, path=command.path)
        counts = diffs.counts(text, edited)
        return self._writing(command.path, node, before, edited.encode("utf-8"), answer, counts)

    def _delete(self, command: commands.Delete) -> Plan:
        path = command.path
        if path.is_root:
            raise Refusal(Message.DELETE_ROOT)
        node = self._store.node(path)
        if node is None:
            raise Refusal(Message.MISSING, path=path)
        gone = self._settled(node)
        real = MemoryPath.of(node.path)

        def apply(transaction: Transaction) -> Mapping[str, Known | None]:
            transaction.delete(real, expected={each.path: each.stamp for each, _ in gone})
            return dict.fromkeys((each.path for each, _ in gone), None)

        changes = tuple(Change(each.path, version, None) for each, version in gone)
        text = self._ledger.text_of(gone[0][1]) if node.kind is Kind.FILE else None
        counts = None if text is None else diffs.counts(text, "")
        return Plan(say(Message.DELETED, path=path), changes, apply, counts)

    def _rename(self, command: commands.Rename) -> Plan:
        old, new = command.old_path, command.new_path
        if old.is_root:
            raise Refusal(Message.RENAME_ROOT)
        node = self._store.node(old)
        if node is None:
            raise Refusal(Message.MISSING, path=old)
        if old != new and old.holds(new):
            raise Refusal(Message.RENAME_INTO_ITSELF, old_path=old, new_path=new)
        if self._store.node(new) is not None:
            raise Refusal(Message.DESTINATION_EXISTS, path=new)
        self._refuse_below_file(new, Message.RENAME_BELOW_FILE)
        destination, missing = self._destination(new)
        self._ledger.settle(destination.relative, None)
        source = MemoryPath.of(node.path)
        moved = self._settled(node)

        def renamed(path: str) -> str:
            return destination.relative + path[len(source.relative) :]

        for each, _ in moved[1:]:
            self._ledger.settle(renamed(each.path), None)  # what was there before, in a directory that has gone

        def apply(transaction: Transaction) -> Mapping[str, Known | None]:
            transaction.rename(source, destination)
            known = self._made(missing)
            for each, version in moved:
                known[each.path] = None
                known[renamed(each.path)] = Known(version, each.stamp)
            top = self._node_afterwards(destination)
            if top:
                settled = moved[0][0].stamp
                is_same = lasting(top.stamp) == lasting(settled)
                known[top.path] = Known(moved[0][1], top.stamp if is_same else settled)  # else the next look tells
            return known

        changes = [
            change
            for each, version in moved
            for change in (Change(each.path, version, None), Change(renamed(each.path), None, version))
        ]
        answer = say(Message.RENAMED, old_path=old, new_path=new)
        return Plan(answer, (*_making(missing), *changes), apply)

    def _writing(
        self,
        path: MemoryPath,
        node: Node | None,
        before: bytes | None,
        after: bytes,
        answer: str,
        counts: diffs.Counts | None,
    ) -> Plan:
        """A plan that puts `after` where `before` stands, or where nothing does."""
        if node is not None:
            was = self._ledger.settle(node.path, node, before)
            if before == after:
                return Plan(answer, (), lambda _: {}, diffs.Counts(0, 0))
            real, missing, stamp = MemoryPath.of(node.path), list[str](), node.stamp
        else:
            was, stamp = None, None
            real, missing = self._destination(path)
            self._ledger.settle(real.relative, None)
        self._refuse_over_limits(path, len(after), node)
        version = self._ledger.keep(after)

        def apply(transaction: Transaction) -> Mapping[str, Known | None]:
            written = transaction.write(real, after, expected=stamp)
            return {**self._made(missing), written.node.path: Known(version, written.node.stamp)}

        return Plan(answer, (*_making(missing), Change(real.relative, was, version)), apply, counts)

    def _editable(self, path: MemoryPath, missing: Message) -> tuple[Node, bytes, str]:
        """A file that can be edited as text."""
        node = self._store.node(path, follow=True)
        if node is None or node.kind is Kind.DIRECTORY:
            raise Refusal(missing, path=path)
        if node.kind is not Kind.FILE:
            raise Refusal(Message.UNSUPPORTED_TYPE, path=path)
        data = self._read(path, node, missing)
        text = _decoded(data)
        if text is None:
            raise Refusal(Message.NOT_UTF8, path=path)
        return node, data, text

    def _read(self, path: MemoryPath, node: Node, missing: Message | None) -> bytes:
        """The bytes of a file; if it is gone, `missing` is answered, or else it is planned anew."""
        limit = self._settings.read_limit
        try:
            return self._store.read(MemoryPath.of(node.path), limit=limit).data
        except FileNotFoundError:
            if missing is None:
                raise Outdated from None
            raise Refusal(missing, path=path) from None
        except NotRegular:
            raise Refusal(Message.UNSUPPORTED_TYPE, path=path) from None
        except TooLarge as error:
            sizes = {"size": human_size(error.size), "limit": human_size(limit)}
            raise Refusal(Message.TOO_LARGE_TO_READ, path=path, **sizes) from None

    def _settled(self, node: Node) -> list[tuple[Node, Version]]:
        """A thing and everything below it, each with its version, which the journal then has."""
        nodes = [node]
        if node.kind is Kind.DIRECTORY:
            nodes += self._store.scan(MemoryPath.of(node.path), complete=True)
        settled = []
        for each in nodes:
            version = self._ledger.settle(each.path, each)
            if version is not None:
                if version.kind is Kind.FILE and version.sha256 is None:
                    self._read(MemoryPath.of(each.path), each, Message.MISSING)  # says why it cannot be kept
                    raise Outdated  # it can be read by now
                settled.append((each, version))
        return settled

    def _refuse_below_file(self, path: MemoryPath, message: Message) -> None:
        parent = path.parent
        while (node := self._store.node(parent, follow=True) or self._store.node(parent)) is None:
            parent = parent.parent
        if node.kind is not Kind.DIRECTORY:
            raise Refusal(message, path=path, new_path=path, parent=parent)

    def _destination(self, path: MemoryPath) -> tuple[MemoryPath, list[str]]:
        """Where a path that is free really is, and the directories that are missing on the way, outermost first."""
        missing = 0
        parent = path.parent
        while (node := self._store.node(parent, follow=True)) is None:
            parent = parent.parent
            missing += 1
        rest = path.parts[len(parent.parts) :]
        base = MemoryPath.of(node.path).parts
        real = MemoryPath((*base, *rest))
        directories = ["/".join((*base, *rest[: depth + 1])) for depth in range(missing)]
        for directory in directories:
            self._ledger.settle(directory, None)  # one that was there before and has gone
        return real, directories

    def _made(self, missing: list[str]) -> dict[str, Known | None]:
        made: dict[str, Known | None] = {}
        for directory in missing:
            node = self._node_afterwards(MemoryPath.of(directory))
            if node:
                made[directory] = Known(Version(node.kind), node.stamp)
        return made

    def _node_afterwards(self, path: MemoryPath) -> Node | None:
        """Look at what a change has made. That it cannot be looked at does not undo the change."""
        try:
            return self._store.node(path)
        except (OSError, MemtuiError) as error:
            raise Uncertain(str(error)) from error

    def _refuse_over_limits(self, path: MemoryPath, size: int, node: Node | None) -> None:
        if self._totals is None:
            return
        settings, before = self._settings, node.size if node else 0
        if 0 < settings.max_file_bytes < size and size > before:
            limit = human_size(settings.max_file_bytes)
            raise Refusal(Message.FILE_TOO_LARGE, path=path, size=human_size(size), limit=limit)
        total = self._totals.bytes - before + size
        if 0 < settings.max_total_bytes < total and size > before:
            limit = human_size(settings.max_total_bytes)
            raise Refusal(Message.FOLDER_TOO_LARGE, size=human_size(total), limit=limit)
        if node is None and 0 < settings.max_files <= self._totals.files:
            raise Refusal(Message.TOO_MANY_FILES, count=self._totals.files, limit=settings.max_files)


def _making(missing: list[str]) -> list[Change]:
    return [Change(directory, None, Version(Kind.DIRECTORY)) for directory in missing]


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
