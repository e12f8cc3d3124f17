"""Compares coefficient files of fdridge fit --coef with the first of them:

    close.py TOL A.npy B.npy...

Fails unless ‖b − a‖ ≤ TOL·‖a‖ for each row, which has the coefficients and the intercept for one γ
and target.
"""
import array, ast, math, sys


def read(name):
    """Returns the rows of a version 1 file of float64."""
    with open(name, 'rb') as f:
        data = f.read()
    start = 10 + int.from_bytes(data[8:10], 'little')
    head = ast.literal_eval(data[10:start].decode())
    if head['descr'] != '<f8' or len(head['shape']) > 2 or data[6] != 1:
        sys.exit(f'close: {name}: cannot read {head}')
    numbers = array.array('d', data[start:])
    if sys.byteorder == 'big':
        numbers.byteswap()
    if len(numbers) != math.prod(head['shape']):
        sys.exit(f'close: {name}: has {len(numbers)} numbers, its shape is {head["shape"]}')
    rows, cols = math.prod(head['shape'][:-1]), head['shape'][-1]
    if head['fortran_order']:
        return [numbers[i::rows] for i in range(rows)]
    return [numbers[i * cols:(i + 1) * cols] for i in range(rows)]


tol, first, *others = sys.argv[1:]
want = read(first)
if not others or not want:
    sys.exit('usage: close.py TOL A.npy B.npy...')
for name in others:
    got, worst = read(name), 0.0
    if [len(row) for row in got] != [len(row) for row in want]:
        sys.exit(f'close: {first} and {name} have different shapes')
    for i, (a, b) in enumerate(zip(want, got)):
        distance = math.dist(a, b) / math.hypot(*a)
        if not distance <= float(tol):
            sys.exit(f'close: row {i} of {name} differs from {first} by {distance:.3g} relative to it; at most {tol} is allowed')
        worst = max(worst, distance)
    print(f'{name}: within {worst:.3g} of {first}')
