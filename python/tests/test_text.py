"""Text files that are written in other ways, read by options with the names of pandas.read_csv."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge as Peer

from fdridge import Ridge, RidgeCV

# How a file is written, and the options by which pandas and this package read it.
WAYS = {
    "semicolons and decimal commas": (
        lambda rows: "a;b;y\n" + "".join(";".join(map(comma, row)) + "\n" for row in rows),
        {"sep": ";", "decimal": ","},
    ),
    "tabs": (lambda rows: "a\tb\ty\n" + lines(rows, "\t"), {"sep": "\t"}),
    "no names": (lambda rows: lines(rows), {"header": None}),
    "names that are numbers": (lambda rows: "2019,2020,2021\n" + lines(rows), {"header": 0}),
    "two lines of a title": (lambda rows: "Report\nof 2020\na,b,y\n" + lines(rows), {"skiprows": 2}),
    "names in the third line": (lambda rows: "Report\nof 2020\na,b,y\n" + lines(rows), {"header": 2}),
    "a line of units": (lambda rows: "a,b,y\nm,kg,s\n" + lines(rows), {"skiprows": [1]}),
    "a title and units": (lambda rows: "Report\na,b,y\nm,kg,s\n" + lines(rows), {"skiprows": [0, 2]}),
    "remarks": (lambda rows: "a,b,y\n%first\n" + lines(rows) + "%last\n", {"comment": "%"}),
    "backslashes before quotes": (lambda rows: '"a\\"","b",y\n' + lines(rows), {"escapechar": "\\"}),
    "a mark of missing values": (lambda rows: "a,b,y\n" + lines(rows) + "-999,1,2\n3,n/k,4\n", {"na_values": [-999, "n/k"]}),
}


def comma(value):
    return repr(float(value)).replace(".", ",")


def lines(rows, sep=","):
    return "".join(sep.join(repr(float(value)) for value in row) + "\n" for row in rows)


@pytest.mark.parametrize("way", WAYS)
def test_ways(way, tmp_path):
    """A file is read as pandas reads it with the same options, by fit and by predict."""
    write, options = WAYS[way]
    r = np.random.default_rng(0)
    rows = r.standard_normal((50, 3))
    file = tmp_path / "rows.csv"
    file.write_text(write(rows))
    frame = pd.read_csv(file, **options).dropna()
    assert frame.shape == rows.shape
    X, y = frame.iloc[:, :2].to_numpy(), frame.iloc[:, 2].to_numpy()
    target = 3 if options.get("header", 0) is None else str(frame.columns[2])
    peer = Peer(0.5, solver="cholesky").fit(X, y)
    missing = {"prepare": "auto"} if "na_values" in options else {}
    if missing:  # rows with gaps are filled by the preparation, so only what is a number is compared
        model = Ridge(0.5).fit(file, target=target, **missing, **options)
        names = list(model.get_feature_names_out())
        assert {"a", "b"} <= set(names) and len(names) <= 4  # numbers, not levels
        assert model.predict(file).shape == (52,)
        return
    model = Ridge(0.5).fit(file, target=target, **options)
    assert np.allclose(model.coef_, peer.coef_, rtol=1e-9) and model.intercept_ == pytest.approx(peer.intercept_)
    unnamed = {"target": target} if target == 3 else {}
    p = model.predict(file, **unnamed)
    assert p.shape == (50,) and np.allclose(p, peer.predict(X), rtol=1e-9)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(file, **unnamed), p)
    other = tmp_path / "other.csv"
    names = "a;b" if unnamed else ";".join(map(str, frame.columns[:2]))
    other.write_text(names + "\n" + "".join(f"{comma(u)};{comma(v)}\n" for u, v in X))
    assert np.allclose(model.predict(other, sep=";", decimal=",", header=0), p, rtol=1e-9)
    cv = RidgeCV([0.1, 0.5]).fit(file, target=target, **options)
    assert cv.predict(file, **unnamed).shape == (50,)


def test_first_index(tmp_path):
    file = tmp_path / "rows.svm"
    file.write_text("".join(f"{i % 7} 1:{i} 2:{i * i % 5} 3:{i % 3}\n" for i in range(1, 40)))
    assert len(Ridge().fit(file, np.arange(39.0), first_index=1).coef_) == 3
    model = Ridge().fit(file, np.arange(39.0), first_index=0)
    assert len(model.coef_) == 4 and model.coef_[0] == 0
    assert model.predict(file).shape == (39,)


@pytest.mark.parametrize(
    "options, kind, words",
    [
        ({"delimiter": ";"}, TypeError, "sep"),
        ({"sep": ", "}, ValueError, "sep"),
        ({"decimal": "x"}, ValueError, "decimal"),
        ({"header": -1}, ValueError, "header"),
        ({"header": True}, ValueError, "header"),
        ({"header": 1, "skiprows": [1]}, ValueError, "header"),
        ({"skiprows": "2"}, ValueError, "skiprows"),
        ({"skiprows": -1}, ValueError, "skiprows"),
        ({"skiprows": lambda i: i == 3}, ValueError, "skiprows"),
        ({"na_values": {"a": 3}}, ValueError, "na_values"),
        ({"comment": "//"}, ValueError, "comment"),
        ({"escapechar": "//"}, ValueError, "escapechar"),
        ({"first_index": 2}, ValueError, "first_index"),
    ],
)
def test_wrong(options, kind, words, tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("a,b,y\n1,2,3\n2,1,0\n3,3,1\n")
    with pytest.raises(kind, match=words):
        Ridge().fit(file, target="y", **options)
    model = Ridge().fit(file, target="y")
    with pytest.raises(kind, match=words):
        model.predict(file, **options)


def test_only_files():
    X, y = np.eye(3), np.arange(3.0)
    for model in (Ridge(), RidgeCV([1.0]), RidgeCV([1.0], cv=3)):
        with pytest.raises(ValueError, match="sep"):
            model.fit(X, y, sep=";")
    with pytest.raises(ValueError, match="decimal"):
        Ridge().fit(X, y).predict(X, decimal=",")
