"""Counters of the server, as OpenMetrics text. No label holds what a client sent."""

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the classes of durations, in seconds."""


class ServerMetrics:
    """Counts requests. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._durations: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()
        self._received = 0
        self._sent = 0
        self.in_flight = 0

    def begin(self) -> None:
        with self._lock:
            self.in_flight += 1

    def end(self, method: str, route: str, status: int, seconds: float, *, received: int, sent: int) -> None:
        """Count an answer; `route` is the pattern of the path."""
        with self._lock:
            self.in_flight -= 1
            self._requests[method, route, status] += 1
            counts = self._durations.setdefault(route, [0] * (len(_BOUNDS) + 1))
            counts[bisect_left(_BOUNDS, seconds)] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]
            self._received += received
            self._sent += sent

    def format_text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """All counters; `gauges` are further values by name, each with its help."""
        with self._lock:
            lines = ["# TYPE memtui_requests counter", "# HELP memtui_requests Answered requests."]
            lines += [
                f'memtui_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
                for (method, route, status), count in sorted(self._requests.items())
            ]
            name = "memtui_request_duration_seconds"
            lines += [f"# TYPE {name} histogram", f"# UNIT {name} seconds", f"# HELP {name} Time to the answer."]
            for route, counts in sorted(self._durations.items()):
                total = 0
                for bound, count in zip((*map(str, _BOUNDS), "+Inf"), counts, strict=True):
                    total += count
                    lines.append(f'{name}_bucket{{route="{route}",le="{bound}"}} {total}')
                lines.append(f'{name}_count{{route="{route}"}} {total}')
                lines.append(f'{name}_sum{{route="{route}"}} {self._seconds[route]:.6f}')
            for word, count, said in (
                ("received", self._received, "Bytes of the bodies of requests."),
                ("sent", self._sent, "Bytes of the bodies of answers."),
            ):
                name = f"memtui_{word}_bytes"
                lines += [f"# TYPE {name} counter", f"# UNIT {name} bytes", f"# HELP {name} {said}"]
                lines.append(f"{name}_total {count}")
            values = {"memtui_requests_in_flight": ("Requests that are being answered.", self.in_flight), **gauges}
        for name, (said, value) in values.items():
            lines += [f"# TYPE {name} gauge", f"# HELP {name} {said}", f"{name} {value:g}"]
        return "\n".join([*lines, "# EOF", ""])
