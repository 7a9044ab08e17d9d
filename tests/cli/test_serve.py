"""`memtui serve`: what is said where it cannot run. Of what it serves the tests are in `tests/web`."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib import util
from pathlib import Path

import pytest

from memtui.cli import main


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that another program uses."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        yield bound.getsockname()[1]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "For the browser in a web browser: memtui serve --web DIR"),
        (["--web", "--port", "65536"], 2, "'65536' is not a port from 0 to 65535"),
        (["--web", "--max-viewers", "0"], 2, "'0' is not a number from 1 to 16"),
        (["--web", "nowhere"], 3, "No folder at "),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_served_is_said(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *words]) == code
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.out == ""


@pytest.mark.usefixtures("folder")
def test_a_port_that_is_taken_is_named(taken: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--web", "--port", str(taken)]) == 5
    printed = capsys.readouterr()
    assert f"Port {taken} cannot be used: address already in use. Nothing was started." in printed.err
    assert "--port 0" in printed.err
    assert printed.out == ""


@pytest.mark.usefixtures("folder")
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    find = util.find_spec
    monkeypatch.setattr("memtui.cli.serve.find_spec", lambda name: None if name == "websockets" else find(name))
    assert main(["serve", "--web"]) == 2
    assert "pip install 'memtui[web]'" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("words", [["--version"], ["ls"], ["serve"]], ids=" ".join)
def test_other_commands_load_nothing_of_it(words: list[str]) -> None:
    code = f"import sys; from memtui.cli import main; main({words!r}); print(sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    for name in ("websockets", "memtui.web", "textual", "asyncio"):
        assert f"'{name}'" not in done.stderr


def test_the_page_is_part_of_the_package() -> None:
    from memtui import web  # noqa: PLC0415 - not loaded by the tests above

    kept = {path.name for path in (Path(web.__file__).parent / "page").iterdir()}
    assert kept == {"page.css", "page.html", "page.js"}
