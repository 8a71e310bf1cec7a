"""The analysis engine, without input and output: objects of JSON in, objects out, a line each.

Begin reading at `AnalysisEngine.handle_line`. Errors and warnings are objects too, in KataGo's
words where it has any. Source: KataGo's 'Parallel Analysis Engine' (docs/Analysis_Engine.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from agent.agent import describe
from agent.games.go import Go
from agent.threads.scheduler import SearchScheduler
from protocols.katago_analysis import responses
from protocols.katago_analysis.fields import Fields, QueryError, read_id, read_object
from protocols.katago_analysis.query import DEFAULTS, QueryDefaults, read_query
from protocols.katago_analysis.visit_limited_backend import DEFAULT_SEARCH_SETTINGS, SearchSettings
from protocols.katago_analysis.workers import AnalysisPool, AnalysisTask, AnalysisWorker

ACTIONS = ("query_version", "query_models", "clear_cache", "terminate", "terminate_all")


@dataclass(frozen=True, slots=True)
class Settings:
    """How positions are analysed.

    usual: what holds where a query does not say. searching: what searches; its memory is shared
    among all. analysts: the most positions at once. wait: answer all that was asked before the
    end of input. turns: shared with all that search by turns; None to search at any time.
    """

    defaults: QueryDefaults = DEFAULTS
    search_settings: SearchSettings = DEFAULT_SEARCH_SETTINGS
    max_workers: int = 1
    wait: bool = True
    scheduler: SearchScheduler | None = None

    @property
    def worker_search_settings(self) -> SearchSettings:
        """What one analyst searches with: his part of the memory."""
        search_config = self.search_settings.search_config
        megabytes = max(search_config.megabytes // self.max_workers, 1)
        return replace(
            self.search_settings, search_config=replace(search_config, megabytes=megabytes)
        )


class AnalysisEngine:
    """One analysis engine.

    version: of the program. send: takes an answer, to which one line end is added, from any
    thread. report: takes what a person should know.

    Raises ValueError for settings that cannot be.
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
        search_settings.create_backend(Go(), report)  # a trial
        self._pool = AnalysisPool(
            settings.max_workers,
            lambda: AnalysisWorker(search_settings, self._send, report, settings.scheduler),
            self._send,
        )

    def handle_line(self, line: str) -> Iterator[str]:
        """Take one query; positions are answered later. Waits while very many are waiting."""
        if not line.strip():
            return
        name = None
        try:
            fields = read_object(line)
            name = read_id(fields)
            action = fields.get("action")
            acting = isinstance(action, str)
            steps = self._act(name, fields) if acting else self._analyse(name, fields)
            for answer in steps:
                yield responses.to_json_line(answer)
        except QueryError as error:
            yield responses.to_json_line(responses.error(str(error), name, error.field))
        except Exception as error:  # noqa: BLE001 - whatever a line does, the next is read
            yield responses.to_json_line(responses.error(describe(error), name))

    def handle_overlong_line(self) -> Iterator[str]:
        """Say that a line was dropped."""
        yield responses.to_json_line(responses.error("The line is too long, ignoring"))

    def drain(self, timeout: float | None = None) -> bool:
        """After the last line: answer what is still to be answered, if that is wanted."""
        return not self._settings.wait or self._pool.wait(timeout)

    def close(self, timeout: float) -> bool:
        """Stop everything, silently; return whether all threads ended within about `timeout`."""
        self._closing = True
        return self._pool.close(timeout)

    def _send(self, answer: dict[str, Any]) -> None:
        if not self._closing:
            self._send_line(responses.to_json_line(answer))

    def _analyse(self, name: str, fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Have the positions of a query analysed, after warnings."""
        query, warnings = read_query(name, Fields(fields), self._settings.defaults)
        for field, message in warnings:
            yield responses.warning(message, name, field)
        self._pool.add([AnalysisTask(query, turn, priority) for turn, priority in query.turns])

    def _act(self, name: str, fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Do something else than to analyse; the answer repeats the request."""
        action = fields["action"]
        if action == "query_version":
            yield {**fields, "version": self._version, "git_hash": "<omitted>"}
        elif action == "query_models":
            yield {**fields, "models": []}  # there are no networks
        elif action == "clear_cache":
            yield fields  # each search begins with nothing
        elif action in ("terminate", "terminate_all"):
            self._terminate(Fields(fields), everything=action == "terminate_all")
            yield fields
        else:
            raise QueryError(f"'action' field must be one of {', '.join(ACTIONS)}", "action")

    def _terminate(self, fields: Fields, everything: bool) -> None:
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

        def chosen(task: AnalysisTask) -> bool:
            named = everything or task.query.id == name
            return named and (turns is None or task.turn in turns)

        self._pool.terminate(chosen)
