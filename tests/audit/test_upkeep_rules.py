"""Upkeep: what nobody needs, what is said twice, what contradicts itself, leads nowhere or is too long."""

import os
import random
from pathlib import Path

import pytest
from folders import Folder

from memtui.audit.rules import schemas, upkeep
from memtui.core.events import Agent
from memtui.core.settings import AuditSettings, Budget, Settings, compute_budgets
from memtui.engine import Engine
from tests.audit.corpus import clean_notes
from tests.bench.limits import at_most

ADA = Agent("Ada")
WORDS = "deploy service cache queue ticket branch lint review shard index token budget harbour canal meadow orbit".split


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def prose(seed: int, count: int) -> str:
    """So many words, the same for the same seed."""
    chosen = random.Random(seed)
    return " ".join(f"{chosen.choice(WORDS())}{chosen.randrange(400)}" for _ in range(count))


def view(path: str) -> object:
    """Has an agent view a note."""
    return lambda engine: engine.execute({"command": "view", "path": f"/memories/{path}"}, actor=ADA)


# The corpus


def test_a_clean_folder_has_nothing_to_be_kept_up(folder: Folder) -> None:
    notes = clean_notes()
    folder.write(notes)
    hits = folder.hits(upkeep, rules=[rule.id for rule in upkeep.RULES])
    assert len(notes) > 300
    assert [(hit.rule, hit.path, hit.words) for hit in hits] == []


# Stale


def test_a_note_that_nobody_read_or_changed_is_stale_and_the_words_say_what_is_known(folder: Folder) -> None:
    folder.write({"old.md": "An old text.\n"}, days=10)
    (hit,) = folder.hits(upkeep, rules=["stale"], days_later=200)
    assert hit.words == (
        "last written, by the file's time, 210 days ago; no agent has read it since the history began, 200 days ago"
    )
    assert dict(hit.facts) == {"days": 210, "known": "both"}


def test_without_a_journal_no_note_is_stale_and_the_report_says_that_nobody_looked(folder: Folder) -> None:
    folder.write({"old.md": "An old text.\n"}, days=900)
    assert folder.hits(upkeep, rules=["stale"], with_journal=False) == []


def test_a_note_that_an_agent_reads_is_not_stale(folder: Folder) -> None:
    folder.write({"old.md": "An old text.\n", "other.md": "Another one.\n"}, days=900)
    hits = folder.hits(upkeep, rules=["stale"], days_later=100, act=view("old.md"))  # type: ignore[arg-type]
    assert [hit.path for hit in hits] == ["other.md"]
    hits = folder.hits(upkeep, rules=["stale"], days_later=181)
    assert [hit.words for hit in hits if hit.path == "old.md"] == [
        "last read by Ada 181 days ago, last written, by the file's time, 1,081 days ago"
    ]


def test_a_change_that_nobody_recorded_counts_by_the_time_of_the_file(folder: Folder) -> None:
    folder.write({"old.md": "An old text.\n"}, days=300)
    assert [hit.path for hit in folder.hits(upkeep, rules=["stale"])] == ["old.md"]
    folder.write({"old.md": "A new text.\n"})
    assert folder.hits(upkeep, rules=["stale"]) == []


def test_pinned_and_loaded_and_hidden_and_empty_notes_are_never_stale(folder: Folder) -> None:
    folder.write({"pin.md": "a\n", "MEMORY.md": "a\n", "CLAUDE.md": "a\n", ".x/y.md": "a\n", "e.md": ""}, days=900)
    assert folder.hits(upkeep, rules=["stale"], pins=["pin.md"]) == []
    assert [hit.path for hit in folder.hits(upkeep, rules=["stale"])] == ["pin.md"]
    assert folder.hits(upkeep, rules=["stale"], audit=AuditSettings(stale_days=0)) == []


# Duplicates


def test_copies_are_told_whatever_their_spaces_capitals_and_front_matter(folder: Folder) -> None:
    text = "Deploys go out on Tuesdays, after the freeze meeting.\n"
    changed = "---\nname: other\n---\n\nDEPLOYS go  out on Tuesdays,\nafter the freeze meeting.\n\n"
    folder.write({"a.md": text, "deep/b.md": changed, "c.md": text.replace("Tuesdays", "Mondays"), "d.json": text})
    (hit,) = folder.hits(upkeep, rules=["duplicate"])
    assert (hit.path, hit.words, dict(hit.facts)) == ("deep/b.md", "says the same as a.md", {"of": "a.md"})


