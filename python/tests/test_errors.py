"""Standard errors agree with the closed form."""

import fdridge
import numpy as np
import pytest


def closed_form(X, y, alpha, w=None):
    """Return sigma and the sampling and posterior standard errors of the intercept and the coefficients."""
    A = np.column_stack([np.ones(len(X)), X])
    root = np.ones(len(X)) if w is None else np.sqrt(w)
    A, b = A * root[:, None], y * root
    K = A.T @ A
    inverse = np.linalg.inv(K + alpha * np.diag([0] + [1] * X.shape[1]))
    residual = b - A @ (inverse @ A.T @ b)
    sigma = np.sqrt(residual @ residual / (len(X) - np.trace(inverse @ K)))
    return sigma, sigma * np.sqrt(np.diag(inverse @ K @ inverse)), sigma * np.sqrt(np.diag(inverse))


@pytest.mark.parametrize("targets", [None, 1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_standard_errors(targets, weighted):
    r = np.random.default_rng(50)
    X = 2 + r.standard_normal((40, 3))
    y = X @ r.standard_normal((3, targets or 1)) + r.standard_normal((40, targets or 1))
    w = r.uniform(0.5, 2, 40) if weighted else None
    alphas = np.array([0.5, 3.0])[: targets or 1]
    model = fdridge.Ridge(alpha=alphas if targets == 2 else 0.5, standard_errors=True)
    model.fit(X, y if targets else y[:, 0], sample_weight=w)
    found = model.standard_errors_
    assert found["coef_sampling"].shape == model.coef_.shape == model.coef_std_error_.shape
    for j, alpha in enumerate(alphas):
        sigma, sampling, posterior = closed_form(X, y[:, j], alpha, w)
        for name, want in [
            ("sigma", sigma),
            ("intercept_sampling", sampling[0]),
            ("intercept_posterior", posterior[0]),
            ("coef_sampling", sampling[1:]),
            ("coef_posterior", posterior[1:]),
        ]:
            low, got, high = (
                np.reshape(found[name + end], (targets or 1, -1))[j] for end in ["_low", "", "_high"]
            )
            np.testing.assert_allclose(got, want, rtol=1e-8)
            assert np.all(low <= got) and np.all(got <= high) and np.all(high - low <= 1e-6 * high)


def test_cv():
    r = np.random.default_rng(51)
    X, y = r.standard_normal((30, 2)), r.standard_normal(30)
    model = fdridge.RidgeCV(alphas=[0.1, 1, 10], standard_errors=True).fit(X, y)
    np.testing.assert_allclose(model.coef_std_error_, closed_form(X, y, model.alpha_)[1][1:], rtol=1e-8)
    scored = fdridge.RidgeCV(alphas=[0.1, 1], scoring="r2", cv=3, standard_errors=True).fit(X, y)
    np.testing.assert_allclose(scored.coef_std_error_, closed_form(X, y, scored.alpha_)[1][1:], rtol=1e-8)


def test_missing():
    X = np.arange(12.0).reshape(6, 2) ** 2
    model = fdridge.Ridge(alpha=1).fit(X, X[:, 0])
    with pytest.raises(AttributeError, match="standard_errors=True"):
        model.coef_std_error_
    twins = np.column_stack([X[:, 0], X[:, 0]])
    model = fdridge.Ridge(alpha=0, standard_errors=True).fit(twins, X[:, 1])
    with pytest.raises(AttributeError, match="too close to a singular matrix"):
        model.standard_errors_
    with pytest.raises(ValueError, match="standard_errors"):
        fdridge.Ridge(standard_errors="yes").fit(X, X[:, 0])
