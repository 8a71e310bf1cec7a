"""KataGo's analysis protocol, without I/O. Source: KataGo's docs/Analysis_Engine.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from agent.agent import describe
from agent.games.go import Go
from agent.threads.scheduler import SearchScheduler
from protocols.katago_analysis import responses
from protocols.katago_analysis.fields import FieldReader, QueryError, read_id, read_object
from protocols.katago_analysis.query import DEFAULTS, QueryDefaults, read_query
from protocols.katago_analysis.visit_limited_backend import DEFAULT_SEARCH_SETTINGS, SearchSettings
from protocols.katago_analysis.workers import AnalysisPool, AnalysisTask, AnalysisWorker

ACTIONS = ("query_version", "query_models", "clear_cache", "terminate", "terminate_all")


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the analysis engine. The workers share the memory in `search_settings`.

    - `wait`: whether pending queries are answered after the end of the input.
    - `scheduler`: the scheduler shared by all sessions, or None to search without waiting.
    """

    defaults: QueryDefaults = DEFAULTS
    search_settings: SearchSettings = DEFAULT_SEARCH_SETTINGS
    max_workers: int = 1
    wait: bool = True
    scheduler: SearchScheduler | None = None

    @property
    def worker_search_settings(self) -> SearchSettings:
        search_config = self.search_settings.search_config
        megabytes = max(search_config.megabytes // self.max_workers, 1)
        return replace(
            self.search_settings, search_config=replace(search_config, megabytes=megabytes)
        )


class AnalysisEngine:
    """An engine for KataGo's analysis protocol. The function `send` must be thread-safe.

    The constructor raises `ValueError` for invalid settings.
    """

    def __init__(
        self,
        version: str,
        send: Callable[[str], None],
        report: Callable[[str], None],
        settings: Settings = Settings(),
    ) -> None:
        self.finished = False
        self._version = version
        self._send_line = send
        self._settings = settings
        self._closing = False
        search_settings = settings.worker_search_settings
        search_settings.create_backend(Go(), report)  # validates the settings
        self._pool = AnalysisPool(
            settings.max_workers,
            lambda: AnalysisWorker(search_settings, self._send, report, settings.scheduler),
            self._send,
        )

    def handle_line(self, line: str) -> Iterator[str]:
        """Handle a query, whose results are sent later. Block while too many positions wait."""
        if not line.strip():
            return
        name = None
        try:
            fields = read_object(line)
            name = read_id(fields)
            action = fields.get("action")
            is_action = isinstance(action, str)
            replies = self._act(name, fields) if is_action else self._analyse(name, fields)
            for reply in replies:
                yield responses.to_json_line(reply)
        except QueryError as error:
            yield responses.to_json_line(responses.error(str(error), name, error.field))
        except Exception as error:  # noqa: BLE001 - the session must continue
            yield responses.to_json_line(responses.error(describe(error), name))

    def handle_overlong_line(self) -> Iterator[str]:
        yield responses.to_json_line(responses.error("Line too long, ignoring"))

    def drain(self, timeout: float | None = None) -> bool:
        return not self._settings.wait or self._pool.wait(timeout)

    def close(self, timeout: float) -> bool:
        """Stop all threads without sending replies. Return whether they ended in time."""
        self._closing = True
        return self._pool.close(timeout)

    def _send(self, answer: dict[str, Any]) -> None:
        if not self._closing:
            self._send_line(responses.to_json_line(answer))

    def _analyse(self, name: str, fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
        query, warnings = read_query(name, FieldReader(fields), self._settings.defaults)
        for field, message in warnings:
            yield responses.warning(message, name, field)
        self._pool.add([AnalysisTask(query, turn, priority) for turn, priority in query.turns])

    def _act(self, name: str, fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
        action = fields["action"]
        if action == "query_version":
            yield {**fields, "version": self._version, "git_hash": "<omitted>"}
        elif action == "query_models":
            yield {**fields, "models": []}  # No networks are used.
        elif action == "clear_cache":
            yield fields  # Every search already starts with an empty cache.
        elif action in ("terminate", "terminate_all"):
            self._terminate(FieldReader(fields), everything=action == "terminate_all")
            yield fields
        else:
            raise QueryError(f"'action' field must be one of {', '.join(ACTIONS)}", "action")

    def _terminate(self, fields: FieldReader, everything: bool) -> None:
        name = fields.get("terminateId")
        if not everything and not isinstance(name, str):
            raise QueryError(
                'Requests for a terminate action must have a string "terminateId" field',
                "terminateId",
            )
        turns = None
        if "turnNumbers" in fields:
            message = "If provided, must be an array of integers indicating turns to terminate"
            turns = frozenset(fields.integers("turnNumbers", message))

        def is_selected(task: AnalysisTask) -> bool:
            id_matches = everything or task.query.id == name
            return id_matches and (turns is None or task.turn in turns)

        self._pool.terminate(is_selected)
