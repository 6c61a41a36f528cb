"""Standardise a data set: each column minus its mean, over its standard deviation.

Heights, weights and incomes differ a thousandfold; most methods of machine learning want
them alike. It is written as in NumPy. The Program sends the table once and gets it back
once, and what lies between stays on the server.
"""

import numpy as np
from common import Array, arguments, check, connected

import gpucall


def people(count: int) -> Array:
    """Height in cm, weight in kg, yearly income, age: (count, 4) float32."""
    rng = np.random.default_rng(0)
    height = rng.normal(170, 9, count)
    weight = 0.9 * (height - 100) + rng.normal(0, 8, count)
    income = rng.lognormal(10.4, 0.5, count)
    age = rng.uniform(18, 90, count)
    return np.stack([height, weight, income, age], axis=1).astype(np.float32)


def main() -> None:
    with connected(arguments(__doc__).server) as c:
        table = people(50_000)

        p = gpucall.Program()
        x = p.input()
        mean = np.mean(x, axis=0, keepdims=True)
        deviation = np.std(x, axis=0, keepdims=True)
        p.output((x - mean) / deviation)
        scaled = c.run(p, table)

        for name, data in (("before", table), ("after", scaled)):
            print(f"{name}: means {data.mean(0, float).round(2)}", end=", ")
            print(f"deviations {data.std(0, dtype=float).round(2)}")
        exact = table.astype(np.float64)
        right = (exact - exact.mean(axis=0)) / exact.std(axis=0)
        # The mean is rounded to float32 and subtracted: that is what each column loses.
        check("(x - mean) / std", scaled, right, float(np.abs(right).max()) * 1e-5)


if __name__ == "__main__":
    main()
