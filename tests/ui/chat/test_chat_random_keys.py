"""Whatever is typed into a chat, however fast, while an agent answers and asks: no key ends it but those for that."""

import random

import pytest

from memtui.core.approvals import ApprovalPolicy
from tests.ui.chat.acting import Do, Say, Step, Think
from tests.ui.chat.conftest import Chats
from tests.ui.test_random_keys import PARTS, SIZES, nothing_outside, type_anything

__all__ = ["nothing_outside"]

SCENES: dict[str, tuple[str, ...]] = {
    "composer": (), "memory": ("ctrl+o",), "commands": ("slash",), "command list": ("ctrl+p",), "question": ("h", "i"),
    "review": ("slash", *"diff", "enter"), "sessions": ("slash", *"resume", "enter"),
}  # fmt: skip


def _turns(chance: random.Random) -> list[list[Step]]:
    turns: list[list[Step]] = []
    for number in range(60):
        create = {"command": "create", "path": f"/memories/new-{number}.md", "file_text": "- one\n[a](b)\n"}
        call = chance.choice([
            create,
            {"command": "str_replace", "path": "/memories/prefs.md", "old_str": "short", "new_str": "long"},
            {"command": "delete", "path": "/memories/notes"},
            {"command": "rename", "old_path": "/memories/prefs.md", "new_path": "/memories/p/prefs.md"},
            {"command": "view", "path": "/memories"},
        ])  # fmt: skip
        turns.append([Think("Well."), Do(call if number else create), Say("# Done\n\n- it is *so*\n")])
    return turns


@pytest.mark.sweep(keep=1, always=("1-question",))
@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("part", range(1, PARTS + 1))
async def test_any_keys_in_any_order_while_an_agent_asks(chatting: Chats, scene: str, part: int) -> None:
    chance = random.Random(f"chat {scene} {part}")
    pressed: list[str] = []
    try:
        async with chatting(*_turns(chance), policy=ApprovalPolicy.ASK, size=chance.choice(SIZES[:3])) as chat:
            for key in SCENES[scene]:
                await chat.press(key)
            if scene == "question":
                await chat.press("enter")
                await chat.asked()
            await type_anything(chat.app, chat.pilot, chance, pressed)
    except Exception as error:
        raise AssertionError(f"{scene} {part}: {' '.join(pressed[-40:])}") from error
