"""scikit-learn's own checks of all estimators."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from fdridge import Ridge, RidgeClassifier, RidgeClassifierCV, RidgeCV

ESTIMATORS = [
    Ridge(),
    Ridge(alpha=0.1, solver="lsqr"),
    Ridge(method="cg"),
    RidgeClassifier(),
    RidgeClassifier(class_weight="balanced"),
    RidgeCV(),
    RidgeCV(alphas="auto"),
    RidgeCV(scoring="gcv"),
    RidgeCV(cv=2),
    RidgeClassifierCV(),
    RidgeClassifierCV(scoring="accuracy"),
]


def known_difference(estimator, check):
    """Return why a check cannot hold, which is so in scikit-learn's own estimators too."""
    if not check.startswith(("check_sample_weight_equivalence", "check_sample_weights_invariance")):
        return None
    if isinstance(estimator, (RidgeCV, RidgeClassifierCV)):
        return "a row of weight 2 is left out as one, and two rows of weight 1 are left out one by one"
    if getattr(estimator, "class_weight", None) == "balanced":
        return "the rows of a class are counted, and not their weights"
    return None


@parametrize_with_checks(ESTIMATORS)
def test_sklearn(estimator, check):
    reason = known_difference(estimator, getattr(check, "func", check).__name__)
    try:
        check(estimator)
    except (AssertionError, ValueError):
        if reason is None:
            raise
        pytest.xfail(reason)
