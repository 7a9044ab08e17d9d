"""Changes of memories. Each is a command of the engine that is carried out only as it was foreseen.

What a command would change is asked first (`Engine.propose`) and compared with what the client expects. Then it is
executed with exactly these changes as what was approved, so the comparison holds under the writer lock: where somebody
was faster nothing is done, and it is looked at again. So a precondition is one, whoever else writes to the folder.
"""

from contextlib import suppress

from memtui.core.errors import StaleApproval
from memtui.core.events import Actor, Answer, Change, EntryKind, Event, sha256
from memtui.core.history import ActionResult, SkipReason
from memtui.core.lazy_dataclass import dataclass
from memtui.core.messages import MessageKey
from memtui.core.paths import ROOT_NAME
from memtui.engine.files import NoteEdits
from memtui.serve import MOST_CONTENT_BYTES
from memtui.serve.errors import (
    API,
    ApiError,
    make_busy,
    make_forbidden,
    make_invalid,
    make_path_conflict,
    make_precondition_error,
    make_refusal_error,
)
from memtui.serve.index import MemoryRecord, VersionRow
from memtui.serve.paths import format_api_path
from memtui.serve.store import OpenStore

_ATTEMPTS = 16
"""How often a change is planned again when another program is faster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUpdate:
    """What is to become of a memory.

    Attributes:
        content: Its text; `None` to leave it.
        path: Its path, relative to the folder; `None` to leave it.
        expected: The SHA-256 that its content must have now; `None` for any.
    """

    content: str | None = None
    path: str | None = None
    expected: str | None = None


_REASON = "by the API"


class _Overtaken(Exception):
    """Another program was faster: nothing was done."""


class MemoryWriter:
    """Changes the memories of a store for one actor."""

    def __init__(self, store: OpenStore, actor: Actor) -> None:
        self._store = store
        self._memory = store.memory
        self._index = store.index
        self._actor = actor

    def create(self, path: str, content: str) -> VersionRow:
        """Make a memory at a free path; raises `ApiError`."""
        _validate_content(content)
        command = {"command": "create", "path": _name(path), "file_text": content}
        for _ in range(_ATTEMPTS):
            with suppress(_Overtaken):
                self._store.look([path])
                if self._index.find_at(path) is not None:
                    raise make_path_conflict(format_api_path(path))
                changes = self._propose(command, path)
                if not _is_only_change(changes, path) or _get_change(changes, path).before is not None:
                    shown = format_api_path(path)
                    raise make_path_conflict(shown, f"Something else stands at {shown}.")
                return self._find_written(self._execute(command, changes), path)
        raise make_busy("Other programs keep changing the store. Nothing was changed.")

    def update(self, memory_id: str, wanted: MemoryUpdate) -> VersionRow:
        """Change a memory's content, its path, or both at once; raises `ApiError`."""
        if wanted.content is not None:
            _validate_content(wanted.content)
        for _ in range(_ATTEMPTS):
            with suppress(_Overtaken):
                memory = self._get_memory(memory_id, wanted.expected)
                current = memory.current
                path = current.path if wanted.path is None else wanted.path
                text = wanted.content
                if text is not None and sha256(text.encode()) == current.sha256:
                    text = None
                if path == current.path:
                    return current if text is None else self._rewrite(current, text)
                return self._rename(current, path) if text is None else self._replace(current, path, text)
        raise make_busy("Other programs keep changing the store. Nothing was changed.")

    def delete(self, memory_id: str, expected: str | None) -> None:
        """Delete a memory; raises `ApiError`."""
        for _ in range(_ATTEMPTS):
            with suppress(_Overtaken):
                current = self._get_memory(memory_id, expected).current
                command = {"command": "delete", "path": _name(current.path)}
                changes = self._propose(command, current.path)
                if not _is_only_change(changes, current.path) or not _begins_with(changes, current):
                    raise _Overtaken
                self._execute(command, changes)
                return
        raise make_busy("Other programs keep changing the store. Nothing was changed.")

    def redact(self, row: VersionRow) -> None:
        """Remove the text of a version from the record; raises `ApiError`.

        It is removed wherever the record has it. A text that a memory holds now is not: the memory would go with it.
        """
        self._store.look()
        if self._index.get_redaction(row) is not None:
            return
        if row.sha256 is None:
            raise make_invalid("This version is a deletion: it holds no content that could be removed.")
        if holders := self._index.find_holders(row.sha256):
            where = format_api_path(holders[0])
            raise make_invalid(f"The content is current, at {where}. Update or delete that memory first.")
        done = self._memory.redact(version=row.sha256, reason=_REASON, actor=self._actor)
        self._index.refresh()
        if self._index.get_redaction(row) is None:
            raise make_invalid(done.problem or " ".join(done.left) or "There is no text to remove.")

    # How

    def _get_memory(self, memory_id: str, expected: str | None) -> MemoryRecord:
        """A memory as it is by now, if its content is what is expected."""
        memory = self._store.find_memory(memory_id)
        if expected is not None and memory.current.sha256 != expected:
            raise make_precondition_error(format_api_path(memory.path))
        return memory

    def _rewrite(self, current: VersionRow, text: str) -> VersionRow:
        command = {"command": "create", "path": _name(current.path), "file_text": text}
        changes = self._propose(command, current.path)
        if not changes:  # where secrets are left out, what is left may be what stands there
            return current
        if not _is_only_change(changes, current.path) or not _begins_with(changes, current):
            raise _Overtaken
        return self._find_written(self._execute(command, changes), current.path)

    def _rename(self, current: VersionRow, path: str) -> VersionRow:
        self._store.look([path])
        command = {"command": "rename", "old_path": _name(current.path), "new_path": _name(path)}
        changes = self._propose(command, path)
        if path not in {change.path for change in changes}:
            raise make_path_conflict(format_api_path(path), f"{format_api_path(path)} is behind a link.")
        if not _begins_with(changes, current):
            raise _Overtaken
        return self._find_written(self._execute(command, changes), path)

    def _replace(self, current: VersionRow, path: str, text: str) -> VersionRow:
        """Give a memory another path and another content, as one event."""
        self._store.look([path])
        if self._index.find_at(path) is not None:
            raise make_path_conflict(format_api_path(path))
        rename = {"command": "rename", "old_path": _name(current.path), "new_path": _name(path)}
        if path not in {change.path for change in self._propose(rename, path)}:
            raise make_path_conflict(format_api_path(path), f"{format_api_path(path)} is behind a link.")
        write = {"command": "create", "path": _name(current.path), "file_text": text}
        proposal = self._memory.propose(write, actor=self._actor)
        if proposal is None:
            answer = self._refuse(write)
            if answer.is_error:
                raise make_refusal_error(answer)
            return self._rename(current, path)  # where secrets are left out, what is left may be what stands there
        if not _begins_with(proposal.changes, current):
            raise _Overtaken
        change = _get_change(proposal.changes, current.path)
        screened = proposal.texts[change.after.sha256 or ""] if change.after is not None else b""
        done = self._memory.files.move(
            {current.path: path},
            expected={current.path: change.before},
            edit=lambda: NoteEdits({path: screened}),
            actor=self._actor,
        )
        if done.event is None or done.problem:
            raise _make_action_error(done, path)
        return self._find_written(done.event, path)

    def _propose(self, command: dict[str, str], path: str) -> tuple[Change, ...]:
        """What a command would change; `()` for nothing. Raises `ApiError` where it is refused."""
        proposal = self._memory.propose(command, actor=self._actor)
        if proposal is not None:
            return proposal.changes
        answer = self._refuse(command)
        if not answer.is_error:
            return ()
        if answer.refusal in (MessageKey.EXISTS.name, MessageKey.DESTINATION_EXISTS.name) and self._remove_empty(path):
            raise _Overtaken  # by nobody: the path is free now
        raise make_refusal_error(answer)

    def _refuse(self, command: dict[str, str]) -> Answer:
        """Have a command refused, which is recorded; raises `_Overtaken` where it would not be by now."""
        try:
            return self._memory.execute(command, actor=self._actor, approved=())
        except StaleApproval:
            raise _Overtaken from None

    def _remove_empty(self, path: str) -> bool:
        """Remove a directory that holds no file: to the API there is none."""
        command = {"command": "delete", "path": _name(path)}
        proposal = self._memory.propose(command, actor=self._actor)
        if proposal is None or not all(change.is_directory for change in proposal.changes):
            return False
        self._execute(command, proposal.changes)
        return True

    def _execute(self, command: dict[str, str], changes: tuple[Change, ...]) -> Event:
        try:
            answer = self._memory.execute(command, actor=self._actor, approved=changes)
        except StaleApproval:
            raise _Overtaken from None
        if answer.is_error:
            raise make_refusal_error(answer)
        return answer.event

    def _find_written(self, event: Event, path: str) -> VersionRow:
        self._index.refresh()
        row = self._index.find_written(event.seq, path)
        if row is None:
            raise ApiError(500, API, f"What was written to {format_api_path(path)} is not in the journal.")
        return row


