"""KataGo's commands about a network that is used as the evaluation."""

import json

import numpy as np
import pytest

from agent.games.go import Go
from agent.games.policy_value_net import PolicyValueNet
from agent.games.position_encoding import encoding_for


@pytest.fixture
def network(tmp_path):
    """A network that gives the player to move the value 0.5, and B2 three times the prior."""
    encoding = encoding_for(Go(3))
    logits = [np.log(3) if text == "B2" else 0.0 for text in encoding.vocabulary] + [0.0]
    biases = np.array([np.arctanh(0.5), *logits], np.float32)
    weights = np.zeros((encoding.inputs, biases.size), np.float32)
    PolicyValueNet("go", {"size": 3}, encoding, [(weights, biases)], {}).write(tmp_path / "net")
    return f"learned:{tmp_path / 'net'}"


def test_loaded_network_is_shown_and_evaluated(start, network):
    talk = start(size=3, evaluation=network)
    (model,) = json.loads(talk.answer("kata-get-models").removeprefix("= "))
    assert (model["name"], model["usesHumanSLProfile"]) == (network, False)
    answer = talk.answer("kata-raw-nn 0").splitlines()
    assert answer[:2] == ["=", "symmetry 0"]
    shares = {name: float(share) for name, share in map(str.split, answer[2:5])}
    assert shares == pytest.approx({"whiteWin": 0.25, "whiteLoss": 0.75, "noResult": 0}, abs=1e-4)
    policy = [[float(share) for share in row.split()] for row in answer[6:9]]
    assert answer[5] == "policy"
    assert policy[1][1] == pytest.approx(3 * policy[0][0], rel=1e-2)
    passing = float(answer[9].removeprefix("policyPass "))
    assert sum(map(sum, policy)) + passing == pytest.approx(1, abs=1e-4)


def test_raw_evaluation_is_for_white_and_skips_illegal_moves(start, network):
    talk = start(size=3, evaluation=network)
    talk.answer("play b B2")
    answer = talk.answer("kata-raw-nn 0").splitlines()
    assert float(answer[2].removeprefix("whiteWin ")) == pytest.approx(0.75, abs=1e-4)
    assert answer[7].split()[1] == "NAN"


@pytest.fixture
def corner_network(tmp_path):
    """A network of a 3x2 or 3x3 board that gives A2 three times the prior of other moves."""

    def corner_network(size):
        encoding = encoding_for(Go(size))
        logits = [np.log(3) if text == "A2" else 0.0 for text in encoding.vocabulary] + [0.0]
        biases = np.array([0.0, *logits], np.float32)
        weights = np.zeros((encoding.inputs, biases.size), np.float32)
        net = PolicyValueNet("go", {"size": size}, encoding, [(weights, biases)], {})
        net.write(tmp_path / "net")
        return f"learned:{tmp_path / 'net'}"

    return corner_network


def preferred(answer):
    """Return the row from the top and the column with the largest prior, by symmetry."""
    found = {}
    for block in answer.removeprefix("=").split("symmetry ")[1:]:
        number, *_, policy = block.split("\n", 5)
        rows = [list(map(float, row.split())) for row in policy.splitlines() if "Pass" not in row]
        shares = {(y, x): share for y, row in enumerate(rows) for x, share in enumerate(row)}
        found[int(number)] = max(shares, key=shares.get)
    return found


def test_raw_evaluation_in_each_symmetry_is_turned_back(start, corner_network):
    """The network prefers A2, which is the image of other points: rows count from the top."""
    talk = start(size=3, evaluation=corner_network(3))
    left, right, top, bottom = (1, 0), (1, 2), (0, 1), (2, 1)
    assert preferred(talk.answer("kata-raw-nn all")) == {
        0: left,
        1: left,
        2: right,
        3: right,
        4: top,
        5: bottom,
        6: top,
        7: bottom,
    }
    for symmetry in range(8):
        assert list(preferred(talk.answer(f"kata-raw-nn {symmetry}"))) == [symmetry]
    for text in ("8", "-1", "some"):
        answer = talk.answer(f"kata-raw-nn {text}")
        assert answer == f"? unsupported symmetry {text} (expected 0 to 7, or all)\n\n"


def test_rectangular_boards_have_four_symmetries(start, corner_network):
    talk = start(size="3x2", evaluation=corner_network("3x2"))
    assert preferred(talk.answer("kata-raw-nn all")) == {0: (0, 0), 1: (1, 0), 2: (0, 2), 3: (1, 2)}
    assert "expected 0 to 3, or all" in talk.answer("kata-raw-nn 4")


def test_raw_evaluation_in_a_symmetry_skips_illegal_moves(start, corner_network):
    talk = start(size=3, evaluation=corner_network(3))
    talk.answer("play b A3")
    for symmetry in range(8):
        rows = talk.answer(f"kata-raw-nn {symmetry}").split("policy\n")[1].splitlines()[:3]
        assert [row.split().count("NAN") for row in rows] == [1, 0, 0]
        assert rows[0].split()[0] == "NAN"
