"""A model's opinions on the audit screen: what would be sent is shown, asked about, and what comes back is shown."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.ui.controller import Controller, controller_work
from memtui.ui.key_names import join_labels
from memtui.ui.screens.above_browser import DiffPaneScreen
from memtui.ui.screens.audit_run import RunController
from memtui.ui.screens.dialogs import ConfirmScreen
from memtui.ui.theme import to_content

if TYPE_CHECKING:  # start-up: loads the rules
    from memtui.audit.opinions import OpinionAsker, OpinionRequest

_Result = TypeVar("_Result")


class ConsentScreen(ConfirmScreen):
    """Asks whether lines may be sent, with all of them above the question."""

    DEFAULT_CSS = """
    ConsentScreen { background: $background 60%; }
    ConsentScreen VerticalScroll {
        height: 1fr; padding: 0 1; background: $surface; border: round $accent; border-title-color: $text-accent;
        border-title-style: bold; border-subtitle-color: $foreground; scrollbar-size-vertical: 1;
    }
    ConsentScreen VerticalScroll Static { height: auto; }
    """

    def __init__(self, question: str, lines: Sequence[str]) -> None:
        super().__init__(question, f"{join_labels('ask.no')}: nothing is sent.")
        self._lines = lines

    def compose(self) -> ComposeResult:
        with VerticalScroll() as scroll:
            yield Static(Content("\n").join([to_content(line) for line in self._lines]))
        scroll.border_title = "To be sent, with memtui's instructions"
        scroll.border_subtitle = "Up/Down scroll"
        yield from super().compose()

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()


class OpinionsController(Controller[DiffPaneScreen]):
    """Asks a model for its opinion on the findings that rest on wording."""

    def __init__(self, screen: DiffPaneScreen, run: RunController) -> None:
        super().__init__(screen)
        self.lists = run.lists
        self.detail = run.detail
        self.run = run

    @controller_work(exclusive=True, group="opinions")
    async def action_ask_model(self) -> None:
        """Show what would be sent, ask whether it may be, and show the opinions."""
        from memtui.audit.opinions import add_answers, format_opinions, prepare_request  # noqa: PLC0415 - start-up: loads the rules

        audit, asker = self.lists.audit, self.lists.inspection.asker
        if audit is None:
            self.lists.show_no_audit_reason()
            return
        if asker is None:
            self.screen.message.show_message("No model is available here.")
            return
        request = await asyncio.to_thread(prepare_request, audit, asker)
        if not request.passages:
            self.screen.message.show_message(format_opinions("", {}, left_out=0, fault=""))
            return
        if request.unsent and not await self._agree(request, asker):
            return
        answers = await _run_apart(lambda: asker.ask(request.passages, self._report_progress))
        words = add_answers(audit, request, answers).opinions
        self._show_opinions(asker)
        self.screen.message.show_message(to_one_line(words), warning=bool(answers.fault))

    async def _agree(self, request: "OpinionRequest", asker: "OpinionAsker") -> bool:
        from memtui.audit.opinions import DISAGREED, describe_request, list_sent  # noqa: PLC0415 - as above

        question = f"{describe_request(request, asker)} Send this?"
        if not await self.app.push_screen_wait(ConsentScreen(question, list(list_sent(request)))):
            self.screen.message.show_message(DISAGREED)
            return False
        words = f"Asking {to_one_line(asker.model or 'the newest model')} about "
        self.screen.message.show_message(f"{words}{format_count(len(request.unsent), 'passage')}.", is_news=True)
        return True

    def _report_progress(self, done: int, of: int) -> None:
        """From the thread that asks."""
        words = f"{done:,} of {format_count(of, 'passage')} judged."
        self.app.call_from_thread(self.screen.message.show_message, words)

    def _show_opinions(self, asker: "OpinionAsker") -> None:
        """Show them beside the findings of the audit that is on the screen by now."""
        from memtui.audit.opinions import add_kept_opinions  # noqa: PLC0415 - as above

        if self.lists.audit is not None:
            self.lists.audit = self.run.summary.audit = add_kept_opinions(self.lists.audit, asker)
            self.lists.show_findings()
            self.detail.show_detail(keep_place=True)


async def _run_apart(call: Callable[[], _Result]) -> _Result:
    """The result of a call that may take minutes, from a thread for which nobody waits who leaves meanwhile."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_Result] = loop.create_future()

    def settle(result: _Result | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, error = None, None
        try:
            result = call()
        except Exception as raised:  # it is raised where it is waited for
            error = raised
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name="memtui-opinions", daemon=True).start()
    return await future
