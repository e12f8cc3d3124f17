"""Ridge within scikit-learn's tools, on real data."""

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import Ridge as Peer
from sklearn.linear_model import RidgeClassifier as PeerClassifier
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from fdridge import Ridge, RidgeClassifier, RidgeCV

PEER = Peer(solver="cholesky")


def predict_by(name, X):
    return [model.predict(X) for model in joblib.load(name)]


def test_clone_and_pickle(tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = RidgeCV([0.01, 0.1, 1]).fit(X, y)
    assert list(model.feature_names_in_) == list(X.columns)
    assert not hasattr(clone(model), "coef_") and clone(model).get_params() == model.get_params()
    joblib.dump(model, tmp_path / "model.pkl")
    loaded = joblib.load(tmp_path / "model.pkl")
    assert np.array_equal(loaded.predict(X), model.predict(X)) and repr(loaded.certificate_) == repr(model.certificate_)
    blocks = Ridge(alpha=0.1).partial_fit(X, y)  # solved by each process that loads it
    joblib.dump([model, blocks], tmp_path / "both.pkl")
    for predicted in joblib.Parallel(n_jobs=2)(joblib.delayed(predict_by)(tmp_path / "both.pkl", X) for _ in range(2)):
        assert np.array_equal(predicted, [model.predict(X), blocks.predict(X)])
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(X.to_numpy())
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[X.columns[::-1]])


def test_grid_search(housing):
    X, y = housing[0][::7], housing[1][::7]
    grid = {"ridge__alpha": [0.1, 1.0, 10.0, 100.0, 1000.0]}
    found = [
        GridSearchCV(make_pipeline(StandardScaler(), PolynomialFeatures(2), of), grid, cv=3, n_jobs=n).fit(X, y)
        for of, n in ((Ridge(), 2), (PEER, 1))
    ]
    assert found[0].best_params_ == found[1].best_params_
    assert np.allclose(found[0].cv_results_["mean_test_score"], found[1].cv_results_["mean_test_score"], rtol=1e-6)


def test_cross_validation(housing):
    X, y = housing[0][::5], housing[1][::5]
    assert np.allclose(cross_val_score(Ridge(5.0), X, y, cv=4, n_jobs=2), cross_val_score(Peer(5.0), X, y, cv=4))
    assert np.allclose(cross_val_predict(Ridge(5.0), X, y, cv=4), cross_val_predict(Peer(5.0), X, y, cv=4))


def test_columns(flats):
    flats = flats.dropna()
    X, y = flats.drop(columns="rent"), flats["rent"]
    prepared = ColumnTransformer([("levels", OneHotEncoder(handle_unknown="ignore"), ["district", "heating"]), ("numbers", StandardScaler(), ["area", "rooms", "floor"])])
    ours, peer = make_pipeline(prepared, Ridge(0.3)).fit(X, y), make_pipeline(prepared, Peer(0.3)).fit(X, y)
    assert np.allclose(ours.predict(X), peer.predict(X))
    assert ours.score(X, y) == pytest.approx(peer.score(X, y))


def test_classifier(tmp_path):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    scaled = [make_pipeline(ColumnTransformer([("all", StandardScaler(), list(X.columns))]), of) for of in (RidgeClassifier(), PeerClassifier())]
    found = [GridSearchCV(of, {f"{of.steps[-1][0]}__alpha": [0.1, 10.0, 1000.0]}, cv=3, scoring="roc_auc").fit(X, y) for of in scaled]
    assert list(found[0].best_params_.values()) == list(found[1].best_params_.values())
    assert np.allclose(found[0].cv_results_["mean_test_score"], found[1].cv_results_["mean_test_score"])
    assert np.array_equal(cross_val_score(scaled[0], X, y, cv=3), cross_val_score(scaled[1], X, y, cv=3))
    joblib.dump(found[0], tmp_path / "found.pkl")
    assert np.array_equal(joblib.load(tmp_path / "found.pkl").predict(X), found[1].predict(X))
    assert not hasattr(clone(found[0].best_estimator_[-1]), "classes_")


def test_targets():
    X, y = load_diabetes(return_X_y=True)
    Y = np.column_stack([y, X[:, 0] * 3 + y])
    both = Ridge(0.1).fit(X, Y)
    assert np.allclose(both.coef_, Peer(0.1).fit(X, Y).coef_)
    assert np.allclose(both.predict(X), MultiOutputRegressor(Ridge(0.1)).fit(X, Y).predict(X))
    logged = TransformedTargetRegressor(Ridge(0.1), func=np.log, inverse_func=np.exp).fit(X, y)
    assert np.allclose(logged.predict(X), TransformedTargetRegressor(Peer(0.1), func=np.log, inverse_func=np.exp).fit(X, y).predict(X))
    column, peer = Ridge(0.1).fit(X, y[:, None]), Peer(0.1).fit(X, y[:, None])
    assert column.coef_.shape == peer.coef_.shape and column.predict(X).shape == peer.predict(X).shape
    assert column.error_bound_.shape == (1,)
