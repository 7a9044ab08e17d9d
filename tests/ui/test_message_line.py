"""What the person is answered stays long enough to be read, whatever happens meanwhile."""

import asyncio

from textual.app import App, ComposeResult

from memtui.ui import frame
from memtui.ui.frame import MessageLine


class Alone(App[None]):
    def compose(self) -> ComposeResult:
        yield MessageLine()


async def test_news_wait_for_an_answer_and_the_newest_is_shown_then() -> None:
    app = Alone()
    async with app.run_test() as pilot:
        line = app.query_one(MessageLine)
        line.say("news before", is_news=True)
        assert line.text == "news before"
        line.say("an answer")
        line.say("old news", is_news=True)
        line.say("newest news", is_news=True, warning=True)
        assert line.text == "an answer"
        until = asyncio.get_running_loop().time() + 5 * frame.HELD_SECONDS
        while line.text != "newest news":
            assert line.text == "an answer"
            assert asyncio.get_running_loop().time() < until
            await pilot.pause(0.01)
        assert line.has_class("-warning")
        line.say("another answer")
        assert line.text == "another answer"
