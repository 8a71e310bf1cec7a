"""Compare the SGF reader with sgfmill and @sabaki/sgf, on games with known final positions.

Each file has a kind: what is unusual about it. A reader is right if size, komi and final position
are those of the generated game. Passes (exit status 0) if Kempelen reads all files right.

    pip install sgfmill
    npm install --prefix FOLDER @sabaki/sgf
    python benchmarks/sgf_readers.py --node-modules FOLDER/node_modules
"""

import contextlib
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import parser, show

from agent.games import catalogue
from agent.games.stones import iter_bits
from protocols.gtp.go_board import GtpGoBoard

LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Words with characters whose second byte is a backslash or a bracket in some of the encodings.
WORDS = {
    "shift_jis": ("ソ表", "能十予", "貼暴申", "黒番中押し勝ち", "白半目勝ち", "本因坊戦"),
    "euc_jp": ("黒番中押し勝ち", "白半目勝ち", "本因坊戦七番勝負第１局", "この手が敗着。"),
    "gb18030": ("柯洁", "黑中盘胜", "乗嶾赸朷", "这手棋是问题手", "常昊 九段"),
    "big5": ("許功蓋", "黑中盤勝", "這手棋有問題", "周俊勳 九段", "淚餐"),
    "euc_kr": ("이창호", "흑불계승", "여기서는 오른쪽을 지켜야 했다", "백 반집승"),
    "utf-8": ("柯洁", "ソ表能", "이창호", "Réti", "Шикшин"),
    "utf-16": ("柯洁", "ソ表能", "이창호", "Réti", "嵝崱崠"),
    "iso8859-1": ("Réti", "Großmann", "Señor"),
    "cp1251": ("Шикшин", "Партия чемпионата Европы"),
}
CHARSETS = {
    "shift_jis": ("Shift_JIS", "x-sjis", "windows-31j"),
    "euc_jp": ("EUC-JP",),
    "gb18030": ("GB18030", "GBK", "GB2312"),
    "big5": ("Big5",),
    "euc_kr": ("EUC-KR",),
    "utf-8": ("UTF-8",),
    "utf-16": ("UTF-16",),
    "iso8859-1": ("ISO-8859-1",),
    "cp1251": ("windows-1251",),
}

# Prints the size, the komi and the main line of each file, one JSON value a line.
SABAKI = r"""
const sgf = require("@sabaki/sgf");
for (const file of require("fs").readFileSync(0, "utf-8").trim().split("\n")) {
  let answer = null;
  try {
    const nodes = [];
    for (let node = sgf.parseFile(file)[0]; node; node = node.children[0]) nodes.push(node.data);
    const [root] = nodes;
    const [width, height = width] = ((root.SZ ?? ["19"])[0]).split(":").map(Number);
    const points = (values) => (values ?? []).flatMap(sgf.parseCompressedVertices);
    answer = {
      size: [width, height], komi: root.KM ? parseFloat(root.KM[0]) : null,
      nodes: nodes.map((data) => ({
        setup: [points(data.AB), points(data.AW), points(data.AE)],
        moves: ["B", "W"].flatMap((name, player) => data[name]
          ? [[player, ...sgf.parseVertex(data[name][0])]] : []),
      })),
    };
  } catch { /* null */ }
  console.log(JSON.stringify(answer));
}
"""

Point = tuple[int, int]  # column and row, from the upper left


