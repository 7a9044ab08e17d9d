"""`memtui graph`, `links`, `orphans`, `observations`, `recent` and `context`, for people and programs."""

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import memtui
from memtui.cli import main
from tests.conftest import fill

_SCHEMA = json.loads(files("memtui.docs").joinpath("knowledge-1.schema.json").read_text(encoding="utf-8"))
_NOTES = {
    "MEMORY.md": "# Memory\n\n- [Deploy](deploy.md) how it is done\n",
    "deploy.md": "---\ntitle: Deploying\ntype: project\ntags: [ops]\n---\n\n"
    "- uses [[staging]] (mostly)\n- [fact] fast #ops\n",
    "staging.md": "See [[nowhere]] and [[../../up]].\n",
    "alone.md": "The staging host, see Deploying. #ops\n",
}

Ask = Callable[..., Any]


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose first event is what was found; then Claude links `alone`, and you take the link away."""
    folder = fill(tmp_path / "memories", _NOTES)
    monkeypatch.setenv("MEMTUI_DIR", str(folder))
    with memtui.open(folder) as memory:
        edit = {"command": "str_replace", "path": "/memories/deploy.md"}
        answer = memory.execute({**edit, "old_str": "fast", "new_str": "fast [[alone]]"}, actor=memtui.Agent("Claude"))
        assert not answer.is_error
        answer = memory.execute({**edit, "old_str": " [[alone]]", "new_str": ""}, actor=memtui.Person())
        assert not answer.is_error
    return folder


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Ask for JSON, which fits the schema of the verb."""

    def ask(*words: str, code: int = 0) -> Any:
        assert main([*words, "--json"]) == code
        document = json.loads(capsys.readouterr().out)
        jsonschema.validate(document, {**_SCHEMA, "oneOf": [{"$ref": f"#/$defs/{words[0]}"}]})
        return document

    return ask


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(_SCHEMA)


@pytest.mark.usefixtures("memory")
def test_the_graph_of_a_folder_as_json(ask: Ask) -> None:
    document = ask("graph")
    assert [node["id"] for node in document["nodes"]] == [
        "/memories/MEMORY.md", "/memories/alone.md", "/memories/deploy.md", "/memories/staging.md",
    ]  # fmt: skip
    edges = {(edge["written"], edge["kind"], edge["state"], edge["line"]) for edge in document["edges"]}
    assert edges == {
        ("deploy.md", "entry", "resolved", 3),
        ("staging", "relation", "resolved", 7),
        ("nowhere", "wiki", "dangling", 1),
        ("../../up", "wiki", "outside", 1),
    }
    summary = document["summary"]
    assert (summary["roots"], summary["orphans"]) == (["/memories/MEMORY.md"], ["/memories/alone.md"])
    assert (summary["resolved"], summary["dangling"], summary["cycles"]) == (2, 1, [])


@pytest.mark.usefixtures("memory")
def test_the_graph_as_of_an_event_has_the_link_that_was_there(ask: Ask) -> None:
    with_link = [edge["written"] for edge in ask("graph", "--at", str(_find_edit(ask) - 1))["edges"]]
    assert "alone" in with_link
    assert "alone" not in [edge["written"] for edge in ask("graph")["edges"]]


def _find_edit(ask: Ask) -> int:
    """The event that took the link away."""
    (removed,) = ask("links", "deploy.md", "--blame")["removed"]
    return int(removed["removed"]["seq"])


@pytest.mark.usefixtures("memory")
def test_a_neighbourhood_and_its_filters(ask: Ask) -> None:
    near = ask("graph", "Deploying")
    assert {node["id"]: node["distance"] for node in near["nodes"]} == {
        "/memories/deploy.md": 0, "/memories/MEMORY.md": 1, "/memories/staging.md": 1,
    }  # fmt: skip
    assert "summary" not in near
    tagged = ask("graph", "deploy", "--kind", "tag", "--depth", "2")
    assert [node["id"] for node in tagged["nodes"]] == ["/memories/deploy.md", "#ops", "/memories/alone.md"]
    assert [node["id"] for node in ask("graph", "--type", "project")["nodes"]] == ["/memories/deploy.md"]


