"""Short programs that use ridge regression as its users do: only the import line differs, and the numbers agree.

A snippet begins with its title. It is run with the estimators of scikit-learn and with ours, and `result` is compared.
"""

import numpy as np
import pytest
import sklearn.linear_model

import fdridge

BEFORE = """
import numpy as np
import scipy.sparse
from sklearn import datasets
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import BaggingRegressor, StackingRegressor, VotingRegressor
from sklearn.feature_selection import RFE, SelectFromModel, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics import accuracy_score, f1_score, mean_squared_error, r2_score
from sklearn.model_selection import (
    GridSearchCV, KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit, StratifiedKFold, TimeSeriesSplit, cross_val_predict,
    cross_val_score, cross_validate, learning_curve, train_test_split, validation_curve,
)
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor, RegressorChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, SplineTransformer, StandardScaler

rng = np.random.default_rng(42)
X, y = datasets.load_diabetes(return_X_y=True)
A = rng.standard_normal((60, 6))
Y = A @ rng.standard_normal((6, 3)) + 0.3 * rng.standard_normal((60, 3))
w = rng.uniform(0.5, 2, 60)
iris, kind = datasets.load_iris(return_X_y=True)
"""

SNIPPETS = """
# three points
model = Ridge(alpha=0.5).fit([[0, 0], [0, 0], [1, 1]], [0, 0.1, 1])
result = model.coef_, model.intercept_

# a default model
result = Ridge().fit(X, y).predict(X[:7])

# no intercept
model = Ridge(fit_intercept=False).fit(A, Y[:, 0])
result = model.coef_, model.intercept_

# a score
result = Ridge(alpha=0.1).fit(X, y).score(X, y)

# sample weights
model = Ridge(alpha=2.0).fit(A, Y[:, 1], sample_weight=w)
result = model.coef_, model.intercept_

# one weight for all
result = Ridge(alpha=2.0).fit(A, Y[:, 1], sample_weight=3.0).coef_

# several targets
model = Ridge(alpha=1.0).fit(A, Y)
result = model.coef_, model.intercept_, model.predict(A)

# a penalty for each target
result = Ridge(alpha=np.array([0.1, 1.0, 10.0])).fit(A, Y).coef_

# a penalty for each target, as an array, with weights
result = Ridge(alpha=np.array([3.0, 0.2, 1.0])).fit(A, Y, w).coef_

# cholesky
result = Ridge(alpha=1.0, solver="cholesky").fit(X, y).coef_

# svd
result = Ridge(alpha=0.01, solver="svd").fit(X, y).coef_

# lsqr
result = Ridge(alpha=1.0, solver="lsqr", tol=1e-12).fit(A, Y[:, 0]).coef_

# conjugate gradients
result = Ridge(alpha=1.0, solver="sparse_cg", tol=1e-12).fit(A, Y[:, 0]).coef_

# stochastic averages
result = Ridge(alpha=1.0, solver="sag", tol=1e-12, max_iter=10000, random_state=0).fit(A, Y[:, 0]).coef_

# coefficients as a function of alpha
hilbert = 1.0 / (np.arange(1, 11) + np.arange(0, 10)[:, np.newaxis])
result = [Ridge(alpha=a, fit_intercept=False).fit(hilbert, np.ones(10)).coef_ for a in np.logspace(-4, -1, 5)]

# more features than rows
result = Ridge(alpha=0.3).fit(A[:5], Y[:5, 0]).coef_

# polynomials
x = np.linspace(0, 10, 40)
curve = make_pipeline(PolynomialFeatures(3), Ridge(alpha=1e-3)).fit(x[:, None], x * np.sin(x))
result = curve.predict(x[:, None])

# splines
x = np.linspace(-1, 11, 50)
curve = make_pipeline(SplineTransformer(n_knots=5, degree=3), Ridge(alpha=1e-3)).fit(x[:, None], np.sin(x))
result = curve.predict(x[:, None])

# scaled columns
result = make_pipeline(StandardScaler(), Ridge(alpha=4.0)).fit(X, y).predict(X[:9])

# sparse rows without an intercept
S = scipy.sparse.random(80, 12, 0.3, random_state=0, format="csr")
result = Ridge(alpha=0.7, fit_intercept=False, solver="cholesky").fit(S, np.arange(80.0)).coef_

# sparse rows
S = scipy.sparse.random(80, 12, 0.3, random_state=1, format="csc")
result = Ridge(alpha=0.7, solver="sparse_cg", tol=1e-12).fit(S, np.arange(80.0)).predict(S)

# float32 keeps enough digits
result = np.round(Ridge(alpha=1.0).fit(A.astype(np.float32), Y[:, 0].astype(np.float32)).coef_, 4)

# cross-validated scores
result = cross_val_score(Ridge(alpha=0.1), X, y, cv=5)

# errors of folds
result = cross_val_score(Ridge(alpha=0.1), X, y, cv=KFold(4), scoring="neg_mean_absolute_error")

# several scores
scores = cross_validate(Ridge(), X, y, cv=3, scoring=["r2", "neg_mean_squared_error"])
result = scores["test_r2"], scores["test_neg_mean_squared_error"]

# predictions of left-out rows
result = cross_val_predict(Ridge(alpha=0.01), X, y, cv=6)

# leave one out by hand
result = cross_val_score(Ridge(alpha=0.5), A[:20], Y[:20, 0], cv=LeaveOneOut(), scoring="neg_mean_squared_error")

# a grid
search = GridSearchCV(Ridge(), {"alpha": [0.01, 0.1, 1.0, 10.0]}, cv=5).fit(X, y)
result = search.best_params_["alpha"], search.best_score_, search.cv_results_["mean_test_score"]

# a grid of a pipeline
search = GridSearchCV(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [1.0, 100.0]}, cv=3).fit(X, y)
result = search.best_params_["ridge__alpha"], search.predict(X[:5])

# a validation curve
train, test = validation_curve(Ridge(), X, y, param_name="alpha", param_range=np.logspace(-3, 1, 4), cv=3)
result = train, test

# a learning curve
_, train, test = learning_curve(Ridge(), X, y, cv=3, train_sizes=[0.3, 1.0])
result = train, test

# train and test
X1, X2, y1, y2 = train_test_split(X, y, random_state=3)
result = mean_squared_error(y2, Ridge(alpha=0.05).fit(X1, y1).predict(X2))

# time series
result = cross_val_score(Ridge(alpha=0.1), X, y, cv=TimeSeriesSplit(4))

# logarithm of the target
model = TransformedTargetRegressor(Ridge(alpha=0.1), func=np.log1p, inverse_func=np.expm1).fit(X, y)
result = model.predict(X[:6])

# targets one by one
result = MultiOutputRegressor(Ridge(alpha=0.4)).fit(A, Y).predict(A)

# a chain of targets
result = RegressorChain(Ridge(alpha=0.4), order=[1, 0, 2]).fit(A, Y).predict(A)

# bags
result = BaggingRegressor(Ridge(alpha=0.4), n_estimators=3, random_state=0).fit(A, Y[:, 0]).predict(A[:5])

# votes
result = VotingRegressor([("a", Ridge(alpha=0.1)), ("b", Ridge(alpha=10.0))]).fit(X, y).predict(X[:5])

# stacks
stack = StackingRegressor([("a", Ridge(alpha=0.1)), ("b", Ridge(alpha=10.0))], final_estimator=Ridge()).fit(X, y)
result = stack.predict(X[:5])

# eliminated features
result = RFE(Ridge(alpha=0.1), n_features_to_select=4).fit(X, y).support_

# large coefficients
result = SelectFromModel(Ridge(alpha=0.1), threshold="median").fit(X, y).get_support()

# features one by one
result = SequentialFeatureSelector(Ridge(), n_features_to_select=2, cv=2).fit(A, Y[:, 0]).get_support()

# permuted features
model = Ridge(alpha=0.01).fit(X, y)
result = permutation_importance(model, X, y, n_repeats=2, random_state=0).importances_mean

# an approximate kernel
result = make_pipeline(Nystroem(n_components=20, random_state=0), Ridge(alpha=0.1)).fit(A, Y[:, 0]).predict(A[:5])

# random Fourier features
result = make_pipeline(RBFSampler(n_components=30, random_state=0), Ridge(alpha=0.5)).fit(A, Y[:, 0]).predict(A[:5])

# a clone with another penalty
result = clone(Ridge(alpha=5.0)).set_params(alpha=0.5).fit(X, y).coef_

# candidates
model = RidgeCV(alphas=[1e-3, 1e-2, 1e-1, 1]).fit(X, y)
result = model.alpha_, model.score(X, y), model.coef_

# the default candidates
model = RidgeCV().fit(A, Y[:, 2])
result = model.alpha_, model.best_score_, model.intercept_

# many candidates
model = RidgeCV(alphas=np.logspace(-6, 6, 13)).fit(A, Y[:, 0])
result = model.alpha_, model.best_score_

# candidates and folds
model = RidgeCV(alphas=np.logspace(-3, 2, 6), cv=4).fit(X, y)
result = model.alpha_, model.best_score_, model.coef_

# candidates and a splitter
model = RidgeCV(alphas=[0.1, 10.0], cv=ShuffleSplit(3, random_state=0)).fit(X, y)
result = model.alpha_, model.best_score_

# candidates and a scorer of folds
model = RidgeCV(alphas=[0.01, 0.1, 1.0], cv=3, scoring="neg_mean_absolute_error").fit(X, y)
result = model.alpha_, model.best_score_

# candidates and several targets
model = RidgeCV(alphas=[0.1, 1.0, 10.0]).fit(A, Y)
result = model.alpha_, model.best_score_, model.coef_

# an alpha for each target
model = RidgeCV(alphas=[0.01, 0.1, 1.0, 10.0], alpha_per_target=True).fit(A, Y)
result = model.alpha_, model.best_score_, model.coef_

# candidates and weights
model = RidgeCV(alphas=[0.01, 0.1, 1.0]).fit(A, Y[:, 0], sample_weight=w)
result = model.alpha_, model.best_score_

# candidates in a pipeline
model = make_pipeline(StandardScaler(), RidgeCV(alphas=np.logspace(-2, 3, 8))).fit(X, y)
result = model[-1].alpha_, model.predict(X[:5])

# candidates within a transformed target
model = TransformedTargetRegressor(RidgeCV(alphas=[0.01, 0.1, 1.0]), func=np.log, inverse_func=np.exp).fit(X, y)
result = model.regressor_.alpha_, model.predict(X[:5])

# labels
model = RidgeClassifier().fit(iris, kind)
result = model.predict(iris), model.decision_function(iris), model.coef_, model.score(iris, kind)

# two labels
model = RidgeClassifier(alpha=0.3).fit(iris[:100], kind[:100])
result = model.predict(iris), model.decision_function(iris), np.atleast_2d(model.coef_), model.intercept_

# labels with names
names = np.array(["setosa", "versicolor", "virginica"])[kind]
result = RidgeClassifier().fit(iris, names).predict(iris[::10]) == names[::10]

# balanced labels
result = RidgeClassifier(class_weight="balanced").fit(iris[20:], kind[20:]).decision_function(iris)

# weights of labels
result = RidgeClassifier(class_weight={0: 3.0, 2: 0.5}).fit(iris, kind).decision_function(iris)

# accuracy of folds
result = cross_val_score(RidgeClassifier(), iris, kind, cv=StratifiedKFold(5))

# candidates and labels
model = RidgeClassifierCV(alphas=[1e-3, 1e-2, 1e-1, 1]).fit(iris, kind)
result = model.alpha_, model.best_score_, model.predict(iris)

# candidates, labels and folds
model = RidgeClassifierCV(alphas=[0.1, 1.0, 10.0], cv=5).fit(iris, kind)
result = model.alpha_, model.best_score_, model.predict(iris)
"""


def snippets():
    for text in SNIPPETS.strip().split("\n\n"):
        title, code = text.split("\n", 1)
        yield pytest.param(code, id=title.removeprefix("# "))


def run(code, module):
    names = {name: getattr(module, name) for name in ("Ridge", "RidgeCV", "RidgeClassifier", "RidgeClassifierCV")}
    exec(BEFORE + code, names)
    result = names["result"]
    return list(result) if isinstance(result, (tuple, list)) else [result]


@pytest.mark.filterwarnings("error::FutureWarning")
@pytest.mark.parametrize("code", snippets())
def test_snippet(code):
    theirs, ours = run(code, sklearn.linear_model), run(code, fdridge)
    assert len(theirs) == len(ours) > 0
    for a, b in zip(theirs, ours):
        assert np.shape(a) == np.shape(b)
        scale = np.abs(np.asarray(a, dtype=float)).max(initial=0)
        assert np.allclose(a, b, rtol=1e-6, atol=1e-7 * scale), np.abs(np.asarray(a, float) - b).max()


def test_count():
    assert len(list(snippets())) >= 60
