"""The differences between scikit-learn 1.2 and 1.9 that concern the estimators."""

from numbers import Real

import numpy as np
import sklearn
from sklearn.utils import check_array

try:
    from sklearn.utils.validation import validate_data as _validate_data
except ImportError:  # before 1.6 it is a method of the estimators
    _validate_data = None

# From scikit-learn 1.6 on, y of shape (n, 1) gives coef_ and predictions of one dimension.
FLATTENS = _validate_data is not None


def validate_data(estimator, X, y=None, *, has_y=True, finite=True, **options):
    """Return arrays of X, and of y if there is one, as `sklearn.utils.validation.validate_data` does.

    finite: values that are not finite are errors.
    """
    refuse_namespace(X, "X")
    if has_y:
        refuse_namespace(y, "y")
        options["y"] = y
    if _validate_data is not None:
        return _validate_data(estimator, X, ensure_all_finite=finite, **options)
    return estimator._validate_data(X, force_all_finite=finite, **options)


def refuse_namespace(a, name):
    """Raise an error for an array of another library if scikit-learn would compute with that library.

    Without the setting array_api_dispatch, scikit-learn turns such an array into one of numpy.
    """
    if isinstance(a, np.ndarray) or not hasattr(a, "__array_namespace__"):
        return
    if sklearn.get_config().get("array_api_dispatch"):
        raise TypeError(
            f"{name} is an array of {type(a).__module__.split('.')[0]}, and array_api_dispatch is set, but the "
            f"program fdridge reads only arrays in the memory of the processor: pass numpy.asarray({name}), or unset "
            "array_api_dispatch"
        )


def check_sample_weight(sample_weight, n):
    """Return the sample weights of n rows as an array of float64. A number is the weight of each row."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight)
    weights = check_array(
        sample_weight, dtype=np.float64, order="C", ensure_2d=False, accept_sparse=False, input_name="sample_weight"
    )
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}!")
    if n > 0 and not weights.any():
        raise ValueError("sample_weight is zero for all rows, so there is nothing to fit")
    return weights
