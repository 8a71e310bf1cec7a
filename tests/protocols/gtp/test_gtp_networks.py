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
    answer = talk.answer("kata-raw-nn all").splitlines()
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
