"""What persons decided: photos that are together stay so, those that are apart never meet."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from samecam.cluster import ConsolidatedSSC, Constraints
from samecam.cluster.consolidate._constraints import Bonds
from samecam.cluster.consolidate._loop import Rates
from samecam.cluster.consolidate._start import Rules, begin
from samecam.simulate import fingerprints, gram

SIGMA = 1 / 512
RULES = Rules(Rates(0.001, 0.01, 0.001), None, 512**2, 2**30)


def fit(G, constraints=None, **options):
    method = ConsolidatedSSC(metric="precomputed", n_pixels=512**2)
    return method.fit(G, constraints=constraints, **options).labels_


def nobody(n):
    return np.full(n, -1, dtype=np.intp)


def together(n, *sets):
    labels = nobody(n)
    for k, rows in enumerate(sets):
        labels[rows] = k
    return labels


def rows(*numbers):
    return np.array(numbers, dtype=np.intp)


def holder(labels, others):
    """The group that holds most of `others`, of several the first; None: no group does."""
    found = labels[others]
    counts = np.bincount(found[found >= 0], minlength=1)
    return int(counts.argmax()) if counts.any() else None


def sets_of(constraints):
    numbers = np.unique(constraints.together[constraints.together >= 0])
    found = [np.flatnonzero(constraints.together == k) for k in numbers]
    return [some for some in found if len(some) > 1]


def assert_honoured(labels, constraints):
    """Sets are together; free photos, or all where `others` are free, not with most of others."""
    pinned = np.zeros(len(labels), dtype=bool)
    for some in sets_of(constraints):
        assert len(set(labels[some].tolist())) == 1
        assert labels[some[0]] >= 0
        pinned[some] = True
    for photos, others in constraints.apart:
        most = holder(labels, others)
        if most is not None:
            bound = pinned[photos] if pinned[others].any() else False
            assert not ((labels[photos] == most) & ~np.asarray(bound)).any()


@st.composite
def collections(draw):
    """Correlations of some cameras and strangers, weak photos, and decisions about them."""
    sizes = draw(st.lists(st.integers(2, 14), min_size=1, max_size=5))
    made = gram([*sizes, *[1] * draw(st.integers(0, 8))], draw(st.sampled_from([0.01, 0.04])),
                seed=draw(st.integers(0, 20)))  # fmt: skip
    n = len(made.gram)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    sets = rng.integers(0, 4, n)
    sets[rng.random(n) < draw(st.sampled_from([0.5, 0.9, 1.0]))] = -1
    apart = []
    for _ in range(draw(st.integers(0, 4))):
        camera = made.labels[rng.integers(0, n)]
        some = rng.permutation(np.flatnonzero(made.labels == camera) if rng.random() < 0.7 else n)
        cut = rng.integers(0, len(some) + 1)
        apart.append((some[:cut], some[cut:]))
        if rng.random() < 0.3:
            apart.append((some[cut:], some[:cut]))
    weak = rng.random(n) < draw(st.sampled_from([0.0, 0.2]))
    return made.gram, weak, Constraints(sets, tuple(apart))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(collections(), st.randoms(use_true_random=False))
def test_decisions_are_honoured_in_whatever_order_they_are_given(collection, random):
    G, weak, constraints = collection
    labels = fit(G, constraints, weak=weak)
    assert_honoured(labels, constraints)
    apart = [(random.sample(list(a), len(a)), list(b) * 2) for a, b in constraints.apart]
    random.shuffle(apart)
    numbers = np.array([3, 7, 0, 9, -1])  # of the sets 0 to 3, and of none
    pairs = tuple((np.array(a, dtype=np.intp), np.array(b, dtype=np.intp)) for a, b in apart)
    again = fit(G, Constraints(numbers[constraints.together], pairs), weak=weak)
    np.testing.assert_array_equal(again, labels)


@pytest.mark.parametrize("seed", range(3))
def test_without_anything_to_honour_nothing_changes(seed):
    G, truth = gram([12, 8, 5, *[1] * 10], 0.03, seed=seed)
    n = len(G)
    expected = fit(G)
    alone = together(n, *(rows(k) for k in range(n)))  # each has nobody else
    strangers = np.flatnonzero(truth > 2)
    first, second = (np.flatnonzero(truth == k) for k in (0, 1))
    for apart in (
        (),
        ((first, rows()), (rows(), first)),
        ((first, second), (second, first)),  # who are so anyhow
        ((first, strangers),),  # who are in no group
    ):
        assert (expected[strangers] == -1).all()
        np.testing.assert_array_equal(fit(G, Constraints(alone, apart)), expected)


# One camera or two


def in_order(made):
    """Correlations and labels, camera by camera."""
    order = np.argsort(made.labels, kind="stable")
    return made.gram[np.ix_(order, order)], made.labels[order]


@pytest.fixture(scope="module")
def camera():
    """Correlations of 60 photos of one camera, 30 of another and 10 strangers."""
    return in_order(gram([60, 30, *[1] * 10], 0.02, seed=1))


def test_two_cameras_that_are_one(camera):
    G, truth = camera
    labels = fit(G, Constraints(together(100, np.flatnonzero(truth < 2))))
    assert (labels[truth < 2] == 0).all()
    assert (labels[truth >= 2] == -1).all()


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("both", [False, True])
def test_a_camera_that_is_two(camera, pinned, both, started):
    G, truth = camera
    photos, rest = np.arange(25), np.arange(25, 60)
    sets = together(100, photos) if pinned else nobody(100)
    pairs = ((photos, rest), (rest, photos)) if both else ((photos, rest),)
    labels = fit(
        G, Constraints(sets, pairs), start=np.where(truth == 0, 0, -1) if started else None
    )
    assert np.count_nonzero(labels[rest] == holder(labels, rest)) >= 33
    if pinned or not started:  # those who are sent away from a group found none by themselves
        assert np.count_nonzero(labels[photos] == holder(labels, photos)) >= 23
    assert holder(labels, rest) != holder(labels, photos)
    assert (labels[truth == 1] >= 0).sum() >= 29


def test_a_large_camera_that_is_two_begins_as_two():
    """Groups that began with both would lose all of one side, who found none by themselves."""
    G, _ = in_order(gram([100, 60, 30, *[1] * 10], 0.02, seed=1))
    photos, rest = np.arange(0, 100, 2), np.arange(1, 100, 2)
    start = begin(G, RULES, None, None, Bonds(Constraints(nobody(200), ((photos, rest),)), 200))
    sides = [set(start.labels[some].tolist()) - {-1} for some in (photos, rest)]
    assert len(sides[0] & sides[1]) <= 2  # by way of a stranger
    assert min(map(len, sides)) >= 5
    labels = fit(G, Constraints(nobody(200), ((photos, rest),)))
    assert np.count_nonzero(labels[photos] == holder(labels, photos)) >= 48
    assert np.count_nonzero(labels[rest] == holder(labels, rest)) >= 48


@pytest.mark.parametrize("many", [1, 4])
def test_photos_that_are_sent_away_do_not_break_their_camera(camera, many):
    G, _ = camera
    gone, rest = np.arange(0, 60, 15)[:many], np.setdiff1d(np.arange(60), np.arange(0, 60, 15))
    labels = fit(G, Constraints(nobody(100), tuple((rows(k), rest) for k in gone)))
    assert (labels[gone] == -1).all()
    assert np.count_nonzero(labels[rest] == 0) >= 55


def test_of_two_photos_that_are_apart_one_stays(camera):
    G, _ = camera
    pairs = ((rows(3), rows(8)), (rows(8), rows(3)))
    labels = fit(G, Constraints(nobody(100), pairs))
    assert sorted(labels[[3, 8]].tolist()) == [-1, 0]
    assert np.count_nonzero(labels[:60] == 0) >= 58


def test_a_contradiction_ends_and_those_together_stay(camera):
    G, _ = camera
    pairs = ((rows(0, 1), rows(2, 3)), (np.arange(60), np.arange(60)))
    labels = fit(G, Constraints(together(100, np.arange(10)), pairs))
    assert (labels[:10] == labels[0]).all()
    assert labels[0] >= 0
    assert (labels[10:60] != labels[0]).all()


# Single photos


def with_photo(seed, first, second, sizes=(20, 20), strangers=60):
    """Correlations of two cameras and strangers, the last photo's with the cameras are given."""
    n = sum(sizes) + strangers
    G, truth = in_order(gram([*sizes, *[1] * strangers], 0.04, seed=seed))
    for camera, value in enumerate((first, second)):
        G[-1, truth == camera] = G[truth == camera, -1] = value * SIGMA
    return G, n - 1, np.flatnonzero(truth == 0), np.flatnonzero(truth == 1)


