"""The server: the requests of clients, answered by the engine.

The library checks the shape of messages and no more. Arguments are validated by the engine, as for every other agent,
so that a model reads the same words everywhere.
"""

import base64
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import NotificationOptions
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import (
    SUBSCRIPTION_ID_META_KEY,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    event_to_notification,
)
from pydantic import ValidationError

from memtui.agents.guidance import build_guide
from memtui.agents.mcp import ServerOptions, answers, elicitation, resources, tools
from memtui.agents.mcp.calls import (
    ClientPrompt,
    Context,
    McpCallExecutor,
    get_actor,
    get_call_id,
    get_connection,
    get_tool_use_id,
)
from memtui.agents.mcp.knowledge import KnowledgeTools
from memtui.agents.mcp.tools import SearchTool
from memtui.core.approvals import ApprovalPolicy
from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.events import Agent
from memtui.core.unicode import to_one_line
from memtui.fs.state import get_state_home
from memtui.journal.announcements import AnnouncementStore

_INSTRUCTIONS = """\
The user's memory folder, kept by memtui: notes that outlast this conversation. Look into it with the tool `memory` \
(command `view`, path `/memories`) before you begin, and write down there what later work will need. The user sees \
each change, with your name on it, and can take it back."""
_PROMPT = "memory_guide"
_MOST_LISTENED = 1_000
"""URIs that one `subscriptions/listen` may name."""

_LOG = logging.getLogger(__name__)

_Look = Callable[[Mapping[str, object]], answers.ToolAnswer]


