package arrow

import (
	"fmt"
	"sync"
)

// An allocator lends memory for record batches, and reuses freed buffers.
type allocator struct {
	mu    sync.Mutex
	used  int
	freed [][]byte
	kept  int // bytes of freed
}

// maxMemory limits the total memory of the buffers in use. They hold a batch, both compressed and decompressed, and
// part of the next batch.
const maxMemory = 2*maxBody - 1 // fits in 32 bits

// Limits on the freed buffers that are kept for reuse.
const (
	maxFreed      = 8
	maxFreedBytes = 256 << 20
)

// take returns a buffer, unless more than maxMemory would be used.
func (r *allocator) take(size int) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if size < 0 || size > maxMemory-r.used {
		return nil, fmt.Errorf("a record batch takes more than %d MiB; write smaller ones", maxBody>>20)
	}
	best := -1
	for i, b := range r.freed {
		if cap(b) >= size &&
			cap(b)/2 <= size &&
			(best < 0 || cap(b) < cap(r.freed[best])) {
			best = i
		}
	}
	var b []byte
	if best >= 0 {
		b = r.freed[best]
		r.freed = append(r.freed[:best], r.freed[best+1:]...)
		r.kept -= cap(b)
	} else {
		b = make([]byte, size, (size+63)/64*64)
	}
	r.used += cap(b)
	return b[:size], nil
}

// free gives back a buffer that take returned.
func (r *allocator) free(b []byte) {
	if cap(b) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= cap(b)
	r.freed = append(r.freed, b[:cap(b)])
	r.kept += cap(b)
	for len(r.freed) > maxFreed || r.kept > maxFreedBytes && len(r.freed) > 1 {
		r.kept -= cap(r.freed[0])
		r.freed = append(r.freed[:0], r.freed[1:]...)
	}
}
