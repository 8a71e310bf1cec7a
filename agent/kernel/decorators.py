"""The one place for Numba policy: how kernels are compiled, and where they are cached.

Two decorators make a kernel. `kernel` marks a function that only other compiled functions call;
it is compiled as a part of its callers. `entry` marks one that Python calls, or that calls
itself: it has a signature, is compiled when its module is imported, and is cached on disk. Other
compiled functions find it by its name.

The cache folder is named by a hash of the kernels' sources, the versions of Python, Numba and
llvmlite, and the CPU: whatever could change the code changes the folder, so a stale kernel cannot
be found. It lies in the user's cache folder, or in `KEMPELEN_CACHE_DIR`; once filled it can be
read-only. `agent.kernel.code_cache` says what is taken from it. Importing this module imports neither
Numba nor NumPy.
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

from agent.kernel import code_cache
from agent.kernel.code_cache import CACHE_VARIABLE
from agent.kernel.source_digest import sources_digest

Function = TypeVar("Function", bound=Callable[..., Any])

_CHECKSUM_BYTES = 32

# What this process compiled, and what it found in the cache: qualified names.
compiled: list[str] = []
loaded: list[str] = []


def kernel(function: Function) -> Function:
    """Compile `function` as a part of the compiled functions that call it."""
    import numba

    decorate: Callable[[Function], Function] = numba.njit(
        nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
    )
    return decorate(function)


class _EntryPoint:
    """A compiled function: Python calls it as it is, other compiled functions by its name."""

    def __init__(self, compiled_function: Any, caller: Any) -> None:
        self._compiled_function = compiled_function
        self._caller_intrinsic = caller
        functools.update_wrapper(self, compiled_function.py_func)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._compiled_function(*arguments, **named)

    @property
    def _numba_type_(self) -> Any:  # where Numba looks for what a global is
        from numba.core.registry import cpu_target

        return cpu_target.typing_context.resolve_value_type(self._caller_intrinsic)


def entry_point(signature: Any) -> Callable[[Function], Function]:
    """Compile for callers in Python and for recursion: now, cached on disk, without the GIL.

    A compiled caller holds no copy of the function, only its name, to which its address is bound
    here: the module of a cached caller must import the function's module before it is loaded.
    Only the function itself can call it while it is compiled, no `kernel` on its behalf.
    """
    import llvmlite.binding
    import numba

    def compile_entry(function: Function) -> Function:
        name = f"{function.__module__}.{function.__qualname__}"
        # Its own name means something else within it than elsewhere.
        names = function.__globals__ | {
            function.__name__: _caller_intrinsic(function, signature, None)
        }
        own = FunctionType(
            function.__code__, names, None, function.__defaults__, function.__closure__
        )
        functools.update_wrapper(own, function)
        dispatcher = numba.njit(nogil=True, error_model="numpy")(own)
        dispatcher._cache = _disk_cache(name, _source_suffix(function))
        dispatcher.compile(signature)
        dispatcher.disable_compile()
        (result,) = dispatcher.overloads.values()
        address = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        llvmlite.binding.add_symbol(name, address)
        return _EntryPoint(dispatcher, _caller_intrinsic(function, signature, name))  # type: ignore[return-value]

    return compile_entry


def _caller_intrinsic(function: Callable[..., Any], signature: Any, symbol: str | None) -> Any:
    """Make what calls an entry point from compiled code: by its symbol, or None: from within.

    Left to find the type of a recursive call, Numba infers those of the whole function for each
    such call, several times; and code with literals among its arguments breaks when it comes from
    the cache (Numba's issue 6061). Left to link an entry point into its callers, it optimizes all
    of it again for each.
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

        given = own.bind(*types, **named_types).args
        pairs = zip(given, signature.args, strict=True)
        if any(typing_context.can_convert(a, b) is None for a, b in pairs):
            return None
        return signature, codegen

    own = inspect.signature(function)
    context = inspect.signature(call).parameters["typing_context"]
    parameters = [context, *own.parameters.values()]
    call.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    return intrinsic(call)


def c_function(
    signature: Any, function: Callable[..., Any], name: str, is_user_code: bool = False
) -> Any:
    """Compile `function` to a C function with an `address`, cached on disk under `name`.

    foreign: it is not a part of the kernel, and may call whatever Numba can compile.
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
    """Return what tells the source of a kernel from its later states, which the folder does not.

    The folder follows from the package's own sources; those of others, as of a script, follow here.
    """
    if function.__module__.partition(".")[0] == "agent":
        return ""
    source = inspect.getsourcefile(function)
    if source is None or not os.path.exists(source):
        return f"-{hashlib.sha256(function.__code__.co_code).hexdigest()[:12]}"
    return f"-{hashlib.sha256(Path(source).read_bytes()).hexdigest()[:12]}"


def _disk_cache(name: str, suffix: str = "") -> Any:
    """Make the Numba cache of one function: one file in the cache folder. mark: of its source."""
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
                _warn_once(f"{folder / file} is damaged; compiling anew")
                return None
            loaded.append(name)
            # Kernels need Numba's runtime, but none of what `target_context.refresh` imports to
            # compile with; that would take a third of the whole start.
            rtsys.initialize(target_context)
            return CompileResult._rebuild(target_context, *pickle.loads(payload))

        def save_overload(self, signature: Any, result: Any) -> None:
            compiled.append(name)
            payload = dumps(result._reduce())
            # A cache that cannot be written only costs time.
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
    """Tell the user, but each thing only once: many functions may come from one folder."""
    print(f"kempelen: {message}", file=sys.stderr)


@functools.cache
def cache_folder() -> Path:
    """Return the folder of the kernels' compiled code; it need not exist."""
    base = os.environ.get(CACHE_VARIABLE)
    if not base:
        from platformdirs import user_cache_path

        root = user_cache_path("kempelen", appauthor=False)
        code_cache.revoke_group_write(root)
    else:
        root = Path(base).expanduser()
    return root / f"kernel-{_fingerprint()}"


def _fingerprint() -> str:
    """Hash all that determines the compiled code."""
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