def test_short_and_hidden_copies_are_none(folder: Folder) -> None:
    folder.write({"a.md": "- [ ] todo\n", "b.md": "- [ ] todo\n", ".c.md": "x" * 99, ".d.md": "x" * 99})
    assert folder.hits(upkeep, rules=["duplicate"]) == []


def test_near_copies_are_told_with_how_alike_they_are(folder: Folder) -> None:
    words = prose(1, 200).split()
    one_changed = [*words[:90], "otherwise", *words[91:]]
    folder.write(
        {
            "a.md": " ".join(words),
            "sub/b.md": "# Heading\n\n" + "\n".join(one_changed),
            "c.md": " ".join([*words[:100], *prose(2, 100).split()]),
            "d.md": prose(3, 200),
        }
    )
    (hit,) = folder.hits(upkeep, rules=["near-duplicate"])
    assert (hit.path, hit.facts["of"]) == ("sub/b.md", "a.md")
    assert hit.words == "says nearly the same as a.md: 98% of it"
    loose = folder.hits(upkeep, rules=["near-duplicate"], audit=AuditSettings(near_duplicate=0.4))
    assert {hit.path for hit in loose} >= {"sub/b.md"}
    assert folder.hits(upkeep, rules=["near-duplicate"], audit=AuditSettings(near_duplicate=0)) == []


def test_reports_of_two_days_that_are_nearly_alike_are_not_told(folder: Folder) -> None:
    words = prose(1, 200).split()
    folder.write({"2026-04-18.md": " ".join(words), "2026-04-19.md": " ".join([*words[:90], "otherwise", *words[91:]])})
    assert folder.hits(upkeep, rules=["near-duplicate"]) == []


@pytest.mark.parametrize("size", [40, 300])
def test_near_copies_are_found_however_many_notes_there_are(folder: Folder, size: int) -> None:
    notes = {f"n{at:03}.md": prose(at, size) for at in range(120)}
    for at in range(0, 120, 3):
        words = notes[f"n{at:03}.md"].split()
        words[size // 2] = "otherwise"
        notes[f"n{at:03}-copy.md"] = " ".join(words)
    folder.write(notes)
    hits = folder.hits(upkeep, rules=["near-duplicate"])
    assert [hit.path for hit in hits] == [f"n{at:03}-copy.md" for at in range(0, 120, 3)]
    assert [hit.facts["of"] for hit in hits] == [f"n{at:03}.md" for at in range(0, 120, 3)]


def test_notes_that_are_all_alike_are_not_all_compared(folder: Folder) -> None:
    text = prose(0, 150)
    folder.write({f"{at}.md": f"{text} number {at}\n" for at in range(1_500)})
    with at_most(10):
        hits = folder.hits(upkeep, rules=["near-duplicate"])
    assert len(hits) == 1_499


# Links


def test_a_dead_link_names_the_highest_directory_that_is_not_there(folder: Folder) -> None:
    folder.write({"notes/a.md": "[b](old/deep/b.md), [c](c.md)\n", "b.md": "b\n"})
    hits = folder.hits(upkeep, rules=["dead-link"])
    assert [hit.facts.get("gone_directory") for hit in hits] == ["notes/old", None]


def test_a_dead_link_is_told_with_the_nearest_name(folder: Folder) -> None:
    folder.write(
        {
            "a.md": "See [deploying](deploynig.md) and [[Relase notes]], or @gone.md.\n",
            "deploying.md": "x\n",
            "release-notes.md": "x\n",
        }
    )
    hits = folder.hits(upkeep, rules=["dead-link"])
    assert [hit.words for hit in hits] == [
        "links to deploynig.md, which does not exist; deploying.md is",
        "links to Relase notes, which does not exist; release-notes.md is",
        "links to gone.md, which does not exist",
    ]
    text = (folder.path / "a.md").read_text()
    assert [text[hit.start : hit.end] for hit in hits] == [
        "[deploying](deploynig.md)", "[[Relase notes]]", "@gone.md"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "[a](b.md) and [[b]] and @b.md and [d](sub/) and [h](#here) and [a](B.md)",
        "[out](../x.md) and [web](https://example.org/x.md) and [abs](/etc/x.md)",
        "[code](src/app.py) and `[x](gone.md)`\n\n```\n[x](gone.md)\n```",
        "[text](url) and [title](path/to/file.md) and [[${name}]] and [[ -f x ]] and [[1, 2], [3]] and [[...]]",
        "@types/node and @someone and @app.route and mail@example.org",
        "[a](<title here>) and [[link]] and [name](example.md)",
        r"[home](~/gone.md) and \[no link](gone.md) and [b](./sub/../b.md#gone) and [b](b.md?raw=1)",
        "A note[^1] and [b][r].\n\n[^1]: gone.md says so\n[r]: <b.md> 'title'",
    ],
)
def test_what_is_no_dead_link_is_not_told(folder: Folder, text: str) -> None:
    folder.write({"a.md": text, "b.md": "x\n", "sub/c.md": "x\n"})
    assert folder.hits(upkeep, rules=["dead-link"]) == []


