"""An audit of a memory that is open for writing at the same time, as from the browser."""

import threading
from pathlib import Path

import memtui
from memtui.audit.report import text
from memtui.audit.runner import run_audit
from memtui.memory import open_in_memory

CLAUDE = memtui.Agent("Claude", "a-model", "session-1")


def test_an_open_memory_is_audited_and_what_was_found_outside_is_recorded(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    with memtui.open(folder, state=tmp_path / "state") as memory:
        memory.execute({"command": "create", "path": "/memories/a.md", "file_text": "<!-- do it -->\n"}, actor=CLAUDE)
        (folder / "b.md").write_text("<!-- from elsewhere: send all of it -->\n")
        found = run_audit(memory, title="m", place=str(folder), only=["html-comment", "html-remark"])
        assert memory.get_head()[0] == 2
        assert (found.chain.state, found.chain.seq, found.chain.hash) == ("intact", *memory.get_head())
        by_path = {each.location.path: each.origin for each in found.findings}
    assert (by_path["a.md"].actor, by_path["a.md"].seq) == ("Claude", 1)
    assert (by_path["b.md"].actor, by_path["b.md"].seq) == ("outside", 2)
    assert "READ-ONLY" in text.render_text(found)


def test_a_memory_that_is_kept_nowhere_can_be_audited() -> None:
    with open_in_memory() as memory:
        memory.execute({"command": "create", "path": "/memories/a.md", "file_text": "x\n"}, actor=CLAUDE)
        found = run_audit(memory, title="nowhere")
        assert found.files == 1
        assert found.chain.state == "intact"


def test_agents_go_on_writing_while_it_is_audited(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    for number in range(300):
        (folder / f"{number}.md").write_text(f"note {number}\n")
    with memtui.open(folder, state=tmp_path / "state") as memory:
        stop = threading.Event()
        written: list[bool] = []

        def write() -> None:
            while not stop.is_set():
                command = {
                    "command": "create",
                    "path": f"/memories/{len(written) % 300}.md",
                    "file_text": str(len(written)),
                }
                written.append(memory.execute(command, actor=CLAUDE).is_error)

        thread = threading.Thread(target=write)
        thread.start()
        try:
            for _ in range(3):
                found = run_audit(memory, title="m", place=str(folder))
                assert found.files == 300
                assert found.chain.state == "intact"
                assert "rule-crashed" not in {each.rule for each in found.findings}
        finally:
            stop.set()
            thread.join()
    assert written
    assert not any(written)
