"""The protocol's own conformance suite. What fails must be on our list, and what is on it must fail."""

import re
from pathlib import Path

from tests.node.programs import HERE, package, run

EXPECTED = HERE / "expected-failures.yml"


def test_the_server_passes_the_suite_but_for_what_is_listed(served: str, tmp_path: Path) -> None:
    program = package("@modelcontextprotocol/conformance") / "dist" / "index.js"
    done = run("node", program, "server", "--url", served, "--expected-failures", EXPECTED, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr
    for passed in ("server-initialize", "ping", "tools-list", "resources-list", "prompts-list"):
        assert re.search(rf"✓ {passed}: \d+ passed, 0 failed", done.stdout), done.stdout
    assert re.search(r"✓ dns-rebinding-protection: \d+ passed, 0 failed", done.stdout)
    assert re.search(r"✓ server-sse-multiple-streams: \d+ passed, 0 failed", done.stdout)
