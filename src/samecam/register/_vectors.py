"""What Numba has no words for: squares of numbers turned over, and comparisons as bits.

Written in the compiler's own terms, which every processor knows in its own way: masks of AVX-512,
or moves of sign bits.
"""

from typing import Any

import llvmlite.ir
import numba.core
from numba.extending import intrinsic

SIDE, WORD = 16, 64
# Neither has types of its own.
ir: Any = llvmlite.ir
cgutils: Any = numba.core.cgutils
types: Any = numba.core.types
_I32, _I64, _FLOAT = ir.IntType(32), ir.IntType(64), ir.FloatType()


def _at(context: Any, builder: Any, kind: Any, array: Any, y: Any, x: Any, lanes: int) -> Any:
    """Where some numbers of a line of an array (h, w) begin; its lines are contiguous."""
    given = context.make_array(kind)(context, builder, array)
    stride = cgutils.unpack_tuple(builder, given.strides, 2)[0]
    place = builder.add(builder.mul(y, stride), builder.mul(x, ir.Constant(_I64, 4)))
    place = builder.add(builder.ptrtoint(given.data, _I64), place)
    return builder.inttoptr(place, ir.VectorType(_FLOAT, lanes).as_pointer())


def _turned_over(builder: Any, rows: list[Any]) -> list[Any]:
    """Columns of a square of vectors: blocks of 1, 2, 4 … off the diagonal change places."""
    n, half = len(rows), 1
    kind = ir.VectorType(_I32, n)
    while half < n:
        first = ir.Constant(kind, [j + n - half if j & half else j for j in range(n)])
        second = ir.Constant(kind, [j + n if j & half else j + half for j in range(n)])
        new = list(rows)
        for a in range(n):
            if not a & half:
                pair = rows[a], rows[a + half]
                new[a] = builder.shuffle_vector(*pair, first)
                new[a + half] = builder.shuffle_vector(*pair, second)
        rows, half = new, 2 * half
    return rows


def _turn_square(typing: Any, source: Any, y: Any, x: Any, out: Any) -> Any:
    """out[x + j, y + k] = source[y + k, x + j], j and k below SIDE; float32, lines contiguous."""
    del typing, y, x

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, y, x, target = args

        def number(k: int) -> Any:
            return ir.Constant(_I64, k)

        rows = []
        for k in range(SIDE):
            place = builder.add(y, number(k))
            given = _at(context, builder, signature.args[0], array, place, x, SIDE)
            rows.append(builder.load(given, align=4))
        for j, row in enumerate(_turned_over(builder, rows)):
            place = builder.add(x, number(j))
            there = _at(context, builder, signature.args[3], target, place, y, SIDE)
            builder.store(row, there, align=4)
        return context.get_dummy_value()

    return types.void(source, types.int64, types.int64, out), codegen


def _compare_word(typing: Any, values: Any, y: Any, x: Any, square: Any) -> Any:
    """Of 64 numbers from values[y, x] on, as bits: above 0, of a square below one, exactly 0."""
    del typing, y, x, square

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, y, x, square = args
        kind = ir.VectorType(_FLOAT, WORD)
        some = builder.load(_at(context, builder, signature.args[0], array, y, x, WORD), align=4)
        nothing = ir.Constant(kind, ir.Undefined)
        limit = builder.insert_element(nothing, square, ir.Constant(_I32, 0))
        everywhere = ir.Constant(ir.VectorType(_I32, WORD), [0] * WORD)
        limit = builder.shuffle_vector(limit, nothing, everywhere)
        zero = ir.Constant(kind, [0.0] * WORD)
        compared = (
            builder.fcmp_ordered(">", some, zero),
            builder.fcmp_ordered("<", builder.fmul(some, some), limit),
            builder.fcmp_ordered("==", some, zero),
        )
        return cgutils.pack_array(builder, [builder.bitcast(bits, _I64) for bits in compared])

    bits = types.UniTuple(types.uint64, 3)
    return bits(values, types.int64, types.int64, types.float32), codegen


turn_square: Any = intrinsic(_turn_square)
compare_word: Any = intrinsic(_compare_word)
