"""The server: what a client may ask for, answered by the engine.

The library checks the shape of messages and no more. What is in a call is judged by the engine, as it is for every
other agent, so that a model reads the same words wherever it works.
"""

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

from memtui.agents.guidance import guide
from memtui.agents.mcp import telling, tools
from memtui.agents.mcp.calling import Calls
from memtui.agents.mcp.clients import Context, actor_of, call_id_of, connection_of, tool_use_of
from memtui.agents.mcp.resources import Resources, place_in, templates
from memtui.agents.mcp.searching import Search
from memtui.agents.mcp.serving import Serving
from memtui.agents.mcp.subscriptions import PAUSE, Hub, Mailbox, TooMany
from memtui.core.asking import Policy
from memtui.core.errors import Closed, MemtuiError
from memtui.core.events import Agent
from memtui.core.visible import one_line
from memtui.journal.announced import Announcements
from memtui.places import state_home

_INSTRUCTIONS = """\
The user's memory folder, kept by memtui: notes that outlast this conversation. Look into it with the tool `memory` \
(command `view`, path `/memories`) before you begin, and write down there what later work will need. The user sees \
each change, with your name on it, and can take it back."""
_PROMPT = "memory_guide"
_MOST_LISTENED = 1_000
"""URIs that one `subscriptions/listen` may name."""

_LOG = logging.getLogger(__name__)

_Look = Callable[[Mapping[str, object]], telling.Told]


