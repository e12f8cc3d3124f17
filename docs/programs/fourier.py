# fourier.py: python3 docs/programs/fourier.py MODEL.json prints u and W of its Fourier features
import json, math, sys
import numpy as np

def words(seed):  # PCG: 128 bits of state, DXSM output; whole numbers below 2**64
    state, m64 = seed << 64 | 0x466F7572696572, 2**64 - 1
    while True:
        state = (state * 0x2360ED051FC65DA44385DF649FCCF645 + 0x5851F42D4C957F2D14057B7EF767814F) % 2**128
        hi, lo = state >> 64, state & m64
        hi = (hi ^ hi >> 32) * 0xDA942042E4DD58B5 & m64
        yield (hi ^ hi >> 48) * (lo | 1) & m64

def uniform(word):  # in [0, 1)
    return next(word) % 2**53 / 2**53

def normals(word):  # 128 layers of area v, the lowest with the tail beyond r
    r, v, f32 = 3.442619855899, 9.91256303526217e-3, np.float32
    x = [0.0] * 127 + [r, v / math.exp(-r * r / 2)]
    for i in range(126, 0, -1):
        x[i] = math.sqrt(-2 * math.log(v / x[i + 1] + math.exp(-x[i + 1] ** 2 / 2)))
    inside = [int(x[(i or 128) - 1] / x[i or 128] * 2**31) for i in range(128)]
    width = [float(f32(x[i or 128] / 2**31)) for i in range(128)]
    height = [f32(math.exp(-x[i] ** 2 / 2)) for i in range(128)]
    while True:
        w = next(word)
        j, i = (w % 2**32 ^ 2**31) - 2**31, w >> 32 & 127  # a signed number, and the layer
        z, tail = j * width[i], i == 0
        if abs(j) >= inside[i]:
            while tail:
                z, y = -math.log(uniform(word)) / r, -math.log(uniform(word))
                if tail := y + y < z * z: continue
                z = r + z if j > 0 else -r - z
            if i and height[i] + f32(uniform(word)) * (height[i - 1] - height[i]) >= f32(math.exp(-z * z / 2)):
                continue
        yield z

def weights(f, inputs):  # u, and W, inputs rows of D
    D, word = f["components"], words(f["seed"])
    u = [2 * math.pi * uniform(word) for _ in range(D)]  # before W
    normal = normals(word)
    return np.array(u), math.sqrt(2 * f["gamma"]) * np.array([[next(normal) for _ in range(D)] for _ in range(inputs)])

if __name__ == "__main__":
    prep = json.load(open(sys.argv[1]))["preparation"]
    print(*(row.tolist() for row in weights(prep["features"], prep["inputs"])), sep="\n")
