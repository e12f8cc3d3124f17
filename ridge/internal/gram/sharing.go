package gram

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// A Reducer adds up what several workers find, see ridge.Reducer.
type Reducer interface {
	Sum(ctx context.Context, x []float64) error
	Workers() int
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

// add adds up in found what the workers have summed in a pass. What Sum overwrites is a
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
	if err := s.reducer.Sum(ctx, found); err != nil {
		return err
	}
	s.found = found
	return nil
}

// agreed refuses sums of workers that did not ask the same.
func (s *sharing) agreed(pass int) error {
	if s.reducer == nil {
		return nil
	}
	workers, asked := s.reducer.Workers(), s.found[len(s.found)-questionWords:]
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
	if err := s.reducer.Sum(ctx, s.vote); err != nil {
		return false, err
	}
	s.recalling = s.vote[0] == float64(s.reducer.Workers())
	return s.recalling, nil
}
