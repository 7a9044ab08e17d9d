"""The report for a terminal and for a log: what is wrong first, nothing that a terminal would obey, and no secret."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from memtui.audit.model import UNKNOWN, Audit, FindingOrigin
from memtui.audit.report import html, markdown, text
from memtui.core.unicode import HIDDEN
from tests.audit.report import samples

SAMPLES = [samples.nothing, samples.ordinary, samples.worst]
SGR = re.compile(r"\x1b\[[0-9;]*m")


def lines(audit: Audit, **given: bool) -> list[str]:
    return text.render_text(audit, **given).split("\n")  # type: ignore[arg-type]


@pytest.mark.parametrize("sample", SAMPLES)
def test_nothing_is_in_it_that_a_terminal_obeys(sample: Callable[[], Audit]) -> None:
    for everything in (False, True):
        written = text.render_text(sample(), everything=everything)
        assert not HIDDEN.search(written)
        assert not HIDDEN.search(SGR.sub("", text.render_text(sample(), color=True, everything=everything)))
        written.encode("utf-8")


@pytest.mark.parametrize("sample", SAMPLES)
def test_colors_change_nothing_but_colors(sample: Callable[[], Audit]) -> None:
    assert SGR.sub("", text.render_text(sample(), color=True)) == text.render_text(sample())
    assert "\x1b" not in text.render_text(sample())


def test_it_begins_with_the_folder_the_numbers_and_the_journal() -> None:
    first = lines(samples.ordinary())
    assert first[0].startswith("memtui audit ~/app/memories   20")
    assert first[2].startswith("23 files  41 KB  ~10.4k tokens   412 events: 302 by Claude, 61 by you")
    assert "9 by another program 1 call refused" in " ".join("".join(first[2:4]).split())
    assert "FAIL 1   WARN 2   INFO 1   ok 3   journal: intact, 412 of 412 events" in first


def test_a_finding_says_what_where_and_who() -> None:
    written = text.render_text(samples.ordinary())
    assert (
        "FAIL  anthropic-key  project/status.json:3:13\n"
        "      A key of Anthropic's API stands in the note\n"
        '      |   "token": "sk-ant-****************",\n'
    ) in written
    assert "      from  Claude, 20" in written
    assert " UTC, create (#12)  call toolu_01B2\n" in written
    assert "(#2), or an earlier author: earlier versions are missing" in " ".join(written.split())


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        (UNKNOWN, "from  unknown: not in the journal"),
        (
            FindingOrigin("", 4, samples.NOW, "found", is_exact=False),
            "from  unknown: there when memtui first looked, 20",
        ),
        (
            FindingOrigin("outside", None, samples.NOW, "modified", is_exact=False),
            "from  another program: not recorded, found 20",
        ),
        (FindingOrigin("outside", 7, samples.NOW, "modified"), "from  another program, 20"),
    ],
)
def test_where_nobody_knows_it_is_said(origin: FindingOrigin, words: str) -> None:
    known = samples.finding(origin=FindingOrigin("outside", 7, samples.NOW, "modified"))
    audit = replace(samples.nothing(), findings=(samples.finding(origin=origin), known))
    assert any(line.startswith(f"      {words}") for line in lines(audit))


def test_what_to_do_is_said_once_for_all_rules_of_which_it_is_the_same() -> None:
    other = samples.finding(rule="not-in-index", do="Add a line.")
    found = (samples.finding(), samples.finding(), other, samples.finding(rule="stale"))
    written = text.render_text(replace(samples.nothing(), findings=found))
    assert written.count("Rotate the key") == 1
    assert "What to do\n  anthropic-key, stale: Rotate the key, then remove the line.\n" in written
    assert "\n  not-in-index: Add a line.\n" in written


def test_it_ends_with_the_head_and_what_was_given_up() -> None:
    *_, head, read_only, kernel, last = lines(samples.ordinary())
    assert head == f"Head: 412:{samples.HEAD[:16]}   rules: 61 ran, 9f2c41ab9f2c41ab"
    assert read_only == "READ-ONLY: nothing under ~/app/memories can be changed from this session."
    assert (kernel, last) == ("The kernel lets this process write nowhere below the folder (Landlock).", "")


def test_what_does_not_count_is_told_in_numbers_and_on_demand_one_by_one() -> None:
    written = text.render_text(samples.ordinary())
    assert "Not counted: 1 by the settings, 1 by the baseline   (all of them: --all)" in written
    assert "examples/keys.md" not in written
    everything = text.render_text(samples.ordinary(), everything=True)
    assert "  FAIL  anthropic-key  examples/keys.md:2\n        an example (until 2027-01-01)\n" in everything
    assert "FAIL  anthropic-key  project/status.json:3:13  0123456789abcdef\n" in everything


def test_rules_that_did_not_run_are_told_by_their_reason() -> None:
    written = text.render_text(samples.ordinary())
    assert "Rules not run, needs --repo DIR: missing-path\n" in written
    assert "Rules not run, off by default: orphan\n" in written


def test_changes_since_the_last_review_are_told_with_who_made_them() -> None:
    written = text.render_text(samples.ordinary())
    assert "Since the last review, by ada: 4 files changed\n" in written
    assert re.search(r"^  \+ people/me\.md +\+4 -0 +you +\[flag\]$", written, re.MULTILINE)
    assert re.search(r"^  > notes/tea\.md .* was tea\.md$", written, re.MULTILINE)
    assert "Since " not in text.render_text(samples.nothing())


def test_facts_that_a_clean_up_dropped_show_no_secret() -> None:
    audit = samples.ordinary()
    assert audit.inbox is not None
    run = audit.inbox.runs[0]
    key = "sk-" + "ant-" + "api03-" + "aB3dE5fG7hJ9" * 6
    lost = replace(run.lost[0], text=f"The key is {key}") if run.lost else None
    assert lost is not None
    told = text.render_text(replace(audit, inbox=replace(audit.inbox, runs=(replace(run, lost=(lost,)),))))
    assert "The key is sk-ant****" in told
    assert key[10:30] not in told


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_sentences_are_set_in_the_width_there_is(width: int) -> None:
    audit = samples.ordinary()
    audit = replace(audit, findings=(*audit.findings, samples.finding(words="word " * 60)))
    sentences = [
        line for line in text.render_text(audit, width=width).split("\n") if not re.match(r" *(\||[+~>-] )", line)
    ]
    assert max(map(len, sentences)) <= min(width, 96)


def test_facts_lost_are_all_counted_also_those_that_are_not_listed() -> None:
    audit = samples.ordinary()
    assert audit.inbox is not None
    [run] = audit.inbox.runs
    told = text.render_text(replace(audit, inbox=replace(audit.inbox, runs=(replace(run, unlisted=40),))))
    assert f"{len(run.lost) + 40} facts lost" in told
    assert "    40 more are not listed\n" in told


def test_who_is_not_memtui_is_said_so_everywhere() -> None:
    audit = samples.ordinary()
    assert audit.inbox is not None
    [first, *_] = audit.inbox.files
    outside = replace(audit, inbox=replace(audit.inbox, files=(replace(first, actors=("outside", "agent:outside")),)))
    assert "another program, agent:outside" in text.render_text(outside)
    assert "`another program`, `agent:outside`" in markdown.render_markdown(outside)
    page = html.render_html(outside)
    assert "<bdi>another program</bdi>, <bdi>agent:outside</bdi>" in page
    assert "Written by: <b><bdi>another program</bdi></b>" in page


def test_findings_with_one_cause_are_told_once_with_the_first_places_and_how_many_more() -> None:
    audit = replace(samples.nothing(), findings=samples.one_cause(59))
    found = lines(audit)
    start = found.index("WARN  missing-path  59 findings")
    assert found[start + 1] == "      59 notes name paths below src/legacy/, which does not exist"
    assert [line.split("  ")[-2] for line in found if line.startswith("      - ")] == [
        f"- notes/{number}.md:3" for number in range(3)
    ]
    assert "      and 56 more (all of them: --all)" in found
    assert "59 warnings." in found
    every = lines(audit, everything=True)
    assert sum(line.startswith("      - ") for line in every) == 59
    assert not any("more (all" in line for line in every)
    assert f"notes/58.md:3  {58:016x}" in "\n".join(every)
