"""Numba kernels that read the Huffman codes of a JPEG scan without making pixels of them.

They tell whether every block is there and could have been written by an encoder; libjpeg
fills in what is missing, or reads nonsense, without an error. Both codings are followed
exactly: sequential, and progressive, whose refining scans depend on which coefficients
are not zero already (one bit each, 64 to a block).

Bits waiting to be read are the lowest `held` ones of `bits`. FF 00 stands for the byte FF;
FF with anything else is a marker, which ends the data. Most AC coefficients are short
enough for several to be passed over at once: see `steps`.
"""

import numpy as np
import numpy.typing as npt

from samecam.compute import jit

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int32]
Blocks = npt.NDArray[np.int64]

WHOLE, ENDED, DAMAGED = 0, 1, 2
QUICK, STEP = 9, 12  # bits that are looked up at once
LIMIT = 2048  # of a mean times 8, twice what eight bits can give
_END_OF_BLOCK = 1 << 16

_jit = jit(nogil=True, error_model="numpy")


@_jit
def _fill(data: Bytes, at: int, bits: int, held: int) -> tuple[int, int, int]:
    """Hold at least 32 bits, or all there are before the next marker."""
    if held >= 32:
        return at, bits, held
    bits &= (1 << held) - 1
    if at + 4 <= data.size:
        first = np.uint64(at)  # of an index that may be negative, Numba would have to ask
        word = int(data[first]) << 24 | int(data[first + np.uint64(1)]) << 16
        word |= int(data[first + np.uint64(2)]) << 8 | int(data[first + np.uint64(3)])
        if ((word ^ 0xFFFFFFFF) - 0x01010101) & word & 0x80808080 == 0:  # no byte is FF
            return at + 4, bits << 32 | word, held + 32
    while held <= 48 and at < data.size:
        byte = int(data[at])
        if byte == 0xFF:
            if at + 1 >= data.size or data[at + 1] != 0:
                break
            at += 1
        at += 1
        bits = bits << 8 | byte
        held += 8
    return at, bits, held


@_jit
def _symbol(bits: int, held: int, row: int, quick: Numbers, last: Numbers, first: Numbers) -> int:
    """Length · 256 + symbol of the code that comes next; 0: none has these bits."""
    ahead = bits >> (held - QUICK) if held >= QUICK else bits << (QUICK - held)
    entry = int(quick[row, ahead & ((1 << QUICK) - 1)])
    if entry:
        return entry
    for length in range(QUICK + 1, min(16, held) + 1):
        code = (bits >> (held - length)) & ((1 << length) - 1)
        if code <= last[row, length]:
            return length * 256 + int(first[row, 256 + ((first[row, length] + code) & 255)])
    return 0


@_jit
def steps(quick: Numbers, last: Numbers, first: Numbers) -> Numbers:
    """For every 12 bits: how many of them are whole AC coefficients, · 256, and of how many.

    Zeros before a coefficient count with it. The end of a block is marked, and nothing
    is read beyond it. 0: not even one coefficient fits.
    """
    table = np.zeros(1 << STEP, np.int32)
    quick, last, first = quick.reshape(1, -1), last.reshape(1, -1), first.reshape(1, -1)
    for ahead in range(1 << STEP):
        left, count, ended = STEP, 0, 0
        while left > 0 and ended == 0:
            entry = _symbol(ahead & ((1 << left) - 1), left, 0, quick, last, first)
            used, size, run = entry >> 8, entry & 15, (entry >> 4) & 15
            if entry == 0 or used + size > left:
                break
            left -= used + size
            if size == 0 and run < 15:
                ended = _END_OF_BLOCK
            else:
                count += run + 1
        table[ahead] = ended + (STEP - left) * 256 + count
    return table


@_jit
def _restart(data: Bytes, at: int, held: int, number: int) -> int:
    """Where data go on behind the restart marker of this number, or minus why they do not."""
    if held >= 8:
        return -DAMAGED
    while at + 1 < data.size and data[at] == 0xFF and data[at + 1] == 0xFF:
        at += 1
    if at + 1 >= data.size or (data[at] == 0xFF and data[at + 1] > 0xD7):
        return -ENDED
    return at + 2 if data[at] == 0xFF and data[at + 1] == 0xD0 + number % 8 else -DAMAGED


@_jit
def _difference(bits: int, held: int, size: int) -> int:
    """The signed number whose `size` bits are the highest held."""
    if size == 0:
        return 0
    value = (bits >> (held - size)) & ((1 << size) - 1)
    return value if value >> (size - 1) else value - (1 << size) + 1


@_jit
def _why(held: int) -> int:
    """What it means that no code has the bits that are left."""
    return ENDED if held < 16 else DAMAGED


@_jit
def _step(bits: int, held: int, k: int, table: Numbers) -> tuple[int, int]:
    """Pass over coefficients from number `k` on as long as several fit at once.

    Returns the bits that are still held, and the number of the next coefficient; 64: none is left.
    """
    ahead = np.uint64(bits) << np.uint64(64 - held) if held else np.uint64(0)
    while held >= STEP and k < 64:
        step = int(table[ahead >> np.uint64(64 - STEP)])
        ends = step >> 16
        if step == 0 or k + (step & 255) + ends > 64:
            break
        used = (step >> 8) & 15
        held -= used
        ahead <<= np.uint64(used)
        k = 64 if ends else k + (step & 255)
    return held, k


