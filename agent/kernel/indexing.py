"""Items of a record's rows in kernels, found as C does: no index counts from the end.

Numba adds the length to a negative index, so that each of the kernels' many looks into tables of a
record costs a comparison and a choice. None of their indices is negative. With NUMBA_BOUNDSCHECK=1
an index beyond either end raises IndexError. Importing this module does not import Numba.
"""

import operator
from functools import cache
from typing import Any


@cache
def use_c_indexing() -> None:
    """Have Numba take every index into a record's row as it is, from now on."""
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
    """Return the signature with an index of the type that Numba does not look at, and the index."""
    from numba.core import types

    row_type, index_type, *others = signature.args
    index = context.cast(builder, index, index_type, types.intp)
    return signature.replace(args=(row_type, types.uintp, *others)), index
