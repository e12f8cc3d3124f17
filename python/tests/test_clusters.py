"""The programs of docs/clusters.md, with fakes of the engines' interfaces."""

import pathlib
import pickle
import re
import sys
import types

import numpy as np
import pandas as pd
import pytest

from fdridge import Sketch, merge_sketches, sketch_partition

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "clusters.md"
FEATURES = ["a", "b", "c"]


@pytest.fixture
def frame():
    r = np.random.default_rng(0)
    table = pd.DataFrame(r.standard_normal((400, 3)), columns=FEATURES)
    return table.assign(y=table @ [1.0, -2.0, 0.5] + 3)


def program(engine, monkeypatch, **modules):
    """Run the program of an engine's section with fake modules, and return its names."""
    text = re.search(rf"^## {engine}$.*?```python3\n(.*?)```", PAGE.read_text(), re.S | re.M)[1]
    assert len(text.splitlines()) <= 40
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name.replace("__", "."), module)
    names = {}
    exec(text, names)
    return names


def want(frame, parts):
    pieces = [sketch_partition(part[FEATURES].to_numpy(), part["y"].to_numpy()) for part in parts]
    return Sketch.frombytes(merge_sketches(*pieces)).solve(1.0).coef


def test_spark(frame, monkeypatch):
    class Batch:
        """A batch of Arrow with the methods that the program calls."""

        def __init__(self, table):
            self.table = table
            self.num_rows = len(table)

        def column(self, name):
            return types.SimpleNamespace(to_numpy=lambda zero_copy_only: self.table[name].to_numpy())

    current = types.SimpleNamespace()
    context = types.SimpleNamespace(get=lambda: types.SimpleNamespace(partitionId=lambda: current.number))
    made = types.SimpleNamespace(from_pydict=lambda columns: columns)
    names = program("Spark", monkeypatch, pyarrow=types.SimpleNamespace(RecordBatch=made), pyspark=types.SimpleNamespace(TaskContext=context))
    parts = [frame[:150], frame[150:150], frame[150:170], frame[170:]]

    class Frame:
        def mapInArrow(self, function, schema):
            assert schema == "number long, sketch binary"
            rows = []
            for current.number in (2, 3, 0, 1):  # partitions end in any order
                part = parts[current.number]
                for columns in function(Batch(part[i : i + 64]) for i in range(0, len(part), 64)):
                    rows.append({name: values[0] for name, values in columns.items()})
            return types.SimpleNamespace(collect=lambda: rows)

    solution = names["fit"](Frame(), FEATURES, "y", 1.0)
    assert np.array_equal(np.ravel(solution.coef), np.ravel(want(frame, [p for p in parts if len(p)])))


def test_ray(frame, monkeypatch):
    class AggregateFnV2:
        def __init__(self, name, zero_factory, *, on, ignore_nulls):
            self.name, self.zero = name, zero_factory

    module = types.SimpleNamespace(AggregateFnV2=AggregateFnV2)
    names = program("Ray", monkeypatch, ray=types.SimpleNamespace(), ray__data=types.SimpleNamespace(), ray__data__aggregate=module)

    class Dataset:
        def aggregate(self, function):
            total = function.zero()
            table = types.SimpleNamespace(to_pandas=lambda: frame[100:])
            for block in (frame[:100], frame[100:100], table):
                total = function.combine(total, function.aggregate_block(block))
            return {function.name: function.finalize(total)}

    solution = names["fit"](Dataset(), FEATURES, "y", 1.0)
    assert np.array_equal(np.ravel(solution.coef), np.ravel(want(frame, [frame[:100], frame[100:]])))


def test_beam(frame, monkeypatch):
    class Step:
        def __init__(self, function):
            self.function = function

        def __ror__(self, values):
            return self.function(values)

    def combine(fn):
        def run(blocks):
            found = []
            for bundle in (blocks[:3], blocks[3:3], blocks[3:]):
                accumulator = fn.create_accumulator()
                for block in bundle:
                    accumulator = fn.add_input(accumulator, block)
                found.append(pickle.loads(pickle.dumps(accumulator)))
            return [fn.extract_output(fn.merge_accumulators(found))]

        return Step(run)

    fake = types.SimpleNamespace(CombineFn=object, CombineGlobally=combine, Map=lambda f: Step(lambda values: list(map(f, values))))
    names = program("Beam", monkeypatch, apache_beam=fake)
    blocks = [(p[FEATURES].to_numpy(), p["y"].to_numpy()) for p in np.split(frame, 8)]
    (solution,) = names["fit"](blocks, 1.0)
    assert np.array_equal(np.ravel(solution.coef), np.ravel(want(frame, [frame[:150], frame[150:]])))