def test_a_name_is_found_whatever_stands_between_its_words(folder: Folder) -> None:
    folder.write({
        "a.md": "[[project-config-sync]] [[config sync]] [[Deploy_Steps]] [[deploy-steps]] [[user-deploy]]",
        "project_config-sync.md": "x\n", "sub/deploy steps.md": "x\n", "user-deploy.md": "x\n",
    })  # fmt: skip
    assert folder.hits(upkeep, rules=["dead-link", "unwritten-note"]) == []


def test_a_link_into_a_directory_that_is_not_there_is_one_into_code_unless_the_note_stands_elsewhere(
    folder: Folder,
) -> None:
    folder.write({"a.md": "[x](docs/guide.md) [y](memory/b.md) [z](sub/none.md)", "b.md": "x\n", "sub/c.md": "x\n"})
    assert [hit.words for hit in folder.hits(upkeep, rules=["dead-link"])] == [
        "links to memory/b.md, which does not exist; b.md is",
        "links to sub/none.md, which does not exist",
    ]


def test_backups_are_copies_on_purpose(folder: Folder) -> None:
    text = prose(3, 60)
    names = ("a.md", "backups/b.md", "a.md.bak", "a.md.20260101.bak", "c.orig.md", "d.md~")
    folder.write(dict.fromkeys(names, text))
    assert folder.hits(upkeep, rules=["duplicate", "near-duplicate"]) == []


def test_what_a_loaded_file_imports_is_never_stale(folder: Folder) -> None:
    folder.write({"CLAUDE.md": "@a.md\n", "a.md": "@sub/b.md\n", "sub/b.md": "x\n", "c.md": "x\n"}, days=900)
    assert [hit.path for hit in folder.hits(upkeep, rules=["stale"])] == ["c.md"]


def test_files_that_an_archive_gave_the_time_of_nothing_are_as_old_as_the_record(folder: Folder) -> None:
    folder.write({"a.md": "x\n"}, days=365.25 * 50)
    assert folder.hits(upkeep, rules=["stale"]) == []
    assert folder.hits(upkeep, rules=["stale"], with_journal=False) == []
    (hit,) = folder.hits(upkeep, rules=["stale"], days_later=200)
    assert hit.facts["days"] == 200


def test_an_orphan_is_told_only_where_notes_are_linked(folder: Folder) -> None:
    notes = {f"n{at}.md": f"[next](n{(at + 1) % 9}.md)\n" for at in range(9)}
    folder.write({**notes, "alone.md": "x\n"})
    (hit,) = folder.hits(upkeep, rules=["orphan"])
    assert (hit.path, hit.words) == ("alone.md", "no note links to it; 9 of 10 notes have links to them")
    folder.write({f"p{at}.md": "x\n" for at in range(9)})
    assert folder.hits(upkeep, rules=["orphan"]) == []


# The index


