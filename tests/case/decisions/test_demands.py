"""Demands found by the photos that may break them: as a plain table of lists finds them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from samecam.case.decisions._standing import Demand, Demands, Standing

N = 12
rows = st.lists(st.integers(0, N - 1), max_size=N, unique=True).map(sorted)


@given(st.lists(st.tuples(rows, rows), max_size=8), rows)
def test_chains_find_what_lists_find(sides, moved):
    chains, lists = Demands(N), {}
    for number, (photos, others) in enumerate(sides, start=1):
        one, two = (np.array(side, dtype=np.intp) for side in (photos, others))
        demand = Demand("one", one, two, number)
        chains.add(demand)
        for row in {*photos, *others}:
            lists.setdefault(row, []).append(demand)
    wanted = {demand.number for row in moved for demand in lists.get(row, ())}
    found = chains.about(np.array(moved, dtype=np.intp))
    assert [demand.number for demand in found] == sorted(wanted)


def test_a_demand_of_many_photos_has_room():
    chains, n = Demands(5000), 5000
    for number in range(1, 4):
        chains.add(Demand("apart", np.arange(n - 1), np.array([n - 1]), number))
    assert [demand.number for demand in chains.about(np.array([0]))] == [1, 2, 3]
    assert chains.about(np.zeros(0, dtype=np.intp)) == []


def test_rows_of_a_decision_are_looked_up_once():
    table = {"a": 0, "b": 1, "c": 2}
    known = {}
    photos = ("c", "a", "nothing", "a")
    first = Standing(np.array([0, 0, -1]), ["x"], table, known)
    found = first.rows(photos)
    assert found.tolist() == [0, 2]
    assert Standing(np.array([0, 0, -1]), ["x"], table, known).rows(photos) is found
    assert first.rows(["b"]).tolist() == first.rows(["b"]).tolist() == [1]
    assert first.rows(tuple("ab")).tolist() == [0, 1]
