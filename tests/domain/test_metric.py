"""Quantiles from buckets: as near to the truth as buckets can tell."""

from __future__ import annotations

from collections import Counter
from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from mainspring.clock import Duration
from mainspring.domain.metric import BUCKETS, bucket_of, quantile


@given(st.lists(st.integers(0, 10 * BUCKETS[-1]), min_size=1), st.integers(1, 100))
def test_a_quantile_is_in_the_bucket_of_the_true_one(lengths: list[int], percent: int) -> None:
    counts = sorted(Counter(bucket_of(Duration(length)) for length in lengths).items())
    found = quantile(counts, percent / 100, max(lengths))
    bucket = bucket_of(Duration(sorted(lengths)[ceil(percent * len(lengths) / 100) - 1]))
    assert found is not None
    assert found >= (BUCKETS[bucket - 1] if bucket else 0)
    assert found <= (BUCKETS[bucket] if bucket < len(BUCKETS) else max(lengths))


def test_of_nothing_there_is_none() -> None:
    assert quantile([], 0.5, 0) is None
