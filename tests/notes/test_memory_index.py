"""The index of a memory: which notes it names."""

from memtui.notes.memory_index import is_index, parse_index


def test_headings_and_rows_of_tables_are_entries_too() -> None:
    text = "### [A](a.md)\n\nIt says [b](b.md).\n\n| Note | What |\n|---|---|\n| [C](c.md) | c |\n\n> 1. [D](d.md)\n"
    assert [link.path for link in parse_index(text).entries] == ["a.md", "c.md", "d.md"]


def test_entries_are_items_that_lead_to_files_and_wiki_links_and_imports() -> None:
    text = (
        "# Memory\n\nSee [this](prose.md) and [[Somewhere]] and @other.md.\n- [A](a.md): what a is\n"
        "2. [B](sub/b.md)\n* [web](https://example.org/x.md)\n- [out](../../x.md)\n- [here](#memory)\n- `c.md`\n"
    )
    assert [link.path for link in parse_index(text).entries] == ["Somewhere", "other.md", "a.md", "sub/b.md"]
    assert parse_index("- [A](a.md)\n", "shop/MEMORY.md").entries[0].path == "shop/a.md"


def test_an_index_is_known_by_its_name_wherever_it_is() -> None:
    assert is_index("MEMORY.md")
    assert is_index("shop/MEMORY.md")
    assert not is_index("memory.md")
    assert not is_index("MEMORY.md/x")
