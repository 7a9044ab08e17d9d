"""What new memories begin with."""

from datetime import date

import pytest

from memtui.editing.templates import (
    TEMPLATES,
    add_extension,
    build_plain_text,
    build_title,
    fill_template,
    find_first_gap,
    is_note_name,
    list_templates,
)

TODAY = date(2026, 11, 21)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_every_kind_fills_in_its_title_and_leaves_no_field_open(template: object) -> None:
    text = fill_template(template, "notes/api-keys.md", TODAY)  # type: ignore[arg-type]
    assert "Api keys" in text
    assert "{" not in text
    assert text.endswith("\n")
    line, column = find_first_gap(text)
    assert text.split("\n")[line - 1][column:] == ""


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("note", "# A\n\n"),
        ("project", "# A\n\nWhat it is:"),
        ("person", "# A\n\n- Role: "),
        ("decision", "# A\n\n- Decided: 2026-11-21\n- By: "),
        ("learning", "# A\n\nSeen: 2026-11-21\n\n## What happened\n\n"),
        ("preferences", "# A\n\n## Always\n\n- "),
    ],
)
def test_one_writes_where_the_first_word_is_missing(name: str, before: str) -> None:
    text = fill_template(next(each for each in TEMPLATES if each.name == name), "a.md", TODAY)
    line, column = find_first_gap(text)
    assert "\n".join([*text.split("\n")[: line - 1], text.split("\n")[line - 1][:column]]) == before


def test_kinds_have_keys_of_their_own() -> None:
    keys = [template.key for template in TEMPLATES]
    assert sorted(keys) == sorted(set(keys))


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("me.md", "note"),
        ("people/me.md", "person"),
        ("projects/billing/plan.md", "project"),
        ("learnings/postgres.md", "learning"),
        ("work/decisions/db.md", "decision"),
        ("preferences/x.md", "preferences"),
    ],
)
def test_the_folder_says_which_kind_is_likely(path: str, kind: str) -> None:
    kinds = [template.name for template in list_templates(path)]
    assert kinds[0] == kind
    assert sorted(kinds) == sorted(template.name for template in TEMPLATES)


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("notes/api-keys.md", "Api keys"),
        ("API_keys.md", "API keys"),
        ("2026-11-21-standup.md", "2026-11-21-standup"),
        ("日本.md", "日本"),
        (".hidden", ".hidden"),
        ("-.md", "-"),
    ],
)
def test_a_name_suggests_a_title(path: str, title: str) -> None:
    assert build_title(path) == title


def test_a_memory_for_claude_code_has_front_matter_that_can_be_read() -> None:
    template = next(template for template in TEMPLATES if template.name == "claude-code")
    text = fill_template(template, 'say "hi": now.md', TODAY)
    assert text.split("\n")[:5] == ["---", 'name: "Say \\"hi\\": now"', "description: ", "type: project", "---"]
    assert find_first_gap(text) == (3, len("description: "))


def test_a_note_gets_its_extension_and_other_files_their_own_beginnings() -> None:
    assert add_extension("a/ideas") == "a/ideas.md"
    assert add_extension("a.b/ideas") == "a.b/ideas.md"
    assert add_extension("Makefile.") == "Makefile"
    assert is_note_name("a.MD")
    assert not is_note_name("a.json")
    assert build_plain_text("a.json") == "{}\n"
    assert build_plain_text("a.txt") == ""
