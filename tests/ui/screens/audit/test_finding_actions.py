"""What a person does about a finding on screen: dismiss, undo that, take back, redact, ask; and the sign-off."""

import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import pytest

from memtui.audit.model import Severity
from memtui.core.errors import StateUnusable
from memtui.core.events import sha256
from memtui.review.inbox import ACCEPTED_FAILURE, ReviewMark, ReviewVerdict
from memtui.review.marks import Review, get_review_path
from memtui.review.triage import mark_finding
from memtui.ui.screens.audit import AuditScreen
from memtui.ui.screens.audit_triage import build_question
from memtui.ui.screens.dialogs import ConfirmScreen, MenuScreen, PromptScreen
from memtui.ui.screens.info import OriginScreen
from tests.ui.screens.audit.conftest import Audited, Auditing
from tests.ui.screens.audit.made import MadeInspection, audit, secret
from tests.ui.screens.audit.test_over_a_folder import CLARA, reviewing

Opening = Callable[..., AbstractAsyncContextManager[Any]]
PREFS = "user_preferences.md"


async def ask(app: Audited, *keys: str, screen: type = MenuScreen) -> None:
    """Press keys, and wait for the dialog that they open."""
    await app.press(*keys)
    await app.wait_for(lambda: isinstance(app.app.screen, screen), screen.__name__)


def last_mark(app: Audited) -> ReviewMark:
    return app.inspection.marks[-1]


async def test_d_dismisses_the_finding_for_a_time_and_with_a_reason_and_u_undoes_it(audited: Auditing) -> None:
    async with audited(size=(80, 24)) as app:
        finding = app.screen.lists.finding
        assert finding is not None
        await ask(app, "d")
        await app.sees("Dismiss anthropic-key in project/status.json:3", "for 30 days", "forever")
        await ask(app, "3", screen=PromptScreen)
        await app.press(*"an example", "enter")
        await app.sees("Dismissed project/status.json:3 until", "u undo", "dismissed 1")
        mark = last_mark(app)
        assert (mark.verdict, mark.words, mark.findings[0].fingerprint) == (
            ReviewVerdict.DISMISS, "an example", finding.fingerprint,
        )  # fmt: skip
        assert mark.until
        assert app.screen.lists.audit is not None
        assert finding not in app.screen.lists.audit.findings
        # It can be undone also in a read-only session: it stands in the review file.
        await app.press("u")
        await app.sees("project/status.json:3 counts again.")
        assert last_mark(app).verdict is ReviewVerdict.RESTORE
        assert app.screen.lists.audit.findings[0] is finding
        await app.press("u")
        await app.sees("Read-only: an audit changes nothing.")
        assert len(app.inspection.marks) == 2


async def test_what_is_dismissed_is_listed_with_who_and_why_and_d_has_it_count_again(audited: Auditing) -> None:
    async with audited() as app:
        await ask(app, "d")
        await ask(app, "e", screen=PromptScreen)
        await app.press(*"forever", "enter")
        await app.wait_for(lambda: app.inspection.marks, "the mark")
        assert last_mark(app).until == ""
        await app.press("full_stop")
        await app.sees("excepted")
        fingerprint = last_mark(app).findings[0].fingerprint
        await app.wait_for(lambda: app.screen.lists.findings.go_to(fingerprint), "the finding")
        await app.sees("dismissed by ada: forever")
        await app.press("d")
        await app.sees("counts again")


LEFT: list[tuple[tuple[str, ...], str]] = [
    (("escape",), ""),
    (("3", "escape"), ""),
    (("3", "enter"), "Not dismissed: no reason given"),
    (("t", *"2020-01-31", "enter"), "2020-01-31 is in the past"),
    (("t", *"soon", "enter"), "'soon' is not an end date"),
    (("t", "escape"), ""),
]
"""Keys in the dialog of a dismissal that leave it, and what is said."""


async def test_a_dialog_that_is_left_or_answered_wrongly_dismisses_nothing(audited: Auditing) -> None:
    async with audited() as app:
        for keys, words in LEFT:
            await ask(app, "d")
            for key in keys:
                await app.press(key)
            await app.wait_for(lambda: isinstance(app.app.screen, AuditScreen), "back")
            await app.sees(words)
        assert app.inspection.marks == []


async def test_what_could_not_be_written_is_said_and_counts(audited: Auditing) -> None:
    inspection = MadeInspection()
    inspection.refuses = StateUnusable("Nothing was noted: there is no room.")
    async with audited(inspection) as app:
        await ask(app, "d")
        await ask(app, "3", screen=PromptScreen)
        await app.press("x", "enter")
        await app.sees("Nothing was noted: there is no room.")
        assert app.screen.lists.audit is inspection.made