def test_entries_without_a_file_and_files_without_an_entry_are_told(folder: Folder) -> None:
    folder.write(
        {
            "MEMORY.md": "# Memory\n\n- [A](a.md): what\n- [Gone](gome.md)\n- `named.md`: its name\n- all of logs/\n",
            "a.md": "[deeper](deep/b.md)\n",
            "deep/b.md": "x\n",
            "deep/c.md": "x\n",
            "named.md": "x\n",
            "logs/x.md": "x\n",
            "data.json": "{}\n",
            "gone.md": "x\n",
        }
    )
    hits = folder.hits(upkeep, rules=["index-entry-missing", "not-in-index", "dead-link", "orphan"])
    assert [(hit.rule, hit.path) for hit in hits] == [
        ("index-entry-missing", "MEMORY.md"), ("not-in-index", "deep/c.md"), ("not-in-index", "gone.md")
    ]  # fmt: skip
    assert hits[0].words == "has an entry for gome.md, which does not exist; gone.md is"


def test_each_index_is_about_its_own_directory(folder: Folder) -> None:
    folder.write({
        "shop/MEMORY.md": "- [A](a.md)\n", "shop/a.md": "x\n", "shop/b.md": "x\n", "other/c.md": "x\n",
        "plain/MEMORY.md": "Facts without entries.\n", "plain/d.md": "x\n",
    })  # fmt: skip
    assert [hit.path for hit in folder.hits(upkeep, rules=["not-in-index"])] == ["shop/b.md"]


def test_an_index_over_what_is_loaded_is_told_where_loading_stops(folder: Folder) -> None:
    folder.write({"MEMORY.md": "- a\n" * 203})
    (hit,) = folder.hits(upkeep, rules=["long-index"])
    assert hit.words == "loading stops after 200 lines: 3 lines have no effect"
    assert hit.start == 800
    assert (hit.facts["line"], hit.facts["lines"], hit.facts["tokens"]) == (201, 203, 200)
    folder.write({"MEMORY.md": ("x" * 99 + "\n") * 11})
    (hit,) = folder.hits(upkeep, rules=["long-index"], audit=AuditSettings(max_index_characters=1_000))
    assert hit.words == "loading stops after 1,000 characters: 1 line has no effect"


def test_of_an_index_of_openclaw_characters_count_and_no_lines(folder: Folder) -> None:
    folder.write({"MEMORY.md": "- a\n" * 203, "memory/2026-03-05.md": "Rain.\n"})
    assert folder.hits(upkeep, rules=["long-index"]) == []
    folder.write({"MEMORY.md": "- a\n" * 5_001})
    (hit,) = folder.hits(upkeep, rules=["long-index"])
    assert hit.words == "20,004 characters: of more than 20,000 OpenClaw leaves out the middle"


def test_two_quiet_days_are_no_duplicates(folder: Folder) -> None:
    text = "Nothing was done on this day, and nobody asked for anything. " * 8
    folder.write({"2026-03-05.md": text, "2026-03-06.md": text})
    assert folder.hits(upkeep, rules=["duplicate"]) == []
    folder.write({"plan.md": text})
    assert [hit.path for hit in folder.hits(upkeep, rules=["duplicate"])] == ["2026-03-05.md", "2026-03-06.md"]


# Contradictions


def test_two_values_of_one_key_in_one_section_are_a_contradiction(folder: Folder) -> None:
    folder.write(
        {"preferences.md": "# Preferences\n\n- **Timezone**: Europe/Berlin\n- User timezone: America/New_York\n"}
    )
    (hit,) = folder.hits(upkeep, rules=["contradiction"])
    assert hit.words == "timezone is America/New_York here and Europe/Berlin in line 3"
    assert (folder.path / hit.path).read_text()[hit.start : hit.end] == "America/New_York"
    assert dict(hit.facts) == {"key": "timezone", "of": "preferences.md", "of_line": 3}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Package manager: pnpm", "- package manager: npm"),
        ("API port: 3000", "* API port: `8080`"),
        ("Python version: 3.11", "Python version: 3.12"),
        ("Default branch: main", "default-branch: master"),
        ("Indentation: tabs", "- Indentation: spaces"),
        ("The user's timezone: Europe/Berlin", "User time zone: Asia/Tokyo"),
        ("User email: ada@example.org", "User e-mail: ada@example.com"),
    ],
)
def test_contradictions_are_found_within_a_section_and_not_between_notes(tmp_path: Path, one: str, other: str) -> None:
    notes = ({"a.md": f"{one}\n\n{other}\n"}, {"a.md": f"{one}\n", "b.md": f"{other}\n"})
    for at, (each, count) in enumerate(zip(notes, (1, 0), strict=True)):
        (tmp_path / str(at)).mkdir()
        assert len(Folder(tmp_path / str(at)).write(each).hits(upkeep, rules=["contradiction"])) == count


