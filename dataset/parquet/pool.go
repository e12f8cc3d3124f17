package parquet

import (
	"math/bits"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// pooled is the memory of pages. The library takes new memory, and clears it, for
// the first page of every column of every row group; where these are many and small
// that takes longer than reading them. What it gives back is kept here for the next
// one, of this pass or another, until the garbage collector wants it.
type pooled struct{}

var pages [bits.UintSize][8]sync.Pool // of *[]byte, by their size

// class is the least size of pages that holds size bytes: an eighth of a power of
// two, so that little is wasted.
func class(size int) (pool *sync.Pool, rounded int) {
	if size < 64 {
		size = 64
	}
	exp := bits.Len(uint(size-1)) - 1 // 2^exp < size ≤ 2^(exp+1)
	step := 1 << (exp - 3)
	k := (size - 1 - 1<<exp) / step
	return &pages[exp][k], 1<<exp + (k+1)*step
}

func (pooled) Allocate(size int) []byte {
	pool, rounded := class(size)
	if b, ok := pool.Get().(*[]byte); ok {
		return (*b)[:size]
	}
	return memory.DefaultAllocator.Allocate(rounded)[:size]
}

func (p pooled) Reallocate(size int, b []byte) []byte {
	if cap(b) >= size {
		return b[:size]
	}
	out := p.Allocate(size)
	copy(out, b)
	p.Free(b)
	return out
}

func (pooled) Free(b []byte) {
	if pool, rounded := class(cap(b)); rounded == cap(b) {
		b = b[:rounded]
		pool.Put(&b)
	}
}
