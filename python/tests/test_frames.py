"""Tables with the Arrow PyCapsule interface, and settings of scikit-learn."""

import datetime

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fdridge import Ridge, RidgeClassifier, RidgeCV, _capsule


class Table:
    """A table that has nothing but the interface, as those of libraries that this package does not know."""

    def __init__(self, table):
        self._table = table

    def __len__(self):
        return self._table.num_rows

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def test_numbers():
    pa = pytest.importorskip("pyarrow")
    r = np.random.default_rng(0)
    X, y = r.integers(-9, 10, (50, 4)), r.standard_normal(50)
    kinds = [pa.int8(), pa.float32(), pa.uint16(), pa.float64()]
    X = np.abs(X)
    columns = {name: pa.array(X[:, j], type=kind) for j, (name, kind) in enumerate(zip("abcd", kinds))}
    table = pa.table(columns)
    want = Ridge().fit(X.astype(float), y)
    chunked = pa.concat_tables([table.slice(0, 13), table.slice(13, 20), table.slice(33)])
    for one in (table, Table(table), Table(chunked)):
        model = Ridge().fit(one, y)
        assert np.array_equal(model.coef_, want.coef_) and list(model.feature_names_in_) == list("abcd")
        assert np.array_equal(model.predict(one), want.predict(X))
        assert np.array_equal(model.partial_fit(one, y).partial_fit(one, y).coef_.shape, (4,))
    assert np.array_equal(RidgeClassifier().fit(Table(table), y > 0).coef_, RidgeClassifier().fit(X, y > 0).coef_)
    with pytest.raises(ValueError, match="feature names"):
        Ridge().fit(table, y).predict(Table(table.select(["b", "a", "c", "d"])))
    gaps = pa.table({"a": pa.array([1.0, None, 3.0]), "b": [1.0, 2.0, 4.0]})
    with pytest.raises(ValueError, match="NaN"):
        Ridge().fit(Table(gaps), [1, 2, 3])
    with pytest.raises(ValueError, match="column 't' has texts.*prepare"):
        Ridge().fit(Table(pa.table({"t": ["a", "b"]})), [1, 2])


def test_columns():
    """Every type of column has the values that it has in Python."""
    pa = pytest.importorskip("pyarrow")
    texts = ["a", None, "a text of more than twelve bytes", "", "ü" * 9]
    days = [datetime.date(2020, 1, 2), None, datetime.date(1969, 12, 31), datetime.date(2000, 2, 29), datetime.date(1, 1, 1)]
    columns = {
        "small": pa.array(texts),
        "large": pa.array(texts, type=pa.large_string()),
        "coded": pa.array(texts).dictionary_encode(),
        "truth": pa.array([True, None, False, True, True]),
        "half": pa.array(np.array([1, 2, 3, 4, 5], np.float16)),
        "gone": pa.nulls(5),
        "day": pa.array(days),
        "time": pa.array([0, None, -1, 10**12, 5], type=pa.timestamp("ms")),
    }
    if hasattr(pa, "string_view"):
        columns["view"] = pa.array(texts, type=pa.string_view())
    whole = pa.table(columns)
    for table in (whole, whole.slice(1, 3), pa.concat_tables([whole.slice(0, 2), whole.slice(2)])):
        for column in _capsule.read(Table(table)):
            want = table[column.name].to_pylist()
            assert column.missing.tolist() == [v is None for v in want], column.name
            for got, value, gap in zip(column.values, want, column.missing):
                if gap:
                    continue
                if column.kind == "utf8":
                    assert got.decode() == value
                elif column.kind == "time":
                    value = datetime.datetime(value.year, value.month, value.day) if column.name == "day" else value
                    assert datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=int(got)) == value
                else:
                    assert got == value
    with pytest.raises(ValueError, match="column 'n'.*convert"):
        _capsule.read(Table(pa.table({"n": [[1, 2], [3]]})))


def test_prepared(flats):
    pa = pytest.importorskip("pyarrow")
    table = Table(pa.table({name: pa.array(flats[name], from_pandas=True) for name in flats.columns}))
    ours = RidgeCV("auto", prepare="auto").fit(table, target="rent")
    want = RidgeCV("auto", prepare="auto").fit(flats, target="rent")
    assert ours.alpha_ == want.alpha_ and np.allclose(ours.predict(table), want.predict(flats), rtol=1e-12)
    names = ours.get_feature_names_out()
    assert len(names) == len(ours.coef_) > ours.n_features_in_ and "district=Nord" in names


def test_types_of_pandas(flats):
    """Texts and missing values in each of pandas' types."""
    want = RidgeCV("auto", prepare="auto").fit(flats, target="rent")
    converted = flats.convert_dtypes()
    model = RidgeCV("auto", prepare="auto").fit(converted, target="rent")
    assert model.alpha_ == want.alpha_ and list(model.get_feature_names_out()) == list(want.get_feature_names_out())
    with pytest.raises(ValueError, match="column 'district' has texts.*prepare"):
        Ridge().fit(flats.drop(columns="rent"), flats["rent"])
    with pytest.raises(ValueError, match="column 't' has texts"):
        Ridge().fit(pd.DataFrame({"a": [1.0, 2.0], "t": pd.array(["x", pd.NA], dtype="string")}), [1, 2])


