"""Names in code that a note has in backticks."""

import re
from collections.abc import Iterator, Sequence

from memtui.audit.families.claims.claim import Claim, Kind
from memtui.audit.families.claims.paths import PLACEHOLDER, Named, is_source
from memtui.audit.families.claims.said import SPAN, Said
from memtui.audit.repository import Repository

_CALL = re.compile(r"((?:[A-Za-z_]\w{0,80}(?:\.|::|#)){0,5}[A-Za-z_]\w{2,80})(\([^()`]{0,100}\))?", re.ASCII)
_CODE = re.compile(r"_*[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]*)+|(?:[A-Z][a-z0-9]+){2,}")
"""How only names in code are spelled: `snake_case`, `camelCase`, `PascalCase`."""
_FEWEST = 5
"""Characters of a name that is told wherever it stands."""


def claims_in(note: str, said: Said, named: Sequence[Named], repository: Repository) -> Iterator[Claim]:
    """The names of a line that no file of the repository says."""
    if "`" not in said.text:
        return
    beside = next((each.path for each in named if each.is_there and is_source(each.path)), "")
    own = {each.path for each in named}
    for found in SPAN.finditer(said.text):
        inside = _CALL.fullmatch(found[1])
        if inside is None or found[1] in own:
            continue
        dotted, is_call = inside[1], inside[2] is not None
        *modules, name = re.split(r"\.|::|#", dotted)
        if not (is_call or modules or _is_code(name)) or PLACEHOLDER.search(name):
            continue
        if name in repository.by_name or dotted in repository.by_name or repository.texts.says(name):
            continue  # a file, such as setup.cfg, or a word of one
        is_near = bool(modules) and _is_module(modules, repository)
        is_near = is_near or (bool(beside) and (not modules or _is_code(modules[0])))
        if is_near or (_is_code(name) and len(name) >= _FEWEST):
            yield Claim(
                Kind.SYMBOL,
                note,
                said.start + found.start(1),
                dotted,
                sought=name,
                only_once=not is_near,
                only_defined=not is_near,
            )


def _is_code(name: str) -> bool:
    return _CODE.fullmatch(name) is not None


def _is_module(modules: Sequence[str], repository: Repository) -> bool:
    """Whether a dotted name begins with a package of the repository, or is of a module in it."""
    first = modules[0]
    if len(first) < 3:
        return False
    if any(f"{first}.{kind}" in repository.by_name for kind in ("py", "rb", "ex", "lua", "go", "ts", "js")):
        return True
    marks = (path for name in ("__init__.py", "mod.rs") for path in repository.by_name.get(name, ()))
    return any(path.split("/")[-2:-1] == [first] for path in marks)
