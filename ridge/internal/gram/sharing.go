package gram

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/internal/twofold"
)

// A Reducer adds up the results of several workers, see ridge.Reducer.
type Reducer interface {
	Allreduce(ctx context.Context, x []float64) error
	Size() int
}

// sharing adds up the results of all workers.
type sharing struct {
	reducer   Reducer // nil if this worker has all rows
	question  [sha256.Size]byte
	found     []float64 // sums over all workers
	vote      []float64 // workspace of unanimous
	recalling bool      // the journals of all workers may still have the current pass
}

// questionWords is the number of 32-bit words of the hash that [question] returns. All workers must have the same
// hash. To check this, they add up each word over all workers. A worker then compares each sum with its own word
// times the number of workers. Such a sum is exact in float64 for up to 2²¹ workers.
const questionWords = 8

// word returns the i-th 32-bit word of the question.
func (s *sharing) word(i int) float64 {
	return float64(binary.LittleEndian.Uint32(s.question[4*i:]))
}

// add adds up the sums of a pass over all workers, and stores the results in s.found. Allreduce works on a copy.
// After a failure the sums are therefore unchanged, and the solve can be resumed. The copy is not used again,
// because the reducer may still write to it.
func (s *sharing) add(ctx context.Context, sums *sums) error {
	found := sums.put(s.found[:0])
	s.found = found
	if s.reducer == nil {
		return nil
	}
	for i := range questionWords {
		found = append(found, s.word(i))
	}
	s.found = nil
	if err := s.reducer.Allreduce(ctx, found); err != nil {
		return err
	}
	s.found = found
	return nil
}

// addNumbers adds up the numbers in ns over all workers without loss of precision. It splits each number into three
// pieces. Each of the first two pieces is an integer times a unit, and the integer is at most 2⁴⁰ in magnitude. All
// workers use the same units, so that the sums of these pieces are exact.
func (s *sharing) addNumbers(ctx context.Context, ns []twofold.Number) error {
	if s.reducer == nil || s.reducer.Size() == 1 {
		return nil
	}
	n := len(ns)
	w := float64(s.reducer.Size())
	sizes := make([]float64, 0, 2*n)
	for _, v := range ns {
		sizes = append(sizes, math.Abs(v.Hi))
	}
	for _, v := range ns {
		sizes = append(sizes, v.Err)
	}
	if err := s.reducer.Allreduce(ctx, sizes); err != nil {
		return err
	}
	pieces := make([]float64, 3*n)
	for i, v := range ns {
		pieces[i], pieces[n+i], pieces[2*n+i] = split(v, unitOf(sizes[i]))
	}
	if err := s.reducer.Allreduce(ctx, pieces); err != nil {
		return err
	}
	for i := range ns {
		lost := twofold.Number{Err: sizes[n+i]*(1+w*0x1p-50) +
			(w+1)*(w+1)*0x1p-52*unitOf(unitOf(sizes[i]))}
		high := twofold.Of(pieces[i])
		middle := twofold.Of(pieces[n+i])
		low := twofold.Of(pieces[2*n+i])
		ns[i] = lost.Plus(high).Plus(middle).Plus(low)
	}
	return nil
}

// unitOf returns a power of two between 2⁻⁴⁰·size and 2⁻³⁹·size, where size is positive.
func unitOf(size float64) float64 {
	_, e := math.Frexp(size)
	return math.Ldexp(1, e-40)
}

// split splits v into a + b + c. a is a multiple of unit, b is a multiple of unitOf(unit), and c is the rest.
func split(v twofold.Number, unit float64) (a, b, c float64) {
	round := func(x, unit float64) float64 {
		large := 0x1.8p52 * unit
		return (x + large) - large
	}
	a = round(v.Hi, unit)
	rest, low := twofold.Sum(v.Hi-a, v.Lo)
	b = round(rest, unitOf(unit))
	return a, b, (rest - b) + low
}

// agreed returns an error if the workers have asked for different vectors, targets or options in this pass.
func (s *sharing) agreed(pass int) error {
	if s.reducer == nil {
		return nil
	}
	workers := s.reducer.Size()
	asked := s.found[len(s.found)-questionWords:]
	for i, v := range asked {
		if v != float64(workers)*s.word(i) {
			return fmt.Errorf(
				"ridge: the %d workers differ in pass %d: their summaries, gammas or options are not the same",
				workers,
				pass,
			)
		}
	}
	return nil
}

// unanimous reports whether the journals of all workers have the results of this pass. finished reports this for
// the journal of this worker. If the result is false, no worker uses its journal for this pass or a later one.
func (s *sharing) unanimous(ctx context.Context, finished bool) (bool, error) {
	if s.reducer == nil || !s.recalling {
		return finished, nil
	}
	// The vote is in a slice of its own, because memory that is passed to C must not contain pointers.
	s.vote = append(s.vote[:0], 0)
	if finished {
		s.vote[0] = 1
	}
	if err := s.reducer.Allreduce(ctx, s.vote); err != nil {
		return false, err
	}
	s.recalling = s.vote[0] == float64(s.reducer.Size())
	return s.recalling, nil
}
