"""A regular expression that is compiled at its first use."""

import re

import pytest

from memtui.core.lazy_regex import compile_lazily


def test_it_finds_what_the_compiled_one_finds_and_is_compiled_once_a_method(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_really = re.compile

    def record(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return compile_really(pattern, flags)

    monkeypatch.setattr(re, "compile", record)
    regex = compile_lazily("a(.)b", re.DOTALL)
    assert regex.pattern == "a(.)b"
    assert compiled == []
    for _ in range(2):
        assert [found[1] for found in regex.finditer("a1b a\nb ab")] == ["1", "\n"]
        assert regex.sub(r"<\1>", "a1b") == "<1>"
    assert compiled == ["a(.)b"] * 2


def test_a_faulty_one_fails_when_it_is_used() -> None:
    regex = compile_lazily("(")
    with pytest.raises(re.error):
        regex.search("text")
