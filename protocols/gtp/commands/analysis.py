"""Commands that report search results until the next input or until a move is played."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agent.agent import ReportInterval, describe
from agent.evaluation_types import learned_file
from agent.game import CHANCE, parse_move
from agent.games.go import Go
from agent.games.stones import PASS, iter_bits
from agent.limits import Info, Limits, Result
from protocols.gtp.analysis import (
    ALL_MOVES,
    AnalysisReporter,
    ReportContext,
    RootInfo,
    cgos_line,
    kata_line,
    lz_line,
    read_request,
)
from protocols.gtp.command import Command
from protocols.gtp.go_board import GtpGoBoard
from protocols.gtp.messages import Arguments, GtpError

if TYPE_CHECKING:
    from agent.games.batch_evaluation import BatchEvaluation
    from agent.games.learned_evaluation import LearnedEvaluation
    from protocols.gtp.session import GtpSession

# The number of symmetries of a square board, and the bits of their numbers in KataGo.
SYMMETRIES, MIRRORS_LINES, MIRRORS_COLUMNS, SWAPS_AXES = 8, 1, 2, 4

LineFormatter = Callable[[ReportContext, Sequence[Info[Any]]], str]


def _lz_analyze(gtp: GtpSession, arguments: Arguments) -> None:
    _analyze(gtp, arguments, lz_line)


def _kata_analyze(gtp: GtpSession, arguments: Arguments) -> None:
    _analyze(gtp, arguments, kata_line)


def _cgos_analyze(gtp: GtpSession, arguments: Arguments) -> None:
    _analyze(gtp, arguments, cgos_line)


def _lz_genmove_analyze(gtp: GtpSession, arguments: Arguments) -> None:
    _analyze(gtp, arguments, lz_line, gtp.play_result)


def _kata_genmove_analyze(gtp: GtpSession, arguments: Arguments) -> None:
    _analyze(gtp, arguments, kata_line, gtp.play_result)


def _kata_search_analyze(gtp: GtpSession, arguments: Arguments) -> None:
    _analyze(gtp, arguments, kata_line, gtp.result_text)


def _kata_search_analyze_cancellable(gtp: GtpSession, arguments: Arguments) -> None:
    gtp.stop_on_input()
    _analyze(gtp, arguments, kata_line, gtp.result_text_unless_cancelled)


def _kata_problem_analyze(gtp: GtpSession, arguments: Arguments) -> None:
    """Analyse a problem of life and death: both sides play in a rectangle or pass.

    Only the rectangle is scored. The win rate tells whether a move succeeds.
    """
    corners, others = dict.fromkeys(("topleft", "bottomright"), ""), []
    while arguments:
        word = arguments.word()
        if word.lower() in corners:
            corners[word.lower()] = arguments.word()
        else:
            others.append(word)
    region = _rectangle(gtp.go_board, corners["topleft"], corners["bottomright"])
    _analyze(gtp, Arguments(others), kata_line, region=region)


def _rectangle(board: GtpGoBoard, top_left: str, bottom_right: str) -> tuple[str, ...]:
    """Return the vertices of a rectangle and the pass. A missing corner is that of the board."""
    shape = board.game.stones.shape
    left, top = shape.coordinates(board.point(top_left)) if top_left else (0, shape.height - 1)
    right, bottom = (
        shape.coordinates(board.point(bottom_right)) if bottom_right else (shape.width - 1, 0)
    )
    if left > right or bottom > top:
        raise GtpError(f"topleft {top_left} is not above and to the left of {bottom_right}")
    vertices = (
        shape.vertex(column, row)
        for row in range(bottom, top + 1)
        for column in range(left, right + 1)
    )
    return tuple(map(board.game.text, (*vertices, PASS)))


def _cgos_genmove_analyze(gtp: GtpSession, arguments: Arguments) -> None:
    # CGOS reads only one line of analysis, and counts dead stones as alive in the score.
    with gtp.go_board.cleaning_up():
        _analyze(gtp, arguments, cgos_line, gtp.play_result, live=False)


def _analyze(
    gtp: GtpSession,
    arguments: Arguments,
    format_line: LineFormatter,
    finish: Callable[[int, Result[Any]], str] | None = None,
    *,
    live: bool = True,
    region: tuple[str, ...] = (),
) -> None:
    """Analyse until the next input, or search for a move and send the text that `finish` returns.

    If `region` is not empty, both sides may play only these moves.
    """
    request = read_request(arguments)
    if region:
        request.allow_only(region)
    board = gtp.board

    def find(text: str) -> Any:
        return _find_move(gtp, text)

    player = board.turn if request.player is None else request.player
    with board.player_to_move(player):
        if board.game.turn == CHANCE:
            raise GtpError("nothing to analyze: the next move is a chance event")
        legal = list(board.game.moves())
        search_moves = request.search_moves(player, legal, find)
    limits: Limits[Any] = Limits(
        search_moves=search_moves,
        restrictions=request.restrictions(find),
        moves_ownership=request.moves_ownership,
    )
    context = ReportContext(
        request, search_moves or legal, board.game.text, gtp.settings.max_pv_length
    )

    def send_lines(lines: Sequence[Info[Any]]) -> None:
        gtp.send(format_line(context, lines))

    needs_all = request.root or format_line is cgos_line
    max_lines = ALL_MOVES if needs_all else max(request.max_moves, request.min_moves)
    reporter = AnalysisReporter(gtp.report, send_lines, max_lines, live=live)
    report_interval = ReportInterval(request.interval, request.interval)
    if finish is not None:
        board.require_game_length()
    gtp.send(f"={gtp.current_command.id}")
    try:
        if finish is not None:
            result = gtp.think(player, reporter, report_interval, limits)
            gtp.send(f"play {finish(player, result)}")
        elif region:
            points = [text for text in region if text != board.game.text(PASS)]
            gtp.analyze_region(player, reporter, report_interval, limits, points)
        else:
            gtp.analyze(player, reporter, report_interval, limits)
    except Exception as error:  # noqa: BLE001 - the response has started and must be completed
        gtp.report(describe(error))
    gtp.send("")


def _find_move(gtp: GtpSession, text: str) -> Any:
    try:
        if isinstance(gtp.board, GtpGoBoard):
            return gtp.board.vertex(text)
        return parse_move(gtp.board.game, text)
    except (GtpError, ValueError):
        raise GtpError(f"invalid move: {text}") from None


def _heatmap(gtp: GtpSession, arguments: Arguments) -> str:
    """Return the prior of each move in permille, as Leela Zero prints it to standard error.

    The argument, which selects a symmetry in Leela Zero, has no effect.
    """
    arguments.rest()
    board = gtp.go_board
    lines = [line for line in gtp.analysis_lines(board.turn) if line.pv]
    priors = {line.pv[0]: 1000 * (line.prior or 0.0) for line in lines}
    if not any(priors.values()):
        priors = {move: 1000 / len(lines) for move in priors}  # The search has no priors.
    rows = [
        "".join(f"{priors.get(vertex, 0.0):3.0f} " for vertex in row).rstrip()
        for row in board.rows_from_the_top()
    ]
    root = RootInfo.from_lines(lines) if any(line.visits for line in lines) else None
    rows += [f"pass: {priors.get(PASS, 0.0):.0f}", f"winrate: {root.winrate if root else 0.5:.6f}"]
    return "\n" + "\n".join(rows)


def _kata_get_models(gtp: GtpSession, arguments: Arguments) -> str:
    arguments.expect_end()
    network = _load_network(gtp)
    if network is None:
        return "[]"
    model = {
        "name": network.name,
        "internalName": network.network.game,
        "maxBatchSize": network.in_batches().batch_size,
        "usesHumanSLProfile": False,
        "version": 1,
        "usingFP16": "false",
    }
    return json.dumps([model])


def _kata_raw_nn(gtp: GtpSession, arguments: Arguments) -> str:
    """Return the network's evaluation of the position itself, in one symmetry or in all."""
    word = arguments.word().lower()
    arguments.expect_end()
    network, board = _load_network(gtp), gtp.go_board
    # With swapped axes, a rectangular board is one for which the network is not trained.
    count = SYMMETRIES if board.game.width == board.game.height else SWAPS_AXES
    known = [str(number) for number in range(count)]
    if word not in (*known, "all"):
        raise GtpError(f"unsupported symmetry {word} (expected 0 to {count - 1}, or all)")
    if network is None:
        raise GtpError("no network is loaded (start with --evaluation learned:FILE)")
    lines = []
    for symmetry in range(count) if word == "all" else [int(word)]:
        lines += [f"symmetry {symmetry}", *_raw_evaluation(board, network.in_batches(1), symmetry)]
    return "\n" + "\n".join(lines)


