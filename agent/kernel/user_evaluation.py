"""Compiles users' evaluations to C functions that report exceptions.

A C function from plain Numba prints its exceptions and returns 0. Here an exception is stored in
the field `failure` of the worker, and the worker stops. Division by zero, indices out of range, NaN
and infinity raise exceptions.
"""

import ctypes
import hashlib
import re
import sys
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Protocol

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from agent.evaluation_types import EvaluationError
from agent.io.user_code import is_library
from agent.kernel.decorators import c_function
from agent.kernel.intrinsics import EVALUATOR_SIGNATURE, U64, Bits, at_address
from agent.kernel.record import offset_of
from agent.kernel.scores import MAX_EVALUATION

# Compile with Python's exceptions for division by zero and indices out of range.
checked = numba.njit(
    nogil=True,
    error_model="python",
    boundscheck=True,
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
)


@checked  # type: ignore[untyped-decorator]
def clamp_score(value: Any) -> Any:
    """Convert a number to an integer within the range of evaluations."""
    return np.int32(min(max(value, -MAX_EVALUATION), MAX_EVALUATION))


_I64 = ir.IntType(64)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
# Parts of Numba's error messages: the text before a cause, its location, and a long type name.
_STEP = "(step: nopython frontend)\n"
_PLACE = re.compile(r'File "([^"]+)", line (\d+)')
_RECORD = re.compile(r"Record\([^\n]*")


class HasFailure(Protocol):
    """The protocol for a worker record that can store an exception of an evaluation."""

    failure: Bits  # address of the exception, 0 for none


def compile_evaluation(
    name: str,
    function: Callable[[Any, Any], Any],
    record: Any,
    to_score: Callable[[Any], Any],
) -> Any:
    """Compile `function(worker, ply)` to a C function, and cache it on disk.

    `record` is the type of the worker record. `to_score` converts an int64 or finite float64 to an
    int32 score. It must be decorated with `checked`, in a module that `source_digest` covers. Raise
    `EvaluationError` if compilation fails.
    """
    user_function = checked(function)

    @checked  # type: ignore[untyped-decorator]
    def evaluate(worker: Any, ply: Any) -> Any:
        return to_score(_checked_number(user_function(worker, ply)))

    call, worker_at = _with_exception_capture(evaluate, record), at_address(record)

    def evaluate_at(address: Any, ply: Any) -> Any:
        return call(worker_at(address), ply)

    try:
        cached_as = f"evaluator-{code_digest(function, str(record))}"  # each game has its own
        return c_function(EVALUATOR_SIGNATURE, evaluate_at, cached_as, is_user_code=True)
    except Exception as error:  # Numba's errors, and internal errors of its type inference
        raise EvaluationError(
            f"evaluation {name} cannot be compiled: {_reason(user_function, error)}"
        ) from error


def _reason(function: Any, error: Exception) -> str:
    for compiled in function.overloads.values():
        returned = compiled.signature.return_type
        if not isinstance(returned, types.Integer | types.Float | types.Boolean):
            return f"it must always return a number, but Numba infers the type {returned}"
    if isinstance(error, KeyError):  # Numba's error for an unknown field of a record
        return f"unknown record field {error}"
    return f"{type(error).__name__}: {root_cause(str(error))}"


def root_cause(report: str) -> str:
    """Return the root cause in an error message of Numba, with the line in the user's file."""
    _, _, cause = report.rpartition(_STEP)
    locations = [
        f" ({Path(file).name}, line {line})"
        for file, line in _PLACE.findall(cause)
        if Path(file).name != Path(__file__).name
    ]
    text = _RECORD.sub("Record(...)", cause.partition("\n  During:")[0].partition("\n  File ")[0])
    first, *others = (line.strip() for line in text.splitlines() if line.strip())
    calls = [line.removeprefix(">>> ") for line in others if line.startswith(">>> ")]
    return " ".join([first, *calls[:1]]) + "".join(locations[:1])


def _checked_number(value: Any) -> Any:
    """Convert the result of an evaluation to int64 or a finite float64."""
    raise NotImplementedError


@overload(_checked_number, jit_options={"error_model": "python"})  # type: ignore[untyped-decorator]
def _checked_number_overload(value: Any) -> Callable[[Any], Any] | None:
    if isinstance(value, types.Float):
        return _from_float
    return _from_integer if isinstance(value, types.Integer | types.Boolean) else None


def _from_float(value: Any) -> Any:
    if value != value:
        raise ValueError("it returned NaN")
    if abs(value) == np.inf:
        raise OverflowError("it returned infinity")
    return np.float64(value)


def _from_integer(value: Any) -> Any:
    return np.int64(value)


def _with_exception_capture(function: Any, record: Any) -> Callable[..., Any]:
    @intrinsic  # type: ignore[untyped-decorator]
    def guarded(typing_context: Any, worker: Any, ply: Any) -> Any:
        callee = typing_context.resolve_value_type(function)
        called = callee.get_call_type(typing_context, (worker, ply), {})

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            overload = function.overloads[called.args]
            context.active_code_library.add_linking_library(overload.library)
            status, value = context.call_internal_no_propagate(
                builder, overload.fndesc, called, arguments
            )
            with cgutils.if_unlikely(builder, status.is_error):
                _emit_exception_capture(context, builder, status, arguments[0], record)
            return value

        return called.return_type(worker, ply), codegen

    result: Callable[..., Any] = guarded
    return result


