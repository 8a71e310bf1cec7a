"""Every command in README.md, docs and benchmarks is run by a test.

The tables below name the test. HERE: run by this file, in a folder with the files that the command
reads, with shorter searches. ELSEWHERE: run by another test. docs/test_examples.py runs transcripts
with `$`, and parses the arguments of every match.
"""

import contextlib
import functools
import io
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import chess
import chess.engine
import pytest
import yaml

from agent.learning.learned_move import LearnedMove
from agent.learning.learned_move_database import LearnedMoveDatabase
from kempelen.cli import main
from kempelen.match import runner
from kempelen.match.config.tournament_file import read_tournament
from openings.endgame_tables import open_tables
from protocols.uci.parsing import SetOptionCommand, parse_set_option
from tests import external
from tests.pages import GUIDES, MEASUREMENTS, ROOT, Page, cases
from tests.random_network import random_network

pytestmark = pytest.mark.early

QUOTED = [each for page in GUIDES for each in page.quoted()]
KEMPELEN = Path(sys.executable).with_name("kempelen")

PROGRAMS = r"kempelen(-env/bin/\w+)?|python3?(?! -c)|pip|make|docker|dask|xboard|cutechess-cli"
YAML = r"([a-z]\w*: .*|\{.*: .*\})"

# Run here: command, and replacements of parts of it.
HERE: dict[str, dict[str, str]] = {
    "kempelen warmup": {},
    "kempelen perft": {"perft": "perft 2"},
    "kempelen --version": {},
    ".venv/bin/python -m pytest tests/agent/games/test_all_games.py --game chomp.py:Chomp": {
        "tests/agent": f"{ROOT}/tests/agent",
        "chomp.py:": f"{ROOT}/tests/data/games/chomp.py:",
    },
    "kempelen match --help": {},
    "kempelen match --compliance ENGINE": {
        "ENGINE": f'"{sys.executable} {ROOT}/tests/compliant_engine.py"',
    },
    "kempelen lab --help": {},
    "kempelen lab learn": {"learn": "learn --game nim --steps 1 --games 2 --playouts 8"},
    "kempelen serve --help": {},
    "kempelen serve --new-token alice --tokens tokens": {},
    "kempelen web --help": {},
    "kempelen web --new-token bob --tokens tokens": {},
    "kempelen match sprt 13 37 50 25 3 --elo1 4": {},
    "kempelen match ratings games.pgn": {},
    "kempelen match cup.yaml": {},
    "kempelen tablebase check": {},
    "kempelen tablebase stats": {"stats": "stats KBNK"},
    "kempelen train selfplay FILE": {"FILE": "new.bin --positions 200 --nodes 20 --processes 1"},
    "kempelen train selfplay --nodes 400": {"400": "20 new.bin --positions 200 --processes 1"},
    "kempelen suite FILE... --movetime 1": {"FILE...": "mates.epd", "movetime 1": "movetime 0.1"},
    "kempelen analyse games.pgn -o judged.pgn -o judged.svg": {
        "games.pgn": "one.pgn --nodes 200 --engine agent=chess",
    },
    "kempelen analyse game.sgf -o judged.sgf": {"game.sgf": "game.sgf --nodes 20"},
    "kempelen suite FILE...": {"FILE...": "one.tst -- --playouts 20"},
    'kempelen suite FILE... --engine "gnugo --mode gtp"': {
        "FILE...": "one.tst",
    },
    "kempelen suite tests/data/go/*.tst -- --playouts 10000": {
        "tests/data/go/*.tst": "one.tst",
        "10000": "20",
    },
    "kempelen suite tests/data/mates.epd --nodes 8000000": {
        "tests/data/mates.epd": "mates.epd",
        "8000000": "8000",
    },
    "kempelen book build repertoire.yaml games.pgn analysed.epd -o my.bin --min-elo 2200 "
    "--min-games 5": {"my.bin": "new.bin"},
    "kempelen book extend my.bin -o my.bin --positions 500 --nodes 200000": {
        "500": "2",
        "200000": "500",
    },
    "kempelen learn show killers.db": {"killers.db": "one.db"},
    "kempelen learn merge killers.db other.db -o all.db": {"killers.db other.db": "one.db two.db"},
    "kempelen learn prune all.db --keep 1000": {"all.db": "one.db"},
    "kempelen book check my.bin": {"my.bin": "my.bin --depth 1"},
    "kempelen book check --depth 10": {"--depth 10": "my.bin --depth 1"},
    "kempelen match --engine agent=chess,name=A --engine cmd=stockfish,option.Hash=16 --tc 10+0.1 "
    "--games 200 --concurrency 2 --ledger run.sqlite --pgn games.pgn --resume": {
        "10+0.1": "0.2+0.01",
        "games 200": "games 2",
        "games.pgn": "new.pgn",
    },
    "kempelen train selfplay games.bin --nodes 1000": {
        "--nodes 1000": "--positions 300 --nodes 20 --processes 1",
    },
    "kempelen train selfplay games.bin --chess960 0.2 --odds 0.1 --positions 20000": {
        "--positions 20000": "--positions 300 --nodes 20 --processes 1",
        "games.bin": "new.bin",
    },
    "kempelen train selfplay material.bin --evaluation kempelen.training.baselines:material": {
        "--evaluation": "--positions 300 --nodes 20 --processes 1 --evaluation",
    },
    "kempelen match --openings FILE.yaml": {
        "FILE": "repertoire",
        "match": "match --engine agent=chess --engine agent=chess --nodes 50 --maxmoves 9",
    },
    "kempelen match --engine cmd=kempelen,name=two,option.Threads=2 --engine cmd=kempelen,name=one "
    "--each option.OwnBook=false,option.Hash=16 --tc 1+0.01 --games 300 --concurrency 1 --seed 9": {
        "1+0.01": "0.2+0.01",
        "games 300": "games 2 --maxmoves 5",
    },
    "kempelen match --engine cmd=kempelen,name=net,option.Evaluation=nnue:mine.nnue --engine "
    "cmd=kempelen,name=shipped --each option.OwnBook=false --tc 10+0.1 --games 400": {
        "10+0.1": "0.2+0.01",
        "games 400": "games 2 --maxmoves 5",
    },
    "kempelen match --engine cmd=kempelen,args=uci,name=A --engine cmd=kempelen,args=uci,name=B "
    "--tc 1+0.01 --games 200 --concurrency 2 --seed 11": {
        "1+0.01": "0.2+0.01",
        "games 200 --concurrency 2": "games 2 --concurrency 1 --maxmoves 5",
    },
    'kempelen match --engine cmd="kempelen xboard",proto=xboard,name=X --engine '
    'cmd="kempelen uci",name=U --tc 2+0.03 --games 100 --concurrency 1 --seed 5': {
        "2+0.03": "0.5+0.03",
        "games 100": "games 2 --maxmoves 5",
    },
    "kempelen match --engine cmd=kempelen,args=uci,name=T64,option.Threads=64 --engine "
    "cmd=kempelen,args=uci,name=T1 --tc 1+0.1 --games 100 --concurrency 1 --oversubscribe "
    "--seed 13": {"1+0.1": "0.2+0.01", "games 100": "games 2 --maxmoves 5"},
    "kempelen match --engine cmd=kempelen,option.OwnBook=false --engine cmd=stockfish,"
    "option.UCI_LimitStrength=true,option.UCI_Elo=2400 --each option.Hash=16 --tc 10+0.1 --draw "
    "movenumber=40,movecount=8,score=10 --resign movecount=4,score=700,twosided=true --games 200 "
    "--seed 7": {"10+0.1": "0.2+0.01", "games 200": "games 2 --maxmoves 5"},
    "kempelen match --game othello --games 10 --engine proto=lab,algorithm=alpha-beta,depth=4 "
    "--engine proto=lab,algorithm=mcts,playouts=200,seed=1": {
        "games 10": "games 2 --maxmoves 5",
        "depth=4": "depth=1",
        "playouts=200": "playouts=3",
    },
    "kempelen match --game go --size 9 --komi 7.5 --games 20 --movetime 1 --margin 1 --sgf "
    'games.sgf --engine cmd="gnugo --mode gtp --chinese-rules --positional-superko",proto=gtp,'
    'margin=30 --engine cmd="kempelen gtp",proto=gtp': {
        "games 20": "games 2 --maxmoves 4",
        "movetime 1 --margin 1": "movetime 0.05 --margin 30",
        "positional-superko": "positional-superko --level 0",
    },
    "kempelen match --game go --size 9 --games 10 --engine "
    '"cmd=gnugo --mode gtp --chinese-rules --level 1,proto=gtp,movetime=10,margin=30" --engine '
    '"cmd=kempelen gtp,proto=gtp,movetime=0.3,margin=10"': {
        "games 10": "games 2 --maxmoves 4",
        "movetime=0.3": "movetime=0.05",
    },
    "python benchmarks/duel.py . HEAD": {
        ". HEAD": f"{ROOT} HEAD --games 2 --nodes 100 --processes 1"
    },
    "python benchmarks/duel.py . . --evaluations nnue:A.nnue nnue:B.nnue": {
        ". . ": f"{ROOT} {ROOT} ",
        "nnue:A.nnue nnue:B.nnue": "nnue handcrafted --games 2 --nodes 100 --processes 1",
    },
    "python benchmarks/tune_duel.py --state margins.json": {
        "json": "json RazorBase --pairs 2 --check 1 --nodes 100 --processes 1"
    },
    "python benchmarks/web_visitors.py": {
        ".py": ".py --players 2 --watchers 2 --seconds 2 --every 0.5"
    },
    "python benchmarks/startup.py": {".py": ".py --runs 1 --no-cold"},
    "python benchmarks/startup.py --no-cold": {"--no-cold": "--no-cold --runs 1"},
    "python benchmarks/mate_lines.py": {".py": ".py --problems 4"},
    "python benchmarks/move_time.py": {".py": ".py --moves 3 --margin 5000"},
    "python benchmarks/noisy_neighbours.py": {
        ".py": ".py --connections 0 2 --moves 1 --most 10000"
    },
    "python benchmarks/remote_moves.py": {".py": ".py --moves 5 --most 1000"},
    "python benchmarks/train_speed.py": {".py": ".py --seconds 0.1 --batches 1"},
    "python benchmarks/position_files.py --data games.bin": {"games.bin": "games.bin --rounds 1"},
}

