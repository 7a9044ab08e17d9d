"""What each request of the API does. Synchronous: each runs in a thread of its own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from memtui.core.events import Agent
from memtui.core.paths import ROOT_NAME
from memtui.serve.access import Right
from memtui.serve.catalog import StoreCatalog, StoreEntry, StoreInfo
from memtui.serve.changes import MemoryUpdate, MemoryWriter
from memtui.serve.errors import make_invalid, make_missing
from memtui.serve.index import CREATED, DELETED, MODIFIED, VersionRow
from memtui.serve.listing import VersionFilter, list_memories, list_page, list_versions
from memtui.serve.paths import parse_api_path, parse_prefix
from memtui.serve.render import Json, render_memory, render_store, render_version
from memtui.serve.requests import ApiRequest, merge_metadata, validate_description, validate_name
from memtui.serve.store import OpenStore

Handler = Callable[[ApiRequest], Json]


class ApiHandlers:
    """Answers the requests of the API; all raise `ApiError`, and the engine's errors."""

    def __init__(self, catalog: StoreCatalog) -> None:
        self._catalog = catalog

    # Stores

    def list_stores(self, request: ApiRequest) -> Json:
        since_us, until_us = request.get_time_us("created_at[gte]"), request.get_time_us("created_at[lte]")
        with_archived, page = request.get_flag("include_archived"), request.get_page(str)
        found = [
            entry
            for entry in self._catalog.iter_entries()
            if request.client.get_right(entry.key) >= Right.READ
            and (with_archived or entry.info.archived_us is None)
            and (since_us is None or entry.info.created_us >= since_us)
            and (until_us is None or entry.info.created_us <= until_us)
        ]
        found.sort(key=_get_store_key, reverse=True)
        keys = {entry.info.id: _get_store_key(entry) for entry in found}
        return list_page([render_store(entry) for entry in found], page, lambda item: keys[str(item["id"])])

    def create_store(self, request: ApiRequest) -> Json:
        request.client.require_everywhere(Right.ADMIN)
        name = validate_name(request.get_text("name"))
        description = validate_description(request.get_optional_text("description") or "")
        metadata = merge_metadata({}, request.body.get("metadata"))
        return render_store(self._catalog.create(name, description, metadata))

    def retrieve_store(self, request: ApiRequest) -> Json:
        return render_store(self._find_store(request, Right.READ))

    def update_store(self, request: ApiRequest) -> Json:
        entry = self._find_store(request, Right.ADMIN)
        name, description = request.get_optional_text("name"), request.get_optional_text("description")

        def change(info: StoreInfo) -> StoreInfo:
            _require_active(info)
            return replace(
                info,
                name=info.name if name is None else validate_name(name),
                description=info.description if description is None else validate_description(description),
                metadata=merge_metadata(info.metadata, request.body.get("metadata")),
            )

        return render_store(self._catalog.update(entry, change))

    def archive_store(self, request: ApiRequest) -> Json:
        return render_store(self._catalog.archive(self._find_store(request, Right.ADMIN)))

    def delete_store(self, request: ApiRequest) -> Json:
        entry = self._find_store(request, Right.ADMIN)
        self._catalog.delete(entry, request.client.actor)
        return {"type": "memory_store_deleted", "id": entry.info.id}

    # Memories

    def list_memories(self, request: ApiRequest) -> Json:
        prefix = parse_prefix(request.query.get("path_prefix"))
        depth, page = request.get_number("depth", 0, 0, 1), request.get_page(str)
        with self._use_store(request, Right.READ) as store:
            store.look()
            return list_memories(store, prefix, depth, page)

    def create_memory(self, request: ApiRequest) -> Json:
        path, content = parse_api_path(request.body.get("path")), request.get_text("content")
        is_full = request.is_full(default=False)
        with self._change_store(request) as store:
            row = MemoryWriter(store, request.client.actor).create(path, content)
            return _render_memory(store, row, is_full=is_full)

    def retrieve_memory(self, request: ApiRequest) -> Json:
        is_full = request.is_full(default=True)
        with self._use_store(request, Right.READ) as store:
            memory = store.find_memory(request.ids["memory_id"])
            row = memory.current
            if is_full and isinstance(request.client.actor, Agent):  # what agents read is in the history
                command = {"command": "view", "path": f"{ROOT_NAME}/{row.path}"}
                store.memory.execute(command, actor=request.client.actor)
            return _render_memory(store, row, is_full=is_full)

    def update_memory(self, request: ApiRequest) -> Json:
        path = request.get_optional_text("path")
        wanted = MemoryUpdate(
            content=request.get_optional_text("content"),
            path=None if path is None else parse_api_path(path),
            expected=request.get_precondition(),
        )
        is_full = request.is_full(default=False)
        with self._change_store(request) as store:
            row = MemoryWriter(store, request.client.actor).update(request.ids["memory_id"], wanted)
            return _render_memory(store, row, is_full=is_full)

    def delete_memory(self, request: ApiRequest) -> Json:
        memory_id, expected = request.ids["memory_id"], request.get_hash("expected_content_sha256")
        with self._use_store(request, Right.WRITE) as store, store.writing:
            MemoryWriter(store, request.client.actor).delete(memory_id, expected)
        return {"type": "memory_deleted", "id": memory_id}

    # Versions

    def list_versions(self, request: ApiRequest) -> Json:
        actors = [(name, request.query[name]) for name in _ACTOR_FIELDS if name in request.query]
        wanted = VersionFilter(
            memory_id=request.query.get("memory_id"),
            operation=request.get_choice("operation", (CREATED, MODIFIED, DELETED)),
            since_us=request.get_time_us("created_at[gte]"),
            until_us=request.get_time_us("created_at[lte]"),
            actors=actors,
        )
        page = request.get_page(int)
        with self._use_store(request, Right.READ) as store:
            store.look()
            return list_versions(store, wanted, page)

    def retrieve_version(self, request: ApiRequest) -> Json:
        is_full = request.is_full(default=True)
        with self._use_store(request, Right.READ) as store:
            return _render_version(store, self._find_version(store, request), is_full=is_full)

    def redact_version(self, request: ApiRequest) -> Json:
        request.client.require_person()
        with self._use_store(request, Right.ADMIN) as store, store.writing:
            row = self._find_version(store, request)
            MemoryWriter(store, request.client.actor).redact(row)
            return _render_version(store, row, is_full=True)

    # Finding

    def _find_store(self, request: ApiRequest, least: Right) -> StoreEntry:
        entry = self._catalog.find(request.store_id)
        request.client.require(entry.key, request.store_id, least)
        return entry

    @contextmanager
    def _use_store(self, request: ApiRequest, least: Right) -> Iterator[OpenStore]:
        with self._catalog.use(self._find_store(request, least)) as store:
            yield store

    @contextmanager
    def _change_store(self, request: ApiRequest) -> Iterator[OpenStore]:
        """A store whose memories may be made and changed, held for this change alone."""
        entry = self._find_store(request, Right.WRITE)
        with self._catalog.use(entry) as store, store.writing:
            _require_active(self._catalog.find(request.store_id).info)
            yield store

    @staticmethod
    def _find_version(store: OpenStore, request: ApiRequest) -> VersionRow:
        version_id = request.ids["version_id"]
        store.index.refresh()
        row = store.index.find_version(version_id)
        if row is None:
            store.look()
            row = store.index.find_version(version_id)
        if row is None:
            raise make_missing("memory version", version_id)
        return row


_ACTOR_FIELDS = ("api_key_id", "session_id", "service_account_id")


def _get_store_key(entry: StoreEntry) -> str:
    return f"{entry.info.created_us:020d} {entry.info.id}"


def _require_active(info: StoreInfo) -> None:
    if info.archived_us is not None:
        raise make_invalid("The memory store is archived: it and its memories are not changed any more.")


def _render_memory(store: OpenStore, row: VersionRow, *, is_full: bool) -> Json:
    texts = store.index.load_texts([row]) if is_full else {}
    return render_memory(row, store.id, texts.get(row.sha256 or ""))


def _render_version(store: OpenStore, row: VersionRow, *, is_full: bool) -> Json:
    texts = store.index.load_texts([row]) if is_full else {}
    return render_version(row, store.id, store.index, texts.get(row.sha256 or ""))
