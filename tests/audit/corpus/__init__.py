"""A memory folder of clean notes, written by us: what no rule that is on by default should speak of often.

Nothing in it is real. It is one folder: each index lists the notes beside it, and every link leads somewhere.
"""

from collections.abc import Iterator
from functools import cache

from tests.audit.corpus import files, memories, pages, tongues
from tests.audit.corpus.maker import CITIES, PEOPLE, SERVICES, Maker

SEED = 20_261_122


def clean_notes() -> dict[str, str]:
    """The texts of all notes by their paths; the same in every run."""
    return dict(_clean_notes())


@cache
def _clean_notes() -> dict[str, str]:
    maker = Maker(SEED)
    notes: dict[str, str] = {}
    for source in (
        _memories, _how_tos, _decisions, _meetings, _diaries, _people, _lists, _tongues, files.states, files.settings,
        files.locks, files.pictures, files.minified, files.logs, files.markups,
    ):  # fmt: skip
        for path, text in source(maker):
            assert path not in notes, path
            notes[path] = text
    return notes


def _memories(maker: Maker) -> Iterator[tuple[str, str]]:
    """Memories of Claude Code in both generations of front matter, with an index in each project."""
    projects = ("shop", "warehouse", "handbook", "mobile")
    listed: dict[str, list[str]] = {project: [] for project in projects}
    kinds = (
        ("feedback", memories.FEEDBACK),
        ("user", memories.USERS),
        ("project", memories.PROJECTS),
        ("reference", memories.REFERENCES),
    )
    for kind, source in kinds:
        for number, (name, description, body) in enumerate(memories.entries(source)):
            project = projects[number % len(projects)]
            path = f"{kind}_{name.replace('-', '_')}.md"
            head = f"name: {name}\ndescription: {description}\n" if ": " not in description else f"name: {name}\n"
            if number % 3:
                head += (
                    f"metadata:\n  node_type: memory\n  type: {kind}\n  originSessionId: {maker.uuid()}\n"
                    f"  modified: {maker.stamp()}\n"
                )
            else:
                head += f"type: {kind}\n"
            yield f"{project}/{path}", f"---\n{head}---\n\n{body}\n"
            listed[project].append(f"- [{description}]({path}): {name.replace('-', ' ')}")
    for project, lines in listed.items():
        yield f"{project}/MEMORY.md", "# Memory index\n\n" + "\n".join(lines) + "\n"


def _how_tos(maker: Maker) -> Iterator[tuple[str, str]]:
    for name, title, body in memories.entries(pages.HOW_TOS):
        yield f"how-to/{name}.md", f"# {title}\n\n{body}\n\nLast done {maker.day()} by {maker.one(PEOPLE)}.\n"


def _decisions(maker: Maker) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(pages.DECISIONS.strip().split("\n"), 1):
        title, why, others = line.split("|")
        yield (
            f"decisions/{number:04d}.md",
            f"# {number}. {title}\n\nStatus: accepted, {maker.day()}\n\n## Why\n\n{why}\n\n## Considered\n\n"
            + "".join(f"- {other.strip()}\n" for other in others.split(","))
            + f"\n## Who\n\n{', '.join(maker.some(PEOPLE, 2, 4))}. Looked at again on {maker.day()}.\n",
        )


def _meetings(maker: Maker) -> Iterator[tuple[str, str]]:
    said = pages.SAID.strip().split("\n")
    for number in range(48):
        service = SERVICES[number % len(SERVICES)]
        points = maker.some(said, 4, 8)
        steps = "".join(
            f"- [{'x' if step % 2 else ' '}] {maker.one(PEOPLE)}: look at {maker.one(SERVICES)} until {maker.day()}\n"
            for step in range(maker.random.randint(1, 4))
        )
        form = number % 3
        lines = "".join(
            (f"- {point}\n", f"{place}. {point}\n", f"{point}\n\n")[form] for place, point in enumerate(points, 1)
        )
        there = ", ".join(maker.some(PEOPLE, 3, 6))
        yield (
            f"meetings/{number:02d}-{service}.md",
            f"# {service}, {maker.day()}\n\nThere: {there}\n\n{lines}\n## Next\n\n{steps}",
        )


def _diaries(maker: Maker) -> Iterator[tuple[str, str]]:
    tried = pages.TRIED.strip().split("\n")
    for number in range(40):
        service = SERVICES[number * 5 % len(SERVICES)]
        steps = "".join(f"- {maker.time()[:5]} {step}\n" for step in maker.some(tried, 4, 8))
        yield (
            f"diary/{number:02d}-{service}.md",
            f"---\ntags: [debugging, {service}]\n---\n# {service}: {maker.ms()} instead of {maker.ms()}\n\n"
            f"Seen since {maker.commit()} ({maker.day()}), trace `{maker.hexadecimal(32)}`, request {maker.uuid()}, "
            f"pod {service}-{maker.hexadecimal(9)}-{maker.base64(4)[:5].lower().strip('=+/')}.\n\n{steps}\n"
            f"Image `sha256:{maker.hexadecimal(64)}`, blob {maker.commit()}, build {maker.number(6)}, "
            f"version {maker.version()}.\n",
        )


def _people(maker: Maker) -> Iterator[tuple[str, str]]:
    for number, person in enumerate(PEOPLE):
        first, last = person.split(" ")
        mail = f"{first}.{last}@example.org".lower().encode("ascii", "ignore").decode()
        street = maker.one(("Canal Street", "Lindenweg", "Rua do Sol", "Harbour Road", "Rue des Moulins"))
        text = (
            f"# {person}\n\n- {maker.telephone()}, {mail}\n- {street} {maker.random.randrange(1, 140)}, "
            f"{maker.number(5)} {maker.one(CITIES)}\n"
            f"- Works on {' and '.join(maker.some(SERVICES, 2))}, since {maker.day()}\n"
            f"- Badge {maker.number(7)}, desk {number % 5}.{maker.random.randrange(10, 60)}, "
            f"birthday {maker.day():%d %B}\n"
        )
        yield f"people/{number:02d}-{mail.partition('@')[0].replace('.', '-')}.md", text


def _lists(maker: Maker) -> Iterator[tuple[str, str]]:
    for number in range(14):
        rows = "".join(f"| {title} | {maker.isbn()} | {maker.day()} |\n" for title in maker.some(pages.SHELVES, 4, 9))
        yield (
            f"lists/reading-{number:02d}.md",
            f"# Reading list of {PEOPLE[number]}\n\n| title | ISBN | until |\n|---|---|---|\n{rows}",
        )
    for number in range(14):
        rows = "".join(
            f"- {maker.day()} order {maker.number(10)}, parcel {maker.number(20)}, "
            f"{maker.random.randrange(5, 900)}.00 EUR, "
            f"invoice {maker.one(('SE', 'DE', 'CH'))}-2026-{maker.number(6)}\n"
            for _ in range(maker.random.randint(3, 9))
        )
        yield f"lists/orders-{number:02d}.md", f"# Ordered for {CITIES[number % len(CITIES)]}, part {number}\n\n{rows}"


def _tongues(maker: Maker) -> Iterator[tuple[str, str]]:
    del maker
    for note in tongues.NOTES.strip().split("\n===\n"):
        name, _, text = note.strip().partition("\n")
        yield f"tongues/{name}", text + "\n"
