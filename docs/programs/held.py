# held.py: python3 docs/programs/held.py N SHARE prints which of N rows are held out, counted from 1
import sys

def h(i):
    M = (1 << 64) - 1
    z = (i + 1) * 0x9E3779B97F4A7C15 & M
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M
    z = (z ^ z >> 27) * 0x94D049BB133111EB & M
    return ((z ^ z >> 31) >> 11) * 2.0 ** -53

print(*(i + 1 for i in range(int(sys.argv[1])) if h(i) < float(sys.argv[2])))
