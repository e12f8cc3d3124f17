import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from fdridge import Ridge, RidgeClassifier


classifiers = [RidgeClassifier(), RidgeClassifier(alpha="auto"), RidgeClassifier(class_weight="balanced")]


@parametrize_with_checks([Ridge(), Ridge(alpha="auto"), Ridge(alpha=[0.1, 1, 10], select="gcv"), Ridge(method="cg"), *classifiers])
def test_sklearn(estimator, check):
    check(estimator)
