"""What a reviewer says of changes on screen: which keys say it, what is written down, and what comes next."""

import threading
from dataclasses import replace

from memtui.core.errors import StateUnusable
from memtui.review.inbox import Inbox, ReviewMark, ReviewVerdict
from memtui.ui.screens.audit import AuditScreen
from memtui.ui.screens.dialogs import ConfirmScreen, MenuScreen, PromptScreen
from memtui.ui.screens.history import HistoryScreen
from memtui.ui.widgets.changes import ChangedFileRow, ChangeRunRow
from tests.ui.screens.audit.conftest import Audited, Auditing
from tests.ui.screens.audit.made import AT_US, MadeInspection, audit, marked

PREFS = "user_preferences.md"


def said(app: Audited) -> list[tuple[str, str, str]]:
    """What was written down: the verdict, the path, the words."""
    return [(mark.verdict.value, mark.path, mark.words) for mark in app.inspection.marks]


async def test_changes_are_listed_with_sign_lines_who_and_runs_first(audited: Auditing) -> None:
    async with audited() as app:
        changes = app.screen.lists.changes
        rows = [changes.render_line(y).text for y in range(4)]
        assert "run by Claude, 2 files  1 lost" in rows[0]
        assert rows[1].split()[:4] == ["[", "]", "~", PREFS]
        assert rows[1].split()[4:8] == ["2", "times", "+2", "-3"]
        assert rows[2].split()[-3:] == ["new", "+4", "Claude"]


async def test_space_accepts_the_file_and_goes_to_the_next(audited: Auditing) -> None:
    async with audited() as app:
        await app.to_change(PREFS)
        await app.press("space")
        await app.wait_for(lambda: said(app) == [("accept", PREFS, "")], "the mark")
        await app.sees("[x]", f"Accepted {PREFS}. 1 of 5 changed files reviewed.")
        assert app.screen.lists.file is not None
        assert app.screen.lists.file.path == "notes/2026-11-21-standup.md"


async def test_keys_that_come_faster_than_marks_are_written_mean_one_file_after_the_other(audited: Auditing) -> None:
    inspection = MadeInspection()
    inspection.slow = threading.Event()
    async with audited(inspection) as app:
        await app.to_change(PREFS)
        await app.pilot.press("space", "space", "space")
        assert inspection.marks == []
        inspection.slow.set()
        await app.wait_for(lambda: len(inspection.marks) == 3, "the marks")
        assert [path for _, path, _ in said(app)] == [PREFS, "notes/2026-11-21-standup.md", "people/me.md"]
        await app.sees("3 of 5 changed files reviewed.")


async def test_a_file_whose_mark_could_not_be_written_is_under_the_cursor_again(audited: Auditing) -> None:
    inspection = MadeInspection()
    inspection.refuses = StateUnusable("Nothing was noted: there is no room.")
    async with audited(inspection) as app:
        await app.to_change(PREFS)
        await app.press("space")
        await app.sees("Nothing was noted: there is no room.")
        assert app.screen.lists.file is not None
        assert app.screen.lists.file.path == PREFS


async def test_all_of_a_run_is_written_down_at_once(audited: Auditing) -> None:
    async with audited() as app:
        await app.press("3")
        await app.wait_for(lambda: app.screen.focused is app.screen.lists.changes, "the changes")
        await app.press("g", "space")
        await app.sees("Accepted 2 files. 2 of 5 changed files reviewed.")
        assert app.inspection.judgements == 1
        assert [path for _, path, _ in said(app)] == ["notes/old.md", "notes/older.md"]


async def test_where_there_is_little_room_a_run_still_says_what_it_lost_and_removed(audited: Auditing) -> None:
    async with audited(size=(60, 20)) as app:
        row = app.screen.lists.changes
        await app.press("3")
        await app.wait_for(lambda: app.screen.focused is row, "the changes")
        await app.wait_for(lambda: "1 lost" in row.render_line(0).text, "the run")
        assert row.render_line(0).text.split()[-1] == "-3"