class Board:
    """A plain board, independent of the product's."""

    def __init__(self, width: int, height: int) -> None:
        self.size = width, height
        self.stones: dict[Point, int] = {}
        self.seen = {frozenset[Any]()}

    def chain(self, point: Point) -> tuple[set[Point], bool]:
        """Return the chain of a stone, and whether it has a liberty."""
        chain, waiting, free = {point}, [point], False
        while waiting:
            column, row = waiting.pop()
            for step, other in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                at = column + step, row + other
                if not (0 <= at[0] < self.size[0] and 0 <= at[1] < self.size[1]):
                    continue
                if at not in self.stones:
                    free = True
                elif self.stones[at] == self.stones[point] and at not in chain:
                    chain.add(at)
                    waiting.append(at)
        return chain, free

    def play(self, player: int, point: Point) -> bool:
        """Play a move. Leave the board unchanged and return False if it is illegal."""
        if point in self.stones:
            return False
        before = dict(self.stones)
        self.stones[point] = player
        column, row = point
        beside = [(column + 1, row), (column - 1, row), (column, row + 1), (column, row - 1)]
        for owner, points in ((1 - player, beside), (player, [point])):
            for at in points:
                if self.stones.get(at) == owner:
                    chain, free = self.chain(at)
                    if not free:
                        for stone in chain:
                            del self.stones[stone]
        position = frozenset(self.stones.items())
        if position in self.seen or point not in self.stones:
            self.stones = before
            return False
        self.seen.add(position)
        return True


@dataclass
class Known:
    """A generated game: what readers must find, and the nodes of its main line."""

    random: random.Random
    width: int = 19
    height: int = 19
    komi: float | None = None
    root: str = ""
    nodes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.board = Board(self.width, self.height)
        if self.komi is None:
            self.komi = self.random.choice((0, 0.5, 5.5, 6.5, 7.5, -3.5))
        size = f"{self.width}" if self.width == self.height else f"{self.width}:{self.height}"
        self.root = f"GM[1]FF[4]SZ[{size}]KM[{self.komi:g}]"

    def free_point(self) -> Point:
        return self.random.randrange(self.width), self.random.randrange(self.height)

    def play(self, count: int, player: int = 0) -> None:
        """Add `count` moves, or fewer if no legal one is found."""
        for number in range(count):
            mover = (player + number) % 2
            for _ in range(50):
                point = self.free_point()
                if self.board.play(mover, point):
                    self.nodes.append(f"{'BW'[mover]}[{text(point)}]")
                    break
            else:
                return

    def place(self, player: int | None, points: list[Point]) -> list[Point]:
        """Set up stones (None: remove them) as long as all chains keep a liberty."""
        placed = []
        for point in points:
            before = self.board.stones.get(point)
            if player is None:
                if self.board.stones.pop(point, None) is not None:
                    placed.append(point)
                continue
            if before is not None:
                continue
            self.board.stones[point] = player
            if all(self.board.chain(at)[1] for at in self.board.stones):
                placed.append(point)
            else:
                del self.board.stones[point]
        self.board.seen = {frozenset(self.board.stones.items())}
        return placed

    def words(self, encoding: str) -> str:
        return " ".join(self.random.choices(WORDS[encoding], k=self.random.randint(1, 4)))

    def text(self) -> str:
        return f"(;{self.root}" + "".join(f";{node}" for node in self.nodes) + ")"


def text(point: Point) -> str:
    return LETTERS[point[0]] + LETTERS[point[1]]


def values(points: list[Point]) -> str:
    return "".join(f"[{text(point)}]" for point in points)


KINDS: dict[str, Callable[[random.Random], tuple[Known, str | bytes]]] = {}
Make = Callable[[random.Random], tuple[Known, str | bytes]]


def kind(make: Make) -> Make:
    KINDS[make.__name__.replace("_", " ")] = make
    return make


@kind
def plain_games(rng: random.Random) -> tuple[Known, str]:
    game = Known(rng)
    game.play(rng.randint(0, 250))
    return game, game.text()


@kind
def square_boards(rng: random.Random) -> tuple[Known, str]:
    size = rng.randint(2, 25)
    game = Known(rng, size, size)
    game.play(rng.randint(0, 2 * size * size))
    return game, game.text()


@kind
def rectangular_boards(rng: random.Random) -> tuple[Known, str]:
    width = rng.randint(2, 19)
    game = Known(rng, width, rng.choice([edge for edge in range(2, 20) if edge != width]))
    game.play(rng.randint(0, 100))
    return game, game.text()


@kind
def setup_stones(rng: random.Random) -> tuple[Known, str]:
    game = Known(rng)
    for player in (0, 1):
        placed = game.place(player, [game.free_point() for _ in range(rng.randint(1, 40))])
        game.root += f"A{'BW'[player]}{values(placed)}" if placed else ""
    game.root += "PL[W]"
    game.play(rng.randint(0, 60), 1)
    return game, game.text()