# Run with --thorough only: measurements, and commands that play or search for seconds.
THOROUGH = re.compile(
    r"python benchmarks/|.* tests/data/|kempelen match .*--(engine|openings)"
    r"|kempelen (analyse|book extend|book check|suite|lab learn|train selfplay|match cup)"
)
# External programs that a command starts without naming them.
NEEDS = {
    "kempelen match cup.yaml": ("stockfish",),
    "python benchmarks/startup.py": ("stockfish",),
    "python benchmarks/startup.py --no-cold": ("stockfish",),
}

# Too slow: only the existence of the script and its options is checked.
TOO_LONG = [
    "python benchmarks/soak.py",
    "python benchmarks/broker_restarts.py",
    "python benchmarks/duel.py NEW OLD",
    "python benchmarks/go_duel.py nakade=0 --games 400 --ledger duels.jsonl",
    "python benchmarks/go_duel.py --size 13 --their-network none --playouts 1000 --their-playouts "
    "1220 --games 100 --ledger duels.jsonl",
    "python benchmarks/go_referee.py --games 500 --positions 100 --ledger referee.jsonl",
    "python benchmarks/go_matches.py --games 100 --seconds 0.8 --threads 2 --ledger go.jsonl",
    "python benchmarks/go_matches.py --size 13 --games 40 --seconds 3 --threads 2 --ledger "
    "benchmarks/ledgers/go-13x13.jsonl",
    "python benchmarks/go_matches.py --size 19 --games 20 --seconds 5 --threads 2 --ledger "
    "benchmarks/ledgers/go-19x19.jsonl",
    "python benchmarks/go_matches.py --games 60 --seconds 3 --threads 2 --ledger "
    "benchmarks/ledgers/go-9x9.jsonl",
    "python benchmarks/go_matches.py --against plain --games 100 --seconds 0.3 --ledger "
    "benchmarks/ledgers/go-plain.jsonl",
    "python benchmarks/go_matches.py --against self --games 500 --seconds 0.1 --ledger "
    "benchmarks/ledgers/go-tenth.jsonl",
    'python benchmarks/go_matches.py --against "katago gtp -model FILE -config FILE" --komi 7 '
    "--seconds 1 --games 40",
    "python benchmarks/go_matches.py --against self --games 20 --playouts 10000 "
    "--their-playouts 1000",
    "python benchmarks/gtp_fuzz.py",
    "python benchmarks/xboard_fuzz.py --lines 200000",
    "python benchmarks/interrupted_matches.py",
    "python benchmarks/kill_and_resume.py",
    "python benchmarks/kill_and_resume.py selfplay --positions 50000",
    "python benchmarks/lab_speed.py",
    "python benchmarks/learned.py connect-four --folder learned",
    "python benchmarks/learned.py othello --size 6 --steps 80 --folder learned",
    "python benchmarks/learned.py tic-tac-toe --steps 40 --random-plies 0 --folder learned",
    "python benchmarks/learned.py tic-tac-toe --size 4 --steps 40 --random-plies 0 "
    "--folder learned",
    "python benchmarks/game_levels.py connect-four othello checkers go",
    "python benchmarks/levels.py",
    "python benchmarks/levels.py --own 1315 1090 810 600",
    "python benchmarks/many_sessions.py",
    "python benchmarks/memory.py",
    "python benchmarks/memory.py --beside FOLDER",
    "python benchmarks/nodes.py",
    "python benchmarks/nodes.py --beside FOLDER",
    "python benchmarks/nodes.py --evaluation handcrafted",
    "python benchmarks/perft.py",
    "python benchmarks/sgf_readers.py --node-modules node_modules",
    "python benchmarks/variant_fuzz.py --lines 20000",
    "python benchmarks/variant_rules.py --pyffish FOLDER",
    "python benchmarks/variants.py --fairy FILE --ledgers FOLDER",
    "python benchmarks/startup.py --beside FOLDER",
    "python benchmarks/startup.py --no-cold --beside FOLDER",
    "scripts/generate_mates.py",
    "scripts/generate_tactics.py",
]

