"""What the person is answered stays long enough to be read, whatever happens meanwhile."""

import asyncio

from textual.app import App, ComposeResult

from memtui.ui import frame
from memtui.ui.frame import MessageLine
from tests.ui.conftest import until


class Alone(App[None]):
    def compose(self) -> ComposeResult:
        yield MessageLine()


async def test_news_wait_for_an_answer_and_the_newest_is_shown_then() -> None:
    app = Alone()
    async with app.run_test() as pilot:
        line = app.query_one(MessageLine)
        line.show_message("news before", is_news=True)
        assert line.text == "news before"
        line.show_message("an answer")
        line.show_message("old news", is_news=True)
        line.show_message("newest news", is_news=True, warning=True)
        assert line.text == "an answer"
        until = asyncio.get_running_loop().time() + 5 * frame.HELD_SECONDS
        while line.text != "newest news":
            assert line.text == "an answer"
            assert asyncio.get_running_loop().time() < until
            await pilot.pause(0.01)
        assert line.has_class("-warning")
        line.show_message("another answer")
        assert line.text == "another answer"


async def test_other_news_takes_the_place_of_an_offer_neither_before_it_is_shown_nor_before_it_is_read() -> None:
    app = Alone()
    async with app.run_test() as pilot:
        line = app.query_one(MessageLine)
        line.show_message("an answer")
        line.show_message("old news", is_news=True)
        line.show_message("an offer", hint=":take takes it.", is_news=True, is_offer=True)
        line.show_message("its reason", is_news=True)
        assert line.text == "an answer"
        await until(pilot, lambda: line.text != "an answer")
        assert (line.text, line.hint) == ("an offer", ":take takes it.")
        line.show_message("more news", is_news=True)
        assert line.text == "an offer"
        await until(pilot, lambda: line.text == "more news")


async def test_a_long_sentence_on_what_went_wrong_is_shown_to_its_end_and_a_long_answer_keeps_to_its_line() -> None:
    app = Alone()
    async with app.run_test(size=(40, 10)) as pilot:
        line = app.query_one(MessageLine)
        line.show_message("The disk is full. Nothing was written; it is as it was before.", warning=True)
        await pilot.pause()
        assert line.size.height == 2
        shown = " ".join("".join(part.text for part in line.render_line(row)).strip() for row in range(2))
        assert shown.endswith("as it was before.")
        line.show_message("An answer that is longer than the forty cells which there are for it")
        await pilot.pause()
        assert line.size.height == 1
        line.show_message("Short.", warning=True)
        await pilot.pause()
        assert line.size.height == 1
        line.show_message("too long " * 40, warning=True)
        await pilot.pause()
        assert line.size.height == 3
