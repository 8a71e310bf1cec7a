"""Safe loading of YAML. Invalid input raises only YamlError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any

from agent.io.message import MessageError
from agent.io.text_files import read_text

if TYPE_CHECKING:
    from yaml import Node, SafeLoader

# Maximum number of values in a file after expansion of references.
MAX_VALUES = 2_000_000


class YamlError(MessageError, ValueError):
    """Raised for invalid YAML. The message contains the reason, and the position if known."""


def load(text: str, loader: type[SafeLoader] | None = None, max_values: int = MAX_VALUES) -> Any:
    """Parse a YAML document. Raise YamlError if it is invalid or has duplicate keys.

    A document is also invalid if it has more than `max_values` values, including aliases.
    """
    with _yaml_reader(loader, text) as reader:
        node = reader.get_single_node()
        _reject_duplicate_keys(node)
        document = None if node is None else reader.construct_document(node)
    _check_size(document, max_values)
    return document


def compose(text: str, loader: type[SafeLoader] | None = None) -> Node | None:
    """Parse YAML into nodes, which may form cycles. Raise YamlError as in `load`."""
    with _yaml_reader(loader, text) as reader:
        node: Node | None = reader.get_single_node()
        _reject_duplicate_keys(node)
    return node


def read(path: str | PathLike[str], loader: type[SafeLoader] | None = None) -> Any:
    """Parse a YAML file. Raise YamlError if it is invalid, and OSError if it is unreadable."""
    return load(read_text(path), loader)


@contextmanager
def _yaml_reader(loader: type[SafeLoader] | None, text: str) -> Iterator[SafeLoader]:
    import yaml

    try:
        reader = (loader or yaml.SafeLoader)(text)
        try:
            yield reader
        finally:
            reader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context
        if mark is None:
            raise YamlError(str(problem)) from None
        line, column = mark.line + 1, mark.column + 1
        raise YamlError("{} (line {}, column {})", problem, line, column) from None
    except yaml.YAMLError as error:
        raise YamlError(str(error)) from None
    except RecursionError:
        raise YamlError("nested too deeply") from None
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        # For example, `!!int x` or the date 2024-99-99.
        raise YamlError(f"invalid value: {error}") from None


def _reject_duplicate_keys(root: Node | None) -> None:
    """Raise MarkedYAMLError for duplicate keys, which PyYAML accepts."""
    from yaml import MappingNode, MarkedYAMLError, ScalarNode, SequenceNode

    stack, seen = [root], set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, SequenceNode):
            stack.extend(node.value)
        elif isinstance(node, MappingNode):
            keys = set()
            for key, value in node.value:
                stack += key, value
                if not isinstance(key, ScalarNode) or key.value == "<<":  # merge key
                    continue
                if (key.tag, key.value) in keys:
                    problem = f"duplicate key {key.value!r}"
                    raise MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
                keys.add((key.tag, key.value))


def _check_size(document: Any, max_values: int) -> None:
    count, stack = 0, [document]
    while stack:
        node = stack.pop()
        count += 1
        if count > max_values:
            raise YamlError(f"recursive, or more than {max_values} values")
        if isinstance(node, dict):
            stack.extend(node.values())
        elif isinstance(node, list | set | tuple):
            stack.extend(node)