def test_a_photo_goes_to_its_next_best_group_or_to_none():
    G, photo, first, second = with_photo(0, 8, 4)
    free = fit(G)
    assert free[photo] == holder(free, first)
    labels = fit(G, Constraints(nobody(len(G)), ((rows(photo), first),)))
    assert labels[photo] == holder(labels, second)
    np.testing.assert_array_equal(labels[:photo] >= 0, free[:photo] >= 0)
    both = ((rows(photo), first), (rows(photo), second))
    assert fit(G, Constraints(nobody(len(G)), both))[photo] == -1


@pytest.mark.parametrize("seed", range(3))
def test_groups_that_are_one_attract_a_photo_that_neither_alone_does(seed):
    G, photo, first, second = with_photo(seed, 0.52, 0.52)
    assert fit(G)[photo] == -1
    sets = together(len(G), np.concatenate([first, second]))
    labels = fit(G, Constraints(sets))
    assert labels[photo] == labels[first[0]] == labels[second[0]] == 0


def test_others_do_not_come_to_photos_that_cannot_leave():
    G, photo, first, _ = with_photo(0, 8, 0)
    sets = together(len(G), first[:5])
    assert fit(G)[photo] >= 0
    labels = fit(G, Constraints(sets, ((first[:1], rows(photo)),)))
    assert labels[photo] == -1
    assert len(set(labels[first].tolist())) == 1  # and they are not kept apart by it


