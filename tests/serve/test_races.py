"""Several clients, servers and programs at one store: with preconditions nothing is lost, and nothing is done twice."""

import asyncio
import threading

import anthropic

import memtui
from tests.serve.conftest import ADA, PLANNER, Serve, find_store
from tests.serve.sdk import Store, hash_text

WRITERS, LINES = 4, 8


async def append(store: Store, memory_id: str, line: str) -> None:
    """Add a line as a careful client does: read, write under a precondition, and begin again where it failed."""
    while True:
        read = await store.get(memory_id)
        try:
            await store.update(memory_id, content=read.content + line, expected=read.content_sha256)
        except anthropic.ConflictError:
            continue
        return


async def test_no_line_is_lost_between_clients_of_two_servers(serve: Serve) -> None:
    servers = serve(), serve()
    first = Store(servers[0].connect(PLANNER), await find_store(servers[0].connect(), "team"))
    made = await first.create("/log.md", "")

    async def write(number: int) -> None:
        store = Store(servers[number % 2].connect(PLANNER), first.id)
        for line in range(LINES):
            await append(store, made.id, f"{number}.{line}\n")

    await asyncio.gather(*(write(number) for number in range(WRITERS)))
    lines = (await first.get(made.id)).content.splitlines()
    assert sorted(lines) == sorted(f"{number}.{line}" for number in range(WRITERS) for line in range(LINES))
    history = await first.history(memory_id=made.id, limit=100)
    assert [each.operation for each in history] == ["modified"] * (WRITERS * LINES) + ["created"]


async def test_no_line_is_lost_between_a_client_and_a_program_at_the_folder(serve: Serve) -> None:
    served = serve()
    store = Store(served.connect(PLANNER), await find_store(served.connect(), "team"))
    made = await store.create("/log.md", "start\n")

    def work() -> None:
        with memtui.open(served.root / "team") as memory:
            for number in range(LINES):
                insert = {
                    "command": "insert",
                    "path": "/memories/log.md",
                    "insert_line": 0,
                    "insert_text": f"p{number}\n",
                }
                answer = memory.execute(insert, actor=memtui.Agent("program"))
                assert not answer.is_error, answer.text

    program = threading.Thread(target=work)
    program.start()
    for number in range(LINES):
        await append(store, made.id, f"c{number}\n")
    await asyncio.to_thread(program.join)
    lines = (await store.get(made.id)).content.splitlines()
    assert sorted(lines) == sorted(["start", *(f"{who}{number}" for who in "pc" for number in range(LINES))])


async def test_of_many_that_make_one_memory_one_does(serve: Serve) -> None:
    servers = serve(), serve()
    store_id = await find_store(servers[0].connect(), "team")
    stores = [Store(servers[number % 2].connect(PLANNER), store_id) for number in range(8)]
    done = await asyncio.gather(
        *(store.create("/one.md", str(number)) for number, store in enumerate(stores)), return_exceptions=True
    )
    made = [each for each in done if not isinstance(each, BaseException)]
    assert len(made) == 1
    assert {getattr(each, "type", None) for each in done if isinstance(each, BaseException)} == {
        "memory_path_conflict_error"
    }
    assert hash_text((await stores[0].get(made[0].id)).content) == made[0].content_sha256


async def test_of_a_change_and_a_deletion_under_one_precondition_one_is_done(serve: Serve) -> None:
    servers = serve(), serve()
    store_id = await find_store(servers[0].connect(), "team")
    one, other = (Store(server.connect(PLANNER), store_id) for server in servers)
    for number in range(10):
        made = await one.create(f"/{number}.md", "x")
        done = await asyncio.gather(
            one.update(made.id, content="y", expected=made.content_sha256),
            other.delete(made.id, expected_content_sha256=made.content_sha256),
            one.update(made.id, path=f"/{number}-moved.md", expected=made.content_sha256),
            other.update(made.id, content="z", path=f"/{number}-both.md", expected=made.content_sha256),
            return_exceptions=True,
        )
        refused = [each for each in done if isinstance(each, BaseException)]
        assert {getattr(each, "status_code", each) for each in refused} <= {404, 409}
        operations = [each.operation for each in await one.history(memory_id=made.id)]
        assert len(operations) == 1 + len(done) - len(refused)
        # a rename leaves the content, so a change under the same precondition may follow it
        assert len(done) - len(refused) in (1, 2)


async def test_what_is_archived_while_clients_write_holds_all_that_was_answered(serve: Serve) -> None:
    served = serve()
    store = Store(served.connect(PLANNER), await find_store(served.connect(), "team"))
    person = Store(served.connect(ADA), store.id)

    async def write(number: int) -> bool:
        try:
            await store.create(f"/n/{number}.md", "x")
        except anthropic.BadRequestError:
            return False
        return True

    done = await asyncio.gather(*map(write, range(6)), person.api.archive(store.id), *map(write, range(6, 12)))
    answered = {f"/n/{number}.md" for number, each in enumerate((*done[:6], *done[7:])) if each is True}
    assert {each.path for each in await store.list(path_prefix="/n/")} == answered
