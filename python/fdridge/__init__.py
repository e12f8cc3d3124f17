"""Ridge regression with proved error bounds, by the program fdridge.

`Ridge`, `RidgeCV`, `RidgeClassifier` and `RidgeClassifierCV` are estimators with scikit-learn's interface. `Sketch`
summarises rows for later solutions. See docs/python.md.
"""

from ._diagnose import diagnose
from ._program import FdridgeError, find
from ._sketch import Sketch, merge_sketches, sketch_partition
from ._solution import Certificate, Picture, Solution
from ._version import __version__

_ESTIMATORS = {
    "Ridge": "_ridge",
    "RidgeCV": "_ridge_cv",
    "RidgeClassifier": "_classifier",
    "RidgeClassifierCV": "_ridge_cv",
}

__all__ = [
    "Certificate",
    "FdridgeError",
    "Picture",
    "Sketch",
    "Solution",
    "__version__",
    "diagnose",
    "find",
    "merge_sketches",
    "sketch_partition",
    *_ESTIMATORS,
]


def __getattr__(name):  # only the estimators need scikit-learn
    if name in _ESTIMATORS:
        import importlib

        return getattr(importlib.import_module(f"{__name__}.{_ESTIMATORS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