def _emit_exception_capture(
    context: Any, builder: Any, status: Any, worker: Any, record: Any
) -> None:
    api = context.get_python_api(builder)
    lock = api.gil_ensure()
    context.call_conv.raise_error(builder, api, status)
    kind, value, trace = (cgutils.alloca_once(builder, api.pyobj) for _ in range(3))
    api.err_fetch(kind, value, trace)
    _call(builder, "PyErr_NormalizeException", ir.VoidType(), kind, value, trace)
    exception = builder.load(value)
    with cgutils.if_likely(builder, cgutils.is_not_null(builder, builder.load(trace))):
        _call(builder, "PyException_SetTraceback", ir.IntType(32), exception, builder.load(trace))
        api.decref(builder.load(trace))
    api.decref(builder.load(kind))
    failure = _field(builder, worker, record, "failure")
    is_first = builder.icmp_unsigned("==", builder.load(failure), ir.Constant(_I64, 0))
    with builder.if_else(is_first) as (first, later):
        with first:
            builder.store(builder.ptrtoint(exception, _I64), failure)
        with later:
            api.decref(exception)
    builder.store(ir.Constant(_I64, 1), _field(builder, worker, record, "stop"))
    api.gil_release(lock)


def _call(builder: Any, name: str, returned: Any, *arguments: Any) -> None:
    function_type = ir.FunctionType(returned, [argument.type for argument in arguments])
    builder.call(cgutils.get_or_insert_function(builder.module, function_type, name), arguments)


def _field(builder: Any, worker: Any, record: Any, name: str) -> Any:
    base = builder.bitcast(worker, ir.IntType(8).as_pointer())
    offset = ir.Constant(_I64, offset_of(record, name))
    return builder.bitcast(builder.gep(base, [offset]), _I64.as_pointer())


def pop_exception(worker: HasFailure) -> BaseException | None:
    """Return and clear the exception that a compiled evaluation stored in the worker, or None."""
    address = int(worker.failure)
    if not address:
        return None
    worker.failure = U64(0)
    exception: BaseException = ctypes.cast(address, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(exception))  # the worker's reference
    trace = exception.__traceback__
    # Compare file names only: cached code may have been compiled in another folder.
    if trace is not None and Path(trace.tb_frame.f_code.co_filename).name == Path(__file__).name:
        exception.__traceback__ = None  # contains no line of the user's code
    return exception


def code_digest(function: Callable[..., Any], about: str = "") -> str:
    """Return a hash of a function, everything that it refers to, and the text `about`."""
    digest = hashlib.sha256(about.encode())
    _digest(function, (), digest, set())
    return digest.hexdigest()[:24]


def _digest(value: Any, names: Iterable[str], digest: Any, seen: set[Any]) -> None:
    """Hash a value and everything that it uses, but only the attributes `names` of modules."""
    function = getattr(value, "py_func", value)  # the Python function of a jitted one
    if isinstance(code := getattr(function, "__code__", None), CodeType):
        if id(function) in seen:
            return
        seen.add(id(function))
        digest.update(str(function.__module__).encode())  # the cached code imports it
        _digest_code(code, function.__globals__, digest, seen)
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items()):
            _digest(default, _names(code), digest, seen)
        for cell in function.__closure__ or ():
            _digest(cell.cell_contents, _names(code), digest, seen)
    elif isinstance(value, ModuleType | type):
        file = getattr(sys.modules.get(getattr(value, "__module__", "")), "__file__", None)
        if is_library(getattr(value, "__file__", file) or ""):
            digest.update(_identity(value).encode())
            return
        for name in sorted(set(names) & set(dir(value))):
            if (id(value), name) in seen:
                continue
            seen.add((id(value), name))
            digest.update(name.encode())
            _digest(getattr(value, name), names, digest, seen)
    elif isinstance(value, tuple | list):
        digest.update(f"{len(value)} of {type(value).__name__}".encode())
        for item in value:
            _digest(item, names, digest, seen)
    elif isinstance(value, np.ndarray | np.generic):
        digest.update(f"{value.dtype} {value.shape}".encode() + value.tobytes())
    elif isinstance(value, Enum):
        digest.update(repr(value.value).encode())
    elif isinstance(value, int | float | complex | str | bytes | bool):
        digest.update(repr(value).encode())
    else:  # such as a function written in C
        digest.update(_identity(value).encode())


def _identity(value: Any) -> str:
    """Return a text that identifies a library object and is the same in every process."""
    name = getattr(value, "__qualname__", getattr(value, "__name__", None))
    if name is not None:
        return f"{getattr(value, '__module__', '')}.{name}"
    return f"{type(value).__qualname__} {_ADDRESS.sub('', repr(value))}"


def _digest_code(code: CodeType, scope: dict[str, Any], digest: Any, seen: set[Any]) -> None:
    digest.update(code.co_code)
    # Errors show file and line, so these are a part of the compiled code.
    location = (Path(code.co_filename).name, code.co_firstlineno, code.co_linetable)
    digest.update(repr(location).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _digest_code(constant, scope, digest, seen)
        else:
            digest.update(repr(constant).encode())
    names = _names(code)
    for name in code.co_names:
        digest.update(name.encode())
        if name in scope:
            _digest(scope[name], names, digest, seen)


def _names(code: CodeType) -> set[str]:
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)
