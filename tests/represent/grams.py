"""Small Grams of known structure."""

import numpy as np

NULL = 1 / 512


def fingerprints(n_cameras=6, per_camera=8, n_pixels=400, strength=0.4, seed=0):
    """Unit-norm rows; cameras share a pattern. Their Gram is positive semidefinite."""
    rng = np.random.default_rng(seed)
    patterns = rng.standard_normal((n_cameras, n_pixels))
    X = strength * np.repeat(patterns, per_camera, axis=0)
    X += rng.standard_normal(X.shape)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def small_gram(dtype=np.float64, **kwargs):
    X = fingerprints(**kwargs)
    return (X @ X.T).astype(dtype)


def weak_gram(n=300, mean=0.01, seed=0, dtype=np.float32):
    """Correlations like those of photographs: noise of s.d. 1/512, cameras of 10 to 50."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(10, 51, n)
    camera = np.repeat(np.arange(n), sizes)[:n]
    strength = np.sqrt(mean) * np.minimum(rng.gamma(2.0, 0.5, n), 3)
    G = np.triu(rng.standard_normal((n, n)) * NULL, 1)
    G = G + G.T + np.outer(strength, strength) * (camera[:, None] == camera)
    np.fill_diagonal(G, 1)
    return G.astype(dtype)
