"""Array fields without support for negative indices, as in C.

Numba's support for negative indices slows down each access, and compiled code never uses them. With
NUMBA_BOUNDSCHECK=1, an index out of range raises `IndexError`. Importing this module does not
import Numba.
"""

import operator
from functools import cache
from typing import Any


@cache
def use_c_indexing() -> None:
    """Turn off negative indices for array fields of records in all later compilations."""
    from numba.core import types
    from numba.core.imputils import lower_builtin

    lower_builtin(operator.getitem, types.NestedArray, types.Integer)(_get)
    lower_builtin(operator.setitem, types.NestedArray, types.Integer, types.Any)(_set)


def _get(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    from numba.np.arrayobj import getitem_arraynd_intp

    row, index = arguments
    signature, index = _unsigned(context, builder, signature, index)
    return getitem_arraynd_intp(context, builder, signature, (row, index))


def _set(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    from numba.np.arrayobj import setitem_array

    row, index, value = arguments
    signature, index = _unsigned(context, builder, signature, index)
    return setitem_array(context, builder, signature, (row, index, value))


def _unsigned(context: Any, builder: Any, signature: Any, index: Any) -> tuple[Any, Any]:
    from numba.core import types

    row_type, index_type, *others = signature.args
    index = context.cast(builder, index, index_type, types.intp)
    return signature.replace(args=(row_type, types.uintp, *others)), index
