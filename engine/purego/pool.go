package purego

import "sync"

// A pool keeps up to 64 values for reuse. The method get returns the value that was put back last. So only few
// values grow to the size that large calls need.
type pool[T any] struct {
	mu   sync.Mutex
	free []*T
}

func (p *pool[T]) get() *T {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.free) - 1
	if last < 0 {
		return new(T)
	}
	x := p.free[last]
	p.free = p.free[:last]
	return x
}

func (p *pool[T]) put(x *T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free == nil {
		p.free = make([]*T, 0, 64)
	}
	if len(p.free) < cap(p.free) {
		p.free = append(p.free, x)
	}
}
