"""`memtui doctor` on memories on a server, and a backup that is restored."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

import memtui
from memtui.core.errors import ServerUnusable
from memtui.postgres import doctor
from memtui.postgres.admin import Admin, Grant
from memtui.postgres.dsn import parse_address
from memtui.postgres.server import Server
from tests.pg_server import OwnServer, run_server
from tests.postgres.relay import Relay

ME = memtui.Agent("tester")


def check(place: str, state: Path, **given: bool) -> dict[str, tuple[str, str]]:
    return {name: (how, words) for name, how, words in doctor.check_place(place, str(state), **given)}


def create(place: str, state: Path, path: str) -> None:
    command = {"command": "create", "path": f"/memories/{path}", "file_text": f"{path}\n"}
    with memtui.open(place, state=state) as memory:
        assert not memory.execute(command, actor=ME).is_error


def test_what_is_in_order_is_said(place: str, tmp_path: Path, run_verb: Callable[..., str]) -> None:
    create(place, tmp_path / "one", "a.md")
    create(place, tmp_path / "two", "b.md")
    found = check(place, tmp_path / "one")
    assert found["address"] == ("ok", place)
    assert found["server"][1].startswith("PostgreSQL ")
    assert found["encryption"] == ("ok", "a socket of this machine")
    assert found["clock"] == ("ok", "as this machine's")
    assert found["role"][0] == "warn", "the owner reaches every table"
    assert found["signs as"] == ("ok", "anybody: a role for people")
    assert found["bell"] == ("ok", "changes are reported")
    assert found["copy"][1].startswith("event 1, 1 or more behind the server: ")
    assert check(place, tmp_path / "two")["copy"][1].startswith("event 2, as the server: ")
    assert check(place, tmp_path / "new")["copy"] == ("ok", "none on this machine yet")
    assert "bell" not in check(place, tmp_path / "one", read_only=True)
    printed = run_verb("doctor", "--dir", place, "--state", str(tmp_path / "two"))
    assert "changes are reported" in printed
    assert "journal mode" in printed


def test_a_store_is_listed_among_the_places_once_it_was_opened(
    place: str, tmp_path: Path, run_verb: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    with memtui.open(place) as memory:
        command = {"command": "create", "path": "/memories/a.md", "file_text": "a\n"}
        assert not memory.execute(command, actor=ME).is_error
    line = next(each for each in run_verb("places").splitlines() if place in each)
    assert line.split()[0] == "1"
    assert "server" in line


def test_an_agents_role_is_named_with_the_only_name_it_signs_with(
    server: OwnServer, place: str, tmp_path: Path
) -> None:
    create(place, tmp_path / "one", "a.md")
    admin = Admin(parse_address(place))
    with contextlib.closing(admin):
        store = parse_address(place).store
        admin.run(admin.plan_grant(Grant("doctors_bot", "main", store, ("read", "write"), "Bot")))
    found = check(server.address(store, "doctors_bot"), tmp_path / "bot")
    assert found["role"] == ("ok", "doctors_bot")
    assert found["signs as"] == ("ok", "Bot, and nobody else")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("postgres://me:secret@/postgres?store=team", "A password in an address"),
        ("postgres://owner@/postgres?host=/nowhere&store=team", "The server cannot be reached: "),
    ],
)
def test_what_is_not_in_order_is_said(address: str, words: str, tmp_path: Path) -> None:
    found = check(address, tmp_path / "state")
    assert [each for each in found.values() if each[0] == "fail" and each[1].startswith(words)]
    assert "secret" not in str(found)


def test_a_bell_that_is_kept_back_is_said(
    server: OwnServer, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "_BELL_SECONDS", 0.3)
    relay = Relay(server.directory, tmp_path)
    relay.keeps_bells = True
    with contextlib.closing(relay):
        found = check(place.replace(str(server.directory), str(tmp_path)), tmp_path / "one")
    assert found["bell"][0] == "warn"
    assert "pooler" in found["bell"][1]


def test_a_dump_is_restored_with_its_record(tmp_path: Path, run_verb: Callable[..., str]) -> None:
    """`pg_dump` before, a new server after it: the same events, hashes and rights."""
    with run_server() as first, run_server() as second:
        place, again = first.address("team"), second.address("team")
        for path in ("a.md", "b.md"):
            create(place, tmp_path / "one", path)
        with memtui.open(place, state=tmp_path / "one") as memory:
            head = memory.get_head()
        dump = first.directory / "memories.dump"
        first.call("pg_dump", "-Fc", "-d", f"postgresql://owner@/postgres?host={first.directory}", "-f", str(dump))
        create(place, tmp_path / "one", "after-the-dump.md")
        target = f"postgresql://owner@/postgres?host={second.directory}"
        second.call("pg_restore", "--clean", "--if-exists", "--exit-on-error", "-d", target, str(dump))
        assert "Intact: every event" in run_verb("verify", again, "--head", f"{head[0]}:{head[1]}")
        create(again, tmp_path / "two", "c.md")
        # A machine that knows more than the dump says so, and keeps what it knows.
        behind = Server(parse_address(again))
        with contextlib.closing(behind), memtui.open(place, state=tmp_path / "one") as ahead:
            seq, hash_ = ahead.get_head()
            with pytest.raises(ServerUnusable):
                behind.get_after(seq, bytes.fromhex(hash_))


def test_the_compose_file_in_the_manual_makes_a_database_for_memories(
    server: OwnServer, run_verb: Callable[..., str]
) -> None:
    """As far as it goes without containers: it parses, and what it says of the database is enough for memtui."""
    page = (Path(memtui.__file__).parent / "docs" / "shared.md").read_text(encoding="utf-8")
    database = yaml.safe_load(page.partition("```yaml\n")[2].partition("```")[0])
    service = database["services"]["db"]
    assert set(service["secrets"]) == set(database["secrets"])
    assert {each.partition(":")[0] for each in service["volumes"]} == set(database["volumes"])
    user, name = (service["environment"][f"POSTGRES_{each}"] for each in ("USER", "DB"))
    server.call("createuser", "-s", "-h", str(server.directory), "-U", "owner", user)
    server.call(
        "createdb", "-h", str(server.directory), "-U", "owner", "-O", user, "-E", "UTF8", "-T", "template0", name
    )
    _, program, *words = service["healthcheck"]["test"]
    server.call(program, "-h", str(server.directory), *words)
    assert f"memtui admin init postgres://{user}@127.0.0.1/{name} --yes" in page
    address = f"postgres://{user}@/{name}?host={server.directory}"
    assert "Done: " in run_verb("admin", "init", address, "--yes")
    assert "as this machine's" in run_verb("doctor", f"{address}&store=team")
