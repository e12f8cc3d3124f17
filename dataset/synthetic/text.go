package synthetic

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fdridge/fdridge/dataset"
)

// Text describes documents, as used in text classification: sparse rows whose columns follow Zipf's law and whose
// lengths are log-normal. Rows and Dim are required. Other fields have defaults if they are zero.
//
// A row is a document. A column is one of d words j = 0…d−1, sorted from the most to the least common.
//
//   - A document has one of T topics, and word j belongs to topic j mod T.
//   - It has L different words, L = ⌊e^z + ½⌋ with z ~ N(ln Words − σ²/2, σ²) and σ = 0.6, so
//     that the mean of e^z is Words. L is at least 1 and at most ⌈d/4⌉.
//   - Words are drawn until L of them are different. A draw is word k by the law of Zipf and
//     Mandelbrot, integrated over each word,
//     p_k = ∫_k^{k+1} dx/(x+q) / ∫_0^d dx/(x+q),  q = 2.7.
//     With probability ½ it is replaced by the word of the document's topic in the same group
//     of T words, T·⌊k/T⌋ + topic, if this word exists.
//   - The entry of a word drawn f times is (1 + ln f)·w_j, and the row is divided by its norm.
//     w_j = 1 − ln(1 − (1 − p_j)^Words) is large for a rare word. This is scikit-learn's
//     TfidfVectorizer(sublinear_tf=True) with the expected share of documents that contain a
//     word instead of the observed one.
//   - The target is y = aᵀx₀ + ε, ε ~ N(0, Noise²), with x₀ⱼ = u_{j mod T} + ½·v_j and
//     independent standard normal u and v: a word has an effect of its topic and its own effect.
type Text struct {
	Rows   int64   // n, documents
	Dim    int     // d, words
	Words  float64 // mean number of different words of a document, from 1 to d/8; 0 means the lesser of 100 and d/8
	Topics int     // T, from 1 to d; 0 means the lesser of 20 and d
	Noise  float64 // standard deviation of ε; 0 means 1
	Seed   uint64
}

// Constants of the law.
const (
	mandelbrot = 2.7 // q
	spread     = 0.6 // σ
)

// Documents holds a [Text] with the data that all rows share.
type Documents struct {
	Text              // with defaults filled in
	X0      []float64 // x₀, d: the coefficients that generate the targets
	inverse []float64 // w, d
}

// Documents returns the documents that c describes, or an error if c is invalid. It needs 16 bytes of memory per
// word, and a pass over the rows 4 more bytes per word.
func (c Text) Documents() (*Documents, error) {
	if c.Words == 0 {
		c.Words = max(1, min(100, float64(c.Dim)/8))
	}
	if c.Topics == 0 {
		c.Topics = min(20, c.Dim)
	}
	if c.Noise == 0 {
		c.Noise = 1
	}
	switch {
	case c.Rows < 1 || c.Dim < 8 || c.Dim > math.MaxInt32:
		return nil, fmt.Errorf("synthetic: cannot make %d documents of %d words; the limits are at least 1 document and 8 to %d words", c.Rows, c.Dim, math.MaxInt32)
	case !(c.Words >= 1 && c.Words <= float64(c.Dim)/8):
		return nil, fmt.Errorf("synthetic: a document has %v of %d words; it must have 1 to one eighth of them", c.Words, c.Dim)
	case c.Topics < 1 || c.Topics > c.Dim:
		return nil, fmt.Errorf("synthetic: there are %d topics of %d words; the number must be 1 to the number of words", c.Topics, c.Dim)
	case !(c.Noise > 0) || math.IsInf(c.Noise, 0):
		return nil, fmt.Errorf("synthetic: the standard deviation of the noise is %v; it must be positive and finite", c.Noise)
	}
	d := &Documents{Text: c, X0: make([]float64, c.Dim), inverse: make([]float64, c.Dim)}
	rng := rand.New(rand.NewPCG(c.Seed, 0x746f70696373)) // "topics"
	effects := make([]float64, c.Topics)
	for t := range effects {
		effects[t] = rng.NormFloat64()
	}
	for j := range d.X0 {
		d.X0[j] = effects[j%c.Topics] + float64(rng.NormFloat64()/2)
		d.inverse[j] = 1 - math.Log(-math.Expm1(float64(c.Words*math.Log1p(-d.share(j)))))
	}
	return d, nil
}

