"""What somebody settled about rules that there are not: the file of settings cannot know, since rules know settings."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from memtui.audit.rules import RULES
from memtui.config import Loaded, Problem
from memtui.config.nearest import nearest


def problems_of_rules(loaded: Loaded) -> list[Problem]:
    """What is wrong with the names of rules in the settings, each as one sentence."""
    return list(_problems(loaded))


def meant(name: str) -> str:
    """A hint at the rule that a mistyped name is likely to mean, as a sentence."""
    near = nearest(name, RULES)
    return f"Did you mean {near}?" if near else "All there are: memtui audit --rules."


def is_known(name: str) -> bool:
    """Whether a name is the id of a rule, or a pattern that fits one."""
    return name in RULES or any(fnmatchcase(rule, name) for rule in RULES)


def _problems(loaded: Loaded) -> Iterator[Problem]:
    for name in loaded.config.audit.rules:
        if not is_known(name):
            yield _problem(
                loaded, f"audit.rules.{name}", f'audit.rules names "{name}", and there is no such rule', name
            )
    for number, each in enumerate(loaded.config.audit.exemptions, 1):
        if not is_known(each.rule):
            words = f'audit.exempt is about "{each.rule}", and there is no such rule'
            yield _problem(loaded, f"audit.exempt.{number}", words, each.rule)


def _problem(loaded: Loaded, key: str, words: str, name: str) -> Problem:
    origin, line = loaded.origin(key), loaded.line(key)
    where = f"{origin.rpartition(':')[0]}, line {line}: " if line else ""
    return Problem(f"{where}{words}. {meant(name)} It has no effect.", key, line)
