package table

import (
	"math/rand/v2"
	"testing"
)

// TestPartSets: what is there and what is missing of parts, whatever the order they are joined in,
// and what no merge comes to.
func TestPartSets(t *testing.T) {
	const n = 40
	rng := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		var have []span
		there := map[int64]bool{}
		for _, i := range rng.Perm(n)[:1+rng.IntN(n)] {
			i := int64(i)
			joined, twice := joinSpans(have, []span{{i, i}})
			if twice >= 0 {
				t.Fatalf("%d is not in %v", i, have)
			}
			if _, twice := joinSpans(joined, []span{{i, i}}); twice != i {
				t.Fatalf("%d is in %v", i, joined)
			}
			have, there[i] = joined, true
		}
		p := Parts{"", n, have}
		if err := p.Check(); err != nil {
			t.Fatalf("%v: %v", have, err)
		}
		for _, s := range p.Missing() {
			for i := s[0]; i <= s[1]; i++ {
				if there[i] {
					t.Fatalf("%v misses %d, of %v", have, i, there)
				}
				there[i] = true
			}
		}
		if len(there) != n || p.IsComplete() != (len(p.Missing()) == 0) {
			t.Fatalf("%v: %d are neither there nor missing", have, n-len(there))
		}
	}
	for _, p := range []Parts{{}, {Of: 4}, {Of: 4, Have: []span{{0, 4}}}, {Of: 4, Have: []span{{-1, 2}}}, {Of: 4, Have: []span{{2, 1}}}, {Of: 4, Have: []span{{0, 1}, {1, 2}}}, {Of: 4, Have: []span{{0, 1}, {2, 3}}}, {Of: 4, Have: []span{{2, 3}, {0, 0}}}, {Of: 1 << 40, Have: []span{{0, 1}}}} {
		if p.Check() == nil {
			t.Errorf("%v is let pass", p)
		}
	}
}

// TestPartsOfOlderVersion: parts whose digests cannot be compared are not joined, unless one of them is all rows.
func TestPartsOfOlderVersion(t *testing.T) {
	old := []Parts{{"0123456789abcdef0123456789abcdef", 3, []span{{0, 1}}}}
	whole := []Parts{{"0123456789abcdef0123456789abcdef", 3, []span{{0, 2}}}}
	now := []Parts{{digestPrefix + "0123456789abcdef0123456789abcdef", 3, []span{{2, 2}}}}
	for _, c := range []struct {
		a, b []Parts
		want int // number of divisions; 0: an error
	}{{old, now, 0}, {now, old, 0}, {whole, now, 2}, {now, whole, 2}, {nil, old, 1}, {old, nil, 1}} {
		joined, err := JoinParts(c.a, c.b)
		if (err != nil) != (c.want == 0) || len(joined) != c.want {
			t.Errorf("%v and %v: %v, %v", c.a, c.b, joined, err)
		}
	}
}
