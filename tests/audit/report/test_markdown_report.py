"""The report for a pull request: a forge renders what we wrote, and nothing of what a note says."""

import html as entities
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from memtui.audit.model import Audit, FindingLocation, Severity
from memtui.audit.report import markdown, wording
from memtui.core.unicode import HIDDEN
from tests.audit.report import samples

FORGE = MarkdownIt("gfm-like", {"html": True, "linkify": False})
OURS = re.compile(r"<details><summary>[A-Za-z ]+ \((?:fail |warn |info )?[\d,]+\)</summary>|</details>|</?code>")
SAMPLES = [samples.nothing, samples.ordinary, samples.worst]
ROUGH = re.compile(r"[@#<>\[\]!]|www\.|://|:\w+:|[A-Za-z]-\d")
"""What a forge makes something of outside of code: mentions, numbers, images, links, elements, addresses, emoji."""


def inline(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from inline(token.children or [])


def rendered(text: str) -> Iterator[Token]:
    """What a forge makes of a text, without what stands between `<code>` and `</code>`."""
    is_code = False
    for token in inline(FORGE.parse(text)):
        if token.type == "html_inline" and token.content in ("<code>", "</code>"):
            is_code = token.content == "<code>"
        elif not is_code:
            yield token


@pytest.mark.parametrize("sample", SAMPLES)
def test_nothing_that_a_note_says_is_rendered(sample: Callable[[], Audit]) -> None:
    for token in rendered(markdown.render_markdown(sample())):
        assert token.type not in (
            "image",
            "link_open",
            "em_open",
            "s_open",
        )
        if token.type in ("html_block", "html_inline"):
            assert all(OURS.fullmatch(line) for line in token.content.strip().splitlines())
        if token.type == "text":
            outside = re.sub(r"^[-+~>] (?:new|changed|deleted|renamed)$", "", token.content)
            assert not ROUGH.search(outside), outside


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_hostile_text_is_there_to_be_read(text: str) -> None:
    report = markdown.render_markdown(samples.worst())
    shown = wording.sanitize_text(text)
    codes = [token.content for token in inline(FORGE.parse(report)) if token.type in ("code_inline", "fence")]
    codes += [entities.unescape(inner) for inner in re.findall(r"<code>(.*?)</code>", report)]
    assert any(shown.strip() in code for code in codes), shown


@pytest.mark.parametrize(
    "text", [*samples.HOSTILE, "`", "``", "a`", "`a", " ", "", "```\n~~~", "|", "\\|", "\\", "a\\"]
)
def test_code_holds_whatever_is_in_it(text: str) -> None:
    row = f"| a | b |\n| --- | --- |\n| {markdown.format_code(text)} | end |\n"
    tokens = list(inline(FORGE.parse(row)))
    assert [token.content for token in rendered(row) if token.type == "text"][-1] == "end"
    codes = [token.content for token in tokens if token.type == "code_inline"]
    codes += [entities.unescape(inner) for inner in re.findall(r"<code>(.*?)</code>", row)]
    assert [code.strip() for code in codes] == [wording.sanitize_text(text).strip()]


@pytest.mark.parametrize("text", ["```", "`````\n```", "~~~\n```text\n<b>", "@me\n\n# x"])
def test_a_fence_is_not_ended_by_what_is_in_it(text: str) -> None:
    tokens = FORGE.parse(markdown.format_code_block(text) + "\nafter\n")
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert tokens[0].content == text + "\n"


@pytest.mark.parametrize("sample", SAMPLES)
def test_no_character_is_hidden(sample: Callable[[], Audit]) -> None:
    report = markdown.render_markdown(sample())
    assert not HIDDEN.search(report)
    report.encode("utf-8")


def test_the_verdict_is_the_first_line() -> None:
    assert markdown.render_markdown(samples.ordinary()).splitlines()[0] == ("**FAIL: 1 failure, 2 warnings, 1 info.**")
    assert markdown.render_markdown(samples.nothing()).splitlines()[0] == "**CLEAN: No findings.**"


def test_place_evidence_origin_and_what_to_do_are_told() -> None:
    report = markdown.render_markdown(samples.ordinary())
    for said in (
        "`project/status.json:3:13`",
        '```text\n  "token": "sk-ant-****************",\n```',
        "Written by: `Claude`, 2026-11-20 22:26 UTC, create, event 12, call `toolu_01B2`, session talk.",
        "Rotate the key, then remove the line.",
        "| Budgets | 1% of 2,000 files, 84% of 50,000 bytes, 130% of 8,000 tokens |",
        "| ~ changed | `user_preferences.md` | +4 -3 | `Claude` | open |",
        "| + new | `people/me.md` | +4 -0 | `you` | flag by `ada` |",
        "- `old.md:3` `Deploys are frozen on Fridays.`",
        "<details><summary>Excepted (2)</summary>",
        f"head `412:{samples.HEAD}`",
    ):
        assert said in report
    assert report.index("### Failures") < report.index("### Warnings") < report.index("### Information")


def test_findings_of_which_there_are_many_are_folded_unless_they_must_not_stay() -> None:
    many = [samples.scattered(number, severity=severity, masked=None) for severity in Severity for number in range(30)]
    report = markdown.render_markdown(replace(samples.ordinary(), findings=tuple(many)))
    assert "### Failures (fail 30)" in report
    assert "### Warnings (warn 30)\n\nBy rule: `anthropic-key` 30.\n\n<details><summary>" in report
    assert len(re.findall("^<details>", report, re.MULTILINE)) == len(re.findall("^</details>$", report, re.MULTILINE))


@pytest.mark.parametrize("count", [10, 1_000])
def test_the_report_fits_in_a_comment_and_counts_what_does_not(count: int) -> None:
    many = tuple(
        samples.scattered(
            number,
            severity=list(Severity)[number % 3],
            location=FindingLocation("\U0001f600" * 200 + str(number)),
            evidence="\U0001f600" * 4_000,
            words="@" * 9_000,
        )
        for number in range(count)
    )
    report = markdown.render_markdown(replace(samples.worst(), findings=many))
    assert len(report.encode("utf-16-le")) // 2 <= 65_536
    assert len(re.findall("^<details>", report, re.MULTILINE)) == len(re.findall("^</details>$", report, re.MULTILINE))
    assert "All of it: `memtui audit --format json`." in report.splitlines()[-1]
    said = [
        int(number.replace(",", "")) for number in re.findall(r"([\d,]+) (?:findings? )?more of them did not", report)
    ]
    said += [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) findings? more \(", report)]
    shown = report.count("**`anthropic-key`** at")
    assert shown + sum(said) == count
    assert all(token.type != "image" for token in rendered(report))


def test_many_findings_are_counted_by_rule_and_leave_room_for_what_changed() -> None:
    audit = samples.ordinary()
    assert audit.inbox is not None
    many = tuple(
        samples.scattered(number, rule="stale" if number % 3 else "orphan", severity=Severity.WARN)
        for number in range(3_000)
    )
    files = tuple(replace(audit.inbox.files[0], path=f"notes/{number}.md") for number in range(20))
    written = markdown.render_markdown(replace(audit, findings=many, inbox=replace(audit.inbox, files=files)))
    assert "By rule: `stale` 2,000, `orphan` 1,000." in written
    assert "more of them did not fit here" in written
    assert all(f"`notes/{number}.md`" in written for number in range(20))
    assert len(written) <= markdown.LIMIT


@pytest.mark.parametrize(("count", "listed"), [(59, 59), (100, 60)])
def test_findings_with_one_cause_are_told_once_with_the_first_places_and_the_others_folded(
    count: int, listed: int
) -> None:
    written = markdown.render_markdown(replace(samples.nothing(), findings=samples.one_cause(count)))
    assert (
        f"**`missing-path`** at {count} places: {count} notes name paths below `src/legacy/`, which does not exist.\n"
        in written
    )
    assert written.count("What to do") == 1
    before, _, folded = written.partition(f"<details><summary>and {count - 3} more</summary>\n\n")
    assert [f"- `notes/{number}.md:3`: It names" in before for number in range(4)] == [True, True, True, False]
    assert folded.count("- `notes/") == listed - 3
    assert ("- and 40 more\n" in folded) is (listed < count)
    assert f"warn {count}" in written


def test_what_to_do_is_said_once_and_referred_to_after_that() -> None:
    findings = tuple(
        samples.finding(rule=rule, fingerprint=f"{number:016x}")
        for number, rule in enumerate(("first-key", "first-key", "second-key"))
    )
    written = markdown.render_markdown(replace(samples.nothing(), findings=findings))
    assert written.count("What to do: Rotate the key") == 1
    assert written.count("What to do: as for `first-key`.") == 1


@pytest.mark.parametrize("limit", range(2_500, 6_500, 200))
def test_no_finding_refers_to_one_that_did_not_fit(limit: int) -> None:
    long = samples.finding(rule="first-key", evidence="\n".join(["word " * 50] * 8))
    short = samples.finding(rule="second-key", severity=Severity.INFO, fingerprint="f" * 16)
    written = markdown.render_markdown(replace(samples.nothing(), findings=(long, short)), limit=limit)
    if "as for `first-key`" in written:
        assert "**`first-key`** at" in written
    elif "**`second-key`** at" in written:
        assert written.count("What to do: Rotate the key") == 1


def test_what_stands_around_a_word_stays_outside_of_the_code() -> None:
    assert markdown.format_sentence("It leads to “a_b.md”, (see x/y): <U+202E>.") == (
        "It leads to “`a_b.md`”, (see `x/y`): `<U+202E>`."
    )
    assert markdown.format_sentence('" ... ,') == '`"` `...` `,`'


def test_a_title_or_a_chain_of_a_megabyte_does_not_fill_the_report() -> None:
    report = markdown.render_markdown(replace(samples.ordinary(), title="x " * 500_000))
    assert len(report) < 10_000
