"""Programs of somebody else's: where they are, and running one to its end."""

import json
import os
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PACKAGES = HERE / "node_modules"
LIMIT = 180.0
"""Seconds that a program of somebody else's may take."""


def package(name: str) -> Path:
    """A package that a test needs; without it the test is skipped."""
    if shutil.which("node") is None:
        pytest.skip("needs Node, which is not installed")
    path = PACKAGES / name
    if not path.is_dir():
        pytest.skip(f"needs {name}: cd tests/node && npm install --no-package-lock")
    return path


def native_programs(name: str) -> list[Path]:
    """The packages that bring a program of such a package for this system; where npm has none, the test is skipped."""
    wanted = json.loads((package(name) / "package.json").read_text(encoding="utf-8"))["optionalDependencies"]
    found = [path for each in wanted if (path := PACKAGES / each).is_dir()]
    if not found:
        pytest.skip(f"npm has no program of {name} for this system")
    return found


def run(
    *words: object, cwd: Path | None = None, env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end."""
    return subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=LIMIT,
        cwd=cwd,
        env=env,
        check=False,
    )


def find_claude_code() -> Path:
    """Claude Code's program; npm has none for some systems, and there the test is skipped."""
    assert native_programs("@anthropic-ai/claude-code")
    program = package("@anthropic-ai/claude-code") / "cli-wrapper.cjs"  # works where npm ran no scripts, too
    done = run("node", program, "--version")
    assert done.returncode == 0, done.stdout + done.stderr
    return program


def run_claude_code(program: Path, *words: object, home: Path, work: Path, url: str) -> dict[str, Any]:
    """Run Claude Code against a model on this machine; what it says at the end."""
    done = run("node", program, *words, "--output-format", "json", cwd=work, env=_get_environment(home, url))
    assert done.returncode == 0, done.stdout + done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def _get_environment(home: Path, url: str) -> dict[str, str]:
    return {
        **{name: os.environ[name] for name in ("PATH", "PYTHONPATH", "XDG_STATE_HOME")},
        "HOME": str(home),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def attend_claude_code(program: Path, prompt: str, *, home: Path, work: Path, url: str) -> list[dict[str, Any]]:
    """Run Claude Code with a user who allows what it asks about; what the user was asked, as its SDK is told."""
    words = ["-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"]
    asked: list[dict[str, Any]] = []
    with subprocess.Popen(
        ["node", str(program), *words, "--permission-prompt-tool", "stdio"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        cwd=work, env=_get_environment(home, url),
    ) as process:  # fmt: skip
        guard = threading.Timer(LIMIT, process.kill)
        guard.start()
        assert process.stdin
        assert process.stdout

        def send(**message: object) -> None:
            assert process.stdin
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()

        send(type="control_request", request_id="first", request={"subtype": "initialize", "hooks": None})
        send(type="user", message={"role": "user", "content": prompt}, parent_tool_use_id=None, session_id="")
        for line in process.stdout:
            message = json.loads(line)
            if message["type"] == "result":
                process.stdin.close()
            elif message["type"] == "control_request":
                asked.append(message["request"])
                allowed = {"behavior": "allow", "updatedInput": message["request"]["input"]}
                answer = {"subtype": "success", "request_id": message["request_id"], "response": allowed}
                send(type="control_response", response=answer)
        guard.cancel()
    assert process.returncode == 0
    return asked
