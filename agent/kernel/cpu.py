from llvmlite import binding


def cpu_name() -> str:
    """Return the CPU name in LLVM's notation, for example `znver3`."""
    name: str = binding.get_host_cpu_name()
    return name


def cpu_features() -> set[str]:
    """Return the CPU features in LLVM's notation, for example `avx2`."""
    return {name for name, available in binding.get_host_cpu_features().items() if available}
