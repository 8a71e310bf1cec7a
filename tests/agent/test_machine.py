import ctypes
import os
import platform
import re
import sys
from argparse import ArgumentParser
from math import inf
from pathlib import Path
from unittest.mock import Mock

import pytest

from agent import machine
from agent.io.user_code import PACKAGES
from agent.kernel import node_pool, table_memory
from agent.machine import cpu_model, cpu_quota, memory_limit, usable_cores
from kempelen.commands import lichess
from protocols.server import limits


@pytest.fixture
def system(tmp_path):
    """Return a function that writes system files and returns their root folder."""

    def write(**files):
        for path, text in files.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return tmp_path

    return write


GROUPS, TOP = "proc/self/cgroup", "sys/fs/cgroup"


@pytest.mark.parametrize(
    ("groups", "settings", "expected"),
    [
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 1.5),
        ("0::/\n", {"cpu.max": "max 100000\n"}, inf),
        ("0::/\n", {}, inf),
        ("0::/a/b\n", {"a/cpu.max": "200000 100000\n", "a/b/cpu.max": "max 100000\n"}, 2.0),
        ("0::/a/b\n", {"a/cpu.max": "200000 100000\n", "a/b/cpu.max": "50000 100000\n"}, 0.5),
        ("0::/of/the/host\n", {"cpu.max": "300000 100000\n"}, 3.0),
        (
            "3:cpu,cpuacct:/docker/1\n1:memory:/x\n0::/\n",
            {
                "cpu,cpuacct/cpu.cfs_quota_us": "250000\n",
                "cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            },
            2.5,
        ),
        ("1:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, inf),
        (
            "1:memory:/\n",
            {"cpu/cpu.cfs_quota_us": "1000\n", "cpu/cpu.cfs_period_us": "9000\n"},
            inf,
        ),
        ("0::/../..\n", {"cpu.max": "nonsense"}, inf),
    ],
)
def test_cpu_quota_is_read_from_control_groups(system, groups, settings, expected):
    root = system(**{GROUPS: groups, **{f"{TOP}/{name}": text for name, text in settings.items()}})
    assert cpu_quota(root) == expected


def test_cpu_quota_is_infinite_without_control_groups(tmp_path):
    assert cpu_quota(tmp_path) == inf


@pytest.mark.parametrize(("quota", "expected"), [(inf, 8), (3.9, 3), (0.5, 1)])
def test_usable_cores_rounds_the_cpu_quota_down(monkeypatch, quota, expected):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    monkeypatch.setattr(machine, "cpu_quota", lambda: quota)
    assert usable_cores() == expected


@pytest.mark.parametrize(
    ("groups", "settings", "expected"),
    [
        ("0::/a/b\n", {"a/memory.max": "2000000\n", "a/b/memory.max": "max\n"}, 2_000_000),
        ("0::/\n", {"memory.max": "max\n"}, inf),
        ("0::/\n", {}, inf),
        (
            "2:memory:/x\n1:cpu:/\n",
            {"memory/x/memory.limit_in_bytes": "3000\n", "cpu/memory.limit_in_bytes": "1\n"},
            3000,
        ),
    ],
)
def test_memory_limit_is_read_from_control_groups(system, groups, settings, expected):
    root = system(**{GROUPS: groups, **{f"{TOP}/{name}": text for name, text in settings.items()}})
    assert memory_limit(root) == expected


def test_usable_memory_is_the_smaller_of_limit_and_physical_memory(monkeypatch):
    monkeypatch.setattr(machine, "physical_memory", lambda: 8e9)
    monkeypatch.setattr(machine, "memory_limit", lambda: inf)
    assert machine.usable_memory() == 8e9
    monkeypatch.setattr(machine, "memory_limit", lambda: 1e9)
    assert machine.usable_memory() == 1e9


@pytest.mark.parametrize("module", [table_memory, node_pool], ids=lambda module: module.__name__)
def test_memory_for_searches_is_limited_to_the_control_group(monkeypatch, module):
    monkeypatch.setattr(module, "usable_memory", lambda: 20 << 20)
    create = table_memory.TableMemory if module is table_memory else node_pool.NodePool
    create(10)
    with pytest.raises(MemoryError, match=r"not enough memory for a t[a-z]+ of 100 MB"):
        create(100)


@pytest.mark.parametrize(("memory", "expected"), [(inf, 4096), (1 << 30, 512), (100, 1)])
def test_hash_of_a_server_is_limited_to_half_of_the_memory(monkeypatch, memory, expected):
    monkeypatch.setattr(limits, "usable_memory", lambda: memory)
    assert limits.ServerLimits().usable_hash == expected


def test_every_default_number_of_threads_counts_usable_cores(monkeypatch):
    monkeypatch.setattr(lichess, "usable_cores", lambda: 3)
    parser = ArgumentParser()
    lichess.configure(parser)
    assert parser.parse_args([]).threads == 3


def test_only_this_module_and_doctor_count_processors_and_memory():
    """Other modules would ignore the control group."""
    counts = re.compile(r"cpu_count|sched_getaffinity|SC_(PHYS|NPROC)|physical_memory\(|meminfo")
    root = Path(machine.__file__).parents[1]
    files = [path for name in PACKAGES for path in (root / name).rglob("*.py")]
    found = {path.name for path in files if counts.search(path.read_text(encoding="utf-8"))}
    assert found == {"machine.py", "checks.py"}


def test_processor_name_comes_from_cpuinfo_if_present(system, tmp_path, monkeypatch):
    monkeypatch.setattr(platform, "processor", lambda: "another")
    assert cpu_model(tmp_path) == "another"
    text = "processor\t: 0\nmodel name\t: Brand 7: X\n\nmodel name\t: Brand 8\n"
    assert cpu_model(system(**{"proc/cpuinfo": text})) == "Brand 7: X"
    assert cpu_model(system(**{"proc/cpuinfo": "Hardware: none\n"})) == "another"


def test_lower_priority_uses_below_normal_class_on_windows(monkeypatch):
    kernel32 = Mock()
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "WinDLL", lambda name: {"kernel32": kernel32}[name], raising=False)
    machine.lower_priority()
    this = kernel32.GetCurrentProcess.return_value
    kernel32.SetPriorityClass.assert_called_once_with(this, 0x4000)


@pytest.mark.parametrize("success", [True, False])
def test_physical_memory_is_read_on_windows(monkeypatch, success):
    def status(structure):
        assert structure._obj[0] == ctypes.sizeof(structure._obj) == 64
        structure._obj[1] = 8 << 30
        return success

    kernel32 = Mock(GlobalMemoryStatusEx=status)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "WinDLL", lambda name: kernel32, raising=False)
    assert machine.physical_memory() == (8 << 30 if success else inf)
