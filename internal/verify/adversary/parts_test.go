package adversary

import (
	"bytes"
	"context"
	"errors"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
)

// A builder streams the rows of a problem into the summaries of its parts, which
// decay and are merged, written and read back.
type builder struct {
	p     *problem
	store func(part int) fd.Storage
	parts []*ridge.Summary
	codec int // blocks between two messages, 0: none
	done  int // changes made to any of them
	watch int // number of the change whose refusal must leave no trace; 0: none
}

// These are failures of what the library promises.
var (
	errTrace   = errors.New("a refusal left the summary changed")
	errMessage = errors.New("a summary that was read back is another")
)

// summary appends all rows to the summaries of the parts and merges them. If a step is refused, summary repeats all
// steps, and checks that the refused step left its summary unchanged.
func (p *problem) summary(size int) (*ridge.Summary, error) { return p.summaryOf(size, p.store) }

// summaryOf is summary with parts that keep what store says.
func (p *problem) summaryOf(size int, store func(part int) fd.Storage) (*ridge.Summary, error) {
	b := &builder{p: p, store: store, codec: p.g.Codec}
	s, err := b.build(size)
	if err != nil {
		again := &builder{p: p, store: store, codec: p.g.Codec, watch: b.done}
		if _, other := again.build(size); errors.Is(other, errTrace) {
			return nil, other
		}
		return nil, err
	}
	if p.g.Codec == 0 {
		return s, nil
	}
	straight, err := (&builder{p: p, store: store}).build(size)
	if err != nil {
		return nil, err
	}
	return s, same(s, straight)
}

// same holds two summaries to be the same, bit for bit.
func same(a, b *ridge.Summary) error {
	x, err := a.MarshalBinary()
	if err != nil {
		return err
	}
	y, err := b.MarshalBinary()
	if err != nil {
		return err
	}
	if !bytes.Equal(x, y) {
		return errMessage
	}
	return nil
}

func (b *builder) build(size int) (*ridge.Summary, error) {
	p, g := b.p, b.p.g
	for k := range g.Parts {
		s, err := ridge.NewSummary(ridge.SummaryConfig{
			Dim: g.Cols, Targets: g.Targets, Size: size, Intercept: g.Intercept, Shrink: p.driver(), ShrinkRows: g.Shrink,
			Store: b.store(k),
			Lanes: g.Lanes, LaneRows: g.Deals,
		})
		if err != nil {
			return nil, err
		}
		b.parts = append(b.parts, s)
	}
	if err := b.stream(); err != nil {
		return nil, err
	}
	for _, m := range merges(g.Merging, g.Parts) {
		err := b.change(m[0], func(s *ridge.Summary) error { return s.Merge(b.parts[m[1]]) })
		if err != nil {
			return nil, err
		}
		if err := b.reread(); err != nil {
			return nil, err
		}
	}
	return b.parts[last(g.Merging, g.Parts)], nil
}

// stream appends all blocks.
func (b *builder) stream() error {
	p, next := b.p, 0
	for blocks, lo := 0, 0; lo < p.rows(); blocks++ {
		hi := min(p.end(lo), p.partEnd(lo))
		if next < len(p.betas) {
			hi = min(hi, max(p.decayAt(next), lo))
		}
		if hi > lo {
			block := p.block(lo, hi)
			if err := b.change(p.part(lo), func(s *ridge.Summary) error { return s.AppendBlock(block) }); err != nil {
				return err
			}
			lo = hi
		}
		for next < len(p.betas) && lo == p.decayAt(next) {
			for k := range b.parts {
				if err := b.change(k, func(s *ridge.Summary) error { return s.Decay(p.betas[next]) }); err != nil {
					return err
				}
			}
			next++
		}
		if b.codec > 0 && blocks%b.codec == 0 {
			if err := b.reread(); err != nil {
				return err
			}
		}
	}
	return nil
}

// change does something to part k.
func (b *builder) change(k int, f func(*ridge.Summary) error) error {
	b.done++
	if b.done != b.watch {
		return f(b.parts[k])
	}
	before, err := b.parts[k].MarshalBinary()
	if err != nil {
		return err
	}
	err = f(b.parts[k])
	if err == nil {
		return nil
	}
	after, _ := b.parts[k].MarshalBinary()
	if !bytes.Equal(before, after) {
		return errors.Join(errTrace, err)
	}
	return err
}

// reread writes all parts and reads them back.
func (b *builder) reread() error {
	if b.codec == 0 {
		return nil
	}
	for k, s := range b.parts {
		m, err := s.MarshalBinary()
		if err != nil {
			return err
		}
		var read ridge.Summary
		if err := read.UnmarshalBinary(m); err != nil {
			return errors.Join(errMessage, err)
		}
		if err := same(s, &read); err != nil {
			return err
		}
		b.parts[k] = &read
	}
	return nil
}

// part is where row i goes.
func (p *problem) part(i int) int {
	parts, n := p.g.Parts, p.rows()
	switch p.g.Deal {
	case Contiguous:
		return i * parts / n
	case Lopsided:
		return max(0, i-(n-parts))
	}
	return i / p.g.Block % parts
}

// partEnd is where the rows that follow row lo may go elsewhere.
func (p *problem) partEnd(lo int) int {
	parts, n := p.g.Parts, p.rows()
	switch p.g.Deal {
	case Contiguous:
		return ((p.part(lo)+1)*n + parts - 1) / parts
	case Lopsided:
		return max(lo+1, n-parts+1)
	}
	return n
}

// merges returns pairs of parts. The second part of a pair is merged into the first.
func merges(m Merging, parts int) (pairs [][2]int) {
	switch m {
	case IntoFirst:
		for k := 1; k < parts; k++ {
			pairs = append(pairs, [2]int{0, k})
		}
	case IntoLast:
		for k := parts - 2; k >= 0; k-- {
			pairs = append(pairs, [2]int{parts - 1, k})
		}
	case Chain:
		for k := 1; k < parts; k++ {
			pairs = append(pairs, [2]int{k, k - 1})
		}
	case Tree, BackTree:
		for step := 1; step < parts; step *= 2 {
			for k := 0; k+step < parts; k += 2 * step {
				pair := [2]int{k, k + step}
				if m == BackTree {
					pair = [2]int{parts - 1 - k, parts - 1 - k - step}
				}
				pairs = append(pairs, pair)
			}
		}
	}
	return pairs
}

// last is the part that has taken in all others.
func last(m Merging, parts int) int {
	if m == IntoFirst || m == Tree {
		return 0
	}
	return parts - 1
}

// store returns the storage of a part's sketch.
func (p *problem) store(part int) fd.Storage {
	if k := p.g.Keep; k == ScatterKept || k == BothKept && part%2 == 0 {
		return fd.StoreScatter
	}
	return fd.StoreRows
}

// summarize is a [fdridge.Options.Summarize] with the genome's driver and storage.
func (p *problem) summarize(
	ctx context.Context,
	src dataset.Source,
	cfg ridge.SummaryConfig,
	progress func(int64),
) (*ridge.Summary, error) {
	cfg.Shrink, cfg.Store = p.driver(), p.store(0)
	return ridge.Summarize(ctx, src, cfg, progress)
}

func (p *problem) driver() fd.Driver {
	if p.g.SVD {
		return fd.SVD
	}
	return fd.Gram
}
