"""Nothing outside the folder is read, written, made, renamed or deleted, and no answer names a path of the host."""

import ctypes
import itertools
import os
import threading
from typing import Any

import pytest

from tests.sampling import sampled

CANARY = "CANARY-7f3a"
EXCHANGE = 2
libc = ctypes.CDLL(None, use_errno=True)


def commands_on(path: str) -> list[dict[str, object]]:
    return [
        {"command": "view", "path": path},
        {"command": "view", "path": path, "view_range": [1, 2]},
        {"command": "create", "path": path, "file_text": "made\n"},
        {"command": "str_replace", "path": path, "old_str": "CANARY", "new_str": "changed"},
        {"command": "insert", "path": path, "insert_line": 0, "insert_text": "inserted"},
        {"command": "rename", "old_path": path, "new_path": "/memories/stolen"},
        {"command": "rename", "old_path": "/memories/mine", "new_path": path},
        {"command": "delete", "path": path},
    ]


LINKS = (
    "absolute",
    "relative",
    "file",
    "dangling-out",
    "parent",
    "root",
    "loop",
    "hop",
    "proc-root",
    "proc-cwd",
    "deep/up",
)


def hostile_paths(outside: str) -> list[str]:
    dots = [
        "..",
        "../..",
        "../../..",
        "....",
        ".. ",
        "..;",
        "..%2f",
        "%2e%2e",
        "%252e%252e",
        "..%00",
        "..\\",
        "%c0%ae%c0%ae",
        "．．",
    ]
    targets = ["", "outside", "outside/secret", "etc/passwd", "tmp", "root/.ssh/id_rsa"]
    heads = [
        "/memories",
        "/memories/",
        "/memories/deep",
        "/memories/deep/./",
        "/memories//",
        "memories",
        "/memoriesX",
        "",
        "//memories",
    ]
    paths = [f"{head}/{dot}/{target}" for head, dot, target in itertools.product(heads, dots, targets)]
    paths += [
        f"/memories/{link}{tail}"
        for link in LINKS
        for tail in ("/secret", "/outside/secret", "/new", "/new/er", "/../outside/secret", "/.", "")
    ]
    paths += [
        outside,
        f"{outside}/secret",
        f"/memories{outside}/secret",
        f"/memories/{outside}/secret",
        f"file://{outside}/secret",
    ]
    paths += [
        "/",
        "",
        "~",
        "~/x",
        "$HOME",
        "/proc/self/root",
        "C:\\x",
        "\\\\host\\x",
        "/memories\x00/x",
        "/memories/x\x00.md",
        "/memories/\n/../x",
    ]
    paths += [f"/memories/{chr(code)}../outside" for code in (0, 1, 9, 10, 13, 27, 127)]
    return sorted(set(paths))


@pytest.fixture
def surrounded(resolver_world: Any, tmp_path: Any) -> Any:
    """A folder full of links, with canaries all around it."""
    outside = tmp_path / "outside"
    (outside / "inner").mkdir(parents=True)
    for path in (outside / "secret", outside / "inner/secret", tmp_path / "secret"):
        path.write_text(CANARY + "\n")
        os.utime(path, (1, 2))
    folder = resolver_world.folder
    resolver_world.put("mine", "mine\n")
    resolver_world.put("deep/er/f", "mine\n")
    for name, target in (
        ("absolute", outside),
        ("relative", "../outside"),
        ("file", "../outside/secret"),
        ("dangling-out", "../outside/new-by-link"),
        ("parent", ".."),
        ("root", "/"),
        ("loop", "loop"),
        ("hop", "deep/up"),
        ("proc-root", "/proc/self/root"),
        ("proc-cwd", "/proc/self/cwd"),
        ("deep/up", "../../outside"),
    ):
        (folder / name).symlink_to(target)
    resolver_world.main.reconcile()
    return resolver_world


def around(world: Any, tmp_path: Any) -> object:
    """Everything outside the folder and the state: names, bytes, modes, times."""
    found = []
    for top, directories, files in os.walk(tmp_path):
        for skipped in (world.folder, world.state):
            if str(skipped) in (os.path.join(top, name) for name in directories):
                directories.remove(os.path.basename(skipped))
        for name in files:
            path = os.path.join(top, name)
            with open(path, "rb") as file:
                found.append((path, file.read(), os.lstat(path).st_mode, os.lstat(path).st_mtime_ns))
        found.append((top, sorted(directories), os.lstat(top).st_mode, os.lstat(top).st_mtime_ns))
    return found


def insist_on_harmless(world: Any, tmp_path: Any, answer: Any, command: object) -> None:
    assert CANARY not in answer.text, command
    assert str(world.state) not in answer.text, command
    echoed = repr(command)
    assert str(tmp_path) not in answer.text or str(tmp_path) in echoed, command
    if answer.is_error:
        assert answer.text.startswith(("Error: ", "The path ", "No replacement ")), command
        assert "Errno" not in answer.text, command
        assert "Traceback" not in answer.text, command


