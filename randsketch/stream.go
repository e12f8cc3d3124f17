package randsketch

import (
	"encoding/binary"
	"math/rand/v2"
)

// The purposes that numbers are drawn for, the third word of a key.
const (
	forGaussian = 0x6e6169737375_6147 // "Gaussian"
	forSJLT     = 0x544c4a53          // "SJLT"
	forNystrom  = 0x6d6f7274_73794e   // "Nystrom"
)

// A stream is the generator ChaCha8 (c2sp.org/chacha8rand), keyed for one vector
// of numbers at a time. Streams of different keys are unrelated, whatever the
// seeds: 1, 2, 3, … are as good as any.
type stream struct {
	src rand.ChaCha8
	*rand.Rand
}

func newStream() *stream {
	s := new(stream)
	s.Rand = rand.New(&s.src)
	return s
}

// seek goes to the start of vector i of a purpose.
func (s *stream) seek(seed, purpose uint64, i int64) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[0:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(i))
	binary.LittleEndian.PutUint64(key[16:], purpose)
	s.src.Seed(key)
}

// normal fills x with independent numbers from N(0, 1).
func (s *stream) normal(x []float64) {
	for i := range x {
		x[i] = s.NormFloat64()
	}
}

// signs puts signs in distinct rows of m, uniform over all sets of len(out) of
// them, by R. Floyd's algorithm (J. Bentley, R. Floyd, CACM 30, 1987).
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

// An entry is a nonzero of a column of an SJLT, times √s.
type entry struct {
	row  int
	sign float64 // 1 or -1
}
