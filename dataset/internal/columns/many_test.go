package columns

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// quickly requires one of three calls to take less than ten seconds. A busy machine may delay some of them.
func quickly(t *testing.T, choose func() (Choice, error)) Choice {
	t.Helper()
	for range 3 {
		begin := time.Now()
		c, err := choose()
		if err != nil {
			t.Fatal(err)
		}
		if time.Since(begin) <= 10*time.Second {
			return c
		}
	}
	t.Fatal("three calls take more than ten seconds each")
	panic("Fatal returned")
}

// TestChooseMany: Choose handles 100000 columns in time that does not grow with the square of their number. It finds
// them in reverse order, or all except a few. Errors are the same for a few specs, which are searched, and for many,
// which use an index.
func TestChooseMany(t *testing.T) {
	const n = 100000
	names := make([]string, n)
	for i, s := range Numbers(n) {
		names[i] = "column" + s
	}
	reversed := slices.Clone(names[1:])
	slices.Reverse(reversed)
	c := quickly(t, func() (Choice, error) { return Choose(names, true, names[:1], reversed) })
	if c.Features != n-1 || c.Targets != 1 || c.To[0] != n-1 || c.To[1] != n-2 || c.To[n-1] != 0 {
		t.Errorf("%d features, %d targets; to %v…", c.Features, c.Targets, c.To[:3])
	}
	var left []string
	for _, s := range names[10:] {
		left = append(left, "-"+s)
	}
	c = quickly(t, func() (Choice, error) { return Choose(names, true, nil, left) })
	if c.Features != 10 || c.To[9] != 9 || c.To[10] != -1 {
		t.Errorf("%d features", c.Features)
	}
	for _, more := range []int{0, 40} { // looked through, or by an index
		specs := slices.Clone(names[100 : 100+more])
		twins := append(slices.Clone(names[:200]), "twin", "a", "twin", "-b", "twin", "7")
		for _, c := range []struct {
			spec []string
			want string
		}{
			{[]string{"twin"}, `more than one column is called "twin"`},
			{[]string{"a", "a"}, `column "a" is named twice`},
			{[]string{"a", "202"}, `column "202" is named twice`},
			{[]string{"nobody"}, `there is no column "nobody"`},
			{[]string{"-b", "-a"}, "or none does, unlike in"},
			{[]string{"-b", "a", "7", "last"}, `column "last" is named twice`},
			{[]string{"-b", "a", "7", "first"}, ""},
		} {
			choice, err := Choose(twins, true, nil, append(slices.Clone(specs), c.spec...))
			if c.want == "" {
				if err != nil || choice.Features != more+4 || choice.To[203] != more || choice.To[205] != more+2 ||
					choice.To[0] != more+3 {
					t.Errorf("%d and %q: %d features, %v", more, c.spec, choice.Features, err)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d and %q: %v", more, c.spec, err)
			}
		}
	}
}
