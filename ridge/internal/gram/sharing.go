package gram

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/internal/twofold"
)

// A Reducer adds up what several workers find, see ridge.Reducer.
type Reducer interface {
	Allreduce(ctx context.Context, x []float64) error
	Size() int
}

// sharing makes of one worker's sums those of all.
type sharing struct {
	reducer   Reducer // nil: this one has all rows
	question  [sha256.Size]byte
	found     []float64 // the sums of the pass, of all workers once they were added up
	vote      []float64 // memory of unanimous
	recalling bool      // every worker's journal may have the pass
}

// questionWords are the 32-bit words of a question: added up over up to 2²¹ workers they have
// no round-off.
const questionWords = 8

// word is 32 bits of the question.
func (s *sharing) word(i int) float64 {
	return float64(binary.LittleEndian.Uint32(s.question[4*i:]))
}

// add adds up in found what the workers have summed in a pass. What Allreduce overwrites is a
// copy: where it fails the sums are as they were, to be added up when the solve goes on.
// The copy is then left to the reducer, which may still write.
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

// addNumbers adds up numbers over the workers, with the digits they have: where plain sums
// round, these are of three pieces, of which the first two are multiples, of up to 2⁴⁰, of
// units that all workers know.
func (s *sharing) addNumbers(ctx context.Context, ns []twofold.Number) error {
	if s.reducer == nil || s.reducer.Size() == 1 {
		return nil
	}
	n, w := len(ns), float64(s.reducer.Size())
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
		pieces[i], pieces[n+i], pieces[2*n+i] = split(v, unit(sizes[i]))
	}
	if err := s.reducer.Allreduce(ctx, pieces); err != nil {
		return err
	}
	for i := range ns {
		lost := twofold.Number{Err: sizes[n+i]*(1+w*0x1p-50) + (w+1)*(w+1)*0x1p-52*unit(unit(sizes[i]))}
		ns[i] = lost.Plus(twofold.Of(pieces[i])).Plus(twofold.Of(pieces[n+i])).Plus(twofold.Of(pieces[2*n+i]))
	}
	return nil
}

// unit is a power of two, less than 2⁻³⁸ of size and not less than 2⁻⁴⁰.
func unit(size float64) float64 {
	_, e := math.Frexp(size)
	return math.Ldexp(1, e-40)
}

// split is v in pieces: multiples of a unit, of the unit's unit, and what is left.
func split(v twofold.Number, unit1 float64) (a, b, c float64) {
	round := func(x, unit float64) float64 {
		large := 0x1.8p52 * unit
		return (x + large) - large
	}
	a = round(v.Hi, unit1)
	rest, low := twofold.Sum(v.Hi-a, v.Lo)
	b = round(rest, unit(unit1))
	return a, b, (rest - b) + low
}

// agreed refuses sums of workers that did not ask the same.
func (s *sharing) agreed(pass int) error {
	if s.reducer == nil {
		return nil
	}
	workers, asked := s.reducer.Size(), s.found[len(s.found)-questionWords:]
	for i, v := range asked {
		if v != float64(workers)*s.word(i) {
			return fmt.Errorf("ridge: the %d workers do not ask the same in pass %d: their summaries, gammas or options differ", workers, pass)
		}
	}
	return nil
}

// unanimous reports whether all workers have in their journals that the pass has ended. If
// one hasn't, none of them takes this pass, or a later one, from its journal.
func (s *sharing) unanimous(ctx context.Context, finished bool) (bool, error) {
	if s.reducer == nil || !s.recalling {
		return finished, nil
	}
	s.vote = append(s.vote[:0], 0) // by itself: what is handed to C must hold no pointer
	if finished {
		s.vote[0] = 1
	}
	if err := s.reducer.Allreduce(ctx, s.vote); err != nil {
		return false, err
	}
	s.recalling = s.vote[0] == float64(s.reducer.Size())
	return s.recalling, nil
}
