"""Rules for secrets out of a person's own file: how the file is read, and what its rules find."""

import pytest

from memtui.scan import rule_matches
from memtui.scan.rule_files import InvalidRuleFile, SecretRuleFile, fold_name, load_engine, parse_rule_file
from memtui.scan.rule_matches import SecretRules

BADGE = "acme-q1W2e3R4t5Y6"


def parse(text: str, **bases: str) -> SecretRuleFile:
    """A file; `bases` are the files that may be extended, by name."""

    def read(path: str) -> str:
        if path not in bases:
            raise InvalidRuleFile("it is not there")
        return bases[path]

    return parse_rule_file(text, "team", "team.toml", load_engine(), read)


def rule(*lines: str, id: str = "badge", regex: str = "acme-[A-Za-z0-9]{12}") -> str:
    """A rule with more lines."""
    return "\n".join(["[[rules]]", f"id = '{id}'", f"regex = '''{regex}'''", *lines, ""])


def find(file: str, text: str, path: str = "notes/a.md") -> list[str]:
    """The secrets that the rules of a file find, in order."""
    matches = SecretRules([parse(file)]).find(text, path)
    assert not matches.is_cut
    return [text[slice(*(spot.masked or (0, 0)))] for spot in matches.spots]


@pytest.mark.parametrize(
    ("regex", "text", "secret"),
    [
        ("key=(?i)abc", "key=ABC", "key=ABC"),
        ("(?P<name>abc)d", "abcd", "abc"),
        (r"ab\z", "ab ab", "ab"),
        (r"\x{e9}t[[:alnum:]]{3}", "été99 ét999", "ét999"),
        (r"\pL{3}-é", "ööö-é", "ööö-é"),
        ("a(?s:.)b", "a\nb", "a\nb"),
        ("(?m)^x+$", "a\nxxx\nb", "xxx"),
        (r"\Qa.b\E", "a.b axb", "a.b"),
        ("(a)?(b+)", "bbb", "bbb"),
        ("\n(x+)\n", "\nxxx\n", "xxx"),
    ],
)
def test_regexes_are_those_of_go(regex: str, text: str, secret: str) -> None:
    assert find(rule(regex=regex.replace("\n", r"\n")), text) == [secret]


def test_newlines_around_a_match_are_no_part_of_it() -> None:
    assert find(rule(regex="[^a-z]+"), "a\n\nb\n1\n") == ["1"]


def test_a_secret_is_found_by_its_characters_whatever_is_before_it() -> None:
    text = f"naïve \U0001f511 \udcff {BADGE}\nund später {BADGE[::-1]} {BADGE}"
    spots = SecretRules([parse(rule("description = 'A badge of Acme. '"))]).find(text, "a.md").spots
    assert [text[spot.start : spot.end] for spot in spots] == [BADGE, BADGE]
    assert {(spot.rule, spot.words, spot.flag) for spot in spots} == {("team/badge", "A badge of Acme", "secret")}


def test_the_secret_is_the_group_that_is_named_or_the_first_that_is_not_empty() -> None:
    assert find(rule(regex="(user):(x+)"), "user:xxx") == ["user"]
    assert find(rule("secretGroup = 2", regex="(user):(x+)"), "user:xxx") == ["xxx"]
    assert find(rule(regex="user(y*):(x+)"), "user:xxx") == ["xxx"]
    assert find(rule("secretGroup = 1", regex="user(y)?:(x+)"), "user:xxx") == ["user:xxx"]


def test_a_keyword_stands_in_the_text_in_whatever_case() -> None:
    file = rule("keywords = ['Badge']")
    assert find(file, f"BADGE {BADGE}") == [BADGE]
    assert find(file, BADGE) == []


def test_a_secret_is_over_its_entropy() -> None:
    file = rule("entropy = 3.0")
    assert find(file, BADGE) == [BADGE]
    assert find(file, "acme-aaaaaaaaaaaa") == []
    assert find(rule("entropy = 1.0", regex="[ab]{4}"), "abab") == []  # 1.0 is not over 1.0


@pytest.mark.parametrize(
    ("condition", "text", "entropy"),
    [
        ('entropy(finding["secret"]) <= 1.0', "abab", True),
        ('filter.entropy(finding["secret"]) < 1.0', "abab", False),
        ('entropy(finding["secret"]) <= 1.0 || containsAny(finding["secret"], ["z"])', "abab", True),
        ('entropy(finding["secret"]) <= 9.0 && containsAny(finding["secret"], ["z"])', "abab", False),
    ],
)
def test_a_filter_that_asks_for_entropy_is_entropy(condition: str, text: str, entropy: bool) -> None:
    file = rule(f"filter = '''{condition}'''", regex="[ab]{4}")
    assert find(file, text) == ([] if entropy else [text])
    is_told = any("`filter`" in remark for remark in parse(file).remarks)
    assert is_told == ("Any" in condition)


def test_a_path_says_which_files_a_rule_is_about() -> None:
    file = rule("path = '''(?i)\\.env$'''")
    assert find(file, BADGE, "a/B.ENV") == [BADGE]
    assert find(file, BADGE, "a/b.md") == []


