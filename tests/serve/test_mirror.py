"""The SDK's own folder mirror, which a worker runs beside an agent: it downloads stores, and syncs what changed."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from anthropic.lib.tools import _memories as mirrors

from tests.conftest import fill
from tests.serve.conftest import PLANNER, Served, find_store
from tests.serve.sdk import Store


class Mirror:
    """A store's folder on a worker."""

    def __init__(self, client: Any, store_id: str, place: Path, access: str = "read_write") -> None:
        self.place = place
        self.stores = mirrors.SessionMemoryStores(client, workdir=place.parent)
        resource = SimpleNamespace(
            type="memory_store", memory_store_id=store_id, access=access, mount_path=str(place), name="team"
        )
        self._session = SimpleNamespace(resources=[resource])

    async def download(self) -> None:
        await self.stores.download(self._session)

    async def sync(self) -> None:
        """What a worker does at the end of a session."""
        self.stores._finished = False
        await self.stores.finish()

    def list_files(self) -> dict[str, str]:
        return {
            path.relative_to(self.place).as_posix(): path.read_text()
            for path in self.place.rglob("*")
            if path.is_file() and not path.name.startswith(".")
        }


@pytest.fixture
async def mirror(served: Served, tmp_path: Path) -> Mirror:
    client = served.connect(PLANNER)
    mirror = Mirror(client, await find_store(client, "team"), tmp_path / "worker" / "team")
    mirror.place.parent.mkdir()
    await mirror.download()
    return mirror


async def test_a_store_is_downloaded_whole(mirror: Mirror) -> None:
    assert mirror.list_files() == {"notes/today.md": "standup at ten\n", "prefs.md": "- short answers\n"}


async def test_what_an_agent_wrote_in_the_mirror_is_in_the_folder(mirror: Mirror, served: Served) -> None:
    fill(mirror.place, {"prefs.md": "- long answers\n", "new/deep.md": "new\n"})
    (mirror.place / "notes/today.md").unlink()
    await mirror.sync()
    assert served.read("team/prefs.md") == "- long answers\n"
    assert served.read("team/new/deep.md") == "new\n"
    assert not (served.root / "team/notes/today.md").exists()
    assert {
        each.path for each in await Store(served.connect(), mirror._session.resources[0].memory_store_id).list()
    } == {
        "/prefs.md",
        "/new/deep.md",
    }


async def test_what_was_written_in_the_folder_is_in_the_mirror(mirror: Mirror, served: Served) -> None:
    fill(served.root / "team", {"prefs.md": "- none\n", "more/of.md": "it\n"})
    (served.root / "team/notes/today.md").unlink()
    await mirror.sync()
    assert mirror.list_files() == {"prefs.md": "- none\n", "more/of.md": "it\n"}


async def test_where_both_changed_the_folder_s_version_stands_and_the_journal_has_it(
    mirror: Mirror, served: Served
) -> None:
    fill(mirror.place, {"prefs.md": "- by the agent\n"})
    fill(served.root / "team", {"prefs.md": "- by the person\n"})
    await mirror.sync()
    assert served.read("team/prefs.md") == "- by the person\n"
    assert mirror.list_files()["prefs.md"] == "- by the person\n"


async def test_many_files_are_flushed_at_once(mirror: Mirror, served: Served) -> None:
    texts = {f"many/{number}.md": f"{number}\n" for number in range(60)}
    fill(mirror.place, texts)
    await mirror.stores.flush_writes()
    assert {name: served.read(f"team/{name}") for name in texts} == texts


async def test_a_file_that_is_too_large_is_refused_and_the_others_are_synced(mirror: Mirror, served: Served) -> None:
    fill(mirror.place, {"large.md": "x" * 102_401, "small.md": "x"})
    await mirror.sync()
    assert served.read("team/small.md") == "x"
    assert not (served.root / "team/large.md").exists()