@_jit
def walk_sequential(
    data: Bytes,
    at: int,
    units: int,
    restart: int,
    plan: Numbers,
    quick: Numbers,
    last: Numbers,
    first: Numbers,
    stepped: Numbers,
) -> tuple[int, int]:
    """Whether the first `units` of a sequential scan are there, and where they end.

    Parameters
    ----------
    data, at : the file, and where the scan's coded data begin
    units : blocks are coded in units, of one for each row of `plan`
    restart : units between restart markers; 0: there are none
    plan : (n, 4): component, rows of its DC and AC codes, step of its DC quantisation
    quick, last, first, stepped : codes, a row each, and what `steps` gives for them
    """
    bits, held = 0, 0
    means = np.zeros(4, np.int64)
    for unit in range(units):
        if restart and unit and unit % restart == 0:
            at = _restart(data, at, held, unit // restart - 1)
            if at < 0:
                return -at, at
            bits, held = 0, 0
            means[:] = 0
        for row in range(plan.shape[0]):
            component, dc = plan[row, 0], plan[row, 1]
            ac, scale = plan[row, 2], plan[row, 3]
            at, bits, held = _fill(data, at, bits, held)
            entry = _symbol(bits, held, dc, quick, last, first)
            used, size = entry >> 8, entry & 15
            if entry == 0 or used + size > held:
                return (_why(held) if entry == 0 else ENDED), at
            held -= used
            means[component] += _difference(bits, held, size)
            held -= size
            if abs(means[component] * scale) > LIMIT:
                return DAMAGED, at
            k, table = 1, stepped[ac]
            while k < 64:
                at, bits, held = _fill(data, at, bits, held)
                before = held
                held, k = _step(bits, held, k, table)
                if held != before:
                    continue
                entry = _symbol(bits, held, ac, quick, last, first)
                used, size, run = entry >> 8, entry & 15, (entry >> 4) & 15
                if entry == 0 or used + size > held:
                    return (_why(held) if entry == 0 else ENDED), at
                held -= used + size
                if size == 0 and run < 15:
                    break
                k += run + 1
                if k > 64 and size:
                    return DAMAGED, at
    return WHOLE, at - held // 8


@_jit
def walk_means(
    data: Bytes,
    at: int,
    units: int,
    restart: int,
    plan: Numbers,
    quick: Numbers,
    last: Numbers,
    first: Numbers,
    refine: bool,
) -> tuple[int, int]:
    """The same for a scan of a progressive file that holds DC coefficients alone."""
    bits, held = 0, 0
    means = np.zeros(4, np.int64)
    for unit in range(units):
        if restart and unit and unit % restart == 0:
            at = _restart(data, at, held, unit // restart - 1)
            if at < 0:
                return -at, at
            bits, held = 0, 0
            means[:] = 0
        for row in range(plan.shape[0]):
            component, dc, scale = plan[row, 0], plan[row, 1], plan[row, 3]
            at, bits, held = _fill(data, at, bits, held)
            if refine:
                if held == 0:
                    return ENDED, at
                held -= 1
                continue
            entry = _symbol(bits, held, dc, quick, last, first)
            used, size = entry >> 8, entry & 15
            if entry == 0 or used + size > held:
                return (_why(held) if entry == 0 else ENDED), at
            held -= used
            means[component] += _difference(bits, held, size)
            held -= size
            if abs(means[component] * scale) > LIMIT:
                return DAMAGED, at
    return WHOLE, at - held // 8


@_jit
def walk_details(
    data: Bytes,
    at: int,
    blocks: Blocks,
    restart: int,
    band: tuple[int, int],
    table: int,
    quick: Numbers,
    last: Numbers,
    first: Numbers,
    refine: bool,
) -> tuple[int, int]:
    """The same for a scan of AC coefficients; `blocks` holds which are not zero, and is kept."""
    bits, held, run_left = 0, 0, 0
    low, high = band
    within = (2 << high) - 1 if high < 63 else -1
    for unit in range(blocks.size):
        if restart and unit and unit % restart == 0:
            at = _restart(data, at, held, unit // restart - 1)
            if at < 0:
                return -at, at
            bits, held, run_left = 0, 0, 0
        mask = blocks[unit]
        k = low
        while k <= high and run_left == 0:
            at, bits, held = _fill(data, at, bits, held)
            entry = _symbol(bits, held, table, quick, last, first)
            used, size, run = entry >> 8, entry & 15, (entry >> 4) & 15
            extra = size if size else (run if run < 15 else 0)
            if entry == 0 or used + extra > held:
                return (_why(held) if entry == 0 else ENDED), at
            held -= used
            if size == 0 and run < 15:
                run_left = 1 << run
                if run:
                    run_left += (bits >> (held - run)) & ((1 << run) - 1)
                held -= run
                break
            held -= size
            if refine:  # a bit for each that is not zero, and `run` zeros are passed over
                while k <= high:
                    if mask & (1 << k):
                        if held == 0:
                            at, bits, held = _fill(data, at, bits, held)
                            if held == 0:
                                return ENDED, at
                        held -= 1
                    elif run == 0:
                        break
                    else:
                        run -= 1
                    k += 1
            else:
                k += run
            if size:
                if k > high:
                    return DAMAGED, at
                mask |= 1 << k
            k += 1
        if run_left:
            rest = mask & within & -(1 << k) if refine and k <= high else 0
            while rest:  # a bit for each that is not zero
                rest &= rest - 1
                if held == 0:
                    at, bits, held = _fill(data, at, bits, held)
                    if held == 0:
                        return ENDED, at
                held -= 1
            run_left -= 1
        blocks[unit] = mask
    return WHOLE, at - held // 8