IMAGE = "tests/docker/test_image.py"
COMPOSED = "tests/kempelen/match/test_compose.py::test_compose_services_play_match_to_the_end"
BOTS = "tests/kempelen/match/test_bots.py::test_bots_play_go_at_match_size_and_komi"
EXTRAS = "pyproject.toml"
HABITS = "tests/agent/learning/test_sessions.py::test_opponents_can_be_listed_shown_and_forgotten"
NETWORK = "tests/docs/test_extending.py::test_example_network_trains_and_plays"

# Run elsewhere: by a test, .ci/run or make; extras are checked in pyproject.toml.
ELSEWHERE = {
    "make run": "Makefile",
    "make web": "Makefile",
    "make setup": "Makefile",
    "make check": "Makefile",
    "make check-all": ".ci/run",
    "make test": "Makefile",
    "make bare": ".ci/run",
    "make image": ".ci/run",
    "make second-python": ".ci/run",
    "make strength": "Makefile",
    "make translations": "Makefile",
    "scripts/install-debian-packages": ".ci/run",
    "scripts/test-on-windows": ".ci/run",
    "scripts/draw-imports": "tests/docs/test_architecture_page.py",
    "scripts/draw-picture": "tests/docs/test_picture.py",
    "scripts/record-playthrough NAME": "tests/agent/games/test_playthroughs.py",
    "python3 -m venv kempelen-env": IMAGE,
    "kempelen-env/bin/pip install .": IMAGE,
    "kempelen-env/bin/kempelen warmup": IMAGE,
    "pip wheel --no-deps .": IMAGE,
    "docker build -t kempelen . && docker run --rm -i kempelen": (
        f"{IMAGE}::test_image_plays_game_as_unprivileged_user"
    ),
    "docker build --target full -t kempelen:full .": f"{IMAGE}::test_full_image_has_all_extras",
    "docker run --rm -p 127.0.0.1:7118:7118 -v games:/data -e "
    "KEMPELEN_HEALTH_URL=http://127.0.0.1:7118/health kempelen:full web --no-browser --address "
    "0.0.0.0:7118 --insecure": f"{IMAGE}::test_health_check_asks_the_server",
    "docker stop": f"{IMAGE}::test_every_command_ends_on_sigterm_as_process_1",
    "docker compose up --build --exit-code-from runner": (
        f"{IMAGE}::test_compose_runs_complete_match"
    ),
    "docker compose -f compose.yaml -f docker/go.yaml up --build --exit-code-from runner": (
        f"{IMAGE}::test_compose_runs_complete_match"
    ),
    "python train.py": NETWORK,
    "kempelen train selfplay scored.bin --positions 20000 --nodes 400": NETWORK,
    "kempelen gtp --game NAME --evaluation FILE.py:function": (
        "tests/agent/search/algorithms/test_batched_mcts.py::test_player_uses_the_batch_size_of_the_evaluation"
    ),
    "kempelen-env/bin/python -m pip install '.[web]'": EXTRAS,
    "python -m tests.style": "tests/test_style.py",
    "cutechess-cli -engine cmd=/path/to/kempelen arg=uci proto=uci -engine cmd=stockfish proto=uci "
    "-each tc=10+0.1": "tests/kempelen/test_games.py::test_fastchess_command_order_is_supported",
    "cutechess-cli -engine cmd=/path/to/kempelen arg=xboard proto=xboard -engine cmd=stockfish "
    "proto=uci -each tc=10+0.1": "tests/kempelen/test_xboard.py::test_python_chess_plays_moves",
    "xboard -fcp '/path/to/kempelen xboard'": (
        "tests/kempelen/test_xboard.py::test_whole_game_is_played_in_xboard"
    ),
    "xboard -debug": "tests/kempelen/test_xboard.py::test_whole_game_is_played_in_xboard",
    "kempelen xboard": "tests/kempelen/test_xboard.py::test_xboard_session_moves_and_quits",
    'kempelen match --engine cmd="kempelen xboard",proto=xboard --engine cmd=stockfish --tc '
    "10+0.1": (
        "tests/kempelen/test_xboard.py::test_xboard_engine_plays_a_match_against_a_uci_engine"
    ),
    "kempelen uci": "tests/kempelen/test_uci.py::test_uci_session_searches_and_quits",
    "kempelen uci --tune": (
        "tests/test_commands.py::test_tune_flag_lists_search_constants_as_options"
    ),
    "kempelen gtp --game othello --learn FILE": (
        "tests/kempelen/test_gtp.py::test_experience_is_kept_in_a_file"
    ),
    "kempelen gtp": "tests/kempelen/test_gtp.py::test_default_game_is_19x19_go",
    "kempelen katago-analysis": (
        "tests/kempelen/test_katago_analysis.py::test_all_queries_are_answered_after_end_of_input"
    ),
    "kempelen katago-analysis --threads 2": (
        "tests/kempelen/test_katago_analysis.py::test_katago_arguments_from_katrain_are_accepted"
    ),
    "kempelen bench": "tests/docs/test_examples.py::test_console_examples_match_output",
    "kempelen doctor": "tests/docs/test_examples.py::test_console_examples_match_output",
    "kempelen check-eval": "tests/kempelen/test_check_eval.py",
    "kempelen check-eval my_eval.py:evaluate": "tests/kempelen/test_check_eval.py",
    "kempelen match": "tests/kempelen/test_match.py::test_match_writes_pgn_and_logs_and_is_resumed",
    "kempelen mqtt watch --mqtt ...": COMPOSED,
    "kempelen mqtt bot --name bot --engine agent=chess --mqtt ...": COMPOSED,
    "kempelen serve": "tests/kempelen/test_serve.py::test_server_stops_on_sigterm_and_sigint",
    "kempelen serve --config server.yaml": (
        "tests/kempelen/test_serve.py::test_config_file_of_the_guide_works"
    ),
    "kempelen serve --address tls://0.0.0.0:7117 --address wss://0.0.0.0:7118 --certificate "
    "certificate.pem --key key.pem --tokens tokens": (
        "tests/kempelen/test_serve.py::test_config_file_of_the_guide_works"
    ),
    "kempelen web": (
        "tests/kempelen/web/test_pages_in_a_browser.py::test_game_continues_after_server_is_killed"
    ),
    "kempelen web --address 0.0.0.0:7118 --certificate certificate.pem --key key.pem "
    "--tokens tokens": "tests/kempelen/test_web.py::test_server_uses_tls_and_stops_on_sigterm",
    'kempelen web --game my_game.py:MyGame --evaluation "mine=my_eval.py:evaluate" '
    '--engine "Fish=uci stockfish"': (
        "tests/kempelen/web/test_playing.py::test_user_defined_game_and_evaluation_can_be_played"
    ),
    "kempelen mqtt bot --name go1 --game go --mqtt ...": BOTS,
    "dask scheduler": "tests/dask_cluster.py::Dask",
    "dask worker tcp://HOST:8786 --nthreads 1": "tests/dask_cluster.py::Dask",
    "kempelen train selfplay cluster.bin --cluster tcp://HOST:8786": (
        "tests/kempelen/training/test_training_cluster.py::test_commands_on_cluster_make_same_files"
    ),
    "kempelen tablebase build": (
        "tests/kempelen/test_tablebase.py::test_tables_are_built_counted_packed_and_checked"
    ),
    "kempelen train tune search": (
        "tests/kempelen/match/test_tuning.py::test_search_constants_are_tuned_and_run_resumes"
    ),
    "kempelen train tune search nakade near_1=2 --game go --size 9 --nodes 500 --pairs 2000 "
    "--state go.json": ("tests/kempelen/match/test_tuning.py::test_go_search_settings_are_tuned"),
    "kempelen gtp --set nakade=0.7 --set near_1=20": (
        "tests/kempelen/test_gtp.py::test_settings_reach_the_search"
    ),
    "kempelen train selfplay FILE --game go": (
        "tests/kempelen/training/test_go_patterns.py::test_selfplay_command_plays_and_shows_go_games"
    ),
    "kempelen train selfplay FILE --game go --targets --playouts 320 --games 643": (
        "tests/kempelen/training/test_go_network.py::test_commands_play_games_and_train_on_them"
    ),
    "kempelen train selfplay FILE --variant crazyhouse": (
        "tests/kempelen/training/test_variant_network.py::"
        "test_commands_play_games_and_train_on_them"
    ),
    "kempelen train tune variant": (
        "tests/kempelen/training/test_variant_network.py::"
        "test_commands_play_games_and_train_on_them"
    ),
    "kempelen train tune network FILE -o NETWORK --epochs 8 --batch 64": (
        "tests/kempelen/training/test_go_network.py::test_commands_play_games_and_train_on_them"
    ),
    "kempelen train tune patterns FILE -o WEIGHTS": (
        "tests/kempelen/training/test_go_patterns.py::test_tune_patterns_writes_loadable_weights"
    ),
    "kempelen train fit FILE.yaml": (
        "tests/kempelen/training/test_network_training.py::"
        "test_train_command_reports_results_and_writes_manifest"
    ),
    "kempelen train tune evaluation positions.bin -o weights.py": (
        "tests/kempelen/training/test_texel.py::test_tune_evaluation_writes_new_weights"
    ),
    "kempelen connect": "tests/kempelen/test_connect.py",
    "kempelen connect tls://HOST:PORT --token-file token": (
        "tests/kempelen/test_connect.py::test_client_reconnects_over_tls_with_a_token"
    ),
    'kempelen match --engine cmd=kempelen,args=uci,name=here --engine "cmd=kempelen,args=connect '
    'tcp://HOST:PORT,name=there" --tc 10+0.1 --games 100': (
        "tests/kempelen/test_connect.py::test_match_is_played_against_a_remote_server"
    ),
    "kempelen lichess --token-file lichess-token": (
        "tests/kempelen/test_lichess.py::test_provide_serves_analysis_until_sigterm"
    ),
    "kempelen gtp --game othello --size 6 --opponents habits.jsonl": (
        "tests/agent/learning/test_gtp_sessions.py::test_winning_line_is_played_again"
    ),
    'kempelen opponents show "Ann Other" --file habits.jsonl': HABITS,
    "kempelen opponents list --file habits.jsonl": HABITS,
    'kempelen opponents forget "Ann Other" --file habits.jsonl': HABITS,
    "kempelen analyse": "tests/kempelen/test_analyse.py",
    "kempelen web --watch run.sqlite": "tests/kempelen/test_web_watching.py",
    "kempelen web --mqtt mqtt://HOST": "tests/kempelen/test_web_watching.py",
    "kempelen lab assignment": (
        "tests/kempelen/lab/test_assignment.py::test_no_file_is_overwritten"
    ),
    "kempelen lab exercise": (
        "tests/kempelen/lab/test_exercise.py::"
        "test_interactive_session_marks_answers_and_saves_results"
    ),
    "kempelen lab trace": ("tests/kempelen/lab/test_trace.py::test_every_algorithm_has_a_trace"),
    "kempelen train data": "tests/kempelen/test_train_data.py",
    "kempelen train data rescore": "tests/kempelen/training/test_rescoring.py",
    "kempelen train data rescore positions.bin -o rescored.bin --engine stockfish --depth 6": (
        "tests/kempelen/training/test_rescoring.py"
    ),
}

