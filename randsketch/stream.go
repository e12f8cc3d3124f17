package randsketch

import (
	"encoding/binary"
	"math/rand/v2"
)

// The keys of generators contain one of these constants, so that numbers for different uses are independent.
const (
	forGaussian = 0x6e6169737375_6147 // "Gaussian"
	forSJLT     = 0x544c4a53          // "SJLT"
	forNystrom  = 0x6d6f7274_73794e   // "Nystrom"
)

// A stream is the generator ChaCha8 (c2sp.org/chacha8rand), keyed for one vector of numbers at a time.
// Streams with different keys are unrelated, even for seeds like 1, 2, 3, …
type stream struct {
	src rand.ChaCha8
	*rand.Rand
}

func newStream() *stream {
	s := new(stream)
	s.Rand = rand.New(&s.src)
	return s
}

// seek starts the generator of vector i for a seed and a purpose, one of the constants above.
func (s *stream) seek(seed, purpose uint64, i int64) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[0:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(i))
	binary.LittleEndian.PutUint64(key[16:], purpose)
	s.src.Seed(key)
}

// normal fills x with independent standard normal numbers.
func (s *stream) normal(x []float64) {
	for i := range x {
		x[i] = s.NormFloat64()
	}
}

// signs chooses len(out) distinct rows out of m, uniformly, and a random sign for each. It uses R. Floyd's
// algorithm (J. Bentley, R. Floyd, CACM 30, 1987).
func (s *stream) signs(m int, out []entry) {
	for k := range out {
		last := m - len(out) + k
		r := s.IntN(last + 1)
		for _, e := range out[:k] {
			if e.row == r {
				r = last
				break
			}
		}
		out[k] = entry{row: r, sign: 1 - 2*float64(s.Uint64()&1)}
	}
}

// An entry is a nonzero ±1/√s in a column of an SJLT. sign is the nonzero multiplied by √s.
type entry struct {
	row  int
	sign float64 // 1 or -1
}
