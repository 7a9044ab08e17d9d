"""Where links lead, and where they never do."""

import pytest

from memtui.notes.links import (
    ExternalLink,
    InternalLink,
    LinkTarget,
    LinkTargets,
    UnresolvedLink,
    find_links,
    resolve_link_target,
)
from memtui.ui.screens.external_link import open_external_link

_NOTES = {"a/note.md": "# Note\n[[#Here]]\n## Here\n", "a/other.md": "one\n\n## Two\n", "README.md": ""}


def _places(with_names: bool) -> LinkTargets:
    return LinkTargets(_NOTES, {"a/other.md": ["The other one"]} if with_names else None)


def _goal(text: str, path: str = "a/note.md") -> LinkTarget:
    (link,) = find_links(text, "")  # as the note shows it, which does not know where it is
    return resolve_link_target(link, source=text, path=path, places=_places, text_of=_NOTES.get)


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("[[other]]", InternalLink("a/other.md")),
        ("[x](other.md#two)", InternalLink("a/other.md", 3)),
        ("[x](other.md#three)", InternalLink("a/other.md", None, "a/other.md has no heading three.")),
        ("[x](../README.md)", InternalLink("README.md")),
        ("[x](/memories/README.md)", InternalLink("README.md")),
        ("@../README.md", InternalLink("README.md")),
        ("[[#Here]]", InternalLink("a/note.md", 3)),
        ("[x](#here)", InternalLink("a/note.md", 3)),
        ("[[the other one]]", InternalLink("a/other.md")),
        ("[[gone]]", UnresolvedLink("Broken link: there is no note gone.")),
        ("[x](../../etc/passwd)", UnresolvedLink("Not opened: ../../etc/passwd leads out of the memory folder.")),
        ("[x](/etc/passwd)", UnresolvedLink("Not opened: /etc/passwd leads out of the memory folder.")),
        ("@~/.claude/x.md", UnresolvedLink("Not opened: ~/.claude/x.md leads out of the memory folder.")),
        ("[x](..%2f..%2fREADME.md)", UnresolvedLink("Not opened: ..%2f..%2fREADME.md leads out of the memory folder.")),
        ("https://example.org/x?q#f", ExternalLink("https://example.org/x?q#f", "example.org")),
        ("[x](HTTP://example.org:8080)", ExternalLink("HTTP://example.org:8080", "example.org:8080")),
        ("[x](//example.org/x)", ExternalLink("https://example.org/x", "example.org")),
        ("<mailto:me@example.org?subject=x>", ExternalLink("mailto:me@example.org?subject=x", "me@example.org")),
    ],
)
def test_a_link_leads_to_its_goal(text: str, goal: LinkTarget) -> None:
    assert _goal(text) == goal


@pytest.mark.parametrize(
    ("text", "host", "warning"),
    [
        ("[x](https://good.example@evil.example/)", "evil.example", "The part before the @ is not the host"),
        ("[x](https://ex\u0430mple.org)", "ex\u0430mple.org", "letters of other scripts: xn--"),
        ("[x](https://xn--exmple-4nf.org)", "xn--exmple-4nf.org", "(xn--)"),
    ],
)
def test_what_is_odd_about_a_host_is_said(text: str, host: str, warning: str) -> None:
    goal = _goal(text)
    assert isinstance(goal, ExternalLink)
    assert goal.host == host
    assert warning in goal.warning


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)", "file:///etc/passwd", "vscode://x/y", "ssh://-oProxyCommand=x", "data:text/html,x",
        "https://", "https:///x", "http://[::1", "mailto:", "mailto:%0abcc@x.y",
        "https://x.y/\u0085z", "https://x.y/\u202ez", "https://x.y/a b",
    ],
)  # fmt: skip
def test_nothing_but_web_and_mail_is_ever_opened(target: str) -> None:
    assert isinstance(_goal(f"[x](<{target}>)"), UnresolvedLink)


def test_a_hostile_address_is_said_in_a_short_line() -> None:
    goal = _goal(f"[x](<javascript:\u202e{'a' * 500}>)")
    assert isinstance(goal, UnresolvedLink)
    assert "\u202e" not in goal.words
    assert len(goal.words) < 160


def test_an_address_is_handed_to_the_desktop_where_there_is_one() -> None:
    started: list[tuple[str, ...]] = []

    def start(command: object) -> bool:
        started.append(tuple(command))  # type: ignore[call-overload]
        return True

    address = "https://example.org"
    here = {"DISPLAY": ":0"}
    assert open_external_link(address, environment=here, find=lambda name: name, start=start)
    assert started == [("xdg-open", address)]
    assert not open_external_link(address, environment={}, find=lambda name: name, start=start)
    assert not open_external_link(address, environment=here, find=lambda _: None, start=start)
    assert not open_external_link(address, environment=here, find=lambda name: name, start=lambda _: False)
    assert len(started) == 1