@pytest.mark.sweep
def test_no_hostile_path_reaches_anything_outside(surrounded: Any, tmp_path: Any) -> None:
    before = around(surrounded, tmp_path)
    for number, path in enumerate(sampled(hostile_paths(str(tmp_path / "outside")), 150)):
        for command in commands_on(path):
            answer = surrounded.ask(**command)
            insist_on_harmless(surrounded, tmp_path, answer, command)
        if not (surrounded.folder / "mine").exists():
            surrounded.ask(command="create", path="/memories/mine", file_text="mine\n")
        if (surrounded.folder / "stolen").is_symlink() or (surrounded.folder / "stolen").exists():
            surrounded.ask(command="delete", path="/memories/stolen")
        if number % 20 == 0:
            assert around(surrounded, tmp_path) == before, path
    assert around(surrounded, tmp_path) == before
    assert not any(isinstance(held, bytes) and CANARY.encode() in held for held in surrounded.tree().values())
    assert CANARY.encode() not in b"".join(
        surrounded.main.journal.get_text(row[0].hex()) or b""
        for row in surrounded.main.journal._query("SELECT sha256 FROM versions", ())
    )


def test_a_view_of_the_folder_shows_nothing_of_what_its_links_lead_to(surrounded: Any) -> None:
    for path in ("/memories", "/memories/deep"):
        shown = surrounded.ask(command="view", path=path).text.split("\n")[1:]
        names = {line.rpartition("/")[2] for line in shown}
        assert names.isdisjoint(link.rpartition("/")[2] for link in LINKS)
        assert "secret" not in names


def exchange(one: bytes, other: bytes) -> None:
    """Swap two names in one step."""
    if libc.renameat2(-100, one, -100, other, EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


SHAPES = {
    "the parent": ("/memories/swap/{}", "swap"),
    "a directory above": ("/memories/swap/inner/{}", "swap"),
    "the last name": ("/memories/swap", "swap"),
}


@pytest.mark.skipif(not hasattr(libc, "renameat2"), reason="needs renameat2 to swap two names in one step")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_link_swapped_in_during_a_call_lets_nothing_in_or_out(surrounded: Any, tmp_path: Any, shape: str) -> None:
    pattern, name = SHAPES[shape]
    folder = surrounded.folder
    real = folder / name
    if shape == "the last name":
        real.write_text("mine\n")
        (folder / "link").symlink_to(tmp_path / "outside/secret")
    else:
        (real / "inner").mkdir(parents=True)
        for file in (real / "secret", real / "inner/secret"):
            file.write_text("mine\n")
        (folder / "link").symlink_to(tmp_path / "outside")
    before = around(surrounded, tmp_path)
    stop = threading.Event()
    flips = itertools.count()

    def flip() -> None:
        while not stop.is_set():
            try:
                exchange(os.fsencode(real), os.fsencode(folder / "link"))
            except OSError:
                continue  # one of them is being replaced at this moment
            next(flips)

    thread = threading.Thread(target=flip)
    thread.start()
    try:
        for number in range(60):
            secret, new = pattern.format("secret"), pattern.format(f"new{number % 3}")
            commands: list[dict[str, object]] = [
                {"command": "view", "path": secret},
                {"command": "str_replace", "path": secret, "old_str": "CANARY", "new_str": "stolen"},
                {"command": "insert", "path": secret, "insert_line": 0, "insert_text": "inserted"},
                {"command": "create", "path": secret, "file_text": "mine\n"},
                {"command": "view", "path": "/memories"},
                {"command": "view", "path": "/memories/swap"},
            ]
            if shape != "the last name":
                commands += [
                    {"command": "create", "path": new, "file_text": "made\n"},
                    {"command": "create", "path": f"{new}.d/x/y", "file_text": "made\n"},
                    {"command": "rename", "old_path": secret, "new_path": f"{secret}2"},
                    {"command": "rename", "old_path": f"{secret}2", "new_path": secret},
                    {"command": "delete", "path": new},
                    {"command": "delete", "path": f"{new}.d"},
                ]
            for command in commands:
                answer = surrounded.ask(**command)
                insist_on_harmless(surrounded, tmp_path, answer, command)
    finally:
        stop.set()
        thread.join(20)
    assert next(flips) > 100
    assert around(surrounded, tmp_path) == before
    texts = surrounded.main.journal._query("SELECT sha256 FROM versions", ())
    assert not any(CANARY.encode() in (surrounded.main.journal.get_text(row[0].hex()) or b"") for row in texts)
    surrounded.main.reconcile()


@pytest.mark.skipif(not hasattr(libc, "renameat2"), reason="needs renameat2 to swap two names in one step")
def test_a_root_swapped_during_calls_lets_nothing_in_or_out(surrounded: Any, tmp_path: Any) -> None:
    folder, link = surrounded.folder, tmp_path / "link-to-outside"
    link.symlink_to("outside")
    before = (tmp_path / "outside/secret").read_bytes(), sorted(os.listdir(tmp_path / "outside"))
    stop = threading.Event()

    def flip() -> None:
        while not stop.is_set():
            exchange(os.fsencode(folder), os.fsencode(link))

    thread = threading.Thread(target=flip)
    thread.start()
    try:
        for number in range(200):
            for command in commands_on("/memories/secret")[:5]:
                answer = surrounded.ask(**command)
                assert CANARY not in answer.text
            surrounded.ask(command="create", path=f"/memories/new{number % 3}", file_text="x")
            surrounded.ask(command="delete", path=f"/memories/new{number % 3}")
    finally:
        stop.set()
        thread.join(20)
        if folder.is_symlink():
            exchange(os.fsencode(folder), os.fsencode(link))
    assert ((tmp_path / "outside/secret").read_bytes(), sorted(os.listdir(tmp_path / "outside"))) == before