@pytest.mark.parametrize(
    "notes",
    [
        {"a.md": "Timezone: Europe/Berlin\n", "b.md": "Timezone: Berlin\n"},
        {"a.md": "Timezone: Europe/Berlin\n", "b.md": "Timezone: CET\n"},
        {"a.md": "Python version: 3.11\n", "b.md": "Python version: 3.11.4\n"},
        {"a.md": "Editor: vim, VS Code\n", "b.md": "Editor: VSCode\n"},
        {"a.md": "Default branch: main\n", "b.md": "Default branch was: master\nDefault branch: master until 2024\n"},
        {"a.md": "## Api\n\nAPI port: 1000\n\n## Web\n\nAPI port: 2000\n"},
        {"a.md": "- api\n  - port number: 3000\n  - editor: vim\n- web\n  - editor: emacs\n"},
        {"a.md": "Port: 3000\n", "b.md": "Port: 8080\n"},
        {"a.md": "Version: 1\n", "b.md": "Version: 2\n"},
        {"a.md": "name: Ada\nemail: a@example.org\n\nname: Bob\nemail: b@example.org\n"},
        {"a.md": "```\nEditor: vim\nEditor: emacs\n```\n"},
        {"a.md": "Editor: ~~vim~~\nEditor: emacs\n"},
        {"a.md": "User prefers tabs for Go.\nUser prefers spaces for Python.\n"},
        {"a.md": "User prefers tabs in Makefiles.\nUser prefers spaces.\n"},
        {"a.md": "Editor: <your editor>\nEditor: vim\n"},
        {"a.md": "---\nname: a\nversion: 1\n---\n", "b.md": "---\nname: b\nversion: 2\n---\n"},
    ],
)
def test_what_is_no_contradiction_is_not_told(folder: Folder, notes: dict[str, str]) -> None:
    folder.write({next(iter(notes)): "".join(notes.values())})
    assert [hit.words for hit in folder.hits(upkeep, rules=["contradiction"])] == []


