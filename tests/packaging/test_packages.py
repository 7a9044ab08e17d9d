"""What a user installs: the wheel by pip, pipx and uv, in one file, and on other Pythons, until its screen is drawn.

They need the extras `dist` and `docs`, and take their time, so they run only where they are asked for by name: pytest
tests/packaging.
"""

import fcntl
import importlib.util
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import termios
import zipfile
from pathlib import Path

import pytest

from tests.cli.conftest import read_until

ROOT = Path(__file__).parents[2]
LIMIT = 900.0
"""Seconds that one installation may take."""
pytestmark = pytest.mark.timeout(2 * LIMIT)
OTHERS = ("3.12", "3.13", "3.14")
"""Pythons besides the oldest, which the whole suite runs on."""
SUITE = ("tests/contract", "tests/core", "tests/engine", "tests/ui/screens/test_browse.py")
"""What runs on each of them."""


def run(*words: object, env: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        check=False,
        text=True,
        timeout=LIMIT,
        env=env,
        cwd=cwd,
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}"
    return done.stdout


def tool(name: str) -> str:
    """A program beside this Python."""
    found = Path(sys.executable).with_name(name)
    if not found.exists():
        pytest.skip(f"needs {name}: pip install -e '.[dist,docs]'")
    return str(found)


def find_python(version: str) -> str | None:
    """A Python of that version on the path, or of pyenv's."""
    roots = [Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))]
    candidates = [shutil.which(f"python{version}")]
    candidates += [str(path) for root in roots for path in sorted(root.glob(f"versions/{version}.*/bin/python"))]
    for candidate in filter(None, candidates):
        done = subprocess.run([candidate, "-V"], capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.startswith(f"Python {version}"):
            return candidate
    return None


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the source distribution, and of the wheel that is built from it."""
    if importlib.util.find_spec("build") is None:
        pytest.skip("needs build: pip install -e '.[dist]'")
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", out, ROOT)
    return out


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    [found] = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def names(built: Path) -> list[str]:
    """The files of the source distribution, from its top."""
    [found] = built.glob("*.tar.gz")
    with tarfile.open(found) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An environment whose home, temporary directory and tools are all below one directory."""
    (tmp_path / "tmp").mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "XDG_"))}
    if (settings := Path.home() / ".config/pip/pip.conf").exists():
        kept.setdefault("PIP_CONFIG_FILE", str(settings))
    return {
        **kept,
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path / "tmp"),
        "TERM": "xterm-256color",
        "PIPX_HOME": str(tmp_path / "pipx"),
        "SHIV_ROOT": str(tmp_path / "shiv"),
        "UV_TOOL_DIR": str(tmp_path / "tools"),
        "UV_TOOL_BIN_DIR": str(tmp_path / "bin"),
        "UV_PYTHON": sys.executable,
        "UV_CACHE_DIR": str(tmp_path / "uv-cache"),
    }


def check_demo(words: list[str], environment: dict[str, str]) -> None:
    """In a pseudo-terminal: the demo is drawn, `q` leaves it, and its end names a command."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
    words = [*words, "demo", "--no-tour", "--speed", "1000"]
    process = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    try:
        assert b"user_preferences" in read_until(master, lambda shown: b"user_preferences" in shown, LIMIT)
        os.write(master, b"q")
        shown = read_until(master, lambda _: False)
        assert process.wait(30) == 0, shown
        assert b"memtui hook install" in shown
    finally:
        process.kill()
        process.wait()
        os.close(master)


def test_the_index_would_accept_them(built: Path) -> None:
    assert "PASSED" in run(tool("twine"), "check", "--strict", *built.iterdir())


def test_pictures_and_pages_of_the_long_description_are_in_the_source(names: list[str]) -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(targets) > 20
    assert [target for target in targets if target not in names] == []


def test_the_wheel_has_the_licence_the_manual_and_the_completions(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = archive.namelist()
    for end in (
        "licenses/LICENSE",
        "share/man/man1/memtui.1",
        "share/bash-completion/completions/memtui",
        "share/zsh/site-functions/_memtui",
        "share/fish/vendor_completions.d/memtui.fish",
        "memtui/docs/getting-started.md",
        "memtui/py.typed",
    ):
        assert any(name.endswith(end) for name in inside), end
    assert not [name for name in inside if name.startswith(("tests/", "screenshots/"))]


def test_pip_installs_the_wheel(wheel: Path, home: dict[str, str], tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    run(tmp_path / "venv/bin/pip", "install", "--quiet", wheel, env=home)
    check_demo([str(tmp_path / "venv/bin/memtui")], home)
    assert (tmp_path / "venv/share/man/man1/memtui.1").is_file()


def test_pipx_runs_the_wheel(wheel: Path, home: dict[str, str]) -> None:
    check_demo([tool("pipx"), "run", "--spec", str(wheel), "memtui"], home)


def test_uv_installs_the_wheel_as_a_tool(wheel: Path, home: dict[str, str], tmp_path: Path) -> None:
    asked = [tool("uv"), "pip", "install", "--dry-run", "--target", str(tmp_path / "none"), "textual"]
    if subprocess.run(asked, env=home, capture_output=True, check=False, timeout=LIMIT).returncode:
        pytest.skip("uv reaches no index: it does not read pip's settings")
    run(tool("uv"), "tool", "install", wheel, env=home)
    check_demo([f"{home['UV_TOOL_BIN_DIR']}/memtui"], home)


def test_one_file_holds_all_of_it(wheel: Path, home: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "memtui.pyz"
    run(tool("shiv"), "--quiet", "-E", "-c", "memtui", "-o", file, wheel, env=home)
    check_demo([sys.executable, str(file)], home)
    run(sys.executable, file, "hook", "install", "--yes", env={**home, "PATH": "/usr/bin:/bin"})
    assert f"{file} hook" in (tmp_path / ".claude/settings.json").read_text(encoding="utf-8")


def test_the_manual_becomes_a_site_of_its_own(tmp_path: Path) -> None:
    """Every page is there and every link leads somewhere (it is built strictly); nothing is loaded from elsewhere."""
    run(tool("mkdocs"), "build", "-f", ROOT / ".mkdocs/mkdocs.yml", "-d", tmp_path / "site")
    pages = {path.stem for path in (ROOT / "memtui/docs").glob("*.md")}
    assert {path.stem for path in (tmp_path / "site").glob("*.html")} == pages | {"404", "index"}
    assert "getting-started.html" in (tmp_path / "site/index.html").read_text(encoding="utf-8")
    page = (tmp_path / "site/browse.html").read_text(encoding="utf-8")
    assert not re.findall(r"<(?:script|img|iframe)[^>]+src=.?https?:|<link[^>]+stylesheet[^>]+href=.?https?:", page)


@pytest.mark.parametrize("version", OTHERS)
def test_another_python_runs_it(version: str, wheel: Path, home: dict[str, str], tmp_path: Path) -> None:
    python = find_python(version)
    if python is None:
        pytest.skip(f"Python {version} is not here")
    run(python, "-m", "venv", tmp_path / "venv")
    own = tmp_path / "venv/bin/python"
    run(own, "-m", "pip", "install", "--quiet", f"{wheel}[test]", env=home)
    check_demo([str(own.with_name("memtui"))], home)
    environment = {**home, "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": "/tmp"}  # as some tests give up root's rights
    words = (
        "-q",
        "-p",
        "no:cacheprovider",
        "-n",
        "2",
        "-W",
        "ignore:unclosed database:ResourceWarning",
    )  # news of 3.13
    run(own, "-m", "pytest", *words, *SUITE, env=environment, cwd=ROOT)
