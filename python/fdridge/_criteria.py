"""The criteria by which the program chooses alpha. A test compares the names with ``fdridge fit --help``."""

#: What reports call the score of each criterion, by the name of the criterion.
SCORES = {
    "loo": "leave-one-out error",
    "gcv": "GCV",
    "cv": "cross-validated error",
    "evidence": "negative log evidence",
    "accuracy": "error rate",
    "balanced-accuracy": "balanced error rate",
}

#: Criteria for any targets.
SELECT = ("loo", "gcv", "cv", "evidence")

#: The criterion of the program for each `scoring` of `RidgeCV`. None is the default.
BY_SCORING = {None: "loo", "loo": "loo", "gcv": "gcv", "evidence": "evidence"}


def check_select(select):
    """Raise a ValueError if select is not the name of a criterion for any targets."""
    if select not in SELECT:
        raise ValueError(f"select: {select!r} must be one of {', '.join(SELECT)}")
