"""What a server has done, counted, in the text format 0.0.4 of Prometheus."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# What holds now: by a name its help and its value.
Gauges = Mapping[str, tuple[str, float]]

# What is counted: its help and the name of its label, if it has one.
COUNTERS = {
    "connections": ("Connections that were taken.", "wire"),
    "sessions_begun": ("Sessions that began.", "protocol"),
    "sessions_ended": ("Sessions that ended.", "reason"),
    "refused": ("Clients that were not let in.", "reason"),
    "lines": ("Lines that sessions were sent.", "protocol"),
    "delayed_lines": ("Lines that waited, as more came than are allowed a second.", ""),
    "overlong_lines": ("Lines that were dropped, as they were too long.", ""),
    "left_behind": ("Sessions whose threads did not end in time.", ""),
}


class Metrics:
    """Counts, by names of COUNTED and the values of their labels."""

    def __init__(self) -> None:
        self._started = time.time()
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in COUNTERS}

    def count(self, name: str, label: str = "") -> None:
        """Count one more."""
        self._counts[name][label] += 1

    def value(self, name: str, label: str = "") -> int:
        """Return how many were counted."""
        return self._counts[name][label]

    def render(self, now: Gauges) -> str:
        """Return all, and what holds now."""
        gauges = {
            "start_time_seconds": ("When the server began, in seconds of Unix time.", self._started)
        }
        lines: list[str] = []
        for name, (help_text, value) in (gauges | dict(now)).items():
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
