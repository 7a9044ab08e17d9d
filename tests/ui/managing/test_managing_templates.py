"""What new memories begin with."""

from datetime import date

import pytest

from memtui.ui.managing.templates import TEMPLATES, filled, first_gap, is_note, offered, plain, title_of, with_extension

TODAY = date(2026, 11, 21)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_every_kind_fills_in_its_title_and_leaves_no_field_open(template: object) -> None:
    text = filled(template, "notes/api-keys.md", TODAY)  # type: ignore[arg-type]
    assert "Api keys" in text
    assert "{" not in text
    assert text.endswith("\n")
    assert 1 <= first_gap(text) <= text.count("\n") + 1


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
    kinds = [template.name for template in offered(path)]
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
    assert title_of(path) == title


def test_a_memory_for_claude_code_has_front_matter_that_can_be_read() -> None:
    template = next(template for template in TEMPLATES if template.name == "claude-code")
    text = filled(template, 'say "hi": now.md', TODAY)
    assert text.split("\n")[:5] == ["---", 'name: "Say \\"hi\\": now"', "description: ", "type: project", "---"]
    assert first_gap(text) == 3


def test_a_note_gets_its_extension_and_other_files_their_own_beginnings() -> None:
    assert with_extension("a/ideas") == "a/ideas.md"
    assert with_extension("a.b/ideas") == "a.b/ideas.md"
    assert with_extension("Makefile.") == "Makefile"
    assert is_note("a.MD")
    assert not is_note("a.json")
    assert plain("a.json") == "{}\n"
    assert plain("a.txt") == ""