async def test_a_question_about_a_file_with_a_long_name_leaves_room_for_the_answer(audited: Auditing) -> None:
    box = Inbox(since=16, since_us=AT_US, since_words="", until=23,
                files=(replace(audit().inbox.files[0], path="a/" * 60 + "b.md"),))  # type: ignore[union-attr]  # fmt: skip
    async with audited(MadeInspection(audit(inbox=box)), size=(60, 20)) as app:
        await app.press("3", "m")
        await app.wait_for(lambda: isinstance(app.app.screen, PromptScreen), "the question")
        await app.press(*"seen")
        await app.sees("b.md:", "seen")


async def test_flag_asks_why_and_esc_leaves_it(audited: Auditing) -> None:
    async with audited() as app:
        await app.to_change(PREFS)
        await app.press("F")
        await app.wait_for(lambda: isinstance(app.app.screen, PromptScreen), "the question")
        await app.press("escape")
        await app.wait_for(lambda: isinstance(app.app.screen, AuditScreen), "back")
        assert said(app) == []
        await app.press("F", *"why", "enter")
        await app.wait_for(lambda: said(app) == [("flag", PREFS, "why")], "the mark")
        await app.sees("[!]")


async def test_a_note_is_written_beside_the_file_and_judges_nothing(audited: Auditing) -> None:
    async with audited() as app:
        await app.to_change(PREFS)
        await app.press("m", *"ask", "enter")
        await app.wait_for(lambda: said(app) == [("note", PREFS, "ask")], "the mark")
        await app.sees("noted by ada", '"ask"', "0 of 5 reviewed")


async def test_hunks_are_accepted_flagged_and_noted_one_by_one(audited: Auditing) -> None:
    async with audited() as app:
        await app.to_change(PREFS)
        await app.sees("hunk 1/2")
        await app.press("a")
        await app.wait_for(lambda: len(app.inspection.marks) == 1, "the mark")
        await app.sees("hunk 2/2", "1 of 2 hunks reviewed")
        await app.press("f", *"no", "enter")
        await app.wait_for(lambda: len(app.inspection.marks) == 2, "the other mark")
        first, second = app.inspection.marks
        assert first.hunk
        assert second.hunk
        assert first.hunk != second.hunk
        assert (first.verdict, second.verdict, second.words) == (ReviewVerdict.ACCEPT, ReviewVerdict.FLAG, "no")
        signs = [app.screen.diff.render_line(y).text[:1] for y in range(12)]
        assert "x" in signs
        assert "!" in signs
        await app.press("N", "M", *"hm", "enter")
        await app.wait_for(lambda: app.inspection.marks[-1].words == "hm", "the note")
        assert app.inspection.marks[-1].hunk == first.hunk


async def test_a_run_is_one_row_that_opens_and_is_accepted_as_one(audited: Auditing) -> None:
    async with audited() as app:
        await app.press("3")
        await app.sees("facts lost 1", "licence key of the importer", "dream-3")
        changes = app.screen.lists.changes
        assert isinstance(changes.cursor_item, ChangeRunRow)
        await app.press("enter")
        await app.wait_for(lambda: changes.row_count == 6, "its files")
        await app.press("down")
        assert isinstance(changes.cursor_item, ChangedFileRow)
        await app.press("left", "left")
        await app.wait_for(lambda: changes.row_count == 4, "one row")
        await app.press("space")
        await app.wait_for(lambda: len(app.inspection.marks) == 2, "both marks")
        assert {path for _, path, _ in said(app)} == {"notes/old.md", "notes/older.md"}
        await app.sees("[x] ▸")


async def test_a_second_reviewer_sees_the_marks_of_the_first(audited: Auditing) -> None:
    box = marked([PREFS], ReviewVerdict.FLAG, "bob", "is this true?")
    async with audited(MadeInspection(audit(inbox=box))) as app:
        await app.to_change(PREFS)
        await app.sees("[!]", "flagged by bob", '"is this true?"', "1 of 5 reviewed")