def _raw_evaluation(board: GtpGoBoard, evaluation: BatchEvaluation, symmetry: int) -> list[str]:
    with board.player_to_move(board.turn):
        game = board.game
        images = _images(game, symmetry)
        moves = [images[move] for move in game.moves()]
        if symmetry:
            game = _image(game, images)
        values, priors = evaluation.evaluate([evaluation.encode(game, moves)])
    white_wins = (1 + float(values[0]) * (1 if board.turn else -1)) / 2
    lines = [
        f"whiteWin {white_wins:.6f}",
        f"whiteLoss {1 - white_wins:.6f}",
        f"noResult {0:.6f}",
    ]
    if priors is not None:
        shares = dict(zip(moves, map(float, priors[0]), strict=False))
        rows = [
            " ".join(
                f"{shares[images[at]]:8.6f}" if images[at] in shares else "     NAN" for at in row
            )
            for row in board.rows_from_the_top()
        ]
        lines += ["policy", *rows, f"policyPass {shares[PASS]:8.6f}"]
    return lines


def _images(game: Go, symmetry: int) -> dict[int, int]:
    """Return the image of each vertex in one of KataGo's symmetries, and of the pass."""
    shape, images = game.stones.shape, {PASS: PASS}
    for vertex in shape.vertices:
        column, row = shape.coordinates(vertex)
        line = shape.height - 1 - row  # counted from the top
        if symmetry & MIRRORS_LINES:
            line = shape.height - 1 - line
        if symmetry & MIRRORS_COLUMNS:
            column = shape.width - 1 - column
        if symmetry & SWAPS_AXES:
            column, line = line, column
        images[vertex] = shape.vertex(column, shape.height - 1 - line)
    return images