@pytest.mark.usefixtures("memory")
def test_links_of_a_note(ask: Ask) -> None:
    document = ask("links", "staging")
    assert [(each["source"], each["relation"], each["context"], each["text"]) for each in document["in"]] == [
        ("/memories/deploy.md", "uses", "mostly", "- uses [[staging]] (mostly)")
    ]
    assert [(each["source"], each["line"], each["column"], each["text"]) for each in document["mentions"]] == [
        ("/memories/alone.md", 1, 5, "staging")
    ]
    assert document["removed"] is None


@pytest.mark.usefixtures("memory")
def test_links_are_blamed_as_lines_are(ask: Ask) -> None:
    document = ask("links", "deploy", "--blame")
    (link,) = document["out"]
    assert (link["written"], link["added"]["command"], link["added"]["actor_kind"]) == ("staging", "found", "outside")
    (removed,) = document["removed"]
    assert (removed["written"], removed["added"]["actor"], removed["removed"]["actor_kind"]) == (
        "alone", "Claude", "person",
    )  # fmt: skip


@pytest.mark.usefixtures("memory")
def test_orphans_and_what_made_them(ask: Ask) -> None:
    document = ask("orphans", code=1)
    assert [note["path"] for note in document["orphans"]] == ["/memories/alone.md"]
    edit = _find_edit(ask)
    since = ask("orphans", "--since", str(edit - 1), code=1)
    assert [note["path"] for note in since["orphans"]] == ["/memories/alone.md"]
    assert [(edge["written"], edge["targets"]) for edge in since["lost"]] == [("alone", ["/memories/alone.md"])]
    assert ask("orphans", "--since", str(edit))["orphans"] == []
    assert ask("orphans", "--at", str(edit - 1))["orphans"] == []


@pytest.mark.usefixtures("memory")
def test_observations(ask: Ask) -> None:
    (found,) = ask("observations", "--category", "FACT", "--tag", "#ops")["observations"]
    assert (found["path"], found["line"], found["content"]) == ("/memories/deploy.md", 8, "fast #ops")
    assert len(ask("observations")["observations"]) == 1
    assert len(ask("observations", "--all")["observations"]) == 2
    assert len(ask("observations", "--tag", "ops")["observations"]) == 2
    ask("observations", "--category", "no", code=1)


@pytest.mark.usefixtures("memory")
def test_recent_notes(ask: Ask) -> None:
    document = ask("recent", "--since", "1h")
    assert document["notes"][0]["path"] == "/memories/deploy.md"
    assert document["notes"][0]["changes"] == 3
    (mine,) = ask("recent", "--by", "claude")["notes"]
    assert (mine["path"], mine["actor"], mine["command"], mine["title"], mine["type"]) == (
        "/memories/deploy.md", "Claude", "str_replace", "Deploying", "project",
    )  # fmt: skip
    assert [note["path"] for note in ask("recent", "--type", "project")["notes"]] == ["/memories/deploy.md"]
    assert ask("recent", "-n", "1")["left_out"] == 3
    ask("recent", "--by", "nobody", code=1)


@pytest.mark.usefixtures("memory")
def test_context_of_an_address(ask: Ask) -> None:
    document = ask("context", "memory://deploy")
    assert [note["title"] for note in document["notes"]] == ["Deploying"]
    assert [each["content"] for each in document["notes"][0]["observations"]] == ["fast #ops"]
    assert [(each["path"], each["distance"]) for each in document["related"]] == [
        ("/memories/MEMORY.md", 1), ("/memories/staging.md", 1),
    ]  # fmt: skip
    assert ask("context", "memory://*", "--max", "0")["related"] == []
    assert len(ask("context", "memory://d*", "--max", "1")["related"]) == 1
    assert ask("context", "deploy", "--max", "1")["left_out"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["graph", "nothing"], "No note is called nothing."),
        (["links", "nothing"], "No note is called nothing."),
        (["context", "memory://nothing"], "No note has the address memory://nothing."),
    ],
)
@pytest.mark.usefixtures("memory")
def test_what_is_not_there_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 3
    assert said in capsys.readouterr().err