async def test_what_changed_since_it_was_accepted_says_so(audited: Auditing) -> None:
    made = audit()
    assert made.inbox is not None
    old = ReviewMark(reviewer="bob", at_us=AT_US, verdict=ReviewVerdict.ACCEPT, path=PREFS)
    files = tuple(replace(each, earlier=old) if each.path == PREFS else each for each in made.inbox.files)
    async with audited(MadeInspection(replace(made, inbox=replace(made.inbox, files=files)))) as app:
        await app.to_change(PREFS)
        await app.sees("Has changed since it was accepted")


async def test_a_mark_that_cannot_be_written_is_not_shown_as_if_it_were(audited: Auditing) -> None:
    async with audited() as app:
        app.inspection.refuses = StateUnusable("Nothing was noted: the disk is full.")
        await app.to_change(PREFS)
        await app.press("space")
        await app.wait_for(lambda: app.message == "Nothing was noted: the disk is full.", "the reason")
        assert "[x]" not in app.text


async def test_keys_of_a_review_say_where_the_changes_are_when_pressed_on_findings(audited: Auditing) -> None:
    async with audited() as app:
        for key in ("space", "F", "m", "a", "f", "M"):
            app.screen.message.show_message("")
            await app.press(key)
            await app.wait_for(lambda: "3 goes to them" in app.message, key)
        assert app.inspection.marks == []


async def test_the_next_unreviewed_file_is_found_inside_a_run_too(audited: Auditing) -> None:
    box = marked([PREFS, "people/me.md", "notes/2026-11-21-standup.md"], ReviewVerdict.ACCEPT)
    async with audited(MadeInspection(audit(inbox=box)), on_changes=True) as app:
        await app.press("right_square_bracket")
        await app.wait_for(
            lambda: app.screen.lists.file is not None and app.screen.lists.file.path == "notes/old.md", "the file"
        )


async def test_the_next_unreviewed_file_is_gone_to_from_anywhere_or_said_not_to_be_listed(audited: Auditing) -> None:
    async with audited(size=(80, 24)) as app:
        await app.press("right_square_bracket")
        await app.wait_for(lambda: app.screen.lists.file is not None, "a file")
        assert app.screen.focused is app.screen.lists.changes
        await app.press("slash", *"nowhere", "enter")
        await app.wait_for(lambda: app.screen.lists.changes.cursor_item is None, "no file")
        await app.press("right_square_bracket")
        await app.sees("is not reviewed, but the filter hides it.")


async def test_the_end_of_a_review_names_what_is_unreviewed_and_the_next_starts_there(audited: Auditing) -> None:
    async with audited() as app:
        await app.to_change(PREFS)
        await app.press("space")
        await app.wait_for(lambda: len(app.inspection.marks) == 1, "the mark")
        await app.press("D")
        await app.wait_for(lambda: isinstance(app.app.screen, ConfirmScreen), "the question")
        assert "4 of 5 changed files are not reviewed" in app.text
        assert "notes/2026-11-21-standup.md" in app.text
        await app.press("enter")
        await app.wait_for(lambda: isinstance(app.app.screen, AuditScreen), "back")
        assert app.inspection.finished == 0
        await app.press("D")
        await app.wait_for(lambda: isinstance(app.app.screen, ConfirmScreen), "the question")
        await app.press("y")
        await app.sees("Nothing to review:", "nothing changed since the last review, by ada.")
        assert app.inspection.finished == 1
        assert "Written to ~/.local/state/memtui/reviews/memories.json." in app.message


async def test_a_review_can_be_ended_where_nothing_changed(audited: Auditing) -> None:
    nothing = Inbox(since=16, since_us=AT_US, since_words="the last review, by ada", until=16, files=())
    async with audited(MadeInspection(audit(inbox=nothing))) as app:
        await app.press("D")
        await app.sees("End the review? Nothing changed since the last review.")