def _image(game: Go, images: Mapping[int, int]) -> Go:
    """Return the position, without its history, where each stone is on its image."""
    image = Go(game.size, game.komi)
    image.rules = game.rules
    for player in (0, 1):
        image.set_up(player, [images[at] for at in iter_bits(game.stones.sets[player + 1])])
    image.set_turn(game.turn)
    return image


def _load_network(gtp: GtpSession) -> LearnedEvaluation | None:
    file = learned_file(gtp.settings.evaluation)
    if file is None:
        return None
    from agent.games import learned_evaluation  # lazy import: loads NumPy

    return learned_evaluation.load(file)


COMMANDS = {
    "lz-analyze": Command(_lz_analyze),
    "lz-genmove_analyze": Command(_lz_genmove_analyze),
    "cgos-analyze": Command(_cgos_analyze, go_only=True),
    "cgos-genmove_analyze": Command(_cgos_genmove_analyze, go_only=True),
    "kata-analyze": Command(_kata_analyze),
    "kata-genmove_analyze": Command(_kata_genmove_analyze),
    "kata-search_analyze": Command(_kata_search_analyze),
    "kata-search_analyze_cancellable": Command(_kata_search_analyze_cancellable),
    "kata-problem_analyze": Command(_kata_problem_analyze, go_only=True),
    "kata-get-models": Command(_kata_get_models, go_only=True),
    "kata-raw-nn": Command(_kata_raw_nn, go_only=True),
    "heatmap": Command(_heatmap, go_only=True),
}
