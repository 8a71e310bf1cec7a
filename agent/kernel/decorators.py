"""Decorators for compiled functions, and the cache for these functions on disk.

`kernel` marks a function that is compiled as a part of its compiled callers. `entry_point` marks a
function that Python code calls or that is recursive. It is compiled when its module is imported,
and is cached on disk.

The name of the cache folder is a hash of the sources, the CPU, and the versions of Python, Numba
and llvmlite, so outdated code is never loaded. The folder is in the user's cache folder or in
`KEMPELEN_CACHE_DIR`. Importing this module imports neither Numba nor NumPy.
"""

import contextlib
import functools
import hashlib
import inspect
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

from agent.io.user_folders import NoHomeFolderError, private_temporary_folder, user_folder
from agent.kernel import code_cache
from agent.kernel.code_cache import CACHE_VARIABLE
from agent.kernel.source_digest import sources_digest

Function = TypeVar("Function", bound=Callable[..., Any])

_CHECKSUM_BYTES = 32

# Qualified names of the functions that this process has compiled, or loaded from the cache.
compiled: list[str] = []
loaded: list[str] = []


def kernel(function: Function) -> Function:
    """Mark a function that is compiled as a part of each compiled function that calls it."""
    import numba

    decorate: Callable[[Function], Function] = numba.njit(
        nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
    )
    return decorate(function)


class _EntryPoint:
    """A compiled function, called directly by Python and by symbol name by compiled code."""

    def __init__(self, compiled_function: Any, caller: Any) -> None:
        self._compiled_function = compiled_function
        self._caller_intrinsic = caller
        functools.update_wrapper(self, compiled_function.py_func)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._compiled_function(*arguments, **named)

    @property
    def _numba_type_(self) -> Any:  # Numba's hook for the type of a global
        from numba.core.registry import cpu_target

        return cpu_target.typing_context.resolve_value_type(self._caller_intrinsic)


def entry_point(signature: Any) -> Callable[[Function], Function]:
    """Return a decorator that compiles a function immediately and caches it on disk.

    The function runs without the GIL. It may call itself directly, but not through a `kernel`
    function. Compiled callers refer to it by a symbol name, which is bound when its module is
    imported. Their modules must therefore import its module.
    """
    import llvmlite.binding
    import numba

    def compile_entry(function: Function) -> Function:
        name = f"{function.__module__}.{function.__qualname__}"
        # Inside the function, its name refers to a direct recursive call.
        names = function.__globals__ | {
            function.__name__: _caller_intrinsic(function, signature, None)
        }
        recursive = FunctionType(
            function.__code__, names, None, function.__defaults__, function.__closure__
        )
        functools.update_wrapper(recursive, function)
        dispatcher = numba.njit(nogil=True, error_model="numpy")(recursive)
        dispatcher._cache = _disk_cache(name, _source_suffix(function))
        dispatcher.compile(signature)
        dispatcher.disable_compile()
        (result,) = dispatcher.overloads.values()
        address = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        llvmlite.binding.add_symbol(name, address)
        return _EntryPoint(dispatcher, _caller_intrinsic(function, signature, name))  # type: ignore[return-value]

    return compile_entry


