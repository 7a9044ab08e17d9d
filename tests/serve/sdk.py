"""One store through the official SDK, in fewer words."""

import hashlib
from typing import Any

from tests.serve.conftest import collect


def hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Store:
    """One store, through the SDK."""

    def __init__(self, client: Any, store_id: str) -> None:
        self.id = store_id
        self.api = client.beta.memory_stores
        self.memories, self.versions = self.api.memories, self.api.memory_versions

    async def create(self, path: str, content: str, **options: Any) -> Any:
        return await self.memories.create(self.id, path=path, content=content, **options)

    async def get(self, memory_id: str, **options: Any) -> Any:
        return await self.memories.retrieve(memory_id, memory_store_id=self.id, **options)

    async def update(self, memory_id: str, *, expected: str | None = None, **options: Any) -> Any:
        if expected is not None:
            options["precondition"] = {"type": "content_sha256", "content_sha256": expected}
        return await self.memories.update(memory_id, memory_store_id=self.id, **options)

    async def delete(self, memory_id: str, **options: Any) -> Any:
        return await self.memories.delete(memory_id, memory_store_id=self.id, **options)

    async def find(self, path: str) -> Any:
        return next(each for each in await self.list() if each.path == path)

    async def history(self, **options: Any) -> list[Any]:
        return await collect(self.versions.list(self.id, **options))

    async def list(self, **options: Any) -> Any:
        return await collect(self.memories.list(self.id, **options))