# Taking back, in an ordinary session


async def test_a_hunk_is_taken_back_once_it_is_chosen_and_marked_as_reverted(audited: Auditing) -> None:
    async with audited(MadeInspection(can_revert=True)) as app:
        assert "READ-ONLY" not in app.text
        await app.to_change(PREFS)
        await app.press("r")
        await app.wait_for(lambda: isinstance(app.app.screen, MenuScreen), "what is asked")
        await app.sees("this hunk, 1 of 2", "the whole file: its earlier text")
        await app.press("escape")
        await app.wait_for(lambda: isinstance(app.app.screen, AuditScreen), "back")
        assert app.inspection.reverted == []
        await app.press("r", "h")
        await app.wait_for(lambda: len(app.inspection.reverted) == 1, "the hunk")
        path, hunk = app.inspection.reverted[0]
        assert path == PREFS
        assert hunk
        await app.wait_for(
            lambda: [mark.verdict for mark in app.inspection.marks] == [ReviewVerdict.REVERTED], "the mark"
        )
        await app.wait_for(lambda: "Reverted hunk 1" in app.message, "what was done")
        await app.wait_for(lambda: app.inspection.looks == 2, "another look")


async def test_a_file_is_taken_back_as_a_whole(audited: Auditing) -> None:
    async with audited(MadeInspection(can_revert=True)) as app:
        await app.to_change("people/me.md")
        await app.press("r")
        await app.sees("the whole file: delete it")
        await app.press("f")
        await app.wait_for(lambda: app.inspection.reverted == [("people/me.md", "")], "the file")
        await app.wait_for(lambda: "u undoes that." in app.message, "what undoes it")


# Reports, history


async def test_a_report_is_written_where_one_says_and_never_over_another_without_a_yes(audited: Auditing) -> None:
    async with audited() as app:
        await app.press("o")
        await app.sees("Markdown, for a pull request", "SARIF 2.1.0")
        await app.press("j")
        await app.wait_for(lambda: isinstance(app.app.screen, PromptScreen), "where")
        await app.press(*"/r/a.json", "enter")
        await app.wait_for(lambda: app.inspection.written == [("json", "/r/a.json", False)], "the report")
        await app.wait_for(lambda: app.message == "Wrote the report to /r/a.json.", "where it is")
        app.inspection.existing.add("/r/a.json")
        await app.press("o", "j", *"/r/a.json", "enter")
        await app.sees("/r/a.json exists. Replace it?")
        await app.press("n")
        await app.wait_for(lambda: app.message == "Nothing was written.", "the no")
        await app.press("o", "j", *"/r/a.json", "enter")
        await app.sees("Replace it?")
        await app.press("y")
        await app.wait_for(lambda: app.inspection.written[-1] == ("json", "/r/a.json", True), "the other report")


async def test_a_report_without_a_name_goes_to_the_directory_one_is_in(audited: Auditing) -> None:
    async with audited() as app:
        await app.press("o", "m", "enter")
        await app.wait_for(lambda: bool(app.inspection.written), "the report")
        format, path, _ = app.inspection.written[0]
        assert format == "md"
        assert path.endswith(".md")
        assert "memtui-audit-" in path


async def test_a_report_that_is_refused_says_why(audited: Auditing) -> None:
    async with audited() as app:
        app.inspection.refuses = StateUnusable("Refused: it is inside the memory folder. Nothing was written.")
        await app.press("o", "t", *"x", "enter")
        await app.wait_for(lambda: app.message.startswith("Refused: it is inside"), "the reason")


async def test_a_file_without_a_record_has_no_history_to_show(audited: Auditing) -> None:
    async with audited() as app:
        await app.press("V")
        await app.wait_for(lambda: app.message == "project/status.json has no history.", "the answer")
        assert not isinstance(app.app.screen, HistoryScreen)