def test_a_weak_photo_that_joins_sends_the_other_to_its_next_group():
    G, photo, first, second = with_photo(0, 8, 4)
    weak = np.zeros(len(G), dtype=bool)
    weak[first[0]] = True
    apart = ((rows(photo), first[:1]),)
    labels = fit(G, Constraints(nobody(len(G)), apart), weak=weak)
    assert labels[first[0]] == holder(labels, first)
    assert labels[photo] == holder(labels, second)


# Those who are pinned


def test_pinned_photos_stay_where_chance_could_have_made_the_group():
    G, _ = gram([1] * 40, 0.01, seed=2)
    labels = fit(G, Constraints(together(40, rows(3, 5), rows(8, 20, 21))))
    np.testing.assert_array_equal(labels, together(40, rows(8, 20, 21), rows(3, 5)))


def test_pinned_photos_count_also_where_they_are_weak():
    G, truth = gram([30, 12, *[1] * 10], 0.05, seed=9)
    weak = truth == 1
    weak[np.flatnonzero(weak)[:3]] = False
    assert (fit(G, weak=weak)[weak] == -1).all() or holder(fit(G, weak=weak), weak) == 1
    pinned = np.flatnonzero(weak)
    labels = fit(G, Constraints(together(len(G), pinned)), weak=weak)
    assert (labels[truth == 1] == 1).all()  # and let the others in
    every = np.ones(len(G), dtype=bool)
    labels = fit(G, Constraints(together(len(G), pinned)), weak=every)
    assert (labels[truth == 1] == 0).all()
    assert (labels[truth == 0] == -1).all()


def test_all_photos_may_be_pinned():
    G, _ = gram([4, 4], 0.02, seed=1)
    assert (fit(G, Constraints(np.zeros(8, dtype=np.intp))) == 0).all()
    assert (fit(G, Constraints(together(8, np.arange(7))))[:7] == 0).all()


# In batches


@pytest.mark.parametrize("seed", range(2))
def test_batches_honour_what_was_decided(seed):
    X, truth = fingerprints([50, 40, 20, *[1] * 10], 0.06, 4096, seed=seed)
    X, truth, n = X[np.argsort(truth, kind="stable")], np.sort(truth), len(X)
    weak = np.arange(n) % 9 == 0
    photos, rest = np.arange(20), np.arange(20, 50)
    strangers = np.flatnonzero(truth > 2)
    others = np.flatnonzero(truth > 0)
    decisions = [
        Constraints(together(n, photos), ((photos, rest),)),
        Constraints(nobody(n), ((photos, rest), (rest, photos))),
        Constraints(together(n, np.flatnonzero(truth < 2), strangers)),
        Constraints(together(n, rows(50, 51)), ((rows(52), others),)),
    ]
    for constraints in decisions:
        method = ConsolidatedSSC(batch_size=45).fit(X, weak=weak, constraints=constraints)
        assert_honoured(method.labels_, constraints)
        whole = ConsolidatedSSC().fit(X, weak=weak, constraints=constraints)
        assert np.mean(method.labels_ == whole.labels_) > 0.95


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        (Constraints(nobody(4)), "together has shape"),
        (Constraints(np.zeros(5)), "together has shape .* dtype float64"),
        (Constraints(nobody(5), ((rows(0), rows(5)),)), "apart has row 5; give rows from 0 to 4"),
        (Constraints(nobody(5), ((rows(-1), rows(3)),)), "apart has row -1"),
        (Constraints(nobody(5), ((np.array([0.5]), rows(3)),)), "give row numbers"),
    ],
)
def test_wrong_constraints_get_a_sentence(constraints, words):
    with pytest.raises(ValueError, match=words):
        fit(np.eye(5), constraints)