class MemoryServer:
    """Answers the clients of one memory.

    Args:
        calls: Executes commands.
        hub: Publishes changes.
        serving: The options.
        one_client: Whether there is one client only, however its requests come.
    """

    def __init__(
        self, calls: McpCallExecutor, hub: resources.SubscriptionHub, serving: ServerOptions, *, one_client: bool
    ) -> None:
        self._calls = calls
        self._one_turn = _make_turn() if one_client else None
        self._hub = hub
        self._serving = serving
        self._resources = resources.NoteResources(calls.memory)
        self._knowledge = KnowledgeTools(calls.memory)
        self._looking: Mapping[str, _Look] = {
            tools.SEARCH: SearchTool(calls.memory, self._knowledge),
            tools.CONTEXT: self._knowledge.build_context,
            tools.LINKS: self._knowledge.list_links,
            tools.ACTIVITY: partial(answers.answer_activity, calls.memory),
            tools.HISTORY: partial(answers.answer_history, calls.memory),
        }
        self._mailboxes: WeakKeyDictionary[Connection, resources.SubscriptionMailbox] = WeakKeyDictionary()
        self._turns: WeakKeyDictionary[Connection, anyio.Lock] = WeakKeyDictionary()
        self._tasks: TaskGroup | None = None
        policy = serving.policy
        self._tools = tools.build_tools(read_only=policy is ApprovalPolicy.READ_ONLY, asks=policy is ApprovalPolicy.ASK)

    def build(self) -> Server[dict[str, Any]]:
        """The library's server, with all handlers."""
        server = Server(
            "memtui",
            version=self._serving.version,
            title="memtui",
            instructions=_INSTRUCTIONS,
            lifespan=self._run_lifespan,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._listen,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_completion=self._complete,
        )
        server.add_notification_handler("notifications/initialized", types.NotificationParams, self._handle_initialized)
        server.middleware[:] = [_ErrorMiddleware()]  # without the library's tracing, which nothing here collects
        return server

    @staticmethod
    def build_options(server: Server[dict[str, Any]]) -> InitializationOptions:
        """The capabilities for a client of the older protocol."""
        return server.create_initialization_options(NotificationOptions(resources_changed=True))

    @asynccontextmanager
    async def _run_lifespan(self, _: Server[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield {}
            finally:
                self._tasks = None
                tasks.cancel_scope.cancel()

    # Tools

    async def _list_tools(self, _: Context, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._tools)

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        given = params.arguments or {}
        if params.name == tools.MEMORY:
            return await self._call_memory(context, given)
        if params.name == tools.READ:
            return await self._read_note(context, given)
        look = self._looking.get(params.name)
        if look is None:
            known = ", ".join(tool.name for tool in self._tools)
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {to_one_line(params.name)[:100]!r}, only: {known}.")
        try:
            changes = await self._calls.run_read(partial(look, given))
        except MemoryClosed:
            raise
        except (MemtuiError, OSError) as error:
            return _build_text_result(answers.format_error(error), is_error=True)
        return types.CallToolResult(content=[types.TextContent(text=changes.text)], structured_content=changes.data)

    async def _read_note(self, context: Context, given: dict[str, Any]) -> types.CallToolResult:
        """A view of the note that was named, recorded as any other one."""
        try:
            budget = answers.ToolArguments(given).get_budget()
            place = await self._calls.run_read(partial(self._knowledge.find_note, given))
        except MemoryClosed:
            raise
        except (MemtuiError, OSError) as error:
            return _build_text_result(answers.format_error(error), is_error=True)
        lines = {"view_range": given["view_range"]} if given.get("view_range") is not None else {}
        result = await self._call_memory(context, {"command": "view", "path": str(place), **lines})
        for part in result.content:
            if isinstance(part, types.TextContent) and not result.is_error:
                part.text = answers.cut_view(part.text, budget.characters)
        return result

    async def _call_memory(self, context: Context, given: dict[str, Any]) -> types.CallToolResult:
        arrived = time.monotonic()
        overtakes = self._calls.can_overtake(given)
        async with nullcontext() if overtakes else self._get_lock(context):  # of one client, in the order of its asking
            actor = await self._refine_actor(context, get_actor(context, self._serving.name, self._serving.session))
            answer = await self._calls.execute(
                given, actor=actor, call_id=get_call_id(context), arrived=arrived, prompt=self._build_prompt(context)
            )
        result = _build_text_result(answer.text, is_error=answer.is_error)
        if (image := answer.image) is not None:
            data = base64.b64encode(image.data).decode("ascii")
            result.content.append(types.ImageContent(data=data, mime_type=image.media_type))
        return result

    def _build_prompt(self, context: Context) -> ClientPrompt | None:
        """How the client is reached, where a person is asked."""
        if self._serving.policy is not ApprovalPolicy.ASK:
            return None
        elicit = partial(elicitation.elicit_verdict, context) if elicitation.can_elicit(context) else None
        return ClientPrompt(elicit, context.session.report_progress)

    async def _refine_actor(self, context: Context, actor: Agent) -> Agent:
        """The actor with the session that Claude Code's hook announced, where it is installed."""
        tool_use = get_tool_use_id(context)
        if tool_use is None or actor.session is not None or self._serving.state is None:
            return actor
        announced = await self._calls.run_read(lambda: AnnouncementStore(get_state_home()).find_by_call(tool_use))
        return actor if announced is None else replace(actor, session=announced.actor.session)

    def _get_lock(self, context: Context) -> anyio.Lock:
        return self._one_turn or self._turns.setdefault(get_connection(context), _make_turn())

    # Resources

    async def _list_resources(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return await self._calls.run_read(partial(self._resources.list_page, params.cursor if params else None))

    async def _list_templates(self, _: Context, __: object) -> types.ListResourceTemplatesResult:
        return resources.build_templates()

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        actor, call_id = get_actor(context, self._serving.name, self._serving.session), get_call_id(context)
        return await self._calls.run_read(partial(self._resources.read, params.uri, actor=actor, call_id=call_id))

    async def _complete(self, _: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        ref, argument = params.ref, params.argument
        if not isinstance(ref, types.ResourceTemplateReference) or ref.uri != resources.TEMPLATE:
            return types.CompleteResult(completion=types.Completion(values=[]))
        return await self._calls.run_read(partial(self._resources.complete, argument.value))

    # Prompts

    async def _list_prompts(self, _: Context, __: object) -> types.ListPromptsResult:
        prompt = types.Prompt(
            name=_PROMPT,
            title="How to use this memory",
            description="How to keep notes here: the protocol, the folders, what a note looks like, what to remember.",
        )
        return types.ListPromptsResult(prompts=[prompt])

    async def _get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != _PROMPT:
            raise MCPError(
                types.INVALID_PARAMS, f"There is no prompt {to_one_line(params.name)[:100]!r}, only: {_PROMPT}."
            )
        dialect = await self._calls.run_read(lambda: self._calls.memory.dialect.name)
        text = types.TextContent(text=build_guide(self._serving.guidance, dialect))
        return types.GetPromptResult(
            description="How to use this memory", messages=[types.PromptMessage(role="user", content=text)]
        )

    # Subscriptions

    async def _handle_initialized(self, context: Context, _: object) -> None:
        """Open the mailbox of a client of the older protocol: it is told when notes come or go."""
        try:
            self._get_mailbox(get_connection(context))
        except resources.TooManySubscriptions:
            _LOG.warning("A client is not told of changes: there are too many already.")

    async def _subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        place = resources.resolve_uri(params.uri)
        try:
            self._get_mailbox(get_connection(context)).subscribe(params.uri, place.relative)
        except resources.TooManySubscriptions as error:
            raise MCPError(types.INVALID_REQUEST, str(error)) from None
        return types.EmptyResult()

    async def _unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        mailbox = self._mailboxes.get(get_connection(context))
        if mailbox is not None:
            mailbox.unsubscribe(resources.resolve_uri(params.uri).relative)
        return types.EmptyResult()

    def _get_mailbox(self, connection: Connection) -> resources.SubscriptionMailbox:
        """The mailbox of a client of the older protocol; it is closed with the connection.

        Raises:
            TooManySubscriptions: There is no room for another one.
        """
        mailbox = self._mailboxes.get(connection)
        if mailbox is None and self._tasks is not None:
            mailbox = self._mailboxes[connection] = self._hub.open(wants_list=True)
            scope = anyio.CancelScope()
            connection.exit_stack.callback(scope.cancel)
            connection.exit_stack.callback(self._hub.close, mailbox)
            self._tasks.start_soon(self._deliver, connection, mailbox, scope)
        if mailbox is None:
            raise resources.TooManySubscriptions("This server is about to end.")
        return mailbox

    @staticmethod
    async def _deliver(
        connection: Connection, mailbox: resources.SubscriptionMailbox, scope: anyio.CancelScope
    ) -> None:
        with scope:
            while True:
                listed, uris = await mailbox.take()
                if listed:
                    await connection.send_resource_list_changed()
                for uri in uris:
                    await connection.send_resource_updated(uri)
                await anyio.sleep(resources.PAUSE)

    async def _listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Send updates to a client of the newer protocol, for as long as this request lasts."""
        asked = params.notifications
        uris = list(asked.resource_subscriptions or ())
        if len(uris) > _MOST_LISTENED:
            raise MCPError(types.INVALID_PARAMS, f"At most {_MOST_LISTENED:,} resources can be listened to at once.")
        places = [(uri, resources.resolve_uri(uri).relative) for uri in uris]
        meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: context.request_id}
        try:
            mailbox = self._hub.open(wants_list=asked.resources_list_changed is True)
        except resources.TooManySubscriptions as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from None
        try:
            for uri, path in places:
                mailbox.subscribe(uri, path)
            honored = types.SubscriptionFilter(
                resources_list_changed=asked.resources_list_changed or None, resource_subscriptions=uris or None
            )
            acknowledged = types.SubscriptionsAcknowledgedNotification(
                params=types.SubscriptionsAcknowledgedNotificationParams(notifications=honored, _meta=meta)
            )
            await context.session.send_notification(acknowledged, related_request_id=context.request_id)
            while True:
                listed, updated = await mailbox.take()
                changes: list[ServerEvent] = [ResourcesListChanged()] if listed else []
                for event in [*changes, *map(ResourceUpdated, updated)]:
                    await context.session.send_notification(
                        event_to_notification(event, meta), related_request_id=context.request_id
                    )
                await anyio.sleep(resources.PAUSE)
        finally:
            self._hub.close(mailbox)


def _make_turn() -> anyio.Lock:
    """A lock that does not go round the loop where nobody waits."""
    return anyio.Lock(fast_acquire=True)


class _ErrorMiddleware:
    """Replaces arguments that are no object by an empty one, which the engine refuses; and faults by sentences."""

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        params = ctx.params
        if ctx.method == "tools/call" and params is not None:
            arguments = params.get("arguments")
            if arguments is not None and not isinstance(arguments, dict):
                ctx = replace(ctx, params={**params, "arguments": {}})
        try:
            return await call_next(ctx)
        except MCPError:
            raise
        except MemoryClosed:
            raise MCPError(types.INTERNAL_ERROR, "The server is about to end. Nothing was done.") from None
        except MemtuiError as error:
            raise MCPError(types.INTERNAL_ERROR, answers.format_error(error)) from error
        except ValidationError as error:
            raise MCPError(types.INVALID_PARAMS, _format_validation_error(error)) from None
        except Exception as error:  # the last one of ours to see it: the client can do nothing about it but go on
            _LOG.error("A request failed because of a bug: %r", error)
            said = f"This request failed because of a bug in memtui: {type(error).__name__}."
            raise MCPError(types.INTERNAL_ERROR, said) from error


def _format_validation_error(error: ValidationError) -> str:
    """The library's complaints about parameters, as a sentence."""
    wrong = error.errors(include_url=False, include_input=False, include_context=False)
    said = {f"{'.'.join(map(str, each['loc'][-2:]))}: {each['msg']}" for each in wrong}
    return f"The request's parameters are not as the protocol has them: {'; '.join(sorted(said)[:3])}"[:500]


def _build_text_result(text: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=is_error)
