"""The application: the API's routes, each with the handler that answers it, in a thread."""

import asyncio
from collections.abc import Mapping
from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router

from memtui.serve import ServerLimits
from memtui.serve.catalog import StoreCatalog
from memtui.serve.errors import INVALID, NOT_FOUND, ApiError
from memtui.serve.gate import HEALTH, METRICS, App, Receive, Scope, Send
from memtui.serve.handlers import ApiHandlers, Handler
from memtui.serve.metrics import CONTENT_TYPE, ServerMetrics
from memtui.serve.requests import ApiRequest, parse_body
from memtui.serve.workers import StoreWorkers

_STORES = "/v1/memory_stores"
_STORE = f"{_STORES}/{{store_id}}"
_MEMORIES, _VERSIONS = f"{_STORE}/memories", f"{_STORE}/memory_versions"
_MEMORY, _VERSION = f"{_MEMORIES}/{{memory_id}}", f"{_VERSIONS}/{{version_id}}"
_HEALTH_SECONDS = 5.0


class ApiServer:
    """Answers admitted requests.

    Args:
        catalog: The stores.
        limits: What clients may use.
        metrics: Shown at `/metrics`.
    """

    def __init__(self, catalog: StoreCatalog, limits: ServerLimits, metrics: ServerMetrics) -> None:
        self._catalog = catalog
        self._metrics = metrics
        self._workers = StoreWorkers(limits.threads, limits.store_threads)
        self._handlers = ApiHandlers(catalog)

    def build(self) -> App:
        """The application of ASGI."""
        api = self._handlers
        methods: Mapping[str, Mapping[str, Handler]] = {
            _STORES: {"GET": api.list_stores, "POST": api.create_store},
            _STORE: {"GET": api.retrieve_store, "POST": api.update_store, "DELETE": api.delete_store},
            f"{_STORE}/archive": {"POST": api.archive_store},
            _MEMORIES: {"GET": api.list_memories, "POST": api.create_memory},
            _MEMORY: {"GET": api.retrieve_memory, "POST": api.update_memory, "DELETE": api.delete_memory},
            _VERSIONS: {"GET": api.list_versions},
            _VERSION: {"GET": api.retrieve_version},
            f"{_VERSION}/redact": {"POST": api.redact_version},
        }
        every = ["GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"]
        routes = [
            Route(pattern, partial(self._answer, pattern, handlers), methods=every)
            for pattern, handlers in methods.items()
        ]
        routes += [Route(HEALTH, self._answer_health), Route(METRICS, self._answer_metrics)]
        return Router(routes, redirect_slashes=False, default=_refuse_path)

    async def _answer(self, pattern: str, handlers: Mapping[str, Handler], request: Request) -> Response:
        request.state.route = pattern
        handler = handlers.get(request.method)
        if handler is None:
            raise ApiError(405, INVALID, f"{request.method} is not answered here.", {"allow": ", ".join(handlers)})
        asked = ApiRequest(
            client=request.state.client,
            ids=request.path_params,
            query=dict(request.query_params),
            body=parse_body(request.state.body) if request.method == "POST" else {},
        )
        store_id = request.path_params.get("store_id", "")
        result = await self._workers.run(store_id, partial(handler, asked))
        if store_id:
            request.state.store = store_id  # it is one that is there: no text of a client's choice is logged
        return JSONResponse(result)

    async def _answer_health(self, request: Request) -> Response:
        """Whether the folders can be read."""
        request.state.route = HEALTH
        try:
            async with asyncio.timeout(_HEALTH_SECONDS):
                await self._workers.run(HEALTH, self._catalog.check)
        except (OSError, TimeoutError):
            return JSONResponse({"status": "unavailable"}, 503)
        return JSONResponse({"status": "ok"})

    async def _answer_metrics(self, request: Request) -> Response:
        request.state.route = METRICS
        gauges = {"memtui_open_stores": ("Stores whose folders are open.", float(self._catalog.open_count))}
        return Response(self._metrics.format_text(gauges), media_type=CONTENT_TYPE)


async def _refuse_path(scope: Scope, receive: Receive, send: Send) -> None:
    del scope, receive, send
    raise ApiError(404, NOT_FOUND, "There is nothing at this path.")
