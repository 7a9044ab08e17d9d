"""Two walls: text becomes content in one place, and nothing dangerous passes to the terminal after that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import ControlType, Segment
from rich.style import Style
from textual.color import Color

from memtui.ui.terminal import TerminalSanitizer
from memtui.ui.theme import to_content, truncate, truncate_middle, wrap_paths

BLACK = Color(0, 0, 0)
HOSTILE = [
    "\x1b]52;c;QQ==\x07",
    "\x9b2J",
    "\x00",
    "\x7f",
    "\u202e",
    "\u200b",
    "\u2066",
    "\U000e0041",
    "\ud800",
]


@pytest.mark.parametrize("text", ["[/x]", "[@click=app.quit]x[/]", "[b]bold[/b]", "\\[x]"])
def test_markup_stays_text(text: str) -> None:
    shown = to_content(text)
    assert shown.plain == text
    assert not any("@click" in str(span.style) for span in shown.spans)


@pytest.mark.parametrize("text", HOSTILE)
def test_content_names_hidden_characters(text: str) -> None:
    shown = to_content(f"a{text}b").plain
    assert text not in shown
    assert shown.isprintable()
    assert "\\x" in shown or "<U+" in shown


def test_content_keeps_emoji_and_scripts_that_need_joiners() -> None:
    for text in ("👨\u200d👩\u200d👧", "❤\ufe0f", "می\u200cخواهم", "🏳\ufe0f\u200d🌈", "1\ufe0f\u20e3"):
        assert to_content(text).plain == text


def test_joiners_that_join_nothing_are_hidden_text() -> None:
    assert to_content("a\u200d\u200cb").plain == "a<U+200D><U+200C>b"
    assert to_content("x\ufe0f\ufe0e.").plain == "x<U+FE0F><U+FE0E>."


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp", "Mn", "Me", "Mc"])),
    st.integers(0, 30),
)
def test_fitted_text_never_exceeds_its_width(text: str, width: int) -> None:
    for fitted in (truncate(text, width), truncate_middle(text, width)):
        assert cell_len(fitted) <= width
        if cell_len(text) <= width:
            assert fitted == text


def test_names_keep_start_and_extension() -> None:
    assert truncate_middle("2026-11-21-standup-notes.md", 18) == "2026-11-2..otes.md"
    assert truncate("a long sentence", 9) == "a long.."


@given(st.text(st.sampled_from("a/ .日-"), max_size=80), st.integers(2, 30))
def test_wrapped_paths_lose_no_character_and_never_exceed_the_width(text: str, width: int) -> None:
    rows = wrap_paths(text, width)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")
    assert all(cell_len(row) <= width for row in rows)


def test_a_long_path_is_broken_after_a_slash() -> None:
    assert wrap_paths("edit a/b/long-name.md now", 14) == ["edit a/b/", "long-name.md", "now"]
    assert wrap_paths("edit a-name-without-slash", 10) == ["edit", "a-name-wit", "hout-slash"]


@pytest.mark.parametrize("text", HOSTILE)
def test_the_gate_removes_what_drives_a_terminal_and_keeps_the_width(text: str) -> None:
    segment = Segment(f"a{text}b\n\t", Style(bold=True))
    [cleaned] = TerminalSanitizer().apply([segment], BLACK)
    assert cleaned.text.isprintable()
    assert cleaned.cell_length == segment.cell_length
    assert cleaned.style == Style(bold=True)


def test_the_gate_returns_clean_lines_untouched() -> None:
    segments = [Segment("plain"), Segment("👨\u200d👩\u200d👧 ❤\ufe0f", Style(bold=True))]
    assert TerminalSanitizer().apply(segments, BLACK) is segments


def test_the_gate_drops_terminal_hyperlinks_but_not_the_mouse_meta() -> None:
    style = Style(link="vscode://x", bold=True) + Style.from_meta({"offset": (1, 2)})
    [cleaned] = TerminalSanitizer().apply([Segment("x", style)], BLACK)
    assert cleaned.style is not None
    assert cleaned.style.link is None
    assert cleaned.style.bold
    assert cleaned.style.meta == {"offset": (1, 2)}


def test_the_gate_leaves_control_segments_alone() -> None:
    control = Segment("\x1b[2J", None, [(ControlType.CLEAR,)])
    bad = Segment("\x1b")
    assert TerminalSanitizer().apply([control, bad], BLACK)[0] is control


@given(st.text())
def test_nothing_unsafe_ever_passes_the_gate(text: str) -> None:
    joined = "".join(segment.text for segment in TerminalSanitizer().apply([Segment(text)], BLACK))
    assert not any(ord(character) < 32 or 0x7F <= ord(character) < 0xA0 for character in joined)
    assert not set(joined) & set("\u202a\u202e\u2066\u200b\ufeff")
