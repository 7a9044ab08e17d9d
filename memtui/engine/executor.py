"""Execution of commands: they are validated, planned, applied and recorded, or refused in the contract's words."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple, TypedDict, Unpack

from memtui.core import commands, edits
from memtui.core.approvals import Proposal
from memtui.core.edits import DEPTH, ListedDirectory, format_human_size, format_listing, format_size_over
from memtui.core.errors import (
    LockTimeout,
    MemtuiError,
    OutcomeUnknown,
    Refusal,
    RemoteRefused,
    StaleApproval,
    StateUnusable,
    SymlinkEscape,
    UnconfirmedChange,
    UnsettledChange,
)
from memtui.core.events import Actor, Agent, Answer, Change, EntryKind, Event, Version, sha256
from memtui.core.images import Image, UnusableImage, is_image_name, parse_image
from memtui.core.lazy_dataclass import dataclass
from memtui.core.messages import MessageKey, format_message, quote_value
from memtui.core.paths import MemoryPath
from memtui.core.settings import SecretPolicy, Settings
from memtui.core.wording import format_count
from memtui.engine.context import EngineContext
from memtui.engine.durability import as_unconfirmed, needs_sync
from memtui.engine.ledger import Ledger, add_attributes
from memtui.engine.planner import ChangePlan, Planner
from memtui.engine.refusals import describe_command, describe_error, make_command_refusal
from memtui.journal.deferred import NOT_RECORDED, DeferredEvent
from memtui.journal.record import FolderTotals, Intent, KnownPath
from memtui.scan.secret_policy import conceal_secrets
from memtui.store.base import (
    ConcurrentChange,
    DirectoriesLeft,
    FileContent,
    FileTooLarge,
    Node,
    NotRegularFile,
    ReadableStore,
    Transaction,
)

# Views: for an agent, and for a person.

NOT_THERE = "It does not exist any more."
"""What is said of a path at which nothing stands; whatever else keeps it from being looked at is said otherwise."""


@dataclass(frozen=True, slots=True)
class PathContent:
    """What stands at a path for a person who looks: looking is no event.

    Attributes:
        node: `None` if nothing is there.
        data: A file's bytes; `None` if they could not be read.
        problem: Why not, as a sentence; empty if they could.
    """

    node: Node | None
    data: bytes | None = None
    problem: str = ""


class ViewResult(NamedTuple):
    """The answer of a view: its text, the content of a file, a note for the event, and the image that the file is."""

    text: str
    content: FileContent | None
    note: str
    image: Image | None = None


class Viewer:
    """Shows what is there; nothing is recorded."""

    def __init__(self, store: ReadableStore, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def view(self, command: commands.View, *, as_agent: bool) -> ViewResult:
        path = command.path
        if not path.is_root:
            with contextlib.suppress(OSError, FileTooLarge, NotRegularFile, SymlinkEscape):
                return self._view_content(command, self._store.read(path, limit=self._settings.read_limit), as_agent)
        node = self._store.get_node(path, follow=True)
        if node is None:
            raise Refusal(MessageKey.VIEW_MISSING, path=path)
        if node.kind is EntryKind.DIRECTORY:
            limit = self._settings.listing_limit if as_agent else 0
            text = format_listing(str(path), self._iter_listing(node), command.view_range, limit=limit)
            return ViewResult(text, None, format_count(text.count("\n") - 1, "entry", "entries"))
        if node.kind is not EntryKind.FILE:
            raise Refusal(MessageKey.UNSUPPORTED_TYPE, path=path)
        limit = self._settings.read_limit
        try:
            content = self._store.read(path, limit=limit)
        except FileNotFoundError:
            raise Refusal(MessageKey.GONE, path=path) from None
        except NotRegularFile:
            raise Refusal(MessageKey.UNSUPPORTED_TYPE, path=path) from None
        except FileTooLarge as error:
            size, most = format_size_over(error.size, limit)
            raise Refusal(MessageKey.TOO_LARGE_TO_READ, path=path, size=size, limit=most) from None
        return self._view_content(command, content, as_agent)

    def _view_content(self, command: commands.View, content: FileContent, as_agent: bool) -> ViewResult:
        path = command.path
        try:
            if is_image_name(path.name) and (image := parse_image(content.data)) is not None:
                size = format_human_size(len(image.data))
                words = format_message(
                    MessageKey.VIEWED_IMAGE, path=path, width=image.width, height=image.height, size=size
                )
                return ViewResult(words, content, f"an image of {image.width}x{image.height}", image)
            text = content.data.decode("utf-8")
        except UnusableImage as error:
            raise Refusal(MessageKey.NOT_AN_IMAGE, path=path, why=error) from None
        except UnicodeDecodeError:
            raise Refusal(MessageKey.NOT_UTF8, path=path) from None
        char_limit = self._settings.view_char_limit if as_agent else 0
        lines = edits.count_lines(text)
        answer = edits.format_view(text, str(path), command.view_range, limit=char_limit)
        return ViewResult(answer, content, format_count(lines, "line"))

    def _iter_listing(self, directory: Node) -> Iterator[ListedDirectory]:
        """What a listing adds up. Links are looked through only where they are listed."""
        link = EntryKind.LINK  # to look up a member takes as long as all the rest
        for prefix, entries in self._store.iter_sizes(MemoryPath.from_relative(directory.path)):
            links = [name for name, kind, _ in entries if kind is link]
            yield prefix, [entry for entry in entries if entry[1] is not link] if links else entries
            if prefix.count("/") < DEPTH:
                for name in links:
                    yield from self._iter_linked(directory, prefix, name)

    def _iter_linked(self, directory: Node, prefix: str, name: str) -> Iterator[ListedDirectory]:
        top = f"{directory.path}/" if directory.path else ""
        try:
            target = self._store.get_node(MemoryPath.from_relative(f"{top}{prefix}{name}"), follow=True)
        except (SymlinkEscape, OSError):
            return
        if target is None:
            return
        yield prefix, [(name, target.kind, target.size)]
        if target.kind is EntryKind.DIRECTORY:
            for inner, entries in self._store.iter_sizes(MemoryPath.from_relative(target.path)):
                yield f"{prefix}{name}/{inner}", [entry for entry in entries if entry[1] is not EntryKind.LINK]

    def inspect_path(self, place: MemoryPath) -> PathContent:
        with contextlib.suppress(OSError, SymlinkEscape, FileTooLarge, NotRegularFile):
            self._store.attach()
            content = self._store.read(place, limit=self._settings.read_limit)
            if content.node.path == place.relative:  # as nearly all are: no link, and looked at once
                return PathContent(content.node, content.data)
        node: Node | None = None
        try:
            node = self._store.get_node(place)
            if node is None:
                return PathContent(None, problem=NOT_THERE)
            if node.kind is EntryKind.LINK:
                return self._inspect_link(place, node)
            if node.kind is not EntryKind.FILE:
                return PathContent(node)
            return PathContent(node, self._store.read(place, limit=self._settings.read_limit).data)
        except FileTooLarge as error:
            size, limit = format_human_size(error.size), format_human_size(self._settings.read_limit)
            return PathContent(node, problem=f"It is too large to show: {size}. The limit is {limit}.")
        except (NotRegularFile, FileNotFoundError):
            return PathContent(None, problem="It changed while it was being opened.")
        except SymlinkEscape:
            return PathContent(None, problem="It is behind a link that leads out of the memory folder.")
        except OSError as error:
            return PathContent(node, problem=f"It cannot be read: {describe_error(error)}.")

    def _inspect_link(self, place: MemoryPath, link: Node) -> PathContent:
        try:
            target = self._store.get_node(place, follow=True)
        except (SymlinkEscape, OSError):
            return PathContent(link, problem="It is a link that leads out of the memory folder. It is not followed.")
        if target is None:
            return PathContent(link, problem="It is a link to a missing file.")
        if target.kind is not EntryKind.FILE:
            return PathContent(link, problem=f"It is a link to {MemoryPath.from_relative(target.path)}.")
        return PathContent(link, self._store.read(place, limit=self._settings.read_limit).data)


_ATTEMPTS = 8
"""How often a change is planned anew when somebody outside is faster."""


class Outcome(TypedDict, total=False):
    """What became of a call, as fields of its event."""

    answer: str | None
    is_error: bool
    no_change: bool
    note: str
    changes: tuple[Change, ...]
    viewed: Version | None
    added: int | None
    removed: int | None


@dataclass(slots=True)
class CommandCall:
    """One call of `execute`, while it lasts: its command is known once it is parsed."""

    raw: object
    actor: Actor
    call_id: str | None
    started_ns: int
    at_us: int
    command: commands.Command | None = None
    aliases: tuple[str, ...] = ()
    approved: tuple[Change, ...] | None = None
    secrets: SecretPolicy = "flag"

    def parse(self) -> commands.Command:
        """Make the command of what was given; raises `Refusal`."""
        self.command, self.aliases = commands.parse_command(self.raw)
        return self.command

    def make_event(self, *, arguments: bool = True, **outcome: Unpack[Outcome]) -> Event:
        """An event with all that is known of the call so far; its arguments are made JSON only if asked, for speed."""
        new_path, recorded = None, None
        if arguments or self.command is None:
            recorded = commands.filter_arguments(conceal_secrets(self.raw, self.secrets))
        if recorded is not None and self.command is None:
            path = quote_value(recorded.get("path", recorded.get("old_path", "")))
        elif isinstance(self.command, commands.Rename):
            path, new_path = str(self.command.old_path), str(self.command.new_path)
        else:
            assert self.command is not None
            path = str(self.command.path)
        named = recorded if recorded is not None else self.raw
        name = named.get("command") if isinstance(named, Mapping) else None
        return Event(
            at_us=self.at_us,
            actor=self.actor,
            command=name if isinstance(name, str) else "?",
            path=path,
            new_path=new_path,
            duration_us=(time.perf_counter_ns() - self.started_ns) // 1_000,
            call_id=self.call_id,
            aliases=self.aliases,
            arguments=commands.encode_arguments(recorded) if recorded is not None and arguments else None,
            **outcome,
        )


class Executor:
    """Carries out commands. The caller keeps the memory open meanwhile.

    Args:
        follow_folder: Attaches to the folder again where it was made anew.
        describe_links: Names the links that moves, by old paths, would break; empty for none.
    """

    def __init__(
        self,
        context: EngineContext,
        viewer: Viewer,
        follow_folder: Callable[[], None],
        describe_links: Callable[[Mapping[str, str]], str],
    ) -> None:
        self._context = context
        self._viewer = viewer
        self._follow_folder = follow_folder
        self._describe_links = describe_links

    def begin_call(
        self, command: object, actor: Actor, call_id: str | None, approved: tuple[Change, ...] | None = None
    ) -> CommandCall:
        """A call that begins now. Making it raises nothing, whatever the command is; `TypeError` if `actor` is none."""
        if not isinstance(actor, Actor):
            raise TypeError(f"not an actor: {actor!r}")
        return CommandCall(
            command,
            actor,
            call_id,
            time.perf_counter_ns(),
            self._context.get_now_us(),
            approved=approved,
            secrets=self._context.settings.secrets,
        )

    def execute(self, call: CommandCall) -> Answer:
        try:
            command = call.parse()
        except Refusal as refusal:
            return self._record_refusal(call, refusal)
        try:
            with contextlib.suppress(LockTimeout, StateUnusable):  # what went is recorded by the next look
                self._follow_folder()
            if isinstance(command, commands.View):
                with contextlib.suppress(StateUnusable):  # what is known here is shown
                    self._context.store.refresh()
                return self._execute_view(call, command)
            return self._execute_change(call, command)
        except UnsettledChange as error:
            return make_unconfirmed_answer(call.make_event(), error)
        except StaleApproval:
            raise  # whoever approved it is asked anew
        except (OSError, MemtuiError) as error:
            return self._record_refusal(call, make_command_refusal(error, command))

    def propose(self, call: CommandCall) -> Proposal | None:
        try:
            parsed = call.parse()
            if isinstance(parsed, commands.View) or self._context.read_only:
                return None
            totals = self._context.journal.get_totals() if isinstance(call.actor, Agent) else None
            ledger = self._context.make_ledger(call.at_us)
            plan = self._plan(call, parsed, ledger, totals)
            versions = [each for change in plan.changes for each in (change.before, change.after)]
            hashes = {each.sha256 for each in versions if each and each.sha256}
            texts = {sha: text for sha in hashes if (text := self._get_text(sha, ledger)) is not None}
        except (OSError, MemtuiError, ConcurrentChange):
            return None  # it is refused, or done at another moment: `execute` says it under the lock
        if not plan.changes:
            return None
        event = call.make_event(arguments=False)
        raw = dict(call.raw) if isinstance(call.raw, Mapping) else {}
        return Proposal(
            call.actor, event.command, event.path, event.new_path, call.call_id, plan.changes, texts, plan.answer, raw
        )

    def _get_text(self, sha: str, ledger: Ledger) -> bytes | None:
        text = ledger.texts.get(sha)
        return self._context.journal.get_text(sha) if text is None else text

    def answer_instead(
        self, call: CommandCall, message: MessageKey, *, is_error: bool, note: str, values: Mapping[str, object]
    ) -> Answer:
        try:
            command = call.parse()
        except Refusal as refusal:
            return self._record_refusal(call, refusal)
        text = format_message(message, self._context.settings.messages, **{**describe_command(command), **values})
        event = call.make_event(answer=text, is_error=is_error, no_change=not is_error, note=note)
        return self.record(text, event)

    def _execute_view(self, call: CommandCall, command: commands.View) -> Answer:
        text, content, note, image = self._viewer.view(command, as_agent=isinstance(call.actor, Agent))
        texts: dict[str, bytes] = {}
        if content is None:
            event = call.make_event(note=note, answer=text)
        else:
            known = self._get_known(content.node.path)
            if known and known.stamp == content.node.stamp:
                version = known.version
            else:
                version = Version(EntryKind.FILE, sha256(content.data), len(content.data))
                texts[version.sha256 or ""] = content.data
            event = call.make_event(note=note, viewed=version)
        return Answer(text, False, self._defer(event, texts), image)

    def _defer(self, event: Event, texts: Mapping[str, bytes] = MappingProxyType({})) -> DeferredEvent:
        """Have an event that changes nothing recorded behind the answer."""
        self._context.calls.mark_changed()
        return self._context.journal.deferred.add(event, texts)

    def _get_known(self, path: str) -> KnownPath | None:
        try:
            return self._context.journal.get_known(path)
        except StateUnusable:
            return None  # a view is answered all the same

    def _execute_change(self, call: CommandCall, command: commands.ChangeCommand) -> Answer:
        if self._context.read_only:
            raise Refusal(MessageKey.READ_ONLY, **describe_command(command))
        with self._context.begin_transaction(optimistic=call.approved is None) as transaction:
            ledger = self._context.make_ledger(call.at_us)
            for _ in range(_ATTEMPTS):
                try:
                    return self._try_change(call, command, ledger, transaction)
                except ConcurrentChange:
                    ledger.reset()
        raise LockTimeout("Another program keeps changing the file.")

    def _try_change(
        self, call: CommandCall, command: commands.ChangeCommand, ledger: Ledger, transaction: Transaction
    ) -> Answer:
        totals = self._context.journal.get_totals() if isinstance(call.actor, Agent) else None
        try:
            plan = self._plan(call, command, ledger, totals)
            if call.approved is not None and plan.changes != call.approved:
                raise StaleApproval(f"{describe_command(command)['path']} has changed since that was shown.")
            return self._apply_plan(call, plan, ledger, transaction)
        except Refusal as refusal:
            if refusal.message is MessageKey.UNRECORDED:
                raise
            # Under the lock still: what was seen from outside may not be recorded over a later command.
            return self._record_refusal(call, refusal, ledger)

    def _plan(
        self, call: CommandCall, command: commands.ChangeCommand, ledger: Ledger, totals: FolderTotals | None
    ) -> ChangePlan:
        """The plan of a command that its sender may carry out; raises `Refusal`."""
        protection = self._context.protection
        paths = protection.get_paths() if isinstance(call.actor, Agent) else ()
        if paths:
            protection.check_command(call.actor, command)
        plan = Planner(self._context.store, ledger, self._context.settings, totals).plan(command)
        if paths:
            protection.check_changes(call.actor, plan.changes, describe_command(command))
        tells = self._context.settings.links_on_agent_rename == "tell" and isinstance(call.actor, Agent)
        if tells and isinstance(command, commands.Rename):
            with contextlib.suppress(StateUnusable):  # the rename is answered all the same
                if line := self._describe_links({command.old_path.relative: command.new_path.relative}):
                    return replace(plan, answer=f"{plan.answer}\n{line}")
        return plan

    def _apply_plan(self, call: CommandCall, plan: ChangePlan, ledger: Ledger, transaction: Transaction) -> Answer:
        added, removed = plan.counts or (None, None)
        event = call.make_event(
            arguments=not isinstance(call.command, commands.Create),  # its text is the version
            answer=plan.answer,
            changes=plan.changes,
            added=added,
            removed=removed,
            note=plan.note,
            no_change=not plan.changes,
        )
        if not plan.changes:
            return self.record(plan.answer, event, ledger)
        journal, is_synced = self._context.journal, self._context.store.is_synced
        try:
            # What somebody else wrote may stand nowhere else once we have changed it.
            ours = {change.after.sha256 for change in plan.changes if change.after is not None}
            durable = not (is_synced and ours.issuperset(ledger.texts))
            found = ledger.make_events()
            texts, known_before = ledger.texts, ledger.known
            intent = journal.add_intent(event, texts, found=found, known=known_before, durable=durable, final=True)
        except RemoteRefused:
            raise  # in its own words
        except StateUnusable as error:
            assert call.command is not None
            values = {**describe_command(call.command), "reason": describe_error(error)}
            raise Refusal(MessageKey.UNRECORDED, **values) from error
        ledger.reset()  # it is recorded
        try:
            known = plan.apply(transaction)
            if not is_synced and needs_sync(plan.changes):
                with as_unconfirmed():
                    self._context.store.sync_paths([change.path for change in plan.changes])
        except UnconfirmedChange:
            return self._record_uncertain(event, intent)
        except (DirectoriesLeft, UnsettledChange):
            raise  # recovery goes by the intent
        except Exception:  # raised again; an interrupt may come after the move and keeps its intent for recovery
            journal.drop_intent(intent.id)
            raise
        try:
            event = journal.finish_intent(intent, known, durable=is_synced)
        except StateUnusable:
            return make_unconfirmed_answer(event)
        self._context.settler.note(sum(change.after.size for change in plan.changes if change.after is not None))
        self._context.calls.mark_changed()
        return Answer(event.answer or "", event.is_error, event)

    def _record_uncertain(self, event: Event, intent: Intent) -> Answer:
        """Record a change that was made, and is not known to be on the disk."""
        try:
            known = self._context.recovery.get_known_after(event.changes)
            text = format_message(MessageKey.UNCERTAIN, path=event.path)
            event = replace(event, answer=text, is_error=True, note="uncertain")
            event = replace(event, changes=add_attributes(event.changes, known))
            recorded = self._context.journal.append_events([event], known=known, intent=intent.id)
        except (OSError, MemtuiError):
            return make_unconfirmed_answer(event)
        self._context.calls.mark_changed()
        return Answer(event.answer or "", event.is_error, recorded[-1])

    def _record_refusal(self, call: CommandCall, refusal: Refusal, ledger: Ledger | None = None) -> Answer:
        text = refusal.format_text(self._context.settings.messages)
        event = call.make_event(answer=str(conceal_secrets(text, call.secrets)), is_error=True)
        if ledger is None:
            return Answer(text, True, self._defer(event), refusal=refusal.message.name)
        return replace(self.record(text, event, ledger, durable=False), refusal=refusal.message.name)

    def record(
        self,
        text: str,
        event: Event,
        ledger: Ledger | None = None,
        *,
        durable: bool = True,
    ) -> Answer:
        """Record an event that changes nothing, and answer. A journal that fails does not take the answer away."""
        events = [*(ledger.make_events() if ledger else ()), event]
        texts, known = (ledger.texts, ledger.known) if ledger else (None, None)
        try:
            event = self._context.journal.append_events(events, texts=texts, known=known, durable=durable)[-1]
        except StateUnusable:
            if not self._context.journal.is_current:
                raise  # the answer may follow from what is old
            return Answer(text, event.is_error, replace(event, note=NOT_RECORDED))
        self._context.calls.mark_changed()
        return Answer(text, event.is_error, event)


def make_unconfirmed_answer(event: Event, error: UnsettledChange | None = None) -> Answer:
    """The answer where a change stands that could not be recorded: its intent is kept, and the next writer does."""
    key = MessageKey.UNKNOWN_OUTCOME if isinstance(error, OutcomeUnknown) else MessageKey.UNCERTAIN
    text = format_message(key, path=event.path)
    return Answer(text, True, replace(event, answer=text, is_error=True, note="uncertain"))
