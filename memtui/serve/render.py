"""Values as the API's JSON."""

from datetime import UTC, datetime

from memtui.core.events import Actor, Agent, Event, Memtui, Person
from memtui.serve.catalog import StoreEntry
from memtui.serve.index import DELETED, MemoryIndex, VersionRow
from memtui.serve.paths import format_api_path

Json = dict[str, object]


def format_time(at_us: int) -> str:
    """A time in microseconds since 1970, by RFC 3339."""
    return datetime.fromtimestamp(at_us / 1e6, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def render_store(entry: StoreEntry) -> Json:
    info = entry.info
    return {
        "type": "memory_store",
        "id": info.id,
        "name": info.name,
        "description": info.description,
        "metadata": dict(info.metadata),
        "created_at": format_time(info.created_us),
        "updated_at": format_time(info.updated_us),
        "archived_at": None if info.archived_us is None else format_time(info.archived_us),
    }


def render_memory(row: VersionRow, store_id: str, text: bytes | None) -> Json:
    """A memory as a version left it; `text` is `None` for the basic view."""
    return {
        "type": "memory",
        "id": row.memory.id,
        "memory_store_id": store_id,
        "memory_version_id": row.id,
        "path": format_api_path(row.path),
        "content": None if text is None else text.decode("utf-8", "replace"),
        "content_sha256": row.sha256,
        "content_size_bytes": row.size,
        "created_at": format_time(row.memory.created_us),
        "updated_at": format_time(row.at_us),
    }


def render_prefix(path: str) -> Json:
    return {"type": "memory_prefix", "path": format_api_path(path)}


def render_version(row: VersionRow, store_id: str, index: MemoryIndex, text: bytes | None) -> Json:
    """A version; `text` is `None` for the basic view, and where there is none."""
    redaction = index.get_redaction(row)
    has_content = redaction is None and row.operation != DELETED
    return {
        "type": "memory_version",
        "id": row.id,
        "memory_id": row.memory.id,
        "memory_store_id": store_id,
        "operation": row.operation,
        "path": None if redaction is not None else format_api_path(row.path),
        "content": text.decode("utf-8", "replace") if text is not None and has_content else None,
        "content_sha256": row.sha256 if has_content else None,
        "content_size_bytes": row.size if has_content else None,
        "created_at": format_time(row.at_us),
        "created_by": render_actor(index.get_actor(row)),
        "redacted_at": None if redaction is None else format_time(redaction.at_us),
        "redacted_by": None if redaction is None else _render_redactor(redaction),
    }


def render_actor(actor: Actor) -> Json | None:
    """An actor; `None` for another program, of which nobody told."""
    match actor:
        case Agent(session=str(session)) if session:
            return {"type": "session_actor", "session_id": session}
        case Agent():
            return {"type": "api_actor", "api_key_id": f"apikey_{actor.name}"}
        case Person():
            return {"type": "user_actor", "user_id": f"user_{actor.name}"}
        case Memtui():
            return {"type": "service_account_actor", "service_account_id": f"svac_{actor.name}"}
        case _:
            return None


def _render_redactor(event: Event) -> Json | None:
    return render_actor(event.actor)