@kind
def setup_in_mid_game(rng: random.Random) -> tuple[Known, str]:
    game = Known(rng, 9, 9)
    for _ in range(rng.randint(1, 4)):
        game.play(rng.randint(1, 30))
        # A point may occur once in a node.
        points = list(dict.fromkeys(game.free_point() for _ in range(12)))
        removed = game.place(None, points[:4])
        black, white = game.place(0, points[4:8]), game.place(1, points[8:])
        node = "".join(
            name + values(placed)
            for name, placed in (("AE", removed), ("AB", black), ("AW", white))
            if placed
        )
        game.nodes.append(node or "C[nothing]")
    game.play(rng.randint(0, 10))
    return game, game.text()


@kind
def point_lists(rng: random.Random) -> tuple[Known, str]:
    game = Known(rng)
    for name, player in (("AB", 0), ("AW", 1)):
        left, top = rng.randrange(7) + 9 * player, rng.randrange(12)
        right, bottom = left + rng.randint(1, 2), top + rng.randint(1, 6)
        area = [(x, y) for x in range(left, right + 1) for y in range(top, bottom + 1)]
        assert game.place(player, area) == area
        game.root += f"{name}[{text((left, top))}:{text((right, bottom))}]"
    game.play(rng.randint(0, 100))
    return game, game.text()


@kind
def handicap_games(rng: random.Random) -> tuple[Known, str]:
    game = Known(rng)
    points = [(3, 15), (15, 3), (3, 3), (15, 15), (3, 9), (15, 9), (9, 3), (9, 15), (9, 9)]
    placed = game.place(0, rng.sample(points, rng.randint(2, 9)))
    game.root += f"HA[{len(placed)}]AB{values(placed)}"
    game.play(rng.randint(0, 100), 1)
    return game, game.text()


@kind
def passes(rng: random.Random) -> tuple[Known, str]:
    game = Known(rng)
    for _ in range(rng.randint(1, 5)):
        game.play(2 * rng.randint(0, 20))
        game.nodes += [f"B{rng.choice(('[]', '[tt]'))}", f"W{rng.choice(('[]', '[tt]'))}"]
    return game, game.text()


@kind
def variations(rng: random.Random) -> tuple[Known, str]:
    game = Known(rng)
    game.play(rng.randint(1, 60))
    tree = ""
    for node in reversed(game.nodes):
        others = "".join(
            f"(;{rng.choice('BW')}[{text(game.free_point())}]C[no];B[aa](;W[bb])(;W[cc]))"
            for _ in range(rng.choice((0, 0, 1, 2)))
        )
        tree = f"(;{node}{tree}){others}" if others else f";{node}{tree}"
    return game, f"(;{game.root}{tree})"


@kind
def escaped_characters(rng: random.Random) -> tuple[Known, str]:
    game = Known(rng)
    comments = (r"\]", r"\\", r"(;B[aa\])", r"\\\]", "a\\\nb", r"[1\] : \: ;W[bb\]", r"\[\(\;")
    game.play(rng.randint(1, 60))
    game.nodes = [
        node + (f"C[{rng.choice(comments)}]" if rng.random() < 0.5 else "") for node in game.nodes
    ]
    return game, game.text()


@kind
def line_ends_and_spaces(rng: random.Random) -> tuple[Known, str]:
    game = Known(rng)
    game.play(rng.randint(1, 60))
    end = rng.choice(("\n", "\r\n", "\r"))
    nodes = [node.replace("[", f"{rng.choice(('', ' ', end))}[") for node in game.nodes]
    joined = "".join(f"{rng.choice(('', ' ', end, end + chr(9)))};{node}" for node in nodes)
    return game, f"{end}( {end};{game.root}C[one{end}two]{joined}{end}){end}"