// share returns the probability p_j of word j.
func (d *Documents) share(j int) float64 {
	return math.Log1p(1/(float64(j)+mandelbrot)) / d.logs()
}

// logs returns ∫_0^d dx/(x+q).
func (d *Documents) logs() float64 { return math.Log1p(float64(d.Dim) / mandelbrot) }

// Source returns the documents as a source of sparse rows with one target. Each pass generates the same rows: row i
// depends only on i, Dim, Words, Topics, Noise and Seed. Source implements [dataset.Seeker]: a pass can begin at any
// row without generating the rows before.
func (d *Documents) Source() *dataset.Stream {
	return dataset.NewStream(d.Rows, d.Dim, 1, true, func() (dataset.Reader, error) {
		w := &writer{Documents: d, logs: d.logs(), counts: make([]int32, d.Dim)}
		w.rng = rand.New(&w.pcg)
		return w, nil
	})
}

// A writer generates documents one after the other.
type writer struct {
	*Documents
	logs   float64 // ∫_0^d dx/(x+q)
	next   int64   // next row
	pcg    rand.PCG
	rng    *rand.Rand // uses pcg
	counts []int32    // count of each word in the current document
	words  []int32    // words with a count other than 0
}

func (w *writer) Close() error { return nil }

// Skip implements [dataset.Skipper].
func (w *writer) Skip(rows int64) (bool, error) {
	w.next += rows
	return true, nil
}

// Read implements [dataset.Reader].
func (w *writer) Read(b *dataset.Buffer, rows int) error {
	n := min(int64(rows), w.Rows-w.next)
	if n <= 0 {
		return io.EOF
	}
	for range n {
		w.write(b)
		w.next++
	}
	return nil
}

func (w *writer) write(b *dataset.Buffer) {
	w.pcg.Seed(w.Seed, 0x9e3779b97f4a7c15*uint64(w.next+1)) // each row has its own random stream
	topic := w.rng.IntN(w.Topics)
	z := float64(spread*w.rng.NormFloat64()) + math.Log(w.Words) - spread*spread/2
	length := int(max(1, min(math.Floor(math.Exp(z)+0.5), math.Ceil(float64(w.Dim)/4))))
	w.words = w.words[:0]
	for len(w.words) < length {
		k := w.draw(topic)
		if w.counts[k] == 0 {
			w.words = append(w.words, int32(k))
		}
		w.counts[k]++
	}
	slices.Sort(w.words)
	first, squares := len(b.CSR.Val), 0.0
	for _, j := range w.words {
		v := (1 + math.Log(float64(w.counts[j]))) * w.inverse[j]
		w.counts[j] = 0
		b.CSR.ColIdx, b.CSR.Val = append(b.CSR.ColIdx, j), append(b.CSR.Val, v)
		squares += float64(v * v)
	}
	y, norm := 0.0, math.Sqrt(squares)
	for k, j := range w.words {
		v := &b.CSR.Val[first+k]
		*v /= norm
		y += float64(*v * w.X0[j])
	}
	b.Y = append(b.Y, y+float64(w.Noise*w.rng.NormFloat64()))
	b.EndRow()
}

// draw draws one word. Let d = Dim, q = mandelbrot, and u uniform in (0, 1). Then x = q·(1 + d/q)^u − q has a density
// proportional to 1/(x + q), as in [Text]. The word is ⌊x⌋, unless it is replaced by a word of the topic.
func (w *writer) draw(topic int) int {
	k := min(int(mandelbrot*math.Expm1(float64(w.rng.Float64()*w.logs))), w.Dim-1)
	if w.rng.Uint64()&1 == 0 {
		return k
	}
	if own := k - k%w.Topics + topic; own < w.Dim {
		return own
	}
	return k
}