def _caller_intrinsic(function: Callable[..., Any], signature: Any, symbol: str | None) -> Any:
    """Return an intrinsic that calls an entry point by `symbol`, or recursively if None.

    Without the intrinsic, Numba would infer the types of the whole function for each recursive
    call, and optimize a linked entry point again for each caller. Cached recursive code with
    literal arguments would fail (Numba issue 6061).
    """
    from numba.core import cgutils
    from numba.extending import intrinsic

    def call(typing_context: Any, *types: Any, **named_types: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            convention, result_type = context.call_conv, signature.return_type
            called = builder.function
            if symbol is not None:
                function_type = convention.get_function_type(result_type, signature.args)
                called = cgutils.get_or_insert_function(builder.module, function_type, symbol)
            status, result = convention.call_function(
                builder, called, result_type, signature.args, arguments
            )
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return result

        bound = function_signature.bind(*types, **named_types).args
        pairs = zip(bound, signature.args, strict=True)
        if any(typing_context.can_convert(a, b) is None for a, b in pairs):
            return None
        return signature, codegen

    function_signature = inspect.signature(function)
    context = inspect.signature(call).parameters["typing_context"]
    parameters = [context, *function_signature.parameters.values()]
    call.__signature__ = function_signature.replace(  # type: ignore[attr-defined]
        parameters=parameters
    )
    return intrinsic(call)


def c_function(
    signature: Any, function: Callable[..., Any], name: str, is_user_code: bool = False
) -> Any:
    """Compile `function` to a C function, and cache it on disk under `name`.

    The result has the attribute `address`. If `is_user_code` is true, the function may use any
    feature of Numba.
    """
    from numba.core.ccallback import CFunc
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target
    from numba.core.sigutils import normalize_signature

    if is_user_code:
        with global_compiler_lock:
            cpu_target.target_context.refresh()
    compiled_function: Any = CFunc(
        function, normalize_signature(signature), {}, {"error_model": "numpy"}
    )
    compiled_function._cache = _disk_cache(name)
    compiled_function.compile()
    return compiled_function


def _source_suffix(function: Callable[..., Any]) -> str:
    """Return "-" and a hash of the source file, or "" for functions of the package `agent`."""
    if function.__module__.partition(".")[0] == "agent":
        return ""
    source = inspect.getsourcefile(function)
    if source is None or not os.path.exists(source):
        return f"-{hashlib.sha256(function.__code__.co_code).hexdigest()[:12]}"
    return f"-{hashlib.sha256(Path(source).read_bytes()).hexdigest()[:12]}"


def _disk_cache(name: str, suffix: str = "") -> Any:
    from numba.core.caching import _Cache
    from numba.core.compiler import CompileResult
    from numba.core.runtime import rtsys
    from numba.core.serialize import dumps

    folder, file = cache_folder(), f"{name}{suffix}.pickle"

    class DiskCache(_Cache):  # type: ignore[misc]
        cache_path = str(folder)

        def load_overload(self, signature: Any, target_context: Any) -> Any:
            try:
                content = code_cache.read(folder, file)
            except code_cache.UntrustedCacheError as error:
                _warn_once(str(error))
                return None
            except OSError:
                return None
            checksum, payload = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
            if hashlib.sha256(payload).digest() != checksum:
                _warn_once(f"{folder / file}: damaged; recompiling")
                return None
            loaded.append(name)
            # Initialize only Numba's runtime. `target_context.refresh` would import the compiler
            # too, which takes a third of the start-up time.
            rtsys.initialize(target_context)
            return CompileResult._rebuild(target_context, *pickle.loads(payload))

        def save_overload(self, signature: Any, result: Any) -> None:
            compiled.append(name)
            payload = dumps(result._reduce())
            # Ignore write errors: the next process compiles the function again.
            with contextlib.suppress(OSError):
                code_cache.write(folder, file, hashlib.sha256(payload).digest() + payload)

        def enable(self) -> None:
            pass

        def disable(self) -> None:
            pass

        def flush(self) -> None:
            pass

    return DiskCache()


@functools.cache
def _warn_once(message: str) -> None:
    print(f"kempelen: {message}", file=sys.stderr)


@functools.cache
def cache_folder() -> Path:
    """Return the cache folder for this version of the compiled code. The folder may not exist."""
    try:
        root = user_folder(CACHE_VARIABLE, "cache")
        if not os.environ.get(CACHE_VARIABLE):
            code_cache.revoke_group_write(root)
    except NoHomeFolderError:
        root = private_temporary_folder()
    return root / f"kernel-{_fingerprint()}"


def _fingerprint() -> str:
    from importlib.metadata import version

    from llvmlite import binding

    digest = hashlib.sha256()
    for part in (
        sys.version,
        version("numba"),
        version("llvmlite"),
        os.environ.get("NUMBA_CPU_NAME") or binding.get_host_cpu_name(),
        os.environ.get("NUMBA_CPU_FEATURES") or binding.get_host_cpu_features().flatten(),
    ):
        digest.update(part.encode() + b"\0")
    digest.update(sources_digest().encode())
    return digest.hexdigest()[:16]
