"""The hash of kernel sources covers everything that could change compiled code."""

from pathlib import Path

import agent
from agent.kernel.source_digest import kernel_sources

PACKAGE = Path(agent.__file__).parent


def write(package: Path, **sources: str) -> Path:
    for name, source in sources.items():
        path = package.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return package


def names(package: Path) -> set[str]:
    return {name.decode() for name in kernel_sources(package)}


def test_kernels_are_found_in_any_folder_with_their_imports(tmp_path: Path) -> None:
    package = write(
        tmp_path / "agent",
        kernel__decorators="",
        one__rules=(
            "from agent.kernel.decorators import kernel\nfrom agent.one import (\n    sizes)"
        ),
        one__sizes="import agent.one.shape\n",
        one__shape="WIDTH = 7\n",
        two__deeper__rules="from agent.kernel import decorators\n",
        one__engine="from agent.one.rules import run\nfrom agent.kernel import kernel_loader\n",
        one__lazy="def late():\n    from agent.kernel.decorators import kernel\n",
    )
    kernels = {"one.rules", "one.sizes", "one.shape", "two.deeper.rules", "kernel.decorators"}
    assert names(package) == {f"agent.{name}" for name in kernels}


def test_own_kernel_modules_are_found() -> None:
    found = names(PACKAGE)
    assert {
        "agent.chess.search.alphabeta",
        "agent.chess.evaluation.weights",
        "agent.kernel.intrinsics",
    } <= found
    assert {"agent.connect_four.alphabeta", "agent.connect_four.records"} <= found
    assert (
        not {
            "agent.chess.engine.backend",
            "agent.agent",
            "agent.chess.engine.levels",
            "agent.chess.engine.limited_strength",
            "agent.connect_four.search",
        }
        & found
    )