def test_a_rule_without_a_regex_is_about_names() -> None:
    rules = SecretRules(
        [parse("[[rules]]\nid = 'store'\npath = '''\\.jks$'''\n[[rules.allowlists]]\npaths = ['old/']\n")]
    )
    assert [each.id for each in rules.find_for_path("a/b.jks")] == ["team/store"]
    assert [*rules.find_for_path("old/b.jks"), *rules.find_for_path("a.md")] == []
    assert rules.find("b.jks", "b.jks").spots == ()


LINE = f"test {BADGE} end"


@pytest.mark.parametrize(
    ("lines", "excepted"),
    [
        ("stopwords = ['Q1w2']", True),
        ("stopwords = ['test']", False),  # that is about the secret
        ("regexes = ['^acme-q']", True),
        ("regexes = ['^test']", False),
        ("regexTarget = 'line'\nregexes = ['^test.*end$']", True),
        ("regexTarget = 'match'\nregexes = ['^badge acme']", True),
        ("paths = ['^notes/']", True),
        ("paths = ['^other/']", False),
        ("paths = ['^other/']\nstopwords = ['q1']", True),
        ("condition = 'AND'\npaths = ['^other/']\nstopwords = ['q1']", False),
        ("condition = 'and'\npaths = ['^notes/']\nstopwords = ['q1']", True),
        ("condition = '&&'\nregexes = ['^acme']\nstopwords = ['nothing']", False),
        ("commits = ['abc']", False),
        ("condition = 'AND'\ncommits = ['abc']\nstopwords = ['q1']", False),
    ],
)
@pytest.mark.parametrize("where", ["[[rules.allowlists]]", "[rules.allowlist]", "[[allowlists]]", "[allowlist]"])
def test_an_allowlist_excepts_what_it_says(where: str, lines: str, excepted: bool) -> None:
    file = rule("secretGroup = 1", regex="(?:badge )?(acme-[A-Za-z0-9]{12})") + f"{where}\n{lines}\n"
    text = LINE.replace("test", "test badge") if "match" in lines else LINE
    assert find(file, text) == ([] if excepted else [BADGE])


def test_an_allowlist_may_be_for_some_rules() -> None:
    file = (
        rule() + rule(id="other", regex="acme-[a-z0-9]{4}") + "[[allowlists]]\ntargetRules = ['badge']\npaths = ['.']\n"
    )
    assert find(file, f"{BADGE} acme-zzzz") == ["acme-zzzz"]
    (remark,) = parse(rule() + "[[allowlists]]\ntargetRules = ['gone']\npaths = ['.']\n").remarks
    assert remark == "team.toml: an allowlist is for gone, which does not run."


@pytest.mark.parametrize(
    ("near", "text", "found"),
    [
        ("", f"id 4711\n\n\n{BADGE}", True),
        ("", BADGE, False),
        ("withinLines = 2", f"id 4711\n\n{BADGE}", True),
        ("withinLines = 2", f"id 4711\n\n\n{BADGE}", False),
        ("withinColumns = 3", f"id 4711\n\n\n{BADGE}", True),
        ("withinColumns = 3", f"id 4711 and {BADGE}", False),
    ],
)
def test_a_rule_may_require_that_another_finds_something_near(near: str, text: str, found: bool) -> None:
    file = rule(f"[[rules.required]]\nid = 'id'\n{near}") + rule("skipReport = true", id="id", regex="id [0-9]+")
    assert find(file, text) == ([BADGE] if found else [])


def test_a_rule_that_is_called_generic_comes_after_the_others() -> None:
    file = rule(id="a-generic-key") + rule(id="b")
    assert [each.id for each in parse(file).rules] == ["team/b", "team/a-generic-key"]


def test_a_file_extends_another_and_changes_its_rules() -> None:
    base = rule("keywords = ['one']") + rule(id="left", regex="b+") + "[[allowlists]]\npaths = ['^never/']\n"
    file = "[extend]\npath = 'base'\ndisabledRules = ['left']\n"
    file += "[[rules]]\nid = 'badge'\nentropy = 3.5\nkeywords = ['two']\n"
    parsed = parse(file + rule(id="own", regex="z+"), base=base)
    assert [each.id for each in parsed.rules] == ["team/badge", "team/own"]
    assert (parsed.rules[0].entropy, parsed.rules[0].keywords) == (3.5, ("one", "two"))
    assert SecretRules([parsed]).find(f"one {BADGE}", "never/a.md").spots == ()
    assert len(SecretRules([parsed]).find(f"one {BADGE}", "a.md").spots) == 1
    assert parsed.problems == ()


def test_files_that_extend_each_other_come_to_an_end() -> None:
    parsed = parse("[extend]\npath = 'a'\n" + rule(), a="[extend]\npath = 'a'\n" + rule(id="other"))
    assert [each.id for each in parsed.rules] == ["team/other", "team/badge"]
    assert parsed.problems == (
        "team.toml: what it extends, a, is not used: at most 2 files are read, one after the other.",
    )