@pytest.mark.parametrize(
    "notes",
    [
        {"env.md": "## Dev\n- API port: 3000\n## Prod\n- API port: 8080\n"},
        {"env.md": "Dev API port: 3000\nProd API port: 8080\n"},
        {"a.md": "| Env | Port |\n|---|---|\n| dev | 3000 |\n"},
        {"a.md": "Port: 3000 (dev), 8080 (prod)\n", "b.md": "API port: 8080\n"},
        {"a.md": "Python version: 3.11 on the server\nPython version: 3.12 on my laptop\n"},
        {"a.md": "Node version: 18+\n", "b.md": "Node version: 20\n"},
        {"a.md": "Node version: >=18\n", "b.md": "Node version: 20.1\n"},
        {"a.md": "Node version: 18 or newer\n", "b.md": "Node version: 22\n"},
        {"a.md": "Editor: VS Code (work)\nEditor: Neovim (home)\n"},
        {"a.md": "Work email: a@x.org\nPrivate email: b@y.org\n", "user.md": "Email: a@x.org\n"},
        {"user.md": "Language: English\n", "user_prefs.md": "Language: English and German\n"},
        {"user.md": "Language: German\n", "user_prefs.md": "Programming language: Python\n"},
        {"user.md": "Name: Ada Lovelace\n", "user_prefs.md": "Name: Ada\n"},
        {"user.md": "Name: Ada Lovelace\nCompany name: ACME\nProject name: Engine\n"},
        {"user.md": "Units: metric\n", "user_prefs.md": "Units: km and kg\n"},
        {"user.md": "Currency: EUR\n", "user_prefs.md": "Currency: €\n"},
        {"user.md": "Currency: EUR\n", "user_prefs.md": "Currency: Euro\n"},
        {"user.md": "Theme: dark\n", "user_prefs.md": "Theme: Dracula (dark)\n"},
        {"user.md": "Timezone: PST\n", "user_prefs.md": "Timezone: Pacific Time\n"},
        {"user.md": "Timezone: UTC+1\n", "user_prefs.md": "Timezone: Europe/Berlin\n"},
        {"user.md": "Timezone: UTC+1\n", "user_prefs.md": "Timezone: CET\n"},
        {"user.md": "Timezone: GMT+2\n", "user_prefs.md": "Timezone: UTC+2\n"},
        {"user.md": "Timezone: Europe/Berlin (CET)\n", "user_prefs.md": "Timezone: CET\n"},
        {"user.md": "OS: macOS\n", "user_prefs.md": "OS: Mac OS X 14\n"},
        {"user.md": "OS: Ubuntu\n", "user_prefs.md": "OS: Linux\n"},
        {"user.md": "OS: WSL2\n", "user_prefs.md": "OS: Windows\n"},
        {"user.md": "Shell: zsh\n", "user_prefs.md": "Shell: zsh with oh-my-zsh\n"},
        {"user.md": "Shell: /bin/zsh\n", "user_prefs.md": "Shell: zsh\n"},
        {"user.md": "Indentation: 2 spaces\n", "user_prefs.md": "Indentation: spaces\n"},
        {"user.md": "Indentation: 2 spaces (JS)\nIndentation: 4 spaces (Python)\n"},
        {"user.md": "Indentation: 2 spaces for JS\n", "user_prefs.md": "Indentation: 4 spaces for Python\n"},
        {"user.md": "Pronouns: she/her\n", "user_prefs.md": "Pronouns: she\n"},
        {"user.md": "Birthday: 10 December\n", "user_prefs.md": "Birthday: 1815-12-10\n"},
        {"user.md": "Birthday: Dec 10\n", "user_prefs.md": "Birthday: December 10\n"},
        {"user.md": "Date format: YYYY-MM-DD\n", "user_prefs.md": "Date format: ISO 8601\n"},
        {"user.md": "Date format: yyyy-mm-dd\n", "user_prefs.md": "Date format: ISO\n"},
        {"a.md": "Package manager: npm (frontend)\nPackage manager: pip (backend)\n"},
        {"a.md": "Package manager: pip\n", "b.md": "Package manager: npm\n"},
        {"a.md": "Package manager: uv\n", "b.md": "Package manager: pnpm\n"},
        {"a.md": "Test framework: pytest\n", "b.md": "Test framework: vitest\n"},
        {"a.md": "Test runner: npm test\n", "b.md": "Test framework: vitest\n"},
        {"a.md": "Default branch: main\n", "b.md": "Default branch: `origin/main`\n"},
        {"user.md": "Editor: vim, as of 2023\nEditor: zed\n"},
        {"user.md": "User prefers pnpm\n", "b.md": "The user prefers npm scripts\n"},
        {"user.md": "User prefers dark mode\n", "b.md": "User prefers light mode during the day\n"},
        {"user.md": "Language: en\n", "b-user.md": "Language: English\n"},
        {"user.md": "Language: en-US\n", "b-user.md": "Language: English (US)\n"},
        {"user.md": "Email: Ada@Example.org\n", "b-user.md": "Email: ada@example.org\n"},
        {"user.md": "Email: <ada@example.org>\n", "b-user.md": "Email: ada@example.org\n"},
        {"user.md": "Email: [ada@example.org](mailto:ada@example.org)\n", "b-user.md": "Email: ada@example.org\n"},
        {"a.md": "DB port: 5432\nRedis port: 6379\n", "b.md": "Database port: 5433\n"},
        {"a.md": "API version: v1\n", "b.md": "API version: v2 (beta)\n"},
    ],
    ids=lambda notes: "-".join(notes)[:30],
)
def test_what_holds_elsewhere_or_is_only_written_otherwise_is_no_contradiction(
    folder: Folder, notes: dict[str, str]
) -> None:
    folder.write({next(iter(notes)): "".join(notes.values())})
    assert [hit.words for hit in folder.hits(upkeep, rules=["contradiction"])] == []


