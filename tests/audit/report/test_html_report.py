"""The report as one page: whatever a note says, it stays a text on it."""

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from types import MappingProxyType
from xml.etree import ElementTree

import pytest

from memtui.audit.growth import OTHERS
from memtui.audit.model import UNKNOWN, Audit, AuditGrowth, Severity
from memtui.audit.report import charts, figures, html, wording
from memtui.audit.report.charts import ChartSeries
from memtui.audit.report.page import POLICY, STYLE
from memtui.core.unicode import HIDDEN
from tests.audit.report import samples

ELEMENTS = frozenset(
    re.findall(
        r"\w+",
        "html head meta title style body header main nav section h1 h2 p span strong b i ul ol li dl dt dd a code pre"
        " bdi q br figure figcaption svg desc path rect circle text table thead tbody tr th td details summary"
        " div input label",
    )
)
VOID = frozenset({"meta", "br", "input"})
ATTRIBUTES = frozenset(
    re.findall(
        r"[\w-]+",
        "lang charset http-equiv content name href class id aria-label aria-labelledby role style open type for scope"
        " checked tabindex viewbox d x y dy width height cx cy r text-anchor",
    )
)
SAMPLES = [samples.nothing, samples.ordinary, samples.worst, *(lambda n=n: samples.grown(n) for n in (0, 1, 2, 500))]


