"""What the lists and pages of an audit are made of, without a screen."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from memtui.audit.model import Audit, FindingLocation, FindingOrigin
from memtui.audit.ranking import group_findings
from memtui.core.diffs import compare_texts
from memtui.review.inbox import ReviewVerdict
from memtui.scan.rule_files import load_engine, parse_rule_file
from memtui.scan.rule_matches import SecretRules
from memtui.ui.masking import find_masked_spans, mask_difference, mask_spans
from memtui.ui.widgets import changes, finding_detail
from memtui.ui.widgets import findings as widgets_findings
from memtui.ui.widgets.finding_page import extract_excerpt, format_fact, wrap_text
from memtui.ui.widgets.findings import FindingFilter, FindingGroupRow, FindingOrder, FindingRow, PassedRow, parse_filter
from memtui.ui.widgets.row_list import LabelRow
from tests.audit.report.samples import one_cause
from tests.bench.limits import at_most
from tests.ui.screens.audit.made import AT_US, audit, findings, inbox, marked, secret

PREFS = "user_preferences.md"


def test_words_and_names_before_a_colon_are_told_apart() -> None:
    wanted = parse_filter("licence actor:Claude path:notes/* rule:stale session:dream http://x.example actor:")
    assert wanted == FindingFilter(
        words=("licence", "http://x.example"), actor=("claude",), path=("notes/*",), rule=("stale",), session=("dream",)
    )
    assert parse_filter("  ").is_empty


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
    wanted = parse_filter(text)
    assert [each.rule for each in findings() if wanted.matches_finding(each)] == rules


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
    rows = changes.build_change_rows(inbox(), parse_filter(text), rules, {("run", "22")})
    assert [row.file.path for row in rows if isinstance(row, changes.ChangedFileRow)] == paths


def test_rows_are_sorted_and_what_is_in_order_is_always_last() -> None:
    for order in FindingOrder:
        rows = widgets_findings.build_finding_rows(audit(), order, FindingFilter(), excepted=True)
        kinds = [type(row) for row in rows]
        assert kinds == [FindingRow] * 5 + [LabelRow, FindingRow] + [PassedRow] * 3


def test_a_run_is_judged_when_all_of_its_files_are() -> None:
    for box, changed in (
        ("[ ]", inbox()),
        ("[ ]", marked(["notes/old.md"], ReviewVerdict.ACCEPT)),
        ("[x]", marked(["notes/old.md", "notes/older.md"], ReviewVerdict.ACCEPT)),
        ("[!]", marked(["notes/older.md"], ReviewVerdict.FLAG)),
    ):
        row = changes.build_change_rows(changed, FindingFilter(), {}, ())[0]
        assert changes.get_row_box(row)[0] == box


@pytest.mark.parametrize(
    ("verdict", "shown"),
    [(None, "[ ]"), (ReviewVerdict.ACCEPT, "[x]"), (ReviewVerdict.FLAG, "[!]"), (ReviewVerdict.REVERTED, "[ ]")],
)
def test_each_verdict_has_a_box(verdict: ReviewVerdict | None, shown: str) -> None:
    changed = inbox() if verdict is None else marked(["people/me.md"], verdict)
    (file,) = [file for file in changed.files if file.path == "people/me.md"]
    assert changes.get_row_box(changes.ChangedFileRow(file))[0] == shown


# Masks


def test_a_masked_text_keeps_its_lines_and_columns_and_shows_at_most_six_characters_of_a_secret() -> None:
    text = f"a\nkey: {secret()}\nb\n"
    hidden = mask_spans(text, find_masked_spans(text))
    assert len(hidden) == len(text)
    assert hidden.split("\n")[0::2] == text.split("\n")[0::2]
    shown = hidden.split("\n")[1].removeprefix("key: ").rstrip("*")
    assert len(shown) <= 6
    assert secret().startswith(shown)


def test_what_a_finding_masks_is_masked_though_nothing_knows_it_for_a_secret() -> None:
    text = "my pin is 4711\n"
    pin = replace(findings()[0], masked=(10, 14))
    assert mask_spans(text, find_masked_spans(text, [pin])) == "my pin is ****\n"


def test_a_masked_difference_differs_in_the_same_places() -> None:
    old, new = f"a\nkey {secret()}\nb\n", f"a\nkey {secret()[::-1]} {secret()}\nc\n"
    shown, is_masked = mask_difference(compare_texts(old, new))
    assert is_masked
    assert shown.hunks == compare_texts(old, new).hunks
    assert secret() not in shown.before + shown.after
    assert "key sk-ant********\n" in shown.old


def test_secrets_by_rules_of_ones_own_are_masked_too() -> None:
    file = "[[rules]]\nid = 'pin'\nregex = 'pin is ([0-9]+)'\npath = '^doors/'\n"
    rules = SecretRules([parse_rule_file(file, "team", "team.toml", load_engine(), str)])
    difference = compare_texts("the pin is 4711\n", "the pin is 4712\n")
    shown, is_masked = mask_difference(difference, rules, "doors/a.md")
    assert is_masked
    assert [*shown.old, *shown.new] == ["the pin is ********\n"] * 2
    assert mask_difference(difference, rules, "a.md") == (difference, False)


def test_a_text_without_a_secret_is_the_same() -> None:
    difference = compare_texts("a\n", "b\n")
    assert mask_difference(difference) == (difference, False)


# Pages


@given(st.text(), st.integers(8, 60))
def test_no_line_of_a_page_is_wider_than_the_page(text: str, width: int) -> None:
    lines = [*wrap_text(text, width), *format_fact("do", text, max(width, 16)), *wrap_text(text, width, "code")]
    limit = max(width, 16)
    assert all(sum(cell_len(piece) for piece, _ in line) <= limit for line in lines)


@given(st.text(max_size=300), st.integers(1, 6), st.integers(1, 40), st.integers(12, 60))
def test_the_lines_around_anything_fit_and_hold_no_control(text: str, line: int, column: int, width: int) -> None:
    shown = extract_excerpt(text, FindingLocation("a", line, column, line, column + 5), ())
    for row in shown.format_lines(width):
        drawn = "".join(piece for piece, _ in row)
        assert cell_len(drawn) <= width + 1, drawn
        assert drawn.isprintable() or not any(ord(each) < 32 for each in drawn)


def test_a_place_beyond_the_end_of_a_note_that_has_changed_shows_its_end() -> None:
    shown = extract_excerpt("one\ntwo\n", FindingLocation("a", 40, 3, 40, 9), ())
    assert list(shown.lines) == ["one", "two"]


def test_ten_thousand_findings_are_listed_and_narrowed_at_once() -> None:
    many = tuple(
        replace(findings()[3], location=FindingLocation(f"notes/{number}.md"), fingerprint=f"{number:016x}")
        for number in range(10_000)
    )
    with at_most(2):
        assert (
            len(
                widgets_findings.build_finding_rows(
                    audit(findings=many), FindingOrder.PATH, parse_filter("rule:stale 99"), excepted=False
                )
            )
            > 100
        )


def test_a_rule_that_is_not_known_is_named() -> None:
    line = "".join(piece for piece, _ in finding_detail.build_rule_page(None, "made-up")(60)[0])
    assert line == "made-up: unknown rule in this version of memtui."


def test_what_was_there_when_memtui_first_looked_is_not_told_as_a_folder_without_a_record() -> None:
    origin = FindingOrigin("", 20, AT_US, "found", is_exact=False)
    told = " ".join(
        "".join(text for text, _ in line)
        for line in finding_detail.build_finding_page(
            finding_detail.FindingDetail(replace(findings()[0], origin=origin), None), "X", with_rule=False
        )(90)
    )
    assert "not in the history" not in told
    assert "it was there when memtui first saw the folder, 2026-11-21 10:09, #20." in " ".join(told.split())


# Groups


def grouped() -> Audit:
    return audit(findings=(*one_cause(59), *findings()))


def test_findings_with_one_cause_are_one_row_until_it_is_unfolded() -> None:
    rows = widgets_findings.build_finding_rows(grouped(), FindingOrder.DANGER, FindingFilter(), excepted=False)
    [folded] = [row for row in rows if isinstance(row, FindingGroupRow)]
    assert sum(isinstance(row, FindingRow) for row in rows) == 5
    assert (folded.is_open, len(folded.group.findings), folded.group.label) == (False, 59, "below src/legacy/")
    rows = widgets_findings.build_finding_rows(
        grouped(), FindingOrder.DANGER, FindingFilter(), excepted=False, opened={folded.key}
    )
    at = next(number for number, row in enumerate(rows) if isinstance(row, FindingGroupRow))
    assert [isinstance(row, FindingRow) and row.is_inside for row in rows[at : at + 61]] == [False, *[True] * 59, False]


@pytest.mark.parametrize("order", [FindingOrder.PATH, FindingOrder.TIME])
def test_by_path_and_by_time_findings_are_listed_one_by_one(order: FindingOrder) -> None:
    rows = widgets_findings.build_finding_rows(grouped(), order, FindingFilter(), excepted=False)
    assert sum(isinstance(row, FindingRow) for row in rows) == 64


def test_the_words_that_narrow_a_list_narrow_its_groups() -> None:
    for words, count in (("notes/1", 11), ("notes/17.md", 1)):
        rows = widgets_findings.build_finding_rows(grouped(), FindingOrder.DANGER, parse_filter(words), excepted=False)
        shown = [
            row.group.findings if isinstance(row, FindingGroupRow) else (row,)
            for row in rows
            if not isinstance(row, PassedRow)
        ]
        assert [len(each) for each in shown] == [count]


def test_the_page_of_a_group_says_its_cause_its_first_places_and_what_to_do() -> None:
    [group] = group_findings(one_cause(59))
    page = finding_detail.build_group_page(group, None, "Enter shows its findings.", with_rule=True)
    text = "\n".join("".join(piece for piece, _ in line) for line in page(60))
    for said in (
        "WARN  missing-path",
        "59 notes name paths below src/legacy/, which does not",
        "notes/19.md:3",
        "and 39 more",
        "Enter",
    ):
        assert said in text
    assert "notes/20.md" not in text