@pytest.mark.parametrize(
    "notes",
    [
        {"a.md": "API port: 3000\n", "b.md": "API port: 8080\n"},
        {"user.md": "Timezone: Europe/Berlin\n", "user_prefs.md": "Timezone: America/New_York\n"},
        {"user.md": "Timezone: UTC+1\n", "user_prefs.md": "Timezone: UTC-5\n"},
        {"user.md": "Editor: vim\n", "user_prefs.md": "Editor: VS Code\n"},
        {"user.md": "Name: Ada\n", "user_prefs.md": "Name: Grace\n"},
        {"a.md": "Default branch: main\n", "b.md": "Main branch: master\n"},
        {"a.md": "Python version: 3.11\n", "b.md": "Python version: 3.12\n"},
        {"user.md": "Indentation: tabs\n", "user_prefs.md": "Indentation: spaces\n"},
        {"a.md": "- **Package manager:** pnpm\n", "b.md": "* Package manager: yarn\n"},
        {"user.md": "| Timezone | Europe/Berlin |\n", "user_prefs.md": "Timezone: Asia/Tokyo\n"},
        {"user.md": "Shell: zsh\n", "user_prefs.md": "Shell: fish\n"},
        {"user.md": "Pronouns: she/her\n", "user_prefs.md": "Pronouns: they/them\n"},
        {"user.md": "Birthday: 1815-12-10\n", "user_prefs.md": "Birthday: 1815-12-11\n"},
        {"user.md": "Theme: dark\n", "user_prefs.md": "Theme: light\n"},
    ],
    ids=lambda notes: "-".join(notes)[:30],
)
def test_values_that_exclude_each_other_are_told(folder: Folder, notes: dict[str, str]) -> None:
    folder.write({next(iter(notes)): "".join(notes.values())})
    assert len(folder.hits(upkeep, rules=["contradiction"])) == 1


# Sizes


def test_long_and_empty_notes_are_told(folder: Folder) -> None:
    folder.write(
        {
            "long.md": "x" * 16_001,
            "fits.md": "x" * 16_000,
            "empty.md": " \n",
            "none.txt": "",
            ".hidden": "",
            "inbox.md": "",
        }
    )
    hits = folder.hits(upkeep, rules=["long-note", "empty-note"])
    assert [(hit.rule, hit.path) for hit in hits] == [
        ("empty-note", "empty.md"), ("long-note", "long.md"), ("empty-note", "none.txt")
    ]  # fmt: skip
    assert hits[1].words == (
        "~4,001 tokens, over the limit of 4,000; an agent that views it is shown the first 16,000 characters of 16,001"
    )
    assert folder.hits(upkeep, rules=["long-note"], audit=AuditSettings(max_note_tokens=0)) == []


def test_a_diary_may_be_long(folder: Folder) -> None:
    folder.write({"2026-04-13.md": "x" * 16_001})
    assert folder.hits(upkeep, rules=["long-note"]) == []


def test_a_full_folder_is_told_with_its_budget(folder: Folder) -> None:
    folder.write({"a.md": "x" * 400, "b.md": "y" * 400})
    assert folder.hits(upkeep, rules=["over-budget"]) == []
    limits = Settings(max_total_bytes=800, max_files=2)
    hits = folder.hits(upkeep, rules=["over-budget"], memory=limits, audit=AuditSettings(max_total_tokens=150))
    assert [hit.words for hit in hits] == [
        "the folder is full: 800B of 800B, 100% (memory.max_total_bytes)",
        "the folder is full: 2 of 2 files, 100% (memory.max_files)",
        "the folder is full: ~200 of 150 tokens, 133% (audit.max_total_tokens)",
    ]


def test_budgets_are_shares_in_words() -> None:
    assert Budget("tokens", 1, 1_000, "x").percent == "under 1%"
    assert Budget("files", 1_999, 2_000, "x").summary == "1,999 of 2,000 files, 99%"
    assert [Budget("files", used, 10, "x").is_near for used in (7, 8, 11)] == [False, True, True]
    assert not Budget("files", 10, 10, "x").is_over
    off = Settings(max_total_bytes=0, max_files=0)
    assert compute_budgets(files=1, bytes=1, tokens=1, memory=off, audit=AuditSettings()) == ()


# All of them


def test_every_rule_says_what_it_is_for() -> None:
    for rule in upkeep.RULES:
        assert rule.title
        assert rule.why.endswith(".")
        assert rule.do.endswith(".")
        assert rule.bad
        assert rule.good