# YAML entries in the text, of tournament files and of other programs' files.
SNIPPETS = {
    "engine: {dir: \"/path/to/kempelen-env/bin/\", name: \"kempelen\", protocol: \"uci\", "
    "uci_options: {Hash: 256, Threads: 2, Move Overhead: 100}}": (
        "tests/test_commands.py::test_lichess_bot_settings_start_the_engine"
    ),
    "game: othello": "tests/test_commands.py::test_tournament_entries_of_other_games_are_accepted",
    "game: {name: go, options: {size: 9, komi: 7.5}}": (
        "tests/test_commands.py::test_tournament_entries_of_other_games_are_accepted"
    ),
    "{protocol: lab, command: mcts, time: {playouts: 200}}": (
        "tests/test_commands.py::test_tournament_entries_of_other_games_are_accepted"
    ),
}  # fmt: skip


def commands(page: Page) -> set[str]:
    """Return the command lines of a page, in its text and blocks."""
    found = set()
    for block in re.findall(r"^ *```sh\n(.*?)^ *```$", page.text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", "").splitlines():
            found.add(" ".join(re.sub(r"\s#.*", "", line).split()))
    for each in page.quoted():
        if re.fullmatch(rf"({PROGRAMS}) .+|scripts/.+", each):
            found.add(each)
    return found


def test_every_documented_command_is_listed() -> None:
    said = set().union(*map(commands, [*GUIDES, *MEASUREMENTS]))
    assert said == HERE.keys() | ELSEWHERE.keys() | {*TOO_LONG}


def test_every_documented_yaml_snippet_is_listed() -> None:
    # CONTRIBUTING.md shows subjects of commits, which look like YAML.
    quoted = [each for page in GUIDES if page.name != "CONTRIBUTING.md" for each in page.quoted()]
    assert {each for each in quoted if re.fullmatch(YAML, each)} == SNIPPETS.keys()
    blocks = [block for _, block in cases("yaml") if not block.name]
    assert [block.text.partition("\n")[0] for block in blocks] == ["name: cup"]


def runs_elsewhere(command: str, where: str) -> bool:
    """Return whether the text of a file shows that it runs a command."""
    file, _, name = where.partition("::")
    text = (ROOT / file).read_text()
    if name:
        return bool(re.search(rf"^(async )?(def|class) {name}\b", text, re.MULTILINE))
    words = shlex.split(command)
    if file == ".ci/run":
        return command in text.splitlines()
    if file == "Makefile":
        return f"\n{words[1]}: " in text
    if file == EXTRAS:
        return f"\n{words[-1].removeprefix('.[').removesuffix(']')} = [" in text
    if file == IMAGE:
        text = (ROOT / "Dockerfile").read_text()
        return all(each in text for each in ("-m venv", "-m pip", "warmup"))
    return True


def test_referenced_tests_and_targets_exist() -> None:
    places = ELSEWHERE | SNIPPETS
    assert not {each: place for each, place in places.items() if not runs_elsewhere(each, place)}


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the commands read."""
    folder = tmp_path_factory.mktemp("stocked")
    shutil.copy(ROOT / "openings" / "english.yaml", folder / "repertoire.yaml")
    for page in GUIDES:
        for name, text in page.files().items():
            if "/" not in name:
                (folder / name).write_text(text)
    (folder / "analysed.epd").write_text("8/8/8/8/8/4k3/4p3/4K3 b - - bm Kd3; ce 0;\n")
    mates = (ROOT / "tests" / "data" / "mates.epd").read_text().splitlines()
    (folder / "mates.epd").write_text("".join(f"{line}\n" for line in mates[1:4]))
    (folder / "one.pgn").write_text("1. f3 e5 2. g4 Qh4# 0-1\n")
    (folder / "game.sgf").write_text("(;GM[1]SZ[5];B[cc];W[bb])\n")
    (folder / "one.tst").write_text("boardsize 5\nclear_board\n1 reg_genmove black\n#? [!A1]\n")
    (cup,) = (block for _, block in cases("yaml") if not block.name)
    (folder / "cup.yaml").write_text(cup.text.replace("10+0.1 ", "{nodes: 50} #"))
    game = '[White "A"]\n[Black "B"]\n[WhiteElo "2300"]\n[BlackElo "2300"]\n[Result "{0}"]\n\n'
    results = ["1-0", "0-1", "1/2-1/2"] * 2
    (folder / "games.pgn").write_text(
        "".join(game.format(r) + f"1. e4 e5 2. Nf3 Nc6 {r}\n\n" for r in results)
    )
    random_network(32).write(folder / "mine.nnue")
    lesson = LearnedMove("chess engine", "start", "e2e4", "after", "e7e5", 30, -90, 8)
    for name in ("one.db", "two.db"):
        LearnedMoveDatabase(folder / name).add([lesson])
    open_tables()  # unpacks the tables into the data folder
    built = ["book", "build", f"{folder}/repertoire.yaml", "-o", f"{folder}/my.bin"]
    assert main(built) == 0
    played = ["train", "selfplay", f"{folder}/games.bin", "--positions", "60", "--nodes", "20"]
    assert main([*played, "--processes", "1"]) == 0
    return folder


@pytest.fixture
def folder(stocked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the folder, make it the working folder, and put kempelen on PATH."""
    shutil.copytree(stocked, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(KEMPELEN.parent), prepend=":")
    return tmp_path


def marks_of(command: str) -> list[pytest.MarkDecorator]:
    """Return the marks of a command's test: required programs, and thorough."""
    named = [name for name in external.PACKAGES if re.search(rf"\b{name}\b", command)]
    marks = [pytest.mark.needs(*named, *NEEDS.get(command, ()))]
    return [*marks, pytest.mark.thorough] if THOROUGH.match(command) else marks


@pytest.mark.parametrize(
    "command",
    [pytest.param(each, marks=marks_of(each)) for each in HERE],
)
def test_command(command: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    line = command
    for part, other in HERE[command].items():
        assert line.count(part) == 1 or part == "my.bin"
        line = line.replace(part, other)
    words = shlex.split(line)
    if words[0] in ("python", ".venv/bin/python"):
        words[1] = words[1].replace("benchmarks/", f"{ROOT}/benchmarks/")
        run = subprocess.run(
            [sys.executable, *words[1:]], capture_output=True, text=True, timeout=300
        )
        assert run.returncode == 0, run.stderr
        return
    if words[-1] in ("--help", "--version"):
        with pytest.raises(SystemExit) as ending:
            main(words[1:])
        assert ending.value.code == 0
    else:
        status, written = main(words[1:]), capfd.readouterr()
        assert status == 0, written
        assert written.out


@functools.cache
def help_of(script: str) -> str:
    """Return the output of a script's `--help`, which also imports the script."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), pytest.raises(SystemExit) as ending:
        runpy.run_path(str(ROOT / script), run_name="__main__")
    assert ending.value.code == 0
    return shown.getvalue()


def test_long_commands_use_existing_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    missing = []
    for command in TOO_LONG + [each for each in HERE if each.startswith("python benchmarks/")]:
        script, *words = shlex.split(command.removeprefix("python "))
        monkeypatch.setattr(sys, "argv", [script, "--help"])
        shown = help_of(script)
        missing += [command for word in words if word.startswith("--") and word not in shown]
    assert not missing


@pytest.mark.parametrize("words", ["duel . .", "go_duel x=1", "go_matches", "game_levels go"])
def test_benchmarks_in_pairs_reject_an_odd_number_of_games(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script, *arguments = words.split()
    path = ROOT / "benchmarks" / f"{script}.py"
    monkeypatch.syspath_prepend(str(path.parent))
    monkeypatch.setattr(sys, "argv", [script, *arguments, "--games", "5"])
    with pytest.raises(SystemExit):
        runpy.run_path(str(path), run_name="__main__")
    assert "--games: must be a positive even number (got '5')" in capsys.readouterr().err


@pytest.mark.thorough
def test_tune_flag_lists_search_constants_as_options() -> None:
    run = subprocess.run(
        [KEMPELEN, "uci", "--tune"], input="uci\nquit\n", capture_output=True, text=True, timeout=60
    )
    assert "option name NullMoveDepth type spin default " in run.stdout


def test_lichess_bot_settings_start_the_engine() -> None:
    (snippet,) = (each for each in SNIPPETS if each.startswith("engine:"))
    engine = yaml.safe_load(snippet)["engine"]
    bin_folder = engine["dir"].replace("/path/to/kempelen-env/bin", str(KEMPELEN.parent))
    assert engine["protocol"] == "uci"
    with chess.engine.SimpleEngine.popen_uci(bin_folder + engine["name"], timeout=60) as playing:
        playing.configure(engine["uci_options"])
        assert playing.play(chess.Board(), chess.engine.Limit(depth=1)).move


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("game", [each for each in SNIPPETS if each.startswith("game")])
def test_tournament_entries_of_other_games_are_accepted(game: str, tmp_path: Path) -> None:
    (player,) = (each for each in SNIPPETS if each.startswith("{protocol"))
    player = player.replace("200", "2")
    file = tmp_path / "cup.yaml"
    file.write_text(f"{game}\nadjudication: {{maxmoves: 2}}\nengines: [{player}, {player}]\n")
    assert main(["match", str(file)]) == 0


async def test_tournament_is_run_from_python(tmp_path: Path) -> None:
    (line,) = (each for each in QUOTED if each.startswith("await "))
    assert (
        line == "await kempelen.match.runner.play_tournament(settings, boards=2, listeners=[print])"
    )
    file = tmp_path / "cup.yaml"
    engine = "{command: chess, protocol: agent}"
    text = f"time: {{nodes: 5}}\nadjudication: {{maxmoves: 2}}\nengines: [{engine}, {engine}]\n"
    file.write_text(text)
    events: list[object] = []
    await runner.play_tournament(read_tournament(str(file)), boards=2, listeners=[events.append])
    assert events


@pytest.mark.parametrize("line", [each for each in QUOTED if each.startswith("setoption ")])
def test_setoption_lines_in_the_docs_are_parsed(line: str) -> None:
    assert parse_set_option(line.removeprefix("setoption")) == SetOptionCommand("Search", "mcts")