def test_what_changes_the_rules_of_another_program_is_a_remark() -> None:
    parsed = parse("[extend]\nuseDefault = true\n[[rules]]\nid = 'theirs'\nentropy = 4\n" + rule())
    assert parsed.problems == ()
    (remark,) = parsed.remarks
    assert remark.startswith("team.toml: extend.useDefault means the rules of another program, and memtui's own run")
    assert remark.endswith("not used is what only changes those: theirs.")


PROBLEMS = {
    "[[rules]]\nregex = 'a'\n": "the rule number 2 is not used: it has no id",
    "[[rules]]\nid = '...'\nregex = 'a'\n": "the rule number 2 is not used: it has no id",
    "[[rules]]\nid = 'x'\n": "the rule x is not used: it has no regex",
    "[[rules]]\nid = 'x'\nregex = 5\n": "the rule x is not used: its regex is not text",
    rule(id="x", regex="(a"): "the rule x is not used: its regex cannot be read: missing ): (a",
    rule(id="x", regex="a(?=b)"): "the rule x is not used: its regex cannot be read: invalid perl operator: (?=",
    rule(id="x", regex="a*"): "the rule x is not used: its regex matches the empty text",
    rule("path = '['", id="x"): "the rule x is not used: its path cannot be read: missing ]: [",
    rule("secretGroup = 2", id="x", regex="(a)"): (
        "the rule x is not used: its secretGroup is 2, but its regex has 1 group"
    ),
    rule("entropy = 'high'", id="x"): "the rule x is not used: its entropy is not a number",
    rule("keywords = 'a'", id="x"): "the rule x is not used: its keywords are not a list of texts",
    rule("[[rules.required]]\nid = 'y'", id="x"): "the rule x is not used: it requires y, which does not run",
    rule(id="Badge"): "the rule Badge is not used: another one has this id, and that one is used",
    "[extend]\npath = 'gone'\n": "what it extends, gone, is not used: it is not there",
}  # fmt: skip


@pytest.mark.parametrize("bad", PROBLEMS)
def test_a_bad_rule_is_named_and_leaves_the_others(bad: str) -> None:
    parsed = parse((bad + rule()) if bad.startswith("[extend]") else (rule() + bad))
    assert parsed.problems == (f"team.toml: {PROBLEMS[bad]}.",)
    assert [each.id for each in parsed.rules] == ["team/badge"]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("regexes = ['(']", "missing ): ("),
        ("regexTarget = 'file'", "its regexTarget must be secret, match or line, not file"),
        ("condition = 'XOR'", "its condition must be AND or OR, not XOR"),
        ("stopwords = 'a'", "its stopwords are not a list of texts"),
    ],
)
def test_a_rule_runs_without_an_allowlist_that_cannot_be_used(lines: str, why: str) -> None:
    parsed = parse(rule(f"[[rules.allowlists]]\n{lines}"))
    assert [each.allowlists for each in parsed.rules] == [()]
    assert parsed.remarks == (
        f"team.toml: an allowlist of the rule badge is not used: {why}. More is found without it.",
    )
    assert parsed.problems == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("title = 'a'\n", r"it has no \[\[rules\]\]"),
        ("rules = [1]\n", r"it has no \[\[rules\]\]"),
        ("a = \n", "it is not TOML: invalid value"),
        ("a = " + "[" * 5_000, "it is not TOML"),
        ("[extend]\npath = 'x'\ndisabledRules = 1\n" + rule(), "its disabledrules are not a list of texts"),
    ],
)
def test_a_file_that_is_none_is_refused_whole(text: str, why: str) -> None:
    with pytest.raises(InvalidRuleFile, match=why):
        parse(text)


def test_what_is_not_known_is_told_once() -> None:
    parsed = parse("prefilter = 'a'\n" + rule("validate = 'a'\nKeyword = 'b'") + rule("validate = 'a'", id="b"))
    assert parsed.remarks == (
        "team.toml: not used, because memtui does not know it: `validate` (2 times), `prefilter`, `keyword`.",
    )


@pytest.mark.parametrize(
    ("name", "folded"), [("AWS_Key.v2", "aws-key-v2"), ("-a-", "a"), ("é", ""), ("a" * 9, "a" * 9)]
)
def test_ids_are_small_letters_and_digits(name: str, folded: str) -> None:
    assert fold_name(name) == folded


def test_a_secret_on_the_edge_of_a_window_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_matches, "_WINDOW", 100)
    monkeypatch.setattr(rule_matches, "_OVERLAP", 20)
    for blanks in range(60, 110):
        assert find(rule(), f"{' ' * blanks}{BADGE}{' ' * 150}{BADGE}") == [BADGE, BADGE]


def test_of_very_many_matches_it_is_said_that_not_all_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_matches, "_WORK", 50 * 3)
    rules = SecretRules([parse(rule(regex="x"))])
    assert not rules.find("xxx", "a.md").is_cut
    matches = rules.find("xxxx", "a.md")
    assert (len(matches.spots), matches.is_cut) == (3, True)
