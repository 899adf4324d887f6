"""Work on many things at a time in threads of this process."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from samecam.compute._machine import one_thread_of_blas, thread_count

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def side_by_side(
    work: Callable[[Item], Answer],
    items: Sequence[Item],
    *,
    most: int | None = None,
    done: Callable[[Answer], None] | None = None,
) -> list[Answer]:
    """What `work` gives for each item, in their order, whatever the number of threads.

    BLAS has one thread meanwhile: its threads would wait for each other, and how it adds would
    depend on their number.

    Parameters
    ----------
    work : lets go of the interpreter for most of its time
    most : items at a time, at most; default: as many as there are threads
    done : called with each answer, in order, by the thread that called this
    """
    threads = max(1, min(thread_count(), len(items), most or len(items)))
    answers = []
    with one_thread_of_blas(), ThreadPoolExecutor(threads) as pool:
        try:
            for answer in pool.map(work, items):
                answers.append(answer)
                if done is not None:
                    done(answer)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return answers
