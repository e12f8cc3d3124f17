package arrow

import (
	"fmt"
	"sync"
)

// An allocator lends buffers for record batches and reuses the buffers that were given back.
type allocator struct {
	mu    sync.Mutex
	used  int
	freed [][]byte
	kept  int // bytes of freed
}

// maxMemory limits the total size of the buffers in use. They hold one record batch, both compressed and
// decompressed, and part of the next record batch.
const maxMemory = 2*maxBody - 1 // fits in 32 bits

// Buffers that were given back are kept for reuse. These are the limits on their number and on their total size.
const (
	maxFreed      = 8
	maxFreedBytes = 256 << 20
)

// take returns a buffer of size bytes. It returns an error if the buffers in use would exceed maxMemory.
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
