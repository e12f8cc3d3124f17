# fds.py: python3 docs/programs/fds.py SKETCH GAMMA OUT.npy writes a row [intercept, coefficients…] for each target
import struct, sys, numpy as np

class Message:  # take and sums read the next numbers
    table = list(range(256))
    for _ in range(8):
        table = [c >> 1 ^ 0x82F63B78 * (c & 1) for c in table]
    def __init__(self, data, kind, at=0):
        magic, self.version, found, size = struct.unpack_from('<8sIIQ', data, at)
        self.data, self.at, crc = data, at + 24, 0xFFFFFFFF
        for byte in data[at:at + size - 4]:
            crc = crc >> 8 ^ self.table[(crc ^ byte) & 255]
        whole = magic == b'\x89FDR\r\n\x1a\n' and struct.unpack_from('<I', data, at + size - 4)[0] == crc ^ 0xFFFFFFFF
        if not whole or found != kind or self.version > {1: 4, 2: 2}[kind]:
            raise ValueError(f'byte {at}: damaged, or not of kind {kind}, or newer than this')
    def take(self, n, kind='<f8'):
        self.at += n * int(kind[2])
        return np.frombuffer(self.data, kind, n, self.at - n * int(kind[2]))
    def sums(self, n):
        return self.take(2 * n).reshape(n, 2).sum(axis=1)

def sketch(m):  # returns η, m, the rows B, and K, which is added to BᵀB
    (d, size, _, _, live, kept, _, _), (eta, *_), K = m.take(8, '<i8'), m.take(4), 0
    sparse, entries = m.take(3, '<i8')[1:] if m.version > 2 else (0, 0)
    if m.version == 2:
        L, size = np.zeros((d, d)), live
        L[np.tril_indices(d)] = m.sums(d * (d + 1) // 2) if kept else 0
        K, kept = L + np.tril(L, -1).T, 0
    B, S = m.take(kept + live * d)[kept:].reshape(live, d), np.zeros((sparse, d))
    if m.version > 2:
        ends, columns = m.take(sparse + 1, '<i8'), m.take(entries, '<i4')
        S[np.repeat(np.arange(sparse), np.diff(ends)), columns] = m.take(entries)
    if m.version > 3:  # subtract the centres, which are not rows of B
        times, centre = m.take(sparse), m.take(sparse, '<i8')
        S -= times[:, None] * np.vstack([np.zeros(d), B])[centre]
        B = np.delete(B, np.unique(centre[centre > 0]) - 1, axis=0)
    return eta, size, np.vstack([B, S]), K

m = Message(open(sys.argv[1], 'rb').read(), 2)
(d, t, _, _), (weight, _), (_, u, _), (low, _) = m.take(4, '<i8'), m.take(2), m.take(3, '<i8'), m.take(2)
m.at += u  # Meta
mean = m.take(d + t) + m.sums(d + t) / (weight + low)
m.at += 16 * (d + t) + 1 + t + 16 * t
c = m.sums((t + 1) * d)[:t * d].reshape(t, d)
eta, size, B, K = sketch(Message(m.data, 1, m.at))
_, s, V = np.linalg.svd(B, full_matrices=False)
delta = s[size] ** 2 if len(s) > size else 0  # of the last shrink
H = (V[:size].T * np.maximum(s[:size] ** 2 - delta, 0)) @ V[:size] + K
x = np.linalg.solve(H + (float(sys.argv[2]) + (eta + delta) / 2) * np.eye(d), c.T).T
np.save(sys.argv[3], np.column_stack([mean[d:] - x @ mean[:d], x]))
