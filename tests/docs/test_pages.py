"""The pages of the manual: complete, short, current, and shown by `memtui help`."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.cli import main
from memtui.cli.help import PAGES, TOPICS, read_page, render_page
from memtui.cli.verbs import VERBS
from memtui.core.unicode import measure_cells
from tests.docs.keys import list_key_rows, list_screens
from tests.readme import DOCS, README, ROOT, render_files

LINKS = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
DOCUMENTS = [README, *sorted(DOCS.glob("*.md"))]


def _read_all() -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in DOCUMENTS)


@pytest.mark.parametrize("path", render_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_generated_is_current(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == render_files()[path], "run: python -m tests.readme"


def test_the_tables_of_keys_name_every_key_once_for_each_place() -> None:
    rows = list_key_rows()
    assert len(rows) > 200
    assert len(set(rows)) == len(rows)
    text = _read_all()
    assert all(f"## {screen}\n" in text for screen in list_screens())
    for _, keys, description, name in rows:
        assert f"| {keys} | {description} | " in text
        assert f"`{name}`" in text


def test_every_page_is_a_topic() -> None:
    assert sorted(TOPICS) == sorted(page.stem for page in DOCS.glob("*.md"))


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_a_page_is_short(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= (200 if page == README else 300)
    assert lines[0].startswith("# ")


OPEN_OTHERWISE = {"architecture", "benchmarks", "audit-accuracy"}
"""Pages about memtui itself, and not about what its user does."""


@pytest.mark.parametrize("topic", [topic for topic in TOPICS if topic not in OPEN_OTHERWISE])
def test_a_page_opens_with_what_its_reader_wants(topic: str) -> None:
    second = read_page(topic).split("\n\n")[1]
    assert re.match(r"You (want|answer)\b", second)


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in LINKS.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_verb_is_in_the_manual() -> None:
    text = _read_all()
    assert [verb for verb in VERBS if f"memtui {verb}" not in text] == []


def test_the_pages_are_listed_on_one_screen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[: len(TOPICS)]] == list(TOPICS)
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("topic", TOPICS)
def test_a_page_is_printed_as_plain_text_in_a_pipe(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", topic]) == 0
    text = capsys.readouterr().out
    title = (PAGES / f"{topic}.md").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    assert text.startswith(title)
    assert max(map(measure_cells, text.splitlines())) <= 83  # code is moved in by three columns
    assert "\x1b" not in text
    assert "<!--" not in text
    assert not [each for each in TOPICS if f"({each}.md" in text]


def test_a_page_keeps_every_word_and_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "history"]) == 0
    text = capsys.readouterr().out
    assert "   memtui verify" in text.splitlines()[text.splitlines().index("Check the record") + 3]
    for word in re.findall(r"[A-Za-z]{4,}", read_page("history")):
        assert word in text


def test_a_page_is_coloured_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    [title, *_] = render_page("# Title\n\nText\n", 40)
    assert title == "\x1b[1;34mTitle\x1b[m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert next(iter(render_page("# Title\n", 40))) == "Title"


def test_the_text_of_a_page_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "find", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["topic"], answer["text"]) == ("find", read_page("find"))


@pytest.mark.parametrize(
    ("word", "said"),
    [("histroy", "Did you mean 'history'?"), ("lss", "Did you mean 'ls'?"), ("zzzz", "memtui help")],
)
def test_an_unknown_topic_gets_a_suggestion(word: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", word]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert f"'{word}'" in captured.err
    assert captured.out == ""


def test_every_topic_is_completed() -> None:
    for path in ("bash-completion/completions/memtui", "zsh/site-functions/_memtui"):
        text = (ROOT / "share" / path).read_text(encoding="utf-8")
        assert " ".join((*TOPICS, *VERBS)) in text


@pytest.mark.parametrize(("pager", "shown"), [("sed s/Glossary/PAGED/", "PAGED"), ("no-such-pager-here", "Glossary")])
def test_a_long_page_goes_through_the_pager_on_a_terminal(pager: str, shown: str, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PAGER": pager, "TERM": "xterm"}
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "memtui", "help", "glossary"],
        cwd=ROOT,
        env={**environment, "LINES": "10", "COLUMNS": "80"},
        stdin=subprocess.DEVNULL,
        stdout=follower,
    ) as process:
        os.close(follower)
        text = b""
        try:
            while part := os.read(leader, 65_536):
                text += part
        except OSError:  # the terminal is closed
            pass
        assert process.wait(60) == 0
    os.close(leader)
    assert text.startswith(f"\x1b[1;34m{shown}".encode())
    assert b"yours" in text


@pytest.mark.parametrize("word", ["outside memtui", "brings back", "told", "mend", "gone"])
def test_the_manual_uses_the_words_of_its_glossary(word: str) -> None:
    written = [page for page in DOCUMENTS if page.stem not in OPEN_OTHERWISE]
    found = []
    for page in written:
        prose = re.sub(
            r"<!-- (keys|settings|six rows) -->.*?<!-- end", "", page.read_text(encoding="utf-8"), flags=re.DOTALL
        )
        found += [f"{page.name}: {line}" for line in prose.splitlines() if re.search(rf"\b{word}\b", line)]
    assert found == []
