"""What an editor is given of a file, and that it is kept as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.core.text_format import PLAIN, NotText, parse_text

_PIECE = st.sampled_from(["a", "b ", "é", "\n", "\r\n", "\r", "\ufeff", "\u2028", "\x0b", "\x85", "\t", "\x1b"])


@given(st.builds("".join, st.lists(_PIECE, max_size=20)), st.booleans())
def test_an_untouched_text_is_kept_byte_for_byte(text: str, bom: bool) -> None:
    data = b"\xef\xbb\xbf" * bom + text.encode()
    shape = parse_text(data)
    assert shape.encode(shape.text) == data


@pytest.mark.parametrize(
    ("data", "text", "line_end", "final"),
    [
        (b"", "", "", False),
        (b"a", "a", "", False),
        (b"a\nb\n", "a\nb\n", "LF", True),
        (b"a\r\nb", "a\nb", "CRLF", False),
        (b"a\rb\r", "a\nb\n", "CR", True),
        (b"a\r\nb\nc\r\n", "a\nb\nc\n", "mixed", True),
        (b"10%\r20%\ndone\n", "10%\r20%\ndone\n", "LF", True),  # no line end to the agent either
    ],
)
def test_line_ends_are_told_and_kept_out_of_the_text(data: bytes, text: str, line_end: str, final: bool) -> None:
    shape = parse_text(data)
    assert (shape.text, shape.line_ending, shape.has_final_newline) == (text, line_end, final)


def test_what_is_typed_takes_the_end_of_the_others() -> None:
    assert parse_text(b"a\r\nb\r\n").encode("a\nnew\nb\n") == b"a\r\nnew\r\nb\r\n"
    assert parse_text(b"a\rb").encode("a\nb\nc") == b"a\rb\rc"
    assert parse_text(b"a").encode("a\nb\n") == b"a\nb\n"
    assert parse_text(b"\xef\xbb\xbfa\n").encode("") == b"\xef\xbb\xbf"
    assert PLAIN.encode("a\n") == b"a\n"


def test_of_mixed_ends_each_line_keeps_its_own() -> None:
    shape = parse_text(b"one\r\ntwo\nthree\r\nfour")
    assert shape.encode("one\nTWO\nthree\nfour") == b"one\r\nTWO\nthree\r\nfour"  # the line changed, its end did not
    assert shape.encode("two\nthree\nfour") == b"two\nthree\r\nfour"
    assert shape.encode("new\none\ntwo\nthree\nfour\nfive") == b"new\r\none\r\ntwo\nthree\r\nfour\r\nfive"
    assert shape.encode("one\ntwo\nthree\nfour\n") == b"one\r\ntwo\nthree\r\nfour\r\n"


@pytest.mark.parametrize(
    ("data", "offset", "words"),
    [
        (b"ok\nb\xff\n", 4, "byte 5, in line 2"),
        (b"\xef\xbb\xbfab\xc3", 5, "byte 6, in line 1"),
        (b"a\0b", 1, "binary"),
        ("hello".encode("utf-16"), 0, "UTF-16"),
        ("hello".encode("utf-32"), 0, "UTF-32"),
    ],
)
def test_what_is_no_text_is_refused_and_the_place_is_said(data: bytes, offset: int, words: str) -> None:
    with pytest.raises(NotText, match=words) as caught:
        parse_text(data)
    assert caught.value.offset == offset


def test_half_a_character_is_refused_and_not_replaced() -> None:
    with pytest.raises(NotText, match="Line 2 holds half a character"):
        parse_text(b"a\n").encode("a\n\ud800")
