"""Writes the arrays of this folder with NumPy and SciPy: python3 write.py

dense.npy has the numbers of all files sparse-*.npz. fields.npy has the numbers of the fields of records*.npy.
"""
import numpy as np
import scipy.sparse as sp

rng = np.random.default_rng(7)
dense = np.where(rng.random((24, 12)) < 0.3, rng.integers(-400, 400, (24, 12)) / 8, 0)
dense[5] = 0
dense[:, 3] = 0
dense[11] = np.arange(12) - 4.5
np.save('dense.npy', dense)


def save(name, matrix, compressed=True, **changes):
    for attribute, value in changes.items():
        setattr(matrix, attribute, value)
    sp.save_npz('sparse-' + name + '.npz', matrix, compressed)


save('csr', sp.csr_matrix(dense))
save('csr-stored', sp.csr_matrix(dense), False)
save('csc', sp.csc_matrix(dense))
save('csc-stored', sp.csc_matrix(dense), False)
save('coo', sp.coo_matrix(dense))
save('bsr', sp.bsr_matrix(dense, blocksize=(3, 2)))
save('bsr-stored', sp.bsr_matrix(dense, blocksize=(4, 3)), False)
save('bsr-rows', sp.bsr_matrix(dense, blocksize=(1, 4)))
save('csr-float32', sp.csr_matrix(dense.astype('f4')))  # multiples of 1/8 are exact
long = sp.csr_matrix(dense)
save('csr-int64', long, indices=long.indices.astype('i8'), indptr=long.indptr.astype('i8'))
big = sp.csc_matrix(dense)
big.data, big.indices, big.indptr = big.data.astype('>f8'), big.indices.astype('>i4'), big.indptr.astype('>i4')
np.savez('sparse-csc-bigendian.npz', format=np.array('csc'), shape=big.shape, data=big.data, indices=big.indices, indptr=big.indptr)

# The columns of each row backwards, each value in two halves, and zeros that are stored.
indices, data, indptr = [], [], [0]
for row in dense:
    for j in reversed(range(12)):
        if row[j] or j % 5 == 0:
            indices += [j, j]
            data += [row[j] / 2, row[j] / 2]
    indptr.append(len(data))
twice = sp.csr_matrix((data, indices, indptr), dense.shape)
save('csr-unsorted', twice)
coo = sp.coo_matrix(dense)  # as newer versions of SciPy and the package sparse of PyData write it
for name, write in (('coo-coords', np.savez_compressed), ('coo-coords-stored', np.savez)):
    write('sparse-' + name + '.npz', format=b'coo', shape=dense.shape, data=coo.data, coords=np.array([coo.row, coo.col]), fill_value=0.0)
order = rng.permutation(len(data))
rows = np.repeat(np.arange(24), np.diff(indptr))
save('coo-unsorted', sp.coo_matrix((np.array(data)[order], (rows[order], np.array(indices)[order])), dense.shape))

n = 7
fields = np.stack([rng.integers(-9, 9, n) / 4, rng.integers(-99, 99, n), *(rng.integers(0, 50, (3, n)) / 2), rng.integers(0, 2, n), rng.integers(0, 60000, n)], 1)
np.save('fields.npy', fields)


def records(dtype, name):
    out = np.zeros(n, dtype)
    out['a'], out['b c'], out['v'], out['flag'], out['big'] = fields[:, 0], fields[:, 1], fields[:, 2:5], fields[:, 5], fields[:, 6]
    out['name'] = [f'no {i}' for i in range(n)]
    out['when'] = np.datetime64('2024-01-01') + np.arange(n)
    np.save(name, out)


kinds = [('a', '<f8'), ('name', '<U5'), ('b c', 'i4'), ('v', '<f4', (3,)), ('when', '<M8[ns]'), ('flag', '?'), ('big', '>u2')]
records(kinds, 'records.npy')
records(np.dtype(kinds, align=True), 'records-aligned.npy')