def test_several_notes_of_one_name_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = fill(tmp_path / "m", {"a/x.md": "", "b/x.md": ""})
    assert main(["links", "x", "--dir", str(folder)]) == 3
    assert "Several notes are called x: a/x.md, b/x.md. Give a path." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (
            ["graph"],
            ["4 notes, 4 edges", "not reached from MEMORY.md (1):", "  alone.md", "dangling (1):", "  nowhere"],
        ),
        (["graph", "deploy"], ["MEMORY.md:3  entry  deploy.md", "deploy.md:7  uses   staging.md"]),
        (["links", "staging"], ["links to it (1)", "  deploy.md:7  - uses [[staging]] (mostly)", "links from it (2)"]),
        (["orphans"], ["alone.md"]),
        (["observations"], ["deploy.md:8  [fact]  fast #ops"]),
        (["context", "staging"], ["related", "  1  deploy.md  uses from it"]),
    ],
)
@pytest.mark.usefixtures("memory")
def test_what_a_person_reads(words: list[str], lines: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(words)
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line not in printed] == [], printed


@pytest.mark.usefixtures("memory")
def test_diagrams(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", "deploy", "--mermaid"]) == 0
    mermaid = capsys.readouterr().out.splitlines()
    assert mermaid[0] == "flowchart LR"
    assert '  n0["Deploying"]' in mermaid
    assert any(line.startswith("  n0 -->|") for line in mermaid)
    assert main(["graph", "--dot"]) == 0
    dot = capsys.readouterr().out.splitlines()
    assert (dot[0], dot[-1]) == ("digraph memory {", "}")
    assert '  x0 [label="nowhere", shape=plaintext];' in dot


@pytest.mark.parametrize(
    "words",
    [
        ["graph", "--dot", "--mermaid"], ["graph", "--dot", "--json"], ["graph", "--depth", "2"],
        ["links", "deploy", "--at", "1", "--blame"], ["context", "deploy", "--depth", "9"],
    ],
)  # fmt: skip
@pytest.mark.usefixtures("memory")
def test_what_does_not_go_together_is_a_usage_error(words: list[str]) -> None:
    assert main(words) == 2


def test_what_an_agent_wrote_drives_no_terminal_and_no_diagram(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    title = 'a"]; click n0 "javascript:x" \x1b[31m\u202e\\'
    text = f"---\ntitle: '{title}'\n---\n# {title}\n[[no\"\\|]]\n\n- [\x1b[2J] \x1b]0;x\x07 #t\n"
    folder = fill(tmp_path / "m", {"a.md": text.encode("utf-8", "surrogatepass"), "b.md": "[[a]]"})
    for words in (["graph"], ["graph", "a"], ["links", "b"], ["observations", "--all"], ["recent"], ["context", "a"],
                  ["graph", "--dot"], ["graph", "--mermaid"], ["graph", "--json"]):  # fmt: skip
        main([*words, "--dir", str(folder)])
        printed = capsys.readouterr().out
        assert not {"\x1b", "\u202e", "\x07"} & set(printed)
        if "--mermaid" in words:
            assert '"javascript' not in printed
        if "--dot" in words:
            assert 'a\\"];' in printed


@pytest.mark.usefixtures("memory")
def test_schemas_are_inferred_kept_and_held_against_notes(
    ask: Ask, memory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (memory / "second.md").write_text("---\ntype: project\nowner: mara\n---\n- [fact] slow\n")
    (schema,) = ask("schema", "infer", "PROJECT")["types"]
    assert (schema["type"], schema["notes"]) == ("project", 2)
    assert {(part["kind"], part["name"], part["required"]) for part in schema["parts"]} == {
        ("field", "tags", False), ("field", "owner", False), ("observation", "fact", True), ("relation", "uses", False),
    }  # fmt: skip
    assert ask("schema", "validate") == {"schema": 1, "action": "validate", "checked": [], "problems": []}
    assert main(["schema", "infer", "project", "--note"]) == 0
    (memory / "schema.md").write_text(capsys.readouterr().out)
    assert ask("schema", "validate")["checked"] == ["project"]
    assert ask("schema", "diff")["drifts"] == []
    (memory / "third.md").write_text("---\ntype: project\n---\nNothing.\n")
    (problem,) = ask("schema", "validate", "project", code=1)["problems"]
    assert (problem["path"], problem["problem"], problem["part"]["name"]) == ("/memories/third.md", "missing", "fact")
    drifts = ask("schema", "diff", code=1)["drifts"]
    assert [(each["type"], each["now"]["required"]) for each in drifts] == [("project", False)]
    assert main(["schema", "validate"]) == 1
    assert capsys.readouterr().out == "third.md  observation fact is missing\n"
    assert main(["schema", "diff", "nothing"]) == 3
    assert "No note holds a schema of type nothing." in capsys.readouterr().err
    assert main(["schema", "infer", "--note"]) == 2


def test_suggestions_are_listed_and_one_of_them_done(
    ask: Ask, memory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in memory.iterdir()}
    document = ask("suggest", "--kind", "link", code=1)
    assert [(each["kind"], each["notes"], each["line"]) for each in document["suggestions"]] == [
        ("link", ["/memories/alone.md", "/memories/deploy.md"], 1),
        ("link", ["/memories/alone.md", "/memories/staging.md"], 1),
    ]
    assert document["suggestions"][0]["reason"] == "names it without a link: Deploying"
    id = document["suggestions"][0]["id"]
    assert ask("suggest", "deploy.md", code=1)["suggestions"][0]["id"] == id
    assert ask("suggest", "nowhere", code=0)["suggestions"] == []
    assert ask("suggest", "--max", "1", code=1)["left_out"] == 2
    assert main(["suggest", "--kind", "link", "--max", "1"]) == 1
    shown = capsys.readouterr()
    assert shown.out == f"{id}  link alone.md to deploy.md  alone.md:1 names it without a link: Deploying\n"
    assert "And 1 more suggestion. All: --max 0" in shown.err
    assert main(["suggest", "--accept", id, "--read-only"]) == 4
    assert {path: path.read_bytes() for path in memory.iterdir()} == before
    capsys.readouterr()
    assert main(["suggest", "--accept", id]) == 0
    assert capsys.readouterr().out == "Done: link alone.md to deploy.md. To undo it: memtui undo 4\n"
    assert (memory / "alone.md").read_text() == "The staging host, see [[Deploying]]. #ops\n"
    assert main(["suggest", "--accept", id]) == 3
    assert "Nothing is suggested with the id" in capsys.readouterr().err
    assert main(["undo", "4", "--yes"]) == 0
    capsys.readouterr()
    assert {path: path.read_bytes() for path in memory.iterdir()} == before
    assert ask("suggest", "--accept", id)["accepted"] == 6


@pytest.mark.usefixtures("memory")
def test_a_merge_is_suggested_with_its_command_and_done(
    ask: Ask, memory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = " ".join(f"word{number}" for number in range(40))
    fill(memory, {"one.md": f"{words}\n", "two one.md": f"{words}\n"})
    (found,) = ask("suggest", "--kind", "merge", code=1)["suggestions"]
    assert (found["acceptable"], found["command"]) == (True, "memtui merge one.md 'two one.md'")
    assert main(["suggest", "--accept", found["id"], "--kind", "merge"]) == 2
    capsys.readouterr()
    assert main(["suggest", "--accept", found["id"]]) == 0
    assert capsys.readouterr().out.startswith("Done: merge two one.md into one.md. To undo it: memtui undo ")
    assert (memory / "one.md").read_text() == f"{words}\n"
    assert not (memory / "two one.md").exists()