def _name(path: str) -> str:
    return f"{ROOT_NAME}/{path}"


def _validate_content(content: str) -> None:
    try:
        size = len(content.encode())
    except UnicodeEncodeError:
        raise make_invalid("content: it is not valid Unicode text.") from None
    if size > MOST_CONTENT_BYTES:
        raise make_invalid(f"content: it has {size:,} bytes, and the most are {MOST_CONTENT_BYTES:,}.")


def _get_change(changes: tuple[Change, ...], path: str) -> Change:
    return next(change for change in changes if change.path == path)


def _is_only_change(changes: tuple[Change, ...], path: str) -> bool:
    """Whether of files only the one at a path is changed, and not one to which a link leads."""
    return [change.path for change in changes if not change.is_directory] == [path]


def _begins_with(changes: tuple[Change, ...], current: VersionRow) -> bool:
    """Whether a change is one of the version that a client knows."""
    before = next((change.before for change in changes if change.path == current.path), None)
    return before is not None and before.kind is EntryKind.FILE and before.sha256 == current.sha256


def _make_action_error(done: ActionResult, path: str) -> Exception:
    reasons = {skipped.reason for skipped in done.skipped}
    if SkipReason.CHANGED in reasons or SkipReason.MISSING in reasons:
        return _Overtaken()
    if reasons & {SkipReason.TAKEN, SkipReason.IN_THE_WAY}:
        return make_path_conflict(format_api_path(path))
    if SkipReason.PROTECTED in reasons:
        return make_forbidden(done.problem)
    return ApiError(500, API, done.problem or "Nothing was changed.") if done.event else make_invalid(done.problem)
