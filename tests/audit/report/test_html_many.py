"""The audits of many folders as one page: the worst first, bounded, and as safe as the page of one."""

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from memtui.audit.model import Audit, Family, Severity
from memtui.audit.report.folder_report import FolderReport
from memtui.audit.report.html import MOST, FolderExtent, render_folder, render_html
from memtui.audit.report.html_many import choose_extent
from memtui.audit.report.many import merge_reports
from memtui.audit.report.page import POLICY
from memtui.audit.report.wording import sanitize_text
from memtui.core.unicode import HIDDEN
from tests.audit.report import samples
from tests.audit.report.test_html_report import ATTRIBUTES, ELEMENTS, Page

GONE = FolderReport("/gone", 3, {}, "", "No folder at /gone. Nothing was created.")


def folder(audit: Audit, title: str = "", *, extent: FolderExtent | None = None) -> FolderReport:
    shown = render_folder(audit, extent or FolderExtent(most=MOST, draws=True))
    return FolderReport(title or audit.title, 0, audit.count_by_family(), shown)


def page(*reports: FolderReport) -> str:
    return merge_reports(reports, "html", taken_us=samples.NOW)


ALL = (
    folder(samples.nothing(), "/clean"),
    folder(samples.ordinary(), "/ordinary"),
    folder(samples.worst()),
    folder(samples.grown(60), "/grown"),
    GONE,
)


def test_the_page_is_made_of_nothing_but_what_we_wrote() -> None:
    text = page(*ALL)
    found = Page(text)
    assert (found.open, found.comments) == ([], 0)
    assert {tag for tag, _ in found.elements} <= ELEMENTS | {"h3"}
    for tag, attributes in found.elements:
        assert set(attributes) <= ATTRIBUTES | {"colspan"}, tag
        assert (attributes.get("href") or "#").startswith("#")
        assert re.fullmatch(r"width:\d+\.\d%", attributes.get("style") or "width:0.0%")
    assert not HIDDEN.search(text)
    assert text.count(f'http-equiv="Content-Security-Policy" content="{POLICY}"') == 1
    text.encode("utf-8")


def test_every_identifier_is_there_once_and_every_reference_leads_somewhere() -> None:
    found = Page(page(*ALL, *ALL))
    names = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(set(names)) == len(names)
    wanted = {(attributes.get("href") or attributes.get("for") or "").lstrip("#") for _, attributes in found.elements}
    assert wanted - {""} <= set(names)


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_hostile_names_and_problems_are_there_to_be_read_and_do_nothing(text: str) -> None:
    found = Page(page(folder(samples.ordinary(), text), FolderReport("/gone", 3, {}, "", text)))
    shown = sanitize_text(text)
    assert sum(shown in data for _, data in found.texts) >= 3, "in the table, above the folder, and as a problem"
    assert not any(shown in (value or "") for _, attributes in found.elements for value in attributes.values())
    assert {tag for tag, _ in found.elements} <= ELEMENTS | {"h3"}


def rows(text: str) -> list[list[str]]:
    table = text.partition("<tbody>")[2].partition("</tbody>")[0]
    return [re.findall(r"(?:<b>|>)([^<>]+)(?=</b>|</td>|</bdi>)", row) for row in table.split("</tr>")[:-1]]


def test_the_table_has_all_families_and_the_worst_folder_first_after_those_that_were_not_audited() -> None:
    secret = replace(samples.nothing(), findings=(samples.finding(),))
    warned = samples.finding(rule="bidi", family=Family.HIDDEN, severity=Severity.WARN)
    warning = replace(samples.nothing(), findings=(warned, replace(warned, fingerprint="1" * 16)))
    text = page(
        *(folder(each, name) for each, name in ((samples.nothing(), "/c"), (warning, "/w"), (secret, "/s"))), GONE
    )
    assert [row[0] for row in rows(text)] == ["/gone", "/s", "/w", "/c"]
    assert rows(text)[1][1:] == ["1/0", *["-"] * 6]
    assert rows(text)[2][1:] == ["-", "0/2", *["-"] * 5]
    assert "No folder at /gone." in text
    assert "4 folders, 1 of them not audited: 1 failure, 2 warnings." in text
    opened = re.findall(r'<details class="folder" id="folder-(\d)"( open)?>', text)
    assert opened == [("2", " open"), ("3", " open"), ("4", "")], "where nothing is to be looked at it is folded"


def test_each_folder_says_what_its_own_page_says() -> None:
    """All that stands behind the cards there: findings, changes, facts lost, figures, and how it was made."""
    alone = render_html(samples.ordinary())
    alone = alone[alone.index('<section id="findings"') : alone.index("</main>")]
    told = {data for _, data in Page(page(folder(samples.ordinary()))).texts}
    assert {data for _, data in Page(alone).texts} - told - {"\n"} == set()


def count_groups(text: str) -> int:
    return len(re.findall(r'<li class="finding ', text))


@pytest.mark.parametrize("folders", [1, 20, 21, 500])
def test_a_page_of_many_folders_is_bounded_and_says_what_it_leaves_out(folders: int) -> None:
    extent = choose_extent(folders)
    assert extent.draws is (folders <= 20)
    assert 25 <= extent.most <= MOST
    assert extent.most * folders <= max(MOST, 25 * folders)
    many = replace(samples.grown(60), findings=tuple(samples.scattered(number) for number in range(extent.most + 7)))
    text = render_folder(many, extent)
    assert count_groups(text) == extent.most
    assert "7 findings more" in Page(f"<div>{text}</div>").words
    assert ("<svg" in text) is extent.draws
    one_cause = replace(samples.nothing(), findings=samples.one_cause(600))
    assert render_folder(one_cause, extent).count("notes/") <= min(extent.most, 500) + 1


def test_a_page_grows_with_the_number_of_folders_and_no_faster() -> None:
    def measure(number: int) -> int:
        each = replace(samples.nothing(), findings=tuple(samples.scattered(at) for at in range(40)))
        reports: Sequence[FolderReport] = [
            folder(each, f"/f{at:03}", extent=choose_extent(500)) for at in range(number)
        ]
        return len(page(*reports))

    ten, twenty, forty = map(measure, (10, 20, 40))
    assert abs((forty - twenty) - 2 * (twenty - ten)) < 100


def test_findings_of_all_are_drawn_where_two_folders_have_any() -> None:
    text = page(folder(samples.ordinary(), "/a"), folder(samples.nothing(), "/b"))
    assert "By family and severity, in" not in text
    text = page(folder(samples.ordinary(), "/a"), folder(samples.ordinary(), "/b"))
    assert "By family and severity, in 2 folders." in text


def test_a_page_of_clean_folders_says_so() -> None:
    words = Page(page(folder(samples.nothing(), "/a"), folder(samples.nothing(), "/b"))).words
    assert "CLEAN" in words
    assert words.count("No findings.") == 2
