"""A file of the person's own, for a text that can go nowhere else: no clipboard takes it, or no draft can be kept."""

from memtui.core.visible import one_line


def own_file(text: str, *, suffix: str = ".md") -> str:
    """Write a text to a new file that only its owner can read, among the temporary ones; return its path, safe to show.

    Args:
        text: The text; may hold the escapes of bytes that are no text.
        suffix: What its name ends with.

    Raises:
        OSError: It cannot be written there either.
    """
    import tempfile  # deferred: hopefully never needed

    file, name = tempfile.mkstemp(prefix="memtui-", suffix=suffix)
    with open(file, "wb") as held:
        held.write(text.encode("utf-8", "surrogateescape" if _is_escaped(text) else "surrogatepass"))
    return one_line(name)


def _is_escaped(text: str) -> bool:
    """Whether each of its surrogates stands for a byte."""
    return all("\udc80" <= each <= "\udcff" for each in text if "\ud800" <= each <= "\udfff")