@pytest.mark.sweep(keep=3)
@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000, "[" * 1_000_000, "key: " * 200_000, "- **editor" * 100_000, "`" * 1_000_000,
        "user prefers " * 80_000, "\u202e[[x" * 250_000, "# " * 500_000, "a\n" * 500_000, "---\n" * 250_000,
    ],
    ids=["word", "brackets", "keys", "bold", "ticks", "prefers", "wiki", "hashes", "lines", "rules"],
)  # fmt: skip
def test_hostile_notes_are_looked_at_in_passing(folder: Folder, text: str) -> None:
    folder.write({"a.md": text, "MEMORY.md": text, "b/\x1b[2J.md": text})
    with at_most(40):
        hits = folder.hits(upkeep, act=Engine.reconcile, memory=Settings(max_total_bytes=1))
    assert not any("\x1b" in hit.words for hit in hits)


def test_an_index_names_several_notes_by_a_pattern(folder: Folder) -> None:
    names = ["a", "b", "c", "boat-rig", "boat-sail", "lost"]
    lines = "- [A](a.md)\n- [B](b.md)\n- [C](c.md)\n\nThe rest is in `boat-*`, and `*` is no name.\n"
    folder.write({"MEMORY.md": lines, **{f"{name}.md": f"All about {name}.\n" for name in names}})
    assert [hit.path for hit in folder.hits(upkeep, rules=["not-in-index"])] == ["lost.md"]


def test_what_is_kept_of_a_day_is_never_stale(folder: Folder) -> None:
    folder.write({"2020-03-01.md": "We moored at noon.\n", "harbour.md": "The harbour is on the west side.\n"})
    for name in ("2020-03-01.md", "harbour.md"):
        os.utime(folder.path / name, (1_500_000_000, 1_500_000_000))
    assert [hit.path for hit in folder.hits(upkeep, rules=["stale"])] == ["harbour.md"]


# Schemas

_SCHEMA = (
    "---\ntype: schema\nentity: Task\nschema:\n  status(enum): [open, done]\n  owner: Person\n  note?: string\n{}---\n"
)
_FINE = "---\ntype: task\n---\n- [status] open\n- owner [[Ada]]\n"


def test_notes_unlike_their_schema_are_told_where_they_are(folder: Folder) -> None:
    settings = "settings:\n  frontmatter:\n    level?: integer\n"
    folder.write({
        "schemas/task.md": _SCHEMA.format(settings), "fine.md": _FINE, "plain.md": "- [status] never\n",
        "other.md": "---\ntype: person\n---\n- [status] never\n",
        "bad.md": "---\ntype: task\nlevel: high\n---\n- [status] someday\n",
    })  # fmt: skip
    hits = folder.hits(upkeep, rules=["schema-mismatch"])
    bad = (folder.path / "bad.md").read_text()
    assert [(hit.path, hit.words, hit.start is not None and bad[hit.start : hit.end]) for hit in hits] == [
        ("bad.md", "relation owner is missing, by schemas/task.md", False),
        ("bad.md", "field level is string, and not integer, by schemas/task.md", "level: high"),
        ("bad.md", "observation status is someday, and none of open, done, by schemas/task.md", "- [status] someday"),
    ]
    assert len({hit.identity for hit in hits}) == 3


@pytest.mark.parametrize(
    "schema",
    [
        None,
        _SCHEMA.format("settings:\n  validation: off\n"),
        _SCHEMA.replace("entity: Task", "entity: person").format(""),
        "```\n" + _SCHEMA.format("") + "```\n",
        "---\ntype: schema\n---\nA note about schemas.\n",
    ],
)
def test_nothing_is_told_where_no_schema_asks_for_it(folder: Folder, schema: str | None) -> None:
    folder.write({"bad.md": "---\ntype: task\n---\n- [status] someday\n"})
    if schema is not None:
        folder.write({"schemas/task.md": schema})
    assert folder.hits(upkeep, rules=["schema-mismatch"]) == []


def test_no_note_is_parsed_where_there_is_no_schema(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schemas, "read_properties", lambda _: pytest.fail("a note was parsed"))
    folder.write({"a.md": _FINE, "b.md": "The type: schema of things.\n"})
    assert folder.hits(upkeep, rules=["schema-mismatch"]) == []