class Page(HTMLParser):
    """A page as a browser takes it apart, as far as this one can have been written."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.comments = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID and not (self.get_starttag_text() or "").endswith("/>"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> ends nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def handle_comment(self, data: str) -> None:
        del data
        self.comments += 1

    @property
    def words(self) -> str:
        return " ".join(text for element, text in self.texts if element not in ("style", "title", "desc"))


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_page_is_made_of_nothing_but_what_we_wrote(sample: Callable[[], Audit]) -> None:
    page = Page(html.render_html(sample()))
    assert page.open == []
    assert page.comments == 0
    assert {tag for tag, _ in page.elements} <= ELEMENTS
    for tag, attributes in page.elements:
        assert set(attributes) <= ATTRIBUTES, tag
        assert (attributes.get("href") or "#").startswith("#")
        assert re.fullmatch(r"width:\d+\.\d%", attributes.get("style") or "width:0.0%")


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_hostile_text_is_there_to_be_read_and_does_nothing(text: str) -> None:
    page = Page(html.render_html(samples.worst()))
    shown = wording.sanitize_text(text)
    assert any(shown in data for _, data in page.texts)
    assert not any(shown in (value or "") for _, attributes in page.elements for value in attributes.values() if value)


@pytest.mark.parametrize("sample", SAMPLES)
def test_no_character_of_the_page_is_hidden(sample: Callable[[], Audit]) -> None:
    text = html.render_html(sample())
    assert not HIDDEN.search(text)
    text.encode("utf-8")


def test_the_page_may_load_nothing_and_run_nothing() -> None:
    text = html.render_html(samples.worst())
    policies = [
        attributes["content"]
        for tag, attributes in Page(text).elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies == [POLICY]
    assert "default-src 'none'" in POLICY
    assert "script" not in POLICY
    assert "url(" not in STYLE
    assert "@import" not in STYLE
    assert text.index("Content-Security-Policy") < text.index("<style>")


def test_every_identifier_is_there_once_and_every_reference_leads_somewhere() -> None:
    page = Page(html.render_html(samples.ordinary()))
    names = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(names)) == len(names)
    for _, attributes in page.elements:
        for reference in (
            *(attributes.get("aria-labelledby") or "").split(),
            *([attributes["for"]] if "for" in attributes else []),
            *([attributes["href"][1:]] if "href" in attributes else []),
        ):
            assert reference in names


def test_every_chart_has_a_title_a_description_and_its_numbers_in_a_table() -> None:
    page = html.render_html(samples.ordinary())
    drawn = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawn) == 5
    for chart in drawn:
        root = ElementTree.fromstring(chart)
        assert [child.tag for child in root[:2]] == ["title", "desc"]
        assert all(child.text for child in root[:2])
    assert page.count('<details class="numbers">') == 5


def test_the_verdict_the_changes_and_the_facts_lost_are_told() -> None:
    words = Page(html.render_html(samples.ordinary())).words
    for said in (
        "1 failure, 2 warnings, 1 info.",
        "sk-ant-****************",
        "project/status.json:3:13",
        "Claude",
        "call toolu_01B2",
        "Rotate the key, then remove the line.",
        "the last review, by ada",
        "Is that so?",
        "Deploys are frozen on Fridays.",
        "needs --repo DIR",
        f"412:{samples.HEAD}",
        "9f2c41ab9f2c41ab",
        "stale_days = 300",
        "Landlock",
        "41K of 49K",
        "130%, over",
        "Since the last audit, 2026-11-20 22:26 UTC: 1 new, 2 resolved.",
        "Findings of each of 3 audits.",
    ):
        assert said in words


def test_a_clean_folder_says_so() -> None:
    words = Page(html.render_html(samples.nothing())).words
    assert "CLEAN" in words
    assert "No findings." in words


@pytest.mark.parametrize("group", ["severity", "family"])
def test_findings_can_be_chosen_by_what_they_are_without_a_script(group: str) -> None:
    page = Page(html.render_html(samples.ordinary()))
    chosen = [
        attributes["id"] or "" for tag, attributes in page.elements if tag == "input" and attributes["name"] == group
    ]
    assert chosen[0] == f"{group}-all"
    assert len(chosen) >= 4
    for name in chosen[1:]:
        value = name.removeprefix(f"{group}-")
        assert f"#{name}:checked~.findings .finding:not(.{value}){{display:none}}" in STYLE
        assert any(value in (attributes.get("class") or "").split() for tag, attributes in page.elements if tag == "li")


def test_more_findings_than_anybody_scrolls_through_are_counted() -> None:
    many = tuple(samples.scattered(number) for number in range(html.MOST + 7))
    page = Page(html.render_html(replace(samples.nothing(), findings=many)))
    assert (
        sum("finding" in (attributes.get("class") or "") for tag, attributes in page.elements if tag == "li")
        == html.MOST
    )
    assert "7 findings more" in page.words


@pytest.mark.parametrize("moments", [0, 1, 2, 3, 59, 60, 61, 500])
def test_charts_hold_however_little_or_much_there_is(moments: int) -> None:
    growth = samples.grown(moments).growth
    assert growth is not None
    parts = [ChartSeries(name, "s0", values) for name, values in growth.writes.items()]
    for drawn in (
        charts.draw_line("A", "a", growth.at_us, ChartSeries("files", "s0", growth.files), str),
        charts.draw_stacked_columns("B", "b", growth.at_us, parts, unit="changes"),
        charts.draw_stacked_steps("C", "c", growth.at_us, parts, unit="findings"),
    ):
        root = ElementTree.fromstring(drawn)
        for mark in root.iter("rect"):
            assert 0 <= float(mark.get("x", "-1")) <= charts.WIDTH
            assert float(mark.get("y", "-1")) >= 0
            assert float(mark.get("y", "0")) + float(mark.get("height", "999")) <= charts.HEIGHT
        assert "nan" not in drawn


def test_columns_add_up_to_what_was_written() -> None:
    growth = samples.grown(40).growth
    assert growth is not None
    parts = [ChartSeries(name, "s0", counts) for name, counts in growth.writes.items()]
    root = ElementTree.fromstring(charts.draw_stacked_columns("A", "a", growth.at_us, parts, unit="changes"))
    told = [int((each.text or "").rpartition(" ")[2].replace(",", "")) for each in root.iterfind("rect/title")]
    assert sum(told) == sum(sum(counts) for counts in growth.writes.values())


@pytest.mark.parametrize(
    ("apart", "labels"),
    [
        (samples.DAY * 10, ["2026-11-01", "2026-11-11", "2026-11-21"]),
        (3_600_000_000, ["2026-11-21 20:26 UTC", "2026-11-21 22:26 UTC"]),
        (1_000_000, ["2026-11-21 22:26:38 UTC", "2026-11-21 22:26:40 UTC"]),
    ],
    ids=["days", "hours", "seconds"],
)
def test_a_chart_says_when_it_begins_and_ends_and_what_it_counts(apart: int, labels: list[str]) -> None:
    moments = [samples.NOW - apart * before for before in (2, 1, 0)]
    drawn = charts.draw_line("A", "a", moments, ChartSeries("files", "s0", (1, 2, 3)), "{:,.0f}".format, unit="files")
    words = [each.text for each in ElementTree.fromstring(drawn).iter("text")]
    assert words[0] == "files"
    assert words[-len(labels) :] == labels


@pytest.mark.parametrize("highest", [0, 9, 999, 999_999, 15 * 10**8, 2**40 - 1])
def test_the_numbers_at_the_side_have_room(highest: int) -> None:
    """At the size in which they are set on a narrow page and on paper, 16 units; a digit is at most 0.64 em wide."""
    for label, base in ((charts.format_number, 1_000), (figures.format_tick, 1_024)):
        for tick in charts.compute_scale(highest, base=base).ticks:
            assert len(label(tick)) * 0.56 * 16 <= charts._LEFT - 8, label(tick)


def test_all_who_wrote_are_counted_and_those_without_a_color_stand_together() -> None:
    counts = {f"agent {number}": (9 - number,) for number in range(8)} | {OTHERS: (30,)}
    growth = AuditGrowth(at_us=(samples.NOW,), files=(1,), bytes=(1,), writes=MappingProxyType(counts), gathered=22)
    words = Page(html.render_html(replace(samples.nothing(), growth=growth))).words
    assert "74 changes by 30 actors" in words
    assert "26 others 44 59%" in " ".join(words.split())
    alone = replace(growth, writes=MappingProxyType({OTHERS: (3,), "outside": (1,)}), gathered=0)
    words = " ".join(Page(html.render_html(replace(samples.nothing(), growth=alone))).words.split())
    assert "4 changes by 2 actors" in words
    assert "others 3 75%" in words
    assert "another program 1 25%" in words


@pytest.mark.parametrize(
    ("part", "said"), [(0, "0%"), (1, "under 1%"), (500, "50%"), (999, "over 99%"), (1_000, "100%")]
)
def test_a_share_is_never_all_or_nothing_unless_it_is(part: int, said: str) -> None:
    assert figures.format_percent(part, 1_000) == said


def test_where_nothing_is_known_of_who_brought_it_in_it_is_said_once() -> None:
    found = tuple(samples.finding(origin=UNKNOWN, fingerprint=f"{at:016x}") for at in range(3))
    words = Page(html.render_html(replace(samples.nothing(), findings=found))).words
    assert words.count("The authors of these findings are unknown") == 1
    assert "Written by" not in words


def test_what_came_last_is_seen_in_the_steps() -> None:
    parts = [ChartSeries("fail", "fail", (0, 0, 4))]
    drawn = ElementTree.fromstring(charts.draw_stacked_steps("A", "a", (1, 2, 3), parts, unit="findings"))
    area = list(drawn.iter("path"))[-1]
    top = f"{charts._to_y(4, charts.compute_scale(4)):.1f}"
    assert area.get("class") == "fill fail"
    assert (area.get("d") or "").count(f" {top}") == 2  # a level of its own, not a line straight up


@pytest.mark.parametrize("highest", [0, 1, 2, 3, 4, 7, 10, 23, 99, 100, 101, 5_000, 1_234_567])
@pytest.mark.parametrize("unit", [1_000, 1_024])
def test_the_numbers_at_the_side_are_few_and_reach_the_top(highest: int, unit: int) -> None:
    scale = charts.compute_scale(highest, base=unit)
    assert scale.top >= highest
    assert scale.ticks[0] == 0
    assert 2 <= len(scale.ticks) <= 5
    assert scale.top <= max(2 * highest, 1.0)
    if unit == 1_000:
        assert all(tick == int(tick) for tick in scale.ticks)


@pytest.mark.parametrize("moments", [0, 1, 2])
def test_nothing_is_drawn_where_there_is_nothing_to_see(moments: int) -> None:
    none, at_us = (0,) * moments, tuple(samples.NOW + at for at in range(moments))
    quiet = AuditGrowth(at_us=at_us, files=none, bytes=none, writes=MappingProxyType({"Claude": none}))
    page = html.render_html(replace(samples.nothing(), growth=quiet))
    assert page.count("<figure>") == (2 if moments > 1 else 0)  # files and bytes are a line from two moments on
    assert ("In figures" in page) is (moments > 1)
    assert page.count("<svg") == page.count("<figure>")


def test_findings_stand_before_charts_and_those_with_one_cause_are_folded() -> None:
    findings = (*samples.one_cause(59), samples.finding())
    page = html.render_html(replace(samples.ordinary(), findings=findings))
    assert page.index('id="findings"') < page.index('id="figures"') < page.index('id="made"')
    assert page.count('<li class="finding ') == 2
    before, _, folded = page.partition("<summary>and 56 more</summary>")
    assert [f"notes/{at}.md:3" in before for at in range(4)] == [True, True, True, False]
    assert all(f"notes/{at}.md:3" in folded.partition("</details>")[0] for at in range(3, 59))
    assert page.count("59 notes name paths below src/legacy/, which does not exist.") == 1


def _luminance(color: str) -> float:
    """Relative luminance of a color, 0 to 1 (Web Content Accessibility Guidelines 2.2)."""
    digits = color[1:] if len(color) == 7 else "".join(2 * digit for digit in color[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_is_legible_in_light_and_in_dark(scheme: str) -> None:
    roots = re.findall(r":root\{(.*?)\}", STYLE, re.DOTALL)
    colors = dict(re.findall(r"--([a-z0-9-]+):(#[0-9a-f]+)", roots[scheme == "dark"]))
    for ink in ("ink", "soft", "link", "fail", "warn", "info", "clean"):
        for ground in ("page", "card", "code"):
            assert _contrast(colors[ink], colors[ground]) >= 4.5, (ink, ground)
    for severity in Severity:
        assert _contrast(colors[severity.value], colors[f"{severity.value}-tint"]) >= 4.5
        assert _contrast(colors[f"{severity.value}-fill"], colors["card"]) >= 3
    for number in "01239":
        assert _contrast(colors[f"s{number}"], colors["card"]) >= 3