class MemoryServer:
    """What answers the clients of one memory.

    Args:
        calls: Executes commands.
        hub: Who is told of changes.
        serving: How it is served.
        one_client: Whether there is one client only, however its requests come.
    """

    def __init__(self, calls: Calls, hub: Hub, serving: Serving, *, one_client: bool) -> None:
        self._calls = calls
        self._one_turn = anyio.Lock() if one_client else None
        self._hub = hub
        self._serving = serving
        self._resources = Resources(calls.memory)
        self._looking: Mapping[str, _Look] = {
            tools.SEARCH: Search(calls.memory),
            tools.ACTIVITY: partial(telling.activity, calls.memory),
            tools.HISTORY: partial(telling.history, calls.memory),
        }
        self._mailboxes: WeakKeyDictionary[Connection, Mailbox] = WeakKeyDictionary()
        self._turns: WeakKeyDictionary[Connection, anyio.Lock] = WeakKeyDictionary()
        self._tasks: TaskGroup | None = None
        policy = serving.policy
        self._tools = tools.tools(read_only=policy is Policy.READ_ONLY, asks=policy is Policy.ASK)

    def build(self) -> Server[dict[str, Any]]:
        """The library's server, with everything in it."""
        server = Server(
            "memtui",
            version=self._serving.version,
            title="memtui",
            instructions=_INSTRUCTIONS,
            lifespan=self._lifespan,
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
        )
        server.add_notification_handler("notifications/initialized", types.NotificationParams, self._initialized)
        server.middleware.append(_Answering())
        return server

    @staticmethod
    def options(server: Server[dict[str, Any]]) -> InitializationOptions:
        """What a client of the older protocol is told that this server can do."""
        return server.create_initialization_options(NotificationOptions(resources_changed=True))

    @asynccontextmanager
    async def _lifespan(self, _: Server[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
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
            return await self._memory(context, given)
        look = self._looking.get(params.name)
        if look is None:
            known = ", ".join(tool.name for tool in self._tools)
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {one_line(params.name)[:100]!r}, only: {known}.")
        try:
            told = await self._calls.look(partial(look, given))
        except Closed:
            raise
        except (MemtuiError, OSError) as error:
            return _text(telling.words_of(error), is_error=True)
        return types.CallToolResult(content=[types.TextContent(text=told.text)], structured_content=told.data)

    async def _memory(self, context: Context, given: dict[str, Any]) -> types.CallToolResult:
        arrived = time.monotonic()
        overtakes = self._calls.may_overtake(given)
        async with nullcontext() if overtakes else self._turn(context):  # of one client, in the order of its asking
            actor = await self._known_better(context, actor_of(context, self._serving.name))
            answer = await self._calls.execute(given, actor=actor, call_id=call_id_of(context), arrived=arrived)
        return _text(answer.text, is_error=answer.is_error)

    async def _known_better(self, context: Context, actor: Agent) -> Agent:
        """The actor with the session that Claude Code's hook told of, where it is installed."""
        tool_use = tool_use_of(context)
        if tool_use is None or actor.session is not None or self._serving.state is None:
            return actor
        announced = await self._calls.look(lambda: Announcements(state_home()).of_call(tool_use))
        return actor if announced is None else replace(actor, session=announced.actor.session)

    def _turn(self, context: Context) -> anyio.Lock:
        return self._one_turn or self._turns.setdefault(connection_of(context), anyio.Lock())

    # Resources

    async def _list_resources(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return await self._calls.look(partial(self._resources.page, params.cursor if params else None))

    async def _list_templates(self, _: Context, __: object) -> types.ListResourceTemplatesResult:
        return templates()

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        actor, call_id = actor_of(context, self._serving.name), call_id_of(context)
        return await self._calls.look(partial(self._resources.read, params.uri, actor=actor, call_id=call_id))

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
                types.INVALID_PARAMS, f"There is no prompt {one_line(params.name)[:100]!r}, only: {_PROMPT}."
            )
        text = types.TextContent(text=guide(self._serving.guidance))
        return types.GetPromptResult(
            description="How to use this memory", messages=[types.PromptMessage(role="user", content=text)]
        )

    # Subscriptions

    async def _initialized(self, context: Context, _: object) -> None:
        """A client of the older protocol is there: from now on it is told when notes come or go."""
        try:
            self._mailbox(connection_of(context))
        except TooMany:
            _LOG.warning("A client is not told of changes: there are too many already.")

    async def _subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        place = place_in(params.uri)
        try:
            self._mailbox(connection_of(context)).want(params.uri, place.relative)
        except TooMany as error:
            raise MCPError(types.INVALID_REQUEST, str(error)) from None
        return types.EmptyResult()

    async def _unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        mailbox = self._mailboxes.get(connection_of(context))
        if mailbox is not None:
            mailbox.drop(place_in(params.uri).relative)
        return types.EmptyResult()

    def _mailbox(self, connection: Connection) -> Mailbox:
        """The mailbox of a client of the older protocol; it goes when the client does.

        Raises:
            TooMany: There is no room for another one.
        """
        mailbox = self._mailboxes.get(connection)
        if mailbox is None and self._tasks is not None:
            mailbox = self._mailboxes[connection] = self._hub.open(wants_list=True)
            scope = anyio.CancelScope()
            connection.exit_stack.callback(scope.cancel)
            connection.exit_stack.callback(self._hub.close, mailbox)
            self._tasks.start_soon(self._deliver, connection, mailbox, scope)
        if mailbox is None:
            raise TooMany("This server is about to end.")
        return mailbox

    @staticmethod
    async def _deliver(connection: Connection, mailbox: Mailbox, scope: anyio.CancelScope) -> None:
        with scope:
            while True:
                listed, uris = await mailbox.take()
                if listed:
                    await connection.send_resource_list_changed()
                for uri in uris:
                    await connection.send_resource_updated(uri)
                await anyio.sleep(PAUSE)

    async def _listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """A client of the newer protocol listens, for as long as this request lasts."""
        asked = params.notifications
        uris = list(asked.resource_subscriptions or ())
        if len(uris) > _MOST_LISTENED:
            raise MCPError(types.INVALID_PARAMS, f"At most {_MOST_LISTENED:,} resources can be listened to at once.")
        places = [(uri, place_in(uri).relative) for uri in uris]
        meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: context.request_id}
        try:
            mailbox = self._hub.open(wants_list=asked.resources_list_changed is True)
        except TooMany as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from None
        try:
            for uri, path in places:
                mailbox.want(uri, path)
            honored = types.SubscriptionFilter(
                resources_list_changed=asked.resources_list_changed or None, resource_subscriptions=uris or None
            )
            acknowledged = types.SubscriptionsAcknowledgedNotification(
                params=types.SubscriptionsAcknowledgedNotificationParams(notifications=honored, _meta=meta)
            )
            await context.session.send_notification(acknowledged, related_request_id=context.request_id)
            while True:
                listed, updated = await mailbox.take()
                told: list[ServerEvent] = [ResourcesListChanged()] if listed else []
                for event in [*told, *map(ResourceUpdated, updated)]:
                    await context.session.send_notification(
                        event_to_notification(event, meta), related_request_id=context.request_id
                    )
                await anyio.sleep(PAUSE)
        finally:
            self._hub.close(mailbox)


class _Answering:
    """Lets arguments that are no object reach the engine as none, which refuses them in its own words; and lets no
    fault of ours out but as a sentence.
    """

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
        except Closed:
            raise MCPError(types.INTERNAL_ERROR, "The server is about to end. Nothing was done.") from None
        except MemtuiError as error:
            raise MCPError(types.INTERNAL_ERROR, telling.words_of(error)) from error
        except ValidationError as error:
            raise MCPError(types.INVALID_PARAMS, _what_is_wrong(error)) from None
        except Exception as error:  # the last one of ours to see it: the client can do nothing about it but go on
            _LOG.error("A request failed because of a bug: %r", error)
            said = f"This request failed because of a bug in memtui: {type(error).__name__}."
            raise MCPError(types.INTERNAL_ERROR, said) from error


def _what_is_wrong(error: ValidationError) -> str:
    """What the library says of parameters that have not the shape that the protocol gives them."""
    wrong = error.errors(include_url=False, include_input=False, include_context=False)
    said = {f"{'.'.join(map(str, each['loc'][-2:]))}: {each['msg']}" for each in wrong}
    return f"The request's parameters are not as the protocol has them: {'; '.join(sorted(said)[:3])}"[:500]


def _text(text: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=is_error)
