"""Server metrics in the Prometheus text format 0.0.4."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# Name -> (help text, value).
Gauges = Mapping[str, tuple[str, float]]

# Name -> (help text, name of the label or "").
COUNTERS = {
    "connections": ("Accepted connections.", "wire"),
    "sessions_begun": ("Sessions started.", "protocol"),
    "sessions_ended": ("Sessions ended.", "reason"),
    "refused": ("Rejected clients.", "reason"),
    "lines": ("Lines received from clients.", "protocol"),
    "delayed_lines": ("Lines delayed by the rate limit.", ""),
    "overlong_lines": ("Lines dropped because they were too long.", ""),
    "left_behind": ("Sessions whose threads did not end in time.", ""),
}


class Metrics:
    """Counters by name and label value. The names and labels are listed in COUNTERS."""

    def __init__(self) -> None:
        self._started = time.time()
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in COUNTERS}

    def count(self, name: str, label: str = "") -> None:
        self._counts[name][label] += 1

    def value(self, name: str, label: str = "") -> int:
        return self._counts[name][label]

    def render(self, gauges: Gauges) -> str:
        """Return the counters, the start time and the gauges in the Prometheus format."""
        start = {"start_time_seconds": ("Start time of the server in Unix seconds.", self._started)}
        lines: list[str] = []
        for name, (help_text, value) in (start | dict(gauges)).items():
            full = f"kempelen_{name}"
            lines += [f"# HELP {full} {help_text}", f"# TYPE {full} gauge", f"{full} {value:.15g}"]
        for name, (help_text, label) in COUNTERS.items():
            full = f"kempelen_{name}_total"
            lines += [f"# HELP {full} {help_text}", f"# TYPE {full} counter"]
            counts = self._counts[name]
            if label:
                lines += [f'{full}{{{label}="{key}"}} {n}' for key, n in sorted(counts.items())]
            else:
                lines.append(f"{full} {counts['']}")
        return "\n".join(lines) + "\n"
