"""What a rule is: everything that is to be known of it but how it looks."""

from dataclasses import dataclass

from memtui.audit.findings import Family, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of an audit.

    Attributes:
        id: Its name for ever: baselines and exemptions are written with it. Lower case, words joined by `-`.
        family: What kind of thing it looks for.
        severity: How much its findings matter, unless somebody says otherwise.
        title: What it finds, in a few words.
        why: Why that matters, as one or two sentences.
        do: What to do about it, as a sentence.
        bad: An example that it finds; in tests it is really found. Never a real secret.
        good: An example that it passes.
        is_on: Whether it is on unless somebody says otherwise. One that fires on a tenth of real notes is off.
        settings: The names of settings in `[audit]` that tune it.
        together: How more than a few of it in one file are told as one finding: a sentence with `{count}`, and with
            `{some}` where names of three are put; empty where each is told by itself.
        needs: What it cannot do without, such as `--repo`; empty if nothing.
    """

    id: str
    family: Family
    severity: Severity
    title: str
    why: str
    do: str
    bad: str
    good: str
    is_on: bool = True
    settings: tuple[str, ...] = ()
    together: str = ""
    needs: str = ""
