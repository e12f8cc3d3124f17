package arrow

import (
	"fmt"
	"sync"
)

// room is the memory of batches: no more than a limit at a time. What is given back is kept for
// the next batch, which is as large as a rule.
type room struct {
	mu   sync.Mutex
	used int
	free [][]byte
	kept int // bytes of free
}

// mostRoom is as much as a batch takes, compressed and not, and half of one whose rows are still in
// use.
const mostRoom = 2*mostBody - 1 // which 32 bits hold

// keptBuffers and keptBytes bound what is kept for the next batch.
const (
	keptBuffers = 8
	keptBytes   = 256 << 20
)

// take returns memory of size bytes.
func (r *room) take(size int) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if size < 0 || size > mostRoom-r.used {
		return nil, fmt.Errorf("a record batch takes more than %d MiB; write smaller ones", mostBody>>20)
	}
	best := -1
	for i, b := range r.free {
		if cap(b) >= size && cap(b)/2 <= size && (best < 0 || cap(b) < cap(r.free[best])) {
			best = i
		}
	}
	var b []byte
	if best >= 0 {
		b = r.free[best]
		r.free = append(r.free[:best], r.free[best+1:]...)
		r.kept -= cap(b)
	} else {
		b = make([]byte, size, (size+63)/64*64)
	}
	r.used += cap(b)
	return b[:size], nil
}

// Allocate is that of memory.Allocator. It panics where there is too little room; the library makes
// an error of that.
func (r *room) Allocate(size int) []byte {
	b, err := r.take(size)
	if err != nil {
		panic(err)
	}
	return b
}

// Reallocate is that of memory.Allocator.
func (r *room) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	out := r.Allocate(size)
	copy(out, b)
	r.Free(b)
	return out
}

// Free is that of memory.Allocator.
func (r *room) Free(b []byte) {
	if cap(b) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= cap(b)
	r.free, r.kept = append(r.free, b[:cap(b)]), r.kept+cap(b)
	for len(r.free) > keptBuffers || r.kept > keptBytes && len(r.free) > 1 {
		r.kept -= cap(r.free[0])
		r.free = append(r.free[:0], r.free[1:]...)
	}
}
