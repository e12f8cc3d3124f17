"""House prices in California: python3 housing.py cal_housing.csv.gz

Fits a table, draws the scores of the candidates of alpha with their proved brackets, and predicts with proved bounds.
"""

import sys

import pandas as pd

from fdridge import RidgeCV

names = ["longitude", "latitude", "age", "rooms", "bedrooms", "population", "households", "income", "price"]
table = pd.read_csv(sys.argv[1], names=names)

model = RidgeCV(alphas="auto", prepare="auto").fit(table, target="price")
print(model.certificate_)
model.plot("path", "housing.svg")

price, bound = model.predict(table, return_bound=True)
for p, b in zip(price[:5], bound[:5]):
    print(f"{p:.6f} ± {b:.1g}")
print(f"largest bound: {bound.max():.1g}")