@kind
def old_property_names(rng: random.Random) -> tuple[Known, str]:
    game = Known(rng)
    placed = game.place(0, [game.free_point() for _ in range(5)])
    game.play(rng.randint(1, 60))
    nodes = [node.replace("B[", "Black[").replace("W[", "White[") for node in game.nodes]
    root = game.root.replace("SZ", "SiZe") + f"AddBlack{values(placed)}"
    return game, f"(;{root}" + "".join(f";{node}" for node in nodes) + ")"


def _encoded(rng: random.Random, charset: bool) -> tuple[Known, bytes]:
    game = Known(rng)
    encoding = rng.choice([name for name in WORDS if charset or name != "iso8859-1"])
    game.play(rng.randint(1, 40))
    game.root += f"CA[{rng.choice(CHARSETS[encoding])}]" if charset else rng.choice(("", "CA[]"))
    game.root += f"PB[{game.words(encoding)}]PW[{game.words(encoding)}]"
    game.nodes = [
        f"{node}C[{game.words(encoding)}]" if rng.random() < 0.3 else node for node in game.nodes
    ]
    return game, game.text().encode(encoding)


@kind
def encodings_with_names(rng: random.Random) -> tuple[Known, bytes]:
    return _encoded(rng, charset=True)


@kind
def encodings_without_names(rng: random.Random) -> tuple[Known, bytes]:
    return _encoded(rng, charset=False)


@kind
def text_around_games(rng: random.Random) -> tuple[Known, str]:
    game = Known(rng)
    game.play(rng.randint(1, 60))
    before = rng.choice(("From: a@b\nSubject: a game\n\n", "a game: ", "\ufeff", "\n\n"))
    return game, f"{before}{game.text()}\n\nthe next one\n(;GM[1]SZ[9];B[aa])"


@kind
def missing_ends(rng: random.Random) -> tuple[Known, str]:
    game = Known(rng)
    game.play(rng.randint(1, 60))
    return game, game.text()[:-1] + rng.choice(("", "\n", ";B[a", ";C[an unfinished comm", "("))


@kind
def missing_first_semicolons(rng: random.Random) -> tuple[Known, str]:
    game = Known(rng)
    game.play(rng.randint(1, 60))
    return game, game.text().replace("(;", "(", 1)


@kind
def repeated_properties(rng: random.Random) -> tuple[Known, str]:
    game = Known(rng, komi=rng.choice((6.5, 7.5)))
    first = game.place(0, [game.free_point() for _ in range(4)])
    second = game.place(0, [game.free_point() for _ in range(4)])
    game.play(rng.randint(1, 60))
    game.root += "".join(f"AB{values(points)}" for points in (first, second) if points)
    game.root += "AP[one]AP[two]C[a]C[b]"
    return game, game.text()


@kind
def komi_of_servers(rng: random.Random) -> tuple[Known, str]:
    game = Known(rng, komi=rng.choice((6.5, 7.5)))
    game.play(rng.randint(1, 60))
    hundredths = "650" if game.komi == 6.5 else "375"
    written = (
        f"KM[{hundredths}]AP[GNU Go:3.8]AP[foxwq]",
        f"KM[{game.komi}目]",
        f"KM[{game.komi:.2f}]",
    )
    game.root = game.root.replace(f"KM[{game.komi}]", rng.choice(written))
    return game, game.text()


@kind
def unknown_properties(rng: random.Random) -> tuple[Known, str]:
    game = Known(rng)
    game.play(rng.randint(1, 60))
    more = (
        "KO[]",
        "MN[3]",
        "TR[aa][bb:cc]",
        "LB[aa:1][bb:2]",
        "BL[12.3]OB[2]",
        "XX[]YY[a][b]",
        "V[-3.5]",
    )
    game.nodes = [node + rng.choice(more) for node in game.nodes]
    return game, game.text()


def by_kempelen(file: Path) -> Any:
    board = GtpGoBoard(catalogue.find("go"), {"size": 9, "komi": 99})
    board.load(str(file), None)
    shape = board.game.stones.shape
    stones = {}
    for player in (0, 1):
        for vertex in iter_bits(board.game.stones.sets[player + 1]):
            column, row = shape.coordinates(vertex)
            stones[column, shape.height - 1 - row] = player
    return (shape.width, shape.height), board.komi, stones


