"""The engine against the memory tool of the SDK for TypeScript: each difference is one that has a name."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.test_against_reference import LENGTH, RULES, Ask, Said, Turn, compare
from tests.node.programs import HERE, package

SEQUENCES = 250
_SERVE = """
import { createInterface } from "node:readline";
import { BetaLocalFilesystemMemoryTool } from "@anthropic-ai/sdk/tools/memory/node";
let tool;
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  let said;
  try {
    if (asked.top) tool = await BetaLocalFilesystemMemoryTool.init(asked.top);
    said = { text: asked.top ? "" : await tool[asked.command](asked) };
  } catch (error) {
    said = { error: error.message, raised: error.code ?? "" };
  }
  console.log(JSON.stringify(said));
}
"""


@pytest.fixture
def reference() -> Iterator[Callable[[Path], Ask]]:
    """Makes who is asked, over `memories` below a directory."""
    package("@anthropic-ai/sdk")
    words = ["node", "--input-type=module", "-e", _SERVE]
    with subprocess.Popen(words, cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def ask(command: dict[str, Any]) -> Said:
            assert process.stdin
            assert process.stdout
            process.stdin.write(json.dumps(command) + "\n")
            process.stdin.flush()
            said = json.loads(process.stdout.readline())
            return Said(True, said["error"], said["raised"]) if "error" in said else Said(False, said["text"])

        def make(top: Path) -> Ask:
            ask({"top": str(top)})
            return ask

        yield make
        process.terminate()


TYPESCRIPT: dict[str, Callable[[Turn], bool]] = {
    "below a file: a sentence instead of a raw exception (TypeScript)": lambda t: (
        t.theirs.raised == "ENOTDIR"
        and t.ours.text.endswith(
            ("does not exist", "Please provide a valid path.", "is a file, not a directory", "directory itself")
        )
    ),
    "the range of `insert_line` is said in the words of the documentation": lambda t: (
        t.name == "insert"
        and t.ours.text.startswith("Invalid `insert_line` parameter: ")
        and t.theirs.text.startswith(t.ours.text.partition("range [")[0] + "range of lines of the file: [")
    ),
    "behind a newline there is no further line to insert after": lambda t: (
        t.name == "insert"
        and (t.text == "" or t.text.endswith("\n"))
        and t.command["insert_line"] == t.text.count("\n") + 1
        and t.ours.text.startswith("Invalid `insert_line` parameter: ")
        and not t.theirs.is_error
    ),
    "a text that something is inserted into ends with a newline, too": lambda t: (
        t.name == "insert" and t.ours == t.theirs and t.text != "" and not t.text.endswith("\n")
    ),
    "occurrences are looked for in the text, not in its lines": lambda t: (
        t.name == "str_replace"
        and (
            ("\n" in t.command["old_str"] and "did not appear verbatim" in t.theirs.text)
            or ("Multiple occurrences" in t.ours.text and not t.theirs.is_error)
        )
    ),
}


def test_each_difference_from_the_typescript_class_is_one_that_is_named(
    reference: Callable[[Path], Ask], tmp_path: Path
) -> None:
    agreed, explained = compare(tmp_path, reference, {**RULES, **TYPESCRIPT}, SEQUENCES)
    assert agreed > SEQUENCES * LENGTH / 5
    assert set(TYPESCRIPT) - set(explained) == set(), "a rule that explained nothing"