def test_strings_of_pandas_3(flats):
    """The texts of pandas 3 have a type of their own, which pandas 2.3 has as an option."""
    if not hasattr(getattr(pd.options, "future", None), "infer_string"):
        pytest.skip("pandas before 2.1 has no such texts")
    pytest.importorskip("pyarrow")  # pandas 2 keeps these texts in it
    want = RidgeCV("auto", prepare="auto").fit(flats, target="rent")
    with pd.option_context("future.infer_string", True):
        texts = flats["district"].tolist()
        frame = flats.assign(district=pd.Series(texts))
        if isinstance(frame["district"].dtype, pd.StringDtype):
            assert frame["district"].dtype.na_value is not pd.NA
        model = RidgeCV("auto", prepare="auto").fit(frame, target="rent")
        assert model.alpha_ == want.alpha_ and list(model.get_feature_names_out()) == list(want.get_feature_names_out())
        assert np.array_equal(model.predict(frame), want.predict(flats))
        with pytest.raises(ValueError, match="column 'district' has texts.*prepare"):
            Ridge().fit(frame.drop(columns="rent"), frame["rent"])


@pytest.mark.parametrize("kind", ["Int64", "Float64", "boolean"])
def test_missing_values_of_pandas(kind):
    """pd.NA is a missing value: an error without a preparation, as in scikit-learn."""
    values = pd.array([1, 0, pd.NA, 1, 0, 1], dtype=kind)
    frame = pd.DataFrame({"a": values, "b": [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]})
    y = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0]
    with pytest.raises(ValueError, match="NaN"):
        Ridge().fit(frame, y)
    whole = frame.dropna()
    model = Ridge().fit(whole, [1.0, 2.0, 4.0, 5.0, 7.0])
    assert np.allclose(model.coef_, Ridge().fit(whole.astype(float), [1.0, 2.0, 4.0, 5.0, 7.0]).coef_)
    assert len(Ridge(prepare="auto").fit(frame, y).predict(frame)) == 6


def test_parameters_of_tables(flats):
    """prepare and target are parameters, so that clones and folds have them."""
    X, y = flats.drop(columns="rent"), flats["rent"]
    a = cross_validate(Ridge(prepare="auto"), X, y, cv=3)["test_score"]
    b = cross_validate(Ridge(prepare="auto", target="rent"), flats, cv=3)["test_score"]
    assert np.allclose(a, b) and a.min() > 0.9
    with pytest.warns(UserWarning, match="missing") as w:
        model = Ridge(prepare="auto").fit(X, y)
        for _ in range(3):
            model.predict(X)
    assert len([one for one in w if "missing" in str(one.message)]) == 1


@pytest.mark.skipif(not hasattr(Ridge, "set_fit_request"), reason="no routing of metadata before scikit-learn 1.3")
def test_routing():
    r = np.random.default_rng(0)
    X, y, w = r.standard_normal((60, 3)), r.standard_normal(60), r.uniform(0.1, 3, 60)
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), Ridge().set_fit_request(sample_weight=True))
        got = model.fit(X, y, sample_weight=w)[-1].coef_
    assert np.allclose(got, Ridge().fit(StandardScaler().fit_transform(X), y, w).coef_)


def test_output_of_pandas():
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((40, 3)), columns=list("abc"))
    y = X["a"] * 2
    model = make_pipeline(StandardScaler(), Ridge()).set_output(transform="pandas").fit(X, y)
    assert list(model[-1].feature_names_in_) == list("abc") and list(model[-1].get_feature_names_out()) == list("abc")


def test_namespaces():
    """An array of another library is refused in words if scikit-learn would compute with it."""

    class Foreign:
        shape, ndim, dtype = (4, 2), 2, np.dtype(float)

        def __array__(self, dtype=None, copy=None):
            return np.arange(8.0).reshape(4, 2)

        def __array_namespace__(self, api_version=None):
            return np

    assert Ridge().fit(np.asarray(Foreign()), [1, 2, 3, 5]).n_features_in_ == 2
    model = Ridge()
    import fdridge._compat as compat

    with pytest.MonkeyPatch.context() as m:
        m.setattr(sklearn, "get_config", lambda: {"array_api_dispatch": True})
        with pytest.raises(TypeError, match="array_api_dispatch.*numpy.asarray"):
            model.fit(Foreign(), [1, 2, 3, 5])
        with pytest.raises(TypeError, match="y is an array"):
            compat.refuse_namespace(Foreign(), "y")


def test_out(tmp_path):
    """Predictions are written where the caller wants them."""
    r = np.random.default_rng(0)
    X, Y = r.standard_normal((300, 5)), r.standard_normal((300, 7))
    model, one = Ridge().fit(X, Y), Ridge().fit(X, Y[:, 0])
    out = np.lib.format.open_memmap(tmp_path / "y.npy", "w+", shape=(300, 7))
    assert model.predict(X, out=out) is out
    assert np.allclose(np.load(tmp_path / "y.npy", mmap_mode="r"), model.predict(X), rtol=1e-14)
    line = np.empty(300)
    got, bound = one.predict(X, return_bound=True, out=line)
    assert got is line and np.allclose(line, one.predict(X)) and bound.shape == (300,)
    with pytest.raises(ValueError, match="out"):
        model.predict(X, out=np.empty((300, 6)))
    columns = np.empty((7, 300))
    model.predict(X, out=columns.T)
    assert np.allclose(columns.T, model.predict(X))
