"""What is documented is what there is."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.readme import README, key_table, with_key_table

ROOT = README.parent
TEXT = README.read_text(encoding="utf-8")


def test_the_key_table_is_the_one_made_from_the_bindings() -> None:
    assert with_key_table(TEXT) == TEXT, "run: python -m tests.readme"


def test_the_key_table_names_every_key_once_for_each_place() -> None:
    rows = key_table().splitlines()[2:]
    assert len(rows) > 40
    assert len(set(rows)) == len(rows)


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\((screenshots/[^)]+)\)", TEXT))))
def test_every_picture_that_is_shown_is_there(target: str) -> None:
    assert (ROOT / target).stat().st_size > 1_000
    assert (ROOT / target).with_suffix(".svg").exists()


def test_pictures_load_nothing_from_elsewhere() -> None:
    for picture in (ROOT / "screenshots").glob("*.svg"):
        text = picture.read_text(encoding="utf-8")
        assert "@font-face" not in text
        assert "url(http" not in text


def test_the_python_example_runs_as_it_is_printed(tmp_path: Path) -> None:
    example = next(block for block in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL) if "memtui.open(" in block)
    folder = tmp_path / "app" / "memories"
    folder.mkdir(parents=True)
    run = subprocess.run(
        [sys.executable, "-c", example],
        env={"HOME": str(tmp_path), "PATH": "", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[0] == "File created successfully at: /memories/me.md False"
    assert (folder / "me.md").read_text(encoding="utf-8") == "# Me\n"


@pytest.mark.parametrize("verb", ["ls", "show", "log", "run", "doctor", "completion"])
def test_the_verbs_of_the_tour_exist(verb: str) -> None:
    from memtui.cli.verbs import VERBS

    assert f"memtui {verb}" in TEXT
    assert verb in VERBS


def test_ci_runs_exactly_the_test_command_that_is_printed() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "<!-- the test command -->" in script
    printed = re.search(r"<!-- the test command -->\n```sh\n(.*?)\n```", TEXT, re.DOTALL)
    assert printed is not None
    assert "pytest" in printed.group(1)