def replay(size: tuple[int, int], nodes: list[Mapping[str, Any]]) -> dict[Point, int]:
    board = Board(*size)
    for node in nodes:
        for player, points in zip((0, 1, None), node["setup"], strict=True):
            for point in map(tuple, points):
                if player is None:
                    board.stones.pop(point, None)
                else:
                    board.stones[point] = player
        for player, column, row in node["moves"]:
            if 0 <= column < size[0] and 0 <= row < size[1]:
                board.seen = set()
                board.play(player, (column, row))
    return board.stones


def by_sgfmill(file: Path) -> Any:
    from sgfmill.sgf import Sgf_game

    game = Sgf_game.from_bytes(file.read_bytes())
    edge = game.get_size()
    nodes = []
    for node in game.get_main_sequence():
        colour, move = node.get_move()
        played = [] if move is None else [("bw".index(colour), move[1], edge - 1 - move[0])]
        setup = [[(x, edge - 1 - y) for y, x in points] for points in node.get_setup_stones()]
        nodes.append({"setup": setup, "moves": played})
    return (edge, edge), game.get_komi(), replay((edge, edge), nodes)


def by_sabaki(files: list[Path], modules: Path) -> Iterator[Any]:
    done = subprocess.run(
        ["node", "-e", SABAKI],
        input="\n".join(map(str, files)),
        env={"NODE_PATH": str(modules.resolve()), "PATH": "/usr/local/bin:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    if done.returncode:
        sys.exit(f"sgf_readers: node: {done.stderr.strip()}")
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        if answer is None:
            yield None
        else:
            size = tuple(answer["size"])
            yield size, answer["komi"], replay(size, answer["nodes"])


def main() -> int:
    options = parser(__doc__)
    options.add_argument("--files", type=int, default=1600)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--node-modules", type=Path, help="folder with @sabaki/sgf")
    options.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the files in FOLDER")
    arguments = options.parse_args()
    right: dict[str, Counter[str]] = {name: Counter() for name in KINDS}
    wrong: list[str] = []
    with contextlib.ExitStack() as stack:
        folder = arguments.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        cases: list[tuple[str, Path, Any]] = []
        for number in range(arguments.files):
            name = list(KINDS)[number % len(KINDS)]
            game, content = KINDS[name](random.Random(f"{arguments.seed}/{number}"))
            file = folder / f"{number:05}.sgf"
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
            cases.append((name, file, ((game.width, game.height), game.komi, game.board.stones)))
        sabaki: Iterator[Any] = iter([None] * len(cases))
        if arguments.node_modules:
            sabaki = by_sabaki([file for _, file, _ in cases], arguments.node_modules)
        for (name, file, known), third in zip(cases, sabaki, strict=True):
            answers: dict[str, Any] = {"@sabaki/sgf": third}
            for reader, read in (("Kempelen", by_kempelen), ("sgfmill", by_sgfmill)):
                try:
                    answers[reader] = read(file)
                except Exception as error:  # noqa: BLE001 - any error is a refusal
                    answers[reader] = error
            right[name]["files"] += 1
            ours = answers.pop("Kempelen")
            right[name]["right"] += ours == known
            for reader, answer in answers.items():
                refused = answer is None or isinstance(answer, Exception)
                result = "refused" if refused else "equal" if answer == ours else "different"
                right[name][f"{reader}: {result}"] += 1
            if ours != known:
                wrong.append(f"{file.name} ({name}): {ours!r:.200}")
    results = ("equal", "different", "refused")
    readers = ("sgfmill", "@sabaki/sgf")
    rows = [
        (
            name,
            counts["files"],
            counts["right"],
            *(
                ", ".join(f"{counts[f'{reader}: {result}']}" for result in results)
                for reader in readers
            ),
        )
        for name, counts in [*right.items(), ("all", sum(right.values(), Counter()))]
    ]
    columns = (
        "kind",
        "files",
        "read right",
        *(f"{reader}: equal, different, refused" for reader in readers),
    )
    show("games as Kempelen and other programs read them", columns, rows, arguments.json)
    for line in wrong[:20]:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
