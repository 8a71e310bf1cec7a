"""What an installed package needs, read from its metadata."""

import sys
from importlib.metadata import PackageNotFoundError

import pytest

from agent.io import requirements
from agent.io.requirements import (
    Requirement,
    install_command,
    missing_packages,
    package_requirements,
    satisfies,
)
from kempelen.diagnostics import checks
from kempelen.diagnostics.diagnosis import Diagnosis

REQUIRES = [
    "numba<0.70,>=0.68",
    "rich (>=14)",
    "aiomqtt<3,>=2.5; extra == 'mqtt'",
    'some_thing[extra1,extra2]>=1; extra == "lab"',
    "kempelen[mqtt]; extra == 'broker'",
    "amqtt; extra == 'broker'",
]
INSTALLED = {"numba": "0.69.1", "aiomqtt": "1.9", "some_thing": "2.0rc1"}


class Metadata(dict):
    def get_all(self, name):
        return self.get(name)


@pytest.fixture
def package(monkeypatch):
    about = Metadata({"Provides-Extra": ["mqtt", "lab", "broker", "dev"]})
    monkeypatch.setattr(requirements, "metadata", lambda name: about)
    monkeypatch.setattr(requirements, "requires", lambda name: REQUIRES)
    monkeypatch.setattr(requirements, "installed_version", INSTALLED.get)


@pytest.mark.parametrize(
    ("number", "versions", "expected"),
    [
        ("0.68.0", ">=0.68,<0.70", True),
        ("0.70", "<0.70,>=0.68", False),
        ("0.67.9", ">=0.68,<0.70", False),
        ("0.100", ">=0.68", True),
        ("2", "==2.0", True),
        ("2.0.1", "!=2.0", True),
        ("3.11.2", "<3.15,>=3.11", True),
        ("3.15.0", "<3.15,>=3.11", False),
        ("3.15.0rc1", "<=3.15", True),
        ("4.0", ">4", False),
        ("1.0", "", True),
    ],
)
def test_version_specifiers_are_matched(number, versions, expected):
    assert satisfies(number, versions) == expected


def test_extras_include_requirements_of_other_extras(package):
    found = package_requirements()
    aiomqtt = Requirement("aiomqtt", "<3,>=2.5", "1.9")
    assert found == {
        "": [
            Requirement("numba", "<0.70,>=0.68", "0.69.1"),
            Requirement("rich", ">=14", None),
        ],
        "mqtt": [aiomqtt],
        "lab": [Requirement("some_thing", ">=1", "2.0rc1")],
        "broker": [Requirement("amqtt", "", None), aiomqtt],
        "dev": [],
    }
    assert [each.is_met for each in found[""]] == [True, False]
    assert not aiomqtt.is_met


def test_missing_packages_are_reported(package, monkeypatch):
    diagnosis = Diagnosis()
    checks.check_packages(diagnosis)
    assert diagnosis.notes["extras"]["text"] == "mqtt, lab, dev, not broker (missing: amqtt)"
    rich, mqtt = diagnosis.problems[:2]
    assert (rich.what, rich.remedy, rich.broken) == (
        "rich>=14: missing", "pip install 'rich>=14'", True,
    )  # fmt: skip
    assert mqtt.remedy.endswith(' -m pip install "aiomqtt<3,>=2.5"')
    assert not mqtt.broken


def test_install_command_names_the_missing_packages(package, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/a b/python")
    assert install_command("broker") == '"/a b/python" -m pip install "amqtt" "aiomqtt<3,>=2.5"'
    assert missing_packages("SGF", "lab") == (
        'missing packages for SGF: "/a b/python" -m pip install ".[lab]"'
    )


def test_messages_in_a_container_image_say_how_to_build_another_one(package, monkeypatch):
    monkeypatch.setenv(requirements.IMAGE_VARIABLE, "mqtt")
    assert missing_packages("SGF", "gtp") == (
        "missing packages for SGF: docker build --build-arg EXTRAS=mqtt,gtp ."
    )
    diagnosis = Diagnosis()
    checks.check_packages(diagnosis)

    def fails(diagnosis):
        raise ImportError("numpy")

    diagnosis.run_checks({"x": fails})
    remedies = [each.remedy for each in diagnosis.problems]
    assert remedies[0] == remedies[-1] == "build the image again"
    assert not any("pip" in remedy for remedy in remedies)


def test_uninstalled_sources_are_not_an_error(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(requirements, "metadata", missing)
    diagnosis = Diagnosis()
    checks.check_packages(diagnosis)
    assert "not installed" in diagnosis.notes["packages"]["text"]
    assert diagnosis.problems == []


def test_requirements_of_kempelen_are_met():
    found = package_requirements()
    assert {"numba", "numpy", "chess"} <= {each.name for each in found[""]}
    assert all(each.is_met for each in found[""])
    assert {"mqtt", "broker", "cluster", "gtp", "lab", "train"} <= found.keys()
