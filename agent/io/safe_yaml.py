"""YAML that users write: read whole, or refused with a message, whatever it holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any

from agent.io.files import read_text

if TYPE_CHECKING:
    from yaml import Node, SafeLoader

# So many values a file may hold.
MAX_VALUES = 2_000_000


class YamlError(ValueError):
    """Text that cannot be used; the message says why, and where."""


def load(text: str, loader: type[SafeLoader] | None = None, max_values: int = MAX_VALUES) -> Any:
    """Return what a document holds, as a loader sees it, so many values at most. Raises YamlError.

    A value counts as often as it is referred to; an entry is there once.
    """
    with _yaml_reader(loader, text) as reader:
        node = reader.get_single_node()
        _reject_duplicate_keys(node)
        found = None if node is None else reader.construct_document(node)
    _check_size(found, max_values)
    return found


def compose(text: str, loader: type[SafeLoader] | None = None) -> Node | None:
    """Return a document's nodes, which know their lines. Raises YamlError.

    An entry is there once; references are followed, so a node may hold itself.
    """
    with _yaml_reader(loader, text) as reader:
        node: Node | None = reader.get_single_node()
        _reject_duplicate_keys(node)
    return node


def read(path: str | PathLike[str], loader: type[SafeLoader] | None = None) -> Any:
    """Return what a file holds. Raises YamlError, and OSError where there is no such file."""
    try:
        text = read_text(path)
    except UnicodeDecodeError:
        raise YamlError("it is not UTF-8 text") from None
    return load(text, loader)


@contextmanager
def _yaml_reader(loader: type[SafeLoader] | None, text: str) -> Iterator[SafeLoader]:
    """Lend a reader of the text; what it or the block raises becomes a YamlError."""
    import yaml

    try:
        reader = (loader or yaml.SafeLoader)(text)
        try:
            yield reader
        finally:
            reader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = "" if mark is None else f" (line {mark.line + 1}, column {mark.column + 1})"
        raise YamlError(f"{error.problem or error.context}{place}") from None
    except yaml.YAMLError as error:
        raise YamlError(str(error)) from None
    except RecursionError:
        raise YamlError("it is nested too deeply") from None
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        # A tag or a date that is none, such as `!!int x` or 2024-99-99.
        raise YamlError(f"a value is not what it is marked as: {error}") from None


def _reject_duplicate_keys(root: Node | None) -> None:
    """Refuse what has an entry twice, of which YAML's loaders keep the last."""
    from yaml import MappingNode, MarkedYAMLError, ScalarNode, SequenceNode

    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, SequenceNode):
            waiting.extend(node.value)
        elif isinstance(node, MappingNode):
            names = set()
            for key, value in node.value:
                waiting += key, value
                if not isinstance(key, ScalarNode) or key.value == "<<":  # what is merged
                    continue
                if (key.tag, key.value) in names:
                    problem = f"{key.value!r} is there twice"
                    raise MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
                names.add((key.tag, key.value))


def _check_size(found: Any, max_values: int) -> None:
    """Refuse what refers to itself, or by references to more than memory holds."""
    count, waiting = 0, [found]
    while waiting:
        node = waiting.pop()
        count += 1
        if count > max_values:
            raise YamlError(f"it holds itself, or more than {max_values} values")
        if isinstance(node, dict):
            waiting.extend(node.values())
        elif isinstance(node, list | set | tuple):
            waiting.extend(node)
