"""Messages of the program have the words of this package."""

import warnings

import fdridge
import numpy as np
import pytest
from fdridge._program import _in_python


@pytest.mark.parametrize(
    "flags, here",
    [
        ("(--decimal , or --decimal . overrides this)", '(decimal="," or decimal="." overrides this)'),
        ("use --decimal , (decimal comma)", 'use decimal="," (decimal comma)'),
        ("use --skip-rows 2 and --header yes", "use skiprows=2 and header=0"),
        ("leave it out (--skip-rows 2:3)", "leave it out (skiprows=[1, 2])"),
        ("(--skip-rows N)", "(skiprows N)"),
        ("if it is a row, use --header no", "if it is a row, use header=None"),
        ("(--header yes or no overrides this)", "(header=0 or header=None overrides this)"),
        ("(--escape '\"' overrides this)", "(escapechar='\"' overrides this)"),
        ("(--first-index 1 overrides this)", "(first_index=1 overrides this)"),
        ("--delimiter and --missing-marks", "sep and na_values"),
    ],
)
def test_flags_of_text(flags, here):
    """Flags in messages become options of fit. A number of options as in skiprows counts from 0."""
    assert _in_python(flags) == here


def test_decimal_comma(tmp_path):
    """The note on a decimal comma has the option of fit."""
    (tmp_path / "rows.csv").write_text("a;y\n1,5;2\n2,25;3\n4,5;7\n")
    with pytest.warns(UserWarning, match='decimal comma, as in 1,5 .decimal="," or decimal="." overrides this'):
        fdridge.Ridge().fit(tmp_path / "rows.csv", target="y")


def test_options_of_text(tmp_path):
    """Only the message about a file lists the options of text."""
    X = np.arange(12.0).reshape(6, 2) ** 2
    with pytest.raises(TypeError, match="unexpected keyword argument 'alpha'$"):
        fdridge.Ridge().fit(X, X[:, 0], alpha=2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'alpha'; options of text are sep"):
        fdridge.Ridge().fit(tmp_path / "rows.csv", target="y", alpha=2)
    with pytest.raises(ValueError, match="sep: only a file of text has this option"):
        fdridge.Ridge().fit(X, X[:, 0], sep=";")


def test_plot_needs_name(tmp_path):
    """A file name as the kind of a picture names the parameter for it."""
    X = np.arange(12.0).reshape(6, 2) ** 2
    model = fdridge.RidgeCV().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="kind is 'path.svg', and must be \"path\" or \"convergence\"; a file is name='path.svg'"):
        model.plot("path.svg")
    with pytest.raises(ValueError, match="must be \"spectrum\" or \"path\"; a file is name='path.svg'"):
        fdridge.Sketch().partial_fit(X, X[:, 0]).plot("path.svg")
    model.plot(name=tmp_path / "path.svg")
    assert (tmp_path / "path.svg").read_bytes()[:4] == b"<?xm"


def test_scores_are_no_warning(tmp_path):
    """predict for a file with the target prints scores, which are no warning here."""
    (tmp_path / "rows.csv").write_text("a,y\n1.5,2\n2.25,3\n4.5,7\n")
    model = fdridge.Ridge().fit(tmp_path / "rows.csv", target="y")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(tmp_path / "rows.csv")
