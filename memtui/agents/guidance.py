"""The texts that tell agents how to use the memory (`guidance.toml`): the model in a chat, and clients over MCP.

The API tells the model how the tool is called. These texts add: a person sees and answers for every change, which facts
are worth a note, and how notes stay readable.
"""

import tomllib
from importlib import resources


def build_system_prompt(guidance: str = "") -> str:
    """The system prompt of a chat; `guidance` is the person's words on what to remember."""
    return _fill_in("system_prompt", guidance)


def build_guide(guidance: str = "", dialect: str = "") -> str:
    """The guide for an agent without a system prompt of ours: protocol, folders, form of a note, links.

    Args:
        dialect: The name of the kind of folder, whose way to tie notes together is told; empty for none in particular.
    """
    return _fill_in("guide", guidance, dialect)


def _fill_in(name: str, guidance: str, dialect: str = "") -> str:
    texts = tomllib.loads(resources.files("memtui.agents").joinpath("guidance.toml").read_text(encoding="utf-8"))
    links = texts["links"]
    way = links.get(dialect, links["other"])
    text: str = texts[name].format(habits=texts["habits"], notes=texts["notes"], links=way)
    guidance = guidance.strip()
    if not guidance:
        return text
    return f"{text}\n\nWhat the user wants of this memory, which goes before all of the above:\n\n{guidance}"
