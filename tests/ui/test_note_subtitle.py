"""The lower edge of the note's pane keeps the tokens whole, and gives up words that stand elsewhere too."""

import pytest

from memtui.ui.frame import format_note_subtitle

INDEX = {"change": "you 1s ago", "lines": "1-5/5", "size": "204 B", "tokens": "~50 tok each session"}
MODEL = {
    "change": "Claude 0s ago",
    "view": "as the model sees it",
    "lines": "1-8/13",
    "size": "204 B",
    "tokens": "~51 tok",
}


@pytest.mark.parametrize(
    ("words", "width", "shown"),
    [
        (INDEX, 80, "you 1s ago   1-5/5   204 B   ~50 tok each session"),
        (INDEX, 50, "you 1s ago   1-5/5   ~50 tok each session"),
        (MODEL, 50, "as the model sees it   1-8/13   ~51 tok"),
        (MODEL, 40, "as the model sees it   ~51 tok"),
        ({"change": "", "protected": "protected", **MODEL}, 60, "protected   as the model sees it   1-8/13   ~51 tok"),
        ({"change": "two\nlines"}, 80, r"two\nlines"),
        ({}, 80, ""),
    ],
)
def test_the_size_gives_way_first_then_the_change_then_the_lines(words: dict[str, str], width: int, shown: str) -> None:
    assert format_note_subtitle(words, width) == shown
