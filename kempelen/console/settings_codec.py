"""Convert plain data from YAML, JSON or command lines to frozen dataclasses, and back."""

import contextlib
import dataclasses
import itertools
import math
import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeVar

from agent.io.message import MessageError
from agent.io.strict_json import quote_value
from kempelen.console import yaml_scalars
from kempelen.console.yaml_scalars import UnquotedScalar, plain

T = TypeVar("T")

_BOOLEANS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


class SettingsError(MessageError, ValueError):
    """A setting is invalid. The message names the entry and the expected values."""


def decode(type_: type[T], data: Any, where: str = "") -> T:
    """Return a dataclass with the values in the mapping `data`.

    Raise SettingsError, with the path of the entry, for unknown, missing and mistyped entries.
    `where` is the prefix of the path. Classes with a class method `from_text` also accept text.
    """
    value = _decode(type_, data, where)
    return typing.cast(T, value)


def read_settings(
    file: str, example: str, make: Callable[[dict[str, Any]], T], *, empty: bool = False
) -> T:
    """Read a YAML file and return `make(entries)`.

    `example` shows the expected entries in error messages. `empty` allows an empty file. Raise
    SettingsError, with the file and the entry, if the file is invalid.
    """
    try:
        data = yaml_scalars.read(file)
        if data is None and empty:
            data = {}
        if not isinstance(data, dict):
            raise SettingsError(f"missing entries (expected {example})")
        return make(data)
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}") from None
    except ValueError as error:  # invalid YAML, or an invalid setting
        raise SettingsError(f"{file}: {error}") from None


def encode(value: Any) -> Any:
    """Return `value` as plain data for JSON. Infinities and NaN become None, and -0.0 becomes 0."""
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: encode(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    return value


def differences(old: Any, new: Any, where: str = "") -> dict[str, tuple[Any, Any]]:
    """Compare plain data. Return a mapping from paths to pairs of the old and the new value.

    A missing value is None.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        found: dict[str, tuple[Any, Any]] = {}
        for key in {**old, **new}:
            path = f"{where}.{key}" if where else str(key)
            found |= differences(old.get(key), new.get(key), path)
        return found
    if isinstance(old, list) and isinstance(new, list):
        found = {}
        for index, (before, after) in enumerate(itertools.zip_longest(old, new), start=1):
            found |= differences(before, after, f"{where}[{index}]")
        return found
    return {} if old == new else {where: (old, new)}


def _decode(type_: Any, data: Any, where: str) -> Any:
    if type_ is Any:
        return plain(data)
    origin = typing.get_origin(type_)
    if origin is typing.Annotated:
        return _decode(typing.get_args(type_)[0], data, where)
    if origin in (typing.Union, types.UnionType):
        return _decode_union(typing.get_args(type_), data, where)
    if origin is tuple:
        return _decode_tuple(typing.get_args(type_)[0], data, where)
    if origin is not None and issubclass(origin, Mapping):
        return _decode_mapping(typing.get_args(type_)[1], data, where)
    if dataclasses.is_dataclass(type_):
        return _decode_dataclass(type_, data, where)
    if isinstance(type_, type) and issubclass(type_, Enum):
        return _decode_enum(type_, data, where)
    return _decode_plain(type_, data, where)


def _decode_union(union_types: tuple[Any, ...], data: Any, where: str) -> Any:
    if data is None and type(None) in union_types:
        return None
    present = [type_ for type_ in union_types if type_ is not type(None)]
    if len(present) > 1:
        if isinstance(data, UnquotedScalar):
            return _decode_scalar(data)
        for type_ in present:
            if isinstance(type_, type) and type(data) is type_:
                return data
    return _decode(present[0], data, where)


def _decode_scalar(word: UnquotedScalar) -> Any:
    """Convert an unquoted YAML scalar to text, a number or a boolean.

    Scalars that YAML 1.1 misreads stay text: `on` and `007` are text, `true` is a boolean.
    """
    value = word.plain()
    same = word.lower() if isinstance(value, bool) else str(word)
    return value if str(value).lower() == same else str(word)


def _invalid(where: str, data: Any, expected: str) -> SettingsError:
    return SettingsError(f"{where}: invalid value {quote_value(data)} (expected {expected})")


def _decode_tuple(type_: Any, data: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(data, list | tuple):
        raise _invalid(where, data, "a list")
    return tuple(_decode(type_, item, f"{where}[{n}]") for n, item in enumerate(data, start=1))


def _decode_mapping(type_: Any, data: Any, where: str) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise _invalid(where, data, "name: value entries")
    return {str(key): _decode(type_, item, f"{where}.{key}") for key, item in data.items()}


def _decode_dataclass(type_: Any, data: Any, where: str) -> Any:
    if isinstance(data, str) and hasattr(type_, "from_text"):
        return type_.from_text(data)
    if not isinstance(data, Mapping):
        raise _invalid(where or type_.__name__, data, "entries")
    hints = typing.get_type_hints(type_)
    fields = {field.name: field for field in dataclasses.fields(type_)}
    for key in data:
        if key not in fields:
            names = ", ".join(fields)
            raise SettingsError(f"{_path(where, key)}: unknown key (expected one of: {names})")
    for name, field in fields.items():
        no_default = dataclasses.MISSING
        required = field.default is no_default and field.default_factory is no_default
        if required and name not in data:
            raise SettingsError(f"{_path(where, name)}: missing")
    values = {key: _decode(hints[key], item, _path(where, key)) for key, item in data.items()}
    try:
        return type_(**values)
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}" if where else str(error)) from None


def _decode_enum(type_: type[Enum], data: Any, where: str) -> Enum:
    try:
        return type_(data)
    except ValueError:
        names = ", ".join(str(item.value) for item in type_)
        raise _invalid(where, data, f"one of: {names}") from None


def _decode_plain(type_: Any, data: Any, where: str) -> Any:
    if type_ is bool:
        if isinstance(data, bool):
            return data
        if str(data).lower() in _BOOLEANS:
            return _BOOLEANS[str(data).lower()]
        raise _invalid(where, data, "true or false")
    if type_ in (int, float):
        if isinstance(data, bool):
            raise _invalid(where, data, "a number")
        try:
            number = _number(data)
            if type_ is int and number == int(number):
                return int(number)
            if type_ is float:
                return float(number)
        except (TypeError, ValueError, OverflowError):
            pass
        expected = "a whole number" if type_ is int else "a number"
        raise _invalid(where, data, expected)
    if type_ is str:
        if isinstance(data, str) and "\0" in data:
            raise _invalid(where, data, "text without NUL")
        if isinstance(data, str | int | float) and not isinstance(data, bool):
            return str(data)
        raise _invalid(where, data, "text")
    return data


def _number(data: Any) -> float:
    """Return `data` as int or float. YAML notations such as 1:30 and 0x10 are allowed."""
    if isinstance(data, float):
        return data
    for type_ in (int, float):
        with contextlib.suppress(ValueError):
            return type_(data)
    if isinstance(data, UnquotedScalar) and type(data.value) in (int, float):
        return typing.cast(float, data.value)
    raise ValueError(data)


def _path(where: str, key: Any) -> str:
    return f"{where}.{key}" if where else str(key)
