"""What stands behind `#` in a link."""

import pytest

from memtui.notes.links import find_heading_line

_TEXT = """---
# Not this: 1
---
# The plan

```
# Risks
```
## Open questions (2)

Words
Risks
-----
Über *Grün* & more ^block1
## Über *Grün*
"""


@pytest.mark.parametrize(
    ("fragment", "line"),
    [
        ("The plan", 4),
        ("the-plan", 4),
        ("Risks", 12),
        ("open-questions-2", 9),
        ("The plan#Open questions (2)", 9),
        ("^block1", 14),
        ("über-grün", 15),
        ("Not this", None),
        ("^no", None),
        ("", None),
        ("nothing", None),
    ],
)
def test_a_heading_is_found_by_its_words_or_its_anchor(fragment: str, line: int | None) -> None:
    assert find_heading_line(_TEXT, fragment) == line


def test_a_heading_is_found_below_those_that_are_named_before_it() -> None:
    text = "# A\n## Next\n# B\n## Deep\n### Next\n# Next\n"
    assert [find_heading_line(text, each) for each in ("Next", "B#Next", "B#Deep#Next", "A#Next")] == [2, 5, 5, 2]
    assert find_heading_line(text, "No such#Next") == 2
    assert find_heading_line(text, "Deep#B#Next") == 2, "in their order"
