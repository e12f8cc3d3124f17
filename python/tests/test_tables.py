"""Files and data frames, with and without preparation."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge as Peer

from fdridge import Ridge, RidgeCV


def test_file_and_frame(flats, testdata, tmp_path):
    """A frame with texts, truth values and gaps gives what the file gives."""
    file = str(testdata / "flats.csv")
    a = RidgeCV(alphas="auto").fit(file, target="rent", prepare="auto")
    b = RidgeCV(alphas="auto").fit(flats, target="rent", prepare="auto")
    assert list(a.feature_names_in_) == list(b.feature_names_in_) == [c for c in flats.columns if c != "rent"]
    assert a.n_features_in_ == 6 and len(a.coef_) > 6
    assert a.alpha_ == pytest.approx(b.alpha_, rel=1e-9)
    p, bound = a.predict(file, return_bound=True)
    q, other = b.predict(flats.drop(columns="rent"), return_bound=True)
    assert p.shape == q.shape == bound.shape == (480,)
    assert np.all(np.abs(p - q) <= bound + other + 1e-9 * np.abs(p))
    assert np.all(bound > 0) and bound.max() < 1e-3
    assert np.allclose(a.predict(file), p, rtol=1e-12)
    assert b.score(flats.drop(columns="rent"), flats["rent"]) > 0.9
    assert b.score(flats, "rent") == b.score(flats, flats["rent"])
    a.save(tmp_path / "model.json")
    assert (tmp_path / "model.json").read_bytes()


def homes():
    r = np.random.default_rng(5)
    n = 400
    frame = pd.DataFrame(
        {
            "area": r.uniform(30, 150, n),
            "rooms": pd.array(r.integers(1, 6, n), dtype="Int64"),
            "town": pd.Categorical(r.choice(["Åby", "Bonn, West", "Çan"], n)),
            "code": r.choice(["01", "1", "007"], n),
            "sold": pd.Timestamp("2020-01-01") + pd.to_timedelta(r.integers(0, 2000, n), unit="D"),
            "lift": r.random(n) < 0.5,
            "empty": np.nan,
        }
    )
    frame["y"] = frame["area"] * 3 + (frame["town"] == "Çan") * 50 + (frame["code"] == "01") * 20 + r.normal(size=n)
    frame.loc[::17, "rooms"] = pd.NA
    frame.loc[::19, "town"] = np.nan
    frame.loc[::23, "sold"] = pd.NaT
    frame.loc[::29, "area"] = np.nan
    return frame


def test_kinds():
    """Types of a frame are respected: texts that look like numbers are levels, and dates are dates."""
    frame = homes()
    model = RidgeCV(alphas="auto").fit(frame, target="y", prepare="auto")
    import json

    columns = {c["name"]: c for c in json.loads(model._model)["preparation"]["encoding"]["columns"]}
    assert columns["code"]["use"] == "levels" and sorted(columns["code"]["levels"]) == ["007", "01", "1"]
    assert columns["sold"]["use"] == "date" and columns["empty"]["use"] == "omit"
    assert columns["area"]["use"] == columns["rooms"]["use"] == columns["lift"]["use"] == "number"
    assert "Bonn, West" in columns["town"]["levels"] and "" in columns["town"]["levels"]
    p, bound = model.predict(frame.drop(columns="y"), return_bound=True)
    assert np.all(np.isfinite(p)) and bound.max() < 1e-3
    assert model.score(frame.drop(columns="y"), frame["y"]) > 0.95
    new = frame.drop(columns="y").iloc[:3].copy()
    new["town"] = "elsewhere"
    assert np.all(np.isfinite(model.predict(new)))
    with pytest.raises(ValueError, match="data frame"):
        model.predict(np.zeros((2, 6)))


def test_plain_file(tmp_path):
    r = np.random.default_rng(0)
    frame = pd.DataFrame(r.standard_normal((200, 3)), columns=["a", "b, c", "w"]).abs()
    frame["y"], frame["z"] = frame["a"] * 2 + 1, r.standard_normal(200)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = Ridge(0.5).fit(tmp_path / "rows.csv", target=["y", "z"], columns=["b, c", "a"], sample_weight="w")
    X, Y = frame[["b, c", "a"]], frame[["y", "z"]]
    peer = Peer(0.5, solver="cholesky").fit(X, Y, sample_weight=frame["w"])
    assert model.coef_.shape == (2, 2) and np.allclose(model.coef_, peer.coef_, rtol=1e-9)
    assert list(model.feature_names_in_) == ["b, c", "a"]
    y, bound = model.predict(X, return_bound=True)
    assert np.allclose(y, peer.predict(X)) and bound.shape == (200, 2) and bound.max() < 1e-6
    frame.to_json(tmp_path / "rows.jsonl", orient="records", lines=True, double_precision=15)
    lines = Ridge(0.5).fit(tmp_path / "rows.jsonl", target=["y", "z"], columns=["b, c", "a"], sample_weight="w")
    assert np.allclose(lines.coef_, model.coef_, rtol=1e-12)
    one = Ridge(0.5).fit(frame, target="y", columns=["a"])
    assert one.coef_.shape == (1,) and list(one.feature_names_in_) == ["a"]
    assert np.allclose(one.predict(frame[["a"]]), one.predict(str(tmp_path / "rows.csv")))


def test_errors(flats, tmp_path):
    with pytest.raises(ValueError, match="target"):
        Ridge().fit(flats, prepare="auto")
    with pytest.raises(ValueError, match="target"):
        Ridge().fit(str(tmp_path / "none.csv"))
    with pytest.raises(ValueError, match="none.csv"):
        Ridge().fit(str(tmp_path / "none.csv"), target="y")
    with pytest.raises(ValueError, match="district"):
        Ridge().fit(flats, target="rent")  # texts need prepare
    with pytest.raises(ValueError, match="y"):
        Ridge().fit(flats, flats["rent"], target="rent")
    with pytest.raises(ValueError, match="data frame"):
        Ridge().fit(np.zeros((3, 2)), target="y")
