"""What the lists and pages of an audit are made of, without a screen."""

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from memtui.audit.findings import Origin, Place
from memtui.audit.inbox import Verdict
from memtui.core.diffs import compare
from memtui.ui.audit import change_listing, listing, pages
from memtui.ui.audit.around import around
from memtui.ui.audit.listing import FindingRow, Order, PassedRow, Words
from memtui.ui.audit.masks import masked, masked_difference, spans_in
from memtui.ui.audit.narrowing import Narrowing, parsed
from memtui.ui.audit.page import broken, fact
from tests.ui.audit.made import AT_US, audit, findings, inbox, marked, secret

PREFS = "user_preferences.md"


def test_words_and_names_before_a_colon_are_told_apart() -> None:
    wanted = parsed("licence actor:Claude path:notes/* rule:stale session:dream http://x.example actor:")
    assert wanted == Narrowing(
        words=("licence", "http://x.example"), actor=("claude",), path=("notes/*",), rule=("stale",), session=("dream",)
    )
    assert parsed("  ").is_empty


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("rule:secret", ["anthropic-key"]),
        ("rule:*-key", ["anthropic-key"]),
        ("actor:claude", ["anthropic-key"]),
        ("session:session-9 path:project", ["anthropic-key"]),
        ("path:notes/*", ["stale"]),
        ("warn 314", ["stale"]),
        ("actor:nobody", []),
    ],
)
def test_findings_are_narrowed_by_what_is_known_of_them(text: str, rules: list[str]) -> None:
    wanted = parsed(text)
    assert [each.rule for each in findings() if wanted.takes_finding(each)] == rules


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("actor:you", [PREFS]),
        ("session:dream-3", ["notes/old.md", "notes/older.md"]),
        ("path:people", ["people/me.md"]),
        ("rule:outside-change", ["people/me.md"]),
        ("standup", ["notes/2026-11-21-standup.md"]),
    ],
)
def test_changes_are_narrowed_by_who_where_and_what_was_found_there(text: str, paths: list[str]) -> None:
    rules = {"people/me.md": {"outside-change", "integrity"}}
    rows = change_listing.rows_of(inbox(), parsed(text), rules, {22})
    assert [row.file.path for row in rows if isinstance(row, change_listing.FileRow)] == paths


def test_rows_are_sorted_and_what_is_in_order_is_always_last() -> None:
    for order in Order:
        rows = listing.rows_of(audit(), order, Narrowing(), excepted=True)
        kinds = [type(row) for row in rows]
        assert kinds == [FindingRow] * 5 + [Words, FindingRow] + [PassedRow] * 3


def test_a_run_is_judged_when_all_of_its_files_are() -> None:
    row = change_listing.rows_of(inbox(), Narrowing(), {}, ())[0]
    assert change_listing.box_of(row) == "[ ]"
    row = change_listing.rows_of(marked(["notes/old.md"], Verdict.ACCEPT), Narrowing(), {}, ())[0]
    assert change_listing.box_of(row) == "[ ]"
    row = change_listing.rows_of(marked(["notes/old.md", "notes/older.md"], Verdict.ACCEPT), Narrowing(), {}, ())[0]
    assert change_listing.box_of(row) == "[x]"
    row = change_listing.rows_of(marked(["notes/older.md"], Verdict.FLAG), Narrowing(), {}, ())[0]
    assert change_listing.box_of(row) == "[!]"


@pytest.mark.parametrize(
    ("verdict", "shown"), [(None, "[ ]"), (Verdict.ACCEPT, "[x]"), (Verdict.FLAG, "[!]"), (Verdict.REVERTED, "[<]")]
)
def test_each_verdict_has_a_box(verdict: Verdict | None, shown: str) -> None:
    assert change_listing.box(verdict) == shown


# Masks


def test_a_masked_text_keeps_its_lines_and_columns_and_shows_at_most_six_characters_of_a_secret() -> None:
    text = f"a\nkey: {secret()}\nb\n"
    hidden = masked(text, spans_in(text))
    assert len(hidden) == len(text)
    assert hidden.split("\n")[0::2] == text.split("\n")[0::2]
    shown = hidden.split("\n")[1].removeprefix("key: ").rstrip("*")
    assert len(shown) <= 6
    assert secret().startswith(shown)


def test_what_a_finding_masks_is_masked_though_nothing_knows_it_for_a_secret() -> None:
    text = "my pin is 4711\n"
    pin = replace(findings()[0], masked=(10, 14))
    assert masked(text, spans_in(text, [pin])) == "my pin is ****\n"


def test_a_masked_difference_differs_in_the_same_places() -> None:
    old, new = f"a\nkey {secret()}\nb\n", f"a\nkey {secret()[::-1]} {secret()}\nc\n"
    shown, is_masked = masked_difference(compare(old, new))
    assert is_masked
    assert shown.hunks == compare(old, new).hunks
    assert secret() not in shown.before + shown.after
    assert "key sk-ant********\n" in shown.old


def test_a_text_without_a_secret_is_the_same() -> None:
    difference = compare("a\n", "b\n")
    assert masked_difference(difference) == (difference, False)


# Pages


@given(st.text(), st.integers(8, 60))
def test_no_line_of_a_page_is_wider_than_the_page(text: str, width: int) -> None:
    lines = [*broken(text, width), *fact("do", text, max(width, 16)), *broken(text, width, "code")]
    limit = max(width, 16)
    assert all(sum(cell_len(piece) for piece, _ in line) <= limit for line in lines)


@given(st.text(max_size=300), st.integers(1, 6), st.integers(1, 40), st.integers(12, 60))
def test_the_lines_around_anything_fit_and_hold_no_control(text: str, line: int, column: int, width: int) -> None:
    shown = around(text, Place("a", line, column, line, column + 5), ())
    for row in shown.written(width):
        drawn = "".join(piece for piece, _ in row)
        assert cell_len(drawn) <= width + 1, drawn
        assert drawn.isprintable() or not any(ord(each) < 32 for each in drawn)


def test_a_place_beyond_the_end_of_a_note_that_has_changed_shows_its_end() -> None:
    shown = around("one\ntwo\n", Place("a", 40, 3, 40, 9), ())
    assert list(shown.lines) == ["one", "two"]


def test_ten_thousand_findings_are_listed_and_narrowed_at_once() -> None:
    many = tuple(
        replace(findings()[2], place=Place(f"notes/{number}.md"), fingerprint=f"{number:016x}")
        for number in range(10_000)
    )
    began = time.perf_counter()
    assert len(listing.rows_of(audit(findings=many), Order.PATH, parsed("rule:stale 99"), excepted=False)) > 100
    assert time.perf_counter() - began < 2.0


def test_a_rule_that_is_not_known_is_named() -> None:
    line = "".join(piece for piece, _ in pages.of_rule(None, "made-up")(60)[0])
    assert line == "made-up: this memtui has no such rule."


def test_what_was_there_when_memtui_first_looked_is_not_told_as_a_folder_without_a_record() -> None:
    origin = Origin("", 20, AT_US, "found", is_exact=False)
    told = " ".join(
        "".join(text for text, _ in line)
        for line in pages.of_finding(pages.About(replace(findings()[0], origin=origin), None), "X", with_rule=False)(90)
    )
    assert "no journal" not in told
    assert "it was there when memtui first looked, 2026-11-21 10:09, #20." in " ".join(told.split())
