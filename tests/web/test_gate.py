"""Who is let in: each of these requests is judged before a process is started."""

from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import urlsplit

import pytest

from memtui.web.gate import Admitted, Asset, Exchanged, Gate, Refused, Verdict

HOST = "127.0.0.1:8500"
ORIGIN = f"http://{HOST}"


def judge(gate: Gate, target: str, *, method: str = "GET", **headers: str | list[str]) -> Verdict:
    given = {"Host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}

    def get(name: str) -> list[str]:
        value = given.get(name, [])
        return [value] if isinstance(value, str) else value

    return gate.judge(method, target, get)


def token_target(gate: Gate) -> str:
    parts = urlsplit(gate.address)
    return f"{parts.path}?{parts.query}"


@pytest.fixture
def gate() -> Gate:
    return Gate(8500)


@pytest.fixture
def session(gate: Gate) -> tuple[str, str]:
    """The path and the cookie of a session."""
    verdict = judge(gate, token_target(gate))
    assert isinstance(verdict, Exchanged)
    return verdict.location, verdict.cookie.partition(";")[0]


def test_the_token_is_exchanged_once_for_a_cookie_that_only_this_page_is_sent(gate: Gate) -> None:
    target = token_target(gate)
    verdict = judge(gate, target)
    assert isinstance(verdict, Exchanged)
    assert {"HttpOnly", "SameSite=Strict", f"Path={verdict.location}"} <= set(verdict.cookie.split("; "))
    assert len(verdict.location) > 20
    again = judge(gate, target)
    assert isinstance(again, Refused)
    assert again.status == HTTPStatus.FORBIDDEN
    assert "used already" in again.sentence


def test_a_token_is_not_that_of_another_server(gate: Gate) -> None:
    assert isinstance(judge(gate, token_target(Gate(8500))), Refused)
    assert isinstance(judge(gate, token_target(gate)), Exchanged), "a wrong guess does not use it up"


@pytest.mark.parametrize("target", ["/", "/?token=", "/?token=%FF", "/?token=é", "/?x=1"])
def test_without_the_token_there_is_no_session(gate: Gate, target: str) -> None:
    assert isinstance(judge(gate, target), Refused)


def test_a_browser_that_loads_ahead_does_not_use_the_token_up(gate: Gate) -> None:
    assert isinstance(judge(gate, token_target(gate), Sec_Purpose="prefetch;prerender"), Refused)
    assert isinstance(judge(gate, token_target(gate)), Exchanged)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example:8500"}, HTTPStatus.MISDIRECTED_REQUEST),
        ({"Host": "127.0.0.1:8501"}, HTTPStatus.MISDIRECTED_REQUEST),
        ({"Host": "127.0.0.1"}, HTTPStatus.MISDIRECTED_REQUEST),
        ({"Host": []}, HTTPStatus.MISDIRECTED_REQUEST),
        ({"Host": [HOST, "evil.example"]}, HTTPStatus.MISDIRECTED_REQUEST),
        ({"Origin": "http://evil.example"}, HTTPStatus.FORBIDDEN),
        ({"Origin": "http://127.0.0.1:9999"}, HTTPStatus.FORBIDDEN),
        ({"Origin": "http://localhost:8500"}, HTTPStatus.FORBIDDEN),
        ({"Origin": f"https://{HOST}"}, HTTPStatus.FORBIDDEN),
        ({"Origin": "null"}, HTTPStatus.FORBIDDEN),
        ({"Origin": [ORIGIN, "http://evil.example"]}, HTTPStatus.FORBIDDEN),
        ({"Origin": []}, HTTPStatus.FORBIDDEN),
        ({"Cookie": []}, HTTPStatus.FORBIDDEN),
        ({"Cookie": "memtui="}, HTTPStatus.FORBIDDEN),
        ({"Cookie": "memtui=x; other=y"}, HTTPStatus.FORBIDDEN),
        ({"method": "POST"}, HTTPStatus.METHOD_NOT_ALLOWED),
        ({"method": "HEAD"}, HTTPStatus.METHOD_NOT_ALLOWED),
    ],
)
def test_the_websocket_opens_only_with_host_origin_and_cookie(
    gate: Gate, session: tuple[str, str], headers: dict[str, str], status: HTTPStatus
) -> None:
    path, cookie = session
    right = {"Origin": ORIGIN, "Cookie": f"other=1; {cookie}"}
    assert judge(gate, f"{path}screen", **right) == Admitted()
    verdict = judge(gate, f"{path}screen", **{**right, **headers})
    assert isinstance(verdict, Refused)
    assert verdict.status == status


def test_the_page_needs_the_cookie_and_its_path(gate: Gate, session: tuple[str, str]) -> None:
    path, cookie = session
    assert judge(gate, path, Cookie=cookie) == Asset("page.html")
    assert judge(gate, f"{path}page.js", Cookie=cookie) == Asset("page.js")
    for target in (f"{path}../server.py", f"{path}gate.py", f"{path}page.html"):
        verdict = judge(gate, target, Cookie=cookie)
        assert isinstance(verdict, Refused)
    for other in ("/page.js", "/x/page.js", "/screen"):
        assert isinstance(judge(gate, other, Cookie=cookie), Refused)
    assert isinstance(judge(gate, path), Refused)


def test_a_name_of_this_machine_is_a_host_too(gate: Gate) -> None:
    make: Callable[[], Verdict] = lambda: judge(gate, token_target(gate), Host="localhost:8500")  # noqa: E731
    assert isinstance(make(), Exchanged)
