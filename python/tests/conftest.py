import gzip
import pathlib
import signal

import numpy as np
import pandas as pd
import pytest

# A shell starts background jobs with SIGINT ignored, and Python keeps that. The tests send SIGINT to programs that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

TESTDATA = pathlib.Path(__file__).parents[2] / "testdata"


@pytest.fixture(scope="session")
def testdata():
    return TESTDATA


@pytest.fixture(scope="session")
def housing():
    with gzip.open(TESTDATA / "cal_housing.csv.gz") as f:
        rows = np.loadtxt(f, delimiter=",")
    return rows[:, :8].copy(), rows[:, 8].copy()


@pytest.fixture(scope="session")
def flats():
    return pd.read_csv(TESTDATA / "flats.csv")
