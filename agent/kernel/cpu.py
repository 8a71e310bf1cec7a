"""The processor as the compiler sees it."""

from llvmlite import binding


def cpu_name() -> str:
    """Return the name of its kind, such as znver3."""
    name: str = binding.get_host_cpu_name()
    return name


def cpu_features() -> set[str]:
    """Return what it can do, by LLVM's names, such as avx2."""
    return {feature for feature, has in binding.get_host_cpu_features().items() if has}