async def test_a_broken_record_cannot_be_dismissed(audited: Auditing) -> None:
    made = audit()
    broken = replace(made.findings[0], rule="chain-broken", masked=None)
    async with audited(MadeInspection(replace(made, findings=(broken,)))) as app:
        await app.press("d")
        await app.sees("Not dismissed: that would hide the next break too.")
    settled = replace(made, findings=(), excepted=tuple(replace(each, by="exemption") for each in made.excepted))
    async with audited(MadeInspection(settled)) as app:
        await app.press("full_stop", "g", "d")
        await app.sees("by the settings")


async def test_the_menu_of_a_finding_leads_on_and_copies_commands_in_a_read_only_session(
    audited: Auditing, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[str] = []
    monkeypatch.setattr("memtui.ui.screens.audit_triage.copy_and_report", lambda _app, text, *_: copied.append(text))
    async with audited() as app:
        await ask(app, "t")
        await app.sees("to its line", "copy the command to undo", "dismiss it", "copy a question")
        await app.press("l")
        await app.wait_for(lambda: app.screen.focused is app.screen.detail.page, "the line")
        for key in "bxa":
            await ask(app, "t")
            await app.press(key)
        seq = app.screen.lists.finding.origin.seq  # type: ignore[union-attr]
        assert copied[0] == f"memtui undo {seq} --dir /home/ada/app/memories"
        assert copied[1].startswith("memtui redact --match - --reason 'anthropic-key, ")
        assert copied[2].startswith("An audit of your memory has a finding in `/memories/project/status.json`, line 3:")
        assert not any(secret() in each for each in copied)
        await ask(app, "t")
        await ask(app, "w", screen=ConfirmScreen)


def test_a_question_quotes_nothing_of_what_stands_in_the_note() -> None:
    finding = replace(audit().findings[0], words="it says obey", evidence="obey me")
    question = build_question(finding, "an order for the model")
    assert "obey" not in question
    assert "an order for the model" in question


async def test_a_review_over_failures_asks_lists_them_and_takes_a_reason(audited: Auditing) -> None:
    inspection = MadeInspection()
    inspection.undecided = [mark_finding(each) for each in inspection.made.findings[:1]]
    async with audited(inspection, size=(80, 24)) as app:
        await ask(app, "D")
        await app.sees("1 failure without a decision", "project/status.json:3  anthropic-key")
        await app.press("n")
        await app.wait_for(lambda: isinstance(app.app.screen, AuditScreen), "back")
        await ask(app, "D")
        await app.press("1")
        await app.sees("dismisses it")
        assert app.screen.lists.finding is inspection.made.findings[0]
        await ask(app, "D")
        await ask(app, "s", screen=PromptScreen)
        await app.press("enter")
        await app.sees("Not signed off: no reason given")
        await ask(app, "D")
        await ask(app, "s", screen=PromptScreen)
        await app.press(*"by monday", "enter")
        await app.wait_for(lambda: isinstance(app.app.screen, ConfirmScreen), "the question")
        assert inspection.finished == 0
        await app.press("y")
        await app.wait_for(lambda: inspection.finished == 1, "the end")
        assert inspection.failures_reason == "by monday"


async def test_what_is_accepted_by_itself_is_accepted_with_its_failures(audited: Auditing) -> None:
    made = audit()
    place = replace(made.findings[0].location, path=PREFS)
    bad = replace(made.findings[0], location=place, masked=None)
    async with audited(MadeInspection(replace(made, findings=(bad,)))) as app:
        await app.to_change(PREFS)
        await app.press("space")
        await app.sees("despite 1 failure: anthropic-key")
        assert last_mark(app).findings == (mark_finding(bad),)


async def test_findings_with_one_cause_are_dismissed_together(audited: Auditing) -> None:
    made = audit()
    first = replace(made.findings[0], masked=None, severity=Severity.FAIL)
    same = [
        replace(first, location=replace(first.location, line=at), fingerprint=f"{at:016x}", secret="one")
        for at in range(1, 4)
    ]
    async with audited(MadeInspection(replace(made, findings=tuple(same)))) as app:
        await app.press("t")
        await app.sees("Unfold it and choose one.")
        await ask(app, "d")
        await app.sees("Dismiss anthropic-key in 3 places")
        await ask(app, "9", screen=PromptScreen)
        await app.press("x", "enter")
        await app.sees("Dismissed 3 places until")
        assert [mark.findings[0].fingerprint for mark in app.inspection.marks] == [each.fingerprint for each in same]
        await app.press("u")
        await app.sees("3 places count again.")
        assert app.screen.lists.findings.go_to(same[2].fingerprint)


# Over a folder


async def test_over_a_folder_it_is_written_into_the_review_file_taken_back_and_signed(opened: Opening) -> None:
    async with opened({"a.md": "a\n"}, size=(120, 36)) as app:
        with app.engine() as engine:
            command = {"command": "create", "path": "/memories/key.md", "file_text": f"the key is {secret()}\n"}
            assert not engine.execute(command, actor=CLARA).is_error
        screen = await reviewing(app)
        await ask(app, "D")
        await ask(app, "s", screen=PromptScreen)
        await app.press(*"it is made up", "enter")
        await ask(app, "y", screen=AuditScreen)
        await app.wait_for(lambda: "Review ended" in screen.message.text, "the end")
        path = get_review_path(os.path.realpath(app.folder))
        (mark,) = Review.read(path).marks
        assert mark.failures_reason == "it is made up"
        assert [each.decision for each in mark.findings] == [ACCEPTED_FAILURE]
        await app.wait_for(lambda: screen.run.audit_worker is None, "the look after that")
        await app.rest()
        await ask(app, "1", "d")
        await ask(app, "9", screen=PromptScreen)
        await app.press(*"made up", "enter")
        await app.wait_for(lambda: "Dismissed key.md:1 until" in screen.message.text, "the dismissal")
        await app.press("R")
        await app.wait_for(lambda: screen.run.audit_worker is None and screen.lists.audit.excepted, "another look")
        assert screen.lists.audit is not None
        assert [each.by for each in screen.lists.audit.excepted] == ["dismissal"]
        await app.press("u")
        await app.wait_for(lambda: "key.md:1 counts again." in screen.message.text, "the undoing")
        await ask(app, "t")
        await ask(app, "w", screen=ConfirmScreen)
        await ask(app, "y", screen=OriginScreen)
        await app.press("escape")
        await ask(app, "r", screen=ConfirmScreen)
        await app.press("y")
        await app.wait_for(lambda: not (app.folder / "key.md").exists(), "what was taken back")
        await app.wait_for(lambda: screen.run.audit_worker is None, "the look after that")
        await app.press("u")
        await app.wait_for((app.folder / "key.md").exists, "the undoing of that")
        assert secret() not in path.read_text()


async def test_over_a_folder_a_secret_is_removed_for_good_without_leaving_the_screen(opened: Opening) -> None:
    async with opened({"a.md": "a\n"}, size=(120, 36)) as app:
        text = f"the key is {secret()}\n"
        with app.engine() as engine:
            command = {"command": "create", "path": "/memories/key.md", "file_text": text}
            assert not engine.execute(command, actor=CLARA).is_error
        screen = await reviewing(app)
        await ask(app, "1", "t")
        assert "redact it: remove it for good" in app.text
        await ask(app, "x", screen=ConfirmScreen)
        assert "Would remove for good: " in app.text
        assert "It cannot be undone. Remove it?" in app.text
        await ask(app, "n", screen=AuditScreen)
        await app.wait_for(lambda: screen.message.text == "Nothing was removed.", "the answer")
        assert (app.folder / "key.md").read_text() == text
        await app.wait_for(lambda: screen.run.audit_worker is None, "the look after that")
        await ask(app, "t")
        await ask(app, "x", screen=ConfirmScreen)
        await app.press("y")
        await app.wait_for(lambda: (app.folder / "key.md").read_text() == "the key is [redacted]\n", "the redaction")
        await app.wait_for(lambda: "Removed for good: " in screen.message.text, "what was done")
        await app.wait_for(lambda: screen.lists.audit is not None and not screen.lists.audit.findings, "another look")
        with app.engine() as engine:
            assert not engine.journal.has_text(sha256(text.encode()))
            assert engine.journal.verify().is_intact


async def test_a_note_that_was_changed_since_is_not_redacted_by_its_old_place(opened: Opening) -> None:
    async with opened({"a.md": "a\n"}, size=(120, 36)) as app:
        with app.engine() as engine:
            command = {"command": "create", "path": "/memories/key.md", "file_text": f"the key is {secret()}\n"}
            assert not engine.execute(command, actor=CLARA).is_error
        screen = await reviewing(app)
        shown = screen.detail.text
        assert shown is not None
        screen.detail.text = replace(shown, text="something else stands there, and nothing of the key\n")
        await ask(app, "1", "t")
        await app.press("x")
        await app.wait_for(lambda: "Not redacted: the note has changed." in screen.message.text, "the refusal")
        assert secret() in (app.folder / "key.md").read_text()
