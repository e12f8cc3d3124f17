"""Ridge regression with proved error bounds, by the program fdridge.

`Ridge` and `RidgeClassifier` are estimators with scikit-learn's interface. `Sketch` summarises rows for later
solutions. See docs/python.md.
"""

from ._program import FdridgeError, find
from ._sketch import Sketch, merge_sketches, sketch_partition
from ._solution import Certificate, Picture, Solution
from ._version import __version__

__all__ = ["Certificate", "FdridgeError", "Picture", "Ridge", "RidgeClassifier", "Sketch", "Solution", "__version__", "find", "merge_sketches", "sketch_partition"]


def __getattr__(name):  # only the estimators need scikit-learn
    if name in ("Ridge", "RidgeClassifier"):
        from . import _classifier

        return getattr(_classifier, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
