"""What a clean-up lost: a report never says that nothing is, where not all was looked at."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from memtui.audit.model import Audit
from memtui.audit.report import html, markdown, text
from memtui.audit.report import json as report_json
from tests.audit.report import samples

WHY = "some texts are not kept or cannot be compared"


@pytest.mark.parametrize("write", [text.render_text, markdown.render_markdown, html.render_html])
@pytest.mark.parametrize("lost", [True, False])
def test_where_not_all_was_looked_at_more_may_be_lost(write: Callable[[Audit], str], lost: bool) -> None:
    audit = samples.ordinary()
    assert audit.inbox is not None
    [run] = audit.inbox.runs
    assert "ore may be lost" not in write(audit)
    kept = run.lost if lost else ()
    unsearched = replace(audit, inbox=replace(audit.inbox, runs=(replace(run, lost=kept, unsearched=WHY),)))
    assert f"ore may be lost: {WHY}" in write(unsearched)


def test_a_program_is_told_as_well() -> None:
    audit = samples.ordinary()
    assert audit.inbox is not None
    [run] = audit.inbox.runs
    unsearched = replace(audit, inbox=replace(audit.inbox, runs=(replace(run, unsearched=WHY),)))
    told = [json.loads(report_json.render_json(each))["inbox"]["runs"][0]["unsearched"] for each in (audit, unsearched)]
    assert told == [None, WHY]
