package parquet

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestPooled: what is allocated is long enough and not much longer, keeps what was
// written to it while it lives, and grows with its contents.
func TestPooled(t *testing.T) {
	for size := 1; size < 1<<20; size += 1 + size/7 {
		_, rounded := class(size)
		if same, again := class(rounded); rounded < size || rounded > max(64, size+size/8+8) || again != rounded || same == nil {
			t.Errorf("%d bytes are of a class of %d, which is of one of %d", size, rounded, again)
		}
	}
	if pool, rounded := class(1 << (bits.UintSize - 2)); pool == nil || rounded != 1<<(bits.UintSize-2) {
		t.Errorf("the largest class has %d bytes", rounded)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var p pooled
	type block struct {
		b    []byte
		mark byte
	}
	var live []block
	for i := range 20000 {
		switch k := r.IntN(3); {
		case k == 0 || len(live) < 10:
			b := p.Allocate(1 + r.IntN(3000))
			for j := range b {
				b[j] = byte(i)
			}
			live = append(live, block{b, byte(i)})
		case k == 1:
			at := &live[r.IntN(len(live))]
			was := len(at.b)
			at.b = p.Reallocate(was+r.IntN(1000), at.b)
			for j := was; j < len(at.b); j++ {
				at.b[j] = at.mark
			}
		default:
			at := r.IntN(len(live))
			for j, v := range live[at].b {
				if v != live[at].mark {
					t.Fatalf("byte %d of %d is %d, was %d", j, len(live[at].b), v, live[at].mark)
				}
			}
			p.Free(live[at].b)
			live[at] = live[len(live)-1]
			live = live[:len(live)-1]
		}
	}
}
