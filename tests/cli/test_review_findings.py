"""Triage and sign-off at the command line: dismiss, restore, done, export, verify."""

import json
import os
import random
import string
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.cli import main

CLAUDE = memtui.Agent("Claude", "a-model", "session-1")
SECRET = "sk-" + "ant-" + "api03-" + "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=60))
Run = Callable[..., Any]
Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], run: Run) -> Said:
    """Run a command line: its exit code, and what it printed. An audit gives up the right to write, so not here."""

    def do(*words: str) -> tuple[int, str, str]:
        if words[0] == "audit":
            ran = run(*words)
            return ran.code, ran.out.decode(), ran.err.decode()
        code = main(list(words))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return do


@pytest.fixture
def leaky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which Claude wrote a key down, and something harmless."""
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "a.md").write_text("a\n")
    monkeypatch.setenv("MEMTUI_DIR", str(folder))
    with memtui.open(folder) as memory:
        for path, text in (("keys.md", f"# Keys\n\nkey: {SECRET}\n"), ("b.md", "harmless\n")):
            command = {"command": "create", "path": f"/memories/{path}", "file_text": text}
            assert not memory.execute(command, actor=CLAUDE).is_error
    return folder


def audit(said: Said, *words: str) -> dict[str, Any]:
    _, out, _ = said("audit", "--json", "--only", "secret", *words)
    return json.loads(out)


def fingerprint(said: Said) -> str:
    (finding,) = audit(said)["findings"]
    return str(finding["fingerprint"])


def review_text() -> str:
    return next(Path(os.environ["XDG_STATE_HOME"]).rglob("reviews/*.json")).read_text()


@pytest.mark.usefixtures("leaky")
def test_a_dismissed_finding_fails_no_pipeline_and_stands_in_every_report(said: Said) -> None:
    known = fingerprint(said)
    assert said("audit", "--only", "secret")[0] == 1
    code, out, _ = said(
        "review", "dismiss", known.upper(), "--reason", "a key of the tests", "--until", "30d", "--reviewer", "ada"
    )
    assert code == 0
    assert "keys.md:3 (anthropic-key)" in out
    assert f"Undo: memtui review restore {known}" in out
    code, out, _ = said("audit", "--only", "secret")
    assert code == 0
    assert "Not counted: 1 dismissed   (all of them: --all)" in out
    assert "anthropic-key" not in out
    until = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 30 * 86_400))
    words = f"a key of the tests (until {until})"
    for format in ("text", "md", "html"):
        code, out, _ = said("audit", "--only", "secret", "--format", format, "--all")
        assert code == 0
        assert words.split(maxsplit=1)[0] in out
        assert "dismissed by ada" in " ".join(out.replace("<bdi>", "").replace("`", "").split())
        assert until in out
    (held,) = audit(said)["excepted"]
    assert (held["by"], held["who"], held["reason"], held["until"]) == ("dismissal", "ada", "a key of the tests", until)
    assert audit(said)["summary"]["dismissed"] == 1
    code, out, _ = said("audit", "--only", "secret", "--format", "sarif", "--all")
    (result,) = json.loads(out)["runs"][0]["results"]
    assert result["suppressions"][0]["justification"].endswith(words)
    # It is listed, and counts again when it is restored.
    code, out, _ = said("review", "dismissed")
    assert out.splitlines()[0] == f"{known}  keys.md:3 (anthropic-key)  until {until}"
    assert said("review", "restore", known, "--words", f"it is {SECRET}")[0] == 2
    assert said("review", "restore", known)[0] == 0
    assert said("audit", "--only", "secret")[0] == 1
    assert said("review", "dismissed")[1] == "Nothing is dismissed.\n"
    assert SECRET not in review_text()


@pytest.mark.usefixtures("leaky")
def test_another_review_file_dismisses_for_those_who_name_it(said: Said, tmp_path: Path) -> None:
    known, file = fingerprint(said), str(tmp_path / "team.json")
    assert said("review", "dismiss", known, "--reason", "x", "--review", file, "--reviewer", "bob")[0] == 0
    assert said("audit", "--only", "secret")[0] == 1
    assert said("audit", "--only", "secret", "--review", file)[0] == 0
    assert said("audit", "--only", "secret", "--review", file, "--reviewer", "ada")[0] == 1
    # In a folder of the agent's it is no review file.
    inside = str(tmp_path / "memories" / "team.json")
    code, _, err = said("audit", "--review", inside)
    assert (code, "where an agent could reach it" in err) == (3, True)
    # A file that cannot be used dismisses nothing.
    assert said("review", "dismiss", known, "--reason", "x")[0] == 0
    usual = next(Path(os.environ["XDG_STATE_HOME"]).rglob("reviews/*.json"))
    usual.write_text(usual.read_text().replace('"reviewer"', '"somebody"', 1))
    code, out, _ = said("audit", "--only", "secret")
    assert code == 1
    assert "cannot be read" in " ".join(out.split())


REFUSED: list[tuple[list[str], int, str]] = [
    (["dismiss"], 2, "give the fingerprints of findings"),
    (["dismiss", "FINGERPRINT"], 2, "give a reason, with --reason TEXT"),
    (["dismiss", "FINGERPRINT", "--reason", " "], 2, "give a reason, with --reason TEXT"),
    (["dismiss", "keys.md", "--reason", "x"], 2, "is not a fingerprint"),
    (["dismiss", "0" * 16, "--reason", "x"], 3, "there is no finding 0000000000000000"),
    (["dismiss", "FINGERPRINT", "--reason", "x", "--until", "2020-01-31"], 2, "2020-01-31 is in the past"),
    (["dismiss", "FINGERPRINT", "--reason", "x", "--until", "soon"], 2, "'soon' is not an end date"),
    (["dismiss", "FINGERPRINT", "--reason", f"it is {SECRET}"], 2, "contains what looks like a secret"),
    (["restore", "FINGERPRINT"], 3, "there is no dismissed finding"),
    (["flag", "a.md", "--until", "30d"], 2, "--until goes with dismiss"),
    (["accept", "a.md", "--accept-failures", "x"], 2, "--accept-failures goes with done"),
    (["done", "--accept-failures", ""], 2, "give a reason, with --accept-failures REASON"),
    (["done", "--accept-failures", f"it is {SECRET}"], 2, "contains what looks like a secret"),
    (["export"], 3, "No review was signed off yet"),
    (["verify"], 2, "give the file of one record"),
    (["verify", "nothing.json"], 3, "cannot be read"),
    (["--force"], 2, "go with export"),
]
"""What cannot be: the words behind `memtui review`, the exit code, and a part of the sentence."""


@pytest.mark.usefixtures("leaky")
def test_what_cannot_be_is_refused_and_nothing_is_noted(said: Said) -> None:
    known = fingerprint(said)
    for words, code, sentence in REFUSED:
        found, _, err = said("review", *(known if word == "FINGERPRINT" else word for word in words))
        assert (found, sentence in err) == (code, True), (words, err)
        assert SECRET not in err
    assert said("review", "dismissed", "--json")[1].count("fingerprint") == 0


def test_what_nobody_has_looked_at_is_dismissed_for_a_while_only(leaky: Path, said: Said) -> None:
    os.mkfifo(leaky / "pipe")
    known = next(each["fingerprint"] for each in audit(said)["findings"] if each["rule"] == "special-file")
    code, _, err = said("review", "dismiss", known, "--reason", "of a daemon")
    assert (code, "90 days at most" in err) == (4, True)
    assert said("review", "dismiss", known, "--reason", "of a daemon", "--until", "91d")[0] == 4
    assert said("review", "dismiss", known, "--reason", "of a daemon", "--until", "90d")[0] == 0
    assert "special-file" not in {each["rule"] for each in audit(said)["findings"]}


@pytest.mark.usefixtures("leaky")
def test_a_review_is_not_ended_while_what_must_not_stay_is_undecided(said: Said) -> None:
    known = fingerprint(said)
    code, _, err = said("review", "done")
    assert code == 4
    assert "Not signed off: 1 undecided failure: keys.md:3 (anthropic-key)." in err
    assert f"memtui review dismiss {known} --reason TEXT" in err
    assert "memtui review done --accept-failures REASON" in err
    # What was accepted among others was not read.
    code, _, err = said("review", "accept", "--all")
    assert (code, "Not accepted with it" in err) == (0, True)
    assert said("review", "done")[0] == 4
    code, _, err = said("review", "accept", "keys.md")
    assert (code, "keys.md:3 (anthropic-key). It is accepted with it." in err) == (0, True)
    assert said("review", "done")[0] == 0
    assert SECRET not in review_text()


@pytest.mark.parametrize(
    "decide", [["flag", "keys.md"], ["revert", "keys.md"], ["dismiss", "FINGERPRINT", "--reason", "x"]], ids=str
)
@pytest.mark.usefixtures("leaky")
def test_what_is_flagged_reverted_or_dismissed_is_decided(decide: list[str], said: Said) -> None:
    known = fingerprint(said)
    assert said("review", *(known if word == "FINGERPRINT" else word for word in decide))[0] == 0
    assert said("review", "done")[0] == 0


@pytest.mark.usefixtures("leaky")
def test_what_is_signed_all_the_same_stands_in_record_and_reports(said: Said, tmp_path: Path) -> None:
    code, out, _ = said("review", "done", "--accept-failures", "it is revoked on Monday", "--reviewer", "ada", "--json")
    assert (code, json.loads(out)["accepted_failures"]) == (0, 1)
    for format in ("text", "md", "html", "json", "sarif"):
        out = " ".join(said("audit", "--only", "secret", "--format", format)[1].replace("`", "").split())
        assert "it is revoked on Monday" in out
        assert "ada" in out
    assert audit(said)["review"]["sign_off"]["findings"][0]["decision"] == "accepted in spite"
    for format, name in (("md", "record.md"), ("json", "record.json")):
        file = tmp_path / name
        code, out, err = said("review", "export", "--format", format, "-o", str(file))
        assert (code, out) == (0, "")
        assert "2 changed notes, signed off by ada" in err
        assert said("review", "export", "--format", format)[1] == file.read_text()
        assert said("review", "export", "--format", format, "-o", str(file))[0] == 5
        assert said("review", "verify", str(file))[0] == 0
        file.write_text(file.read_text().replace("on Monday", "on Tuesday"))
        code, out, _ = said("review", "verify", str(file))
        assert code == 1
        assert "on Tuesday" in out
        assert json.loads(said("review", "verify", str(file), "--json")[1])["intact"] is False
    assert said("review", "verify", str(tmp_path / "memories" / "a.md"))[0] == 2
    # A review without such is not said to be one.
    assert said("review", "done", "--accept-failures", "nothing is left")[0] == 0
    assert "in spite" not in said("audit", "--only", "secret")[1]


def test_no_tool_of_an_agent_dismisses(leaky: Path, said: Said) -> None:
    known = fingerprint(said)
    review = Path(os.environ["XDG_STATE_HOME"]) / "memtui" / "reviews"
    with memtui.open(leaky) as memory:
        for command in (
            {"command": "dismiss", "path": "/memories/keys.md", "fingerprint": known},
            {"command": "create", "path": f"/memories/../../{review}/x.json", "file_text": "{}"},
            {"command": "create", "path": str(review / "x.json"), "file_text": "{}"},
        ):
            assert memory.execute(command, actor=CLAUDE).is_error
        document = {"schema": 2, "kind": "memtui review", "folder": "", "marks": [], "hash": ""}
        for path in ("review.json", ".memtui/review.json", "baseline.json"):
            text = json.dumps(document)
            memory.execute({"command": "create", "path": f"/memories/{path}", "file_text": text}, actor=CLAUDE)
    assert [each["fingerprint"] for each in audit(said)["findings"]] == [known]


@pytest.mark.usefixtures("leaky")
def test_a_record_that_was_replaced_is_signed_only_with_a_reason(said: Said) -> None:
    assert said("review", "flag", "keys.md")[0] == 0
    assert said("review", "done")[0] == 0
    for path in Path(os.environ["XDG_STATE_HOME"]).rglob("journal.db*"):
        path.unlink()
    code, _, err = said("review", "done")
    assert code == 4
    assert "the folder (head-gone)" in err
    assert said("review", "done", "--accept-failures", "the disk was replaced")[0] == 0
    assert "head-gone" not in said("audit", "--since", "last")[1]
