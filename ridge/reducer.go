package ridge

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/fdridge/fdridge/internal/vec"
)

// A Reducer adds up what several workers find, each in its share of the rows.
//
// Each worker calls [SolvePath] with its own share, which may be empty, and with the
// same summary of all rows, bit for bit, the same γ and the same options. After a pass
// over its share it calls Sum once with
//
//	q·(d + 2) + 11
//
// numbers, for q vectors: the products, ‖Av − b‖² and 1ᵀ(Av − b) of each, rows, weight,
// whether there were sparse rows, and the SHA-256 of the question as eight whole numbers, by whose sum a worker sees
// whether the others ask the same. The first pass asks for AᵀY too, which is one more
// vector for each target. The solver's next step is a function of these sums
// and of the summary, so that all workers take the same one and stop together; their
// fits, and the certificates, are those of all rows.
//
// With a [Journal], which all workers have or none, the passes that are answered from it
// call Sum once for one number: the answer is taken where each worker has it, and the
// pass is made anew where one hasn't, as when it was killed before the others.
//
// A worker that fails in its share, or is cancelled, calls Sum no more: to let the
// others know is the reducer's part.
type Reducer interface {
	// Sum overwrites x with its sum over all workers, the same bits on each. All call
	// it in the same order with equal lengths. After an error, by which a solve ends, x
	// is not looked at again.
	Sum(ctx context.Context, x []float64) error
	// Workers is how many there are.
	Workers() int
}

// tail is what follows the q·(d+2) sums of a pass: rows, weight, whether some were sparse,
// and the question.
const tail = 3 + questionWords

// questionWords are the 32-bit words of a question: the sum of as many as 2²¹ workers
// has no round-off.
const questionWords = 8

// room makes place for the sums of q vectors, of which the products are g.
func (p *pass) room(q int) {
	p.found = vec.Grow(p.found, q*(p.d+2)+tail)
	p.g = p.found[:q*p.d]
	clear(p.found)
}

// total leaves in found what this worker's rows gave, and the others'. What Sum
// overwrites is a copy: where it fails the pass is recorded as it stands, to be added
// up when the solve goes on. found is then left to the reducer, which may still write.
func (p *pass) total(ctx context.Context) error {
	q := len(p.qs)
	at := p.found
	put := func(x float64) { at[0], at = x, at[1:] }
	for i := range p.sum {
		put(p.sum[i].Value())
	}
	for i := range q {
		put(p.rss[i].Value())
	}
	for i := range q {
		put(p.ones[i].Value())
	}
	put(float64(p.n))
	put(p.w.Value())
	sparse := 0.0
	if p.sparse {
		sparse = 1
	}
	put(sparse)
	if p.reducer == nil {
		return nil
	}
	for i := range questionWords {
		put(p.word(i))
	}
	if err := p.reducer.Sum(ctx, p.found); err != nil {
		p.found = nil
		p.room(q)
		return errors.Join(err, p.record(false, nil, nil))
	}
	asked := p.found[q*(p.d+2)+tail-questionWords:]
	for i := range questionWords {
		if asked[i] != float64(p.reducer.Workers())*p.word(i) {
			return fmt.Errorf("ridge: the %d workers do not ask the same in pass %d: their summaries, gammas or options differ", p.reducer.Workers(), p.number)
		}
	}
	return nil
}

// word is 32 bits of the question.
func (p *pass) word(i int) float64 {
	return float64(binary.LittleEndian.Uint32(p.question[4*i:]))
}

// unanimous reports whether all workers have finished the pass that begins: if one
// hasn't, none of them takes it from its journal, nor any pass after it.
func (p *pass) unanimous(ctx context.Context, finished bool) (bool, error) {
	if p.reducer == nil || !p.recalling {
		return finished, nil
	}
	p.vote = append(p.vote[:0], 0) // by itself: what is handed to C must hold no pointer
	if finished {
		p.vote[0] = 1
	}
	if err := p.reducer.Sum(ctx, p.vote); err != nil {
		return false, err
	}
	p.recalling = p.vote[0] == float64(p.reducer.Workers())
	return p.recalling, nil
}
