package columns

import (
	"strings"
	"testing"
)

// TestNear: the name that was meant is found by its letters, and none is guessed at.
func TestNear(t *testing.T) {
	names := []string{"id", "price", "temp_1", "temp_2", "temp_11", "sale price", "Größe", "", "x1", "x2"}
	for name, want := range map[string]string{
		"Price": "price", "PRICE": "price", "prize": "price", "prcie": "price", "pric": "price", "cost": "", "pr": "",
		"temp11": "temp_11", "temp_3": "", "temp_111": "temp_11", "Sale_Price": "sale price", "größe": "Größe", "grösse": "", "groesse": "",
		"ID": "id", "X1": "x1", "x3": "", "": "", "y": "", strings.Repeat("price", 20): "",
	} {
		if got := mostSimilar(names, name); got != want {
			t.Errorf("%q is taken for %q, want %q", name, got, want)
		}
	}
	if got := mostSimilar([]string{"Price", "price"}, "PRICE"); got != "" {
		t.Errorf("of two that are as near %q is taken", got)
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"ab", "", 2}, {"", "ab", 2}, {"ab", "ba", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}, {"abcdef", "abdcef", 1}} {
		if got := new(distance).of([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("%q and %q are %d apart, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestNearOfMany: of very many columns the near one is told, and the message is short.
func TestNearOfMany(t *testing.T) {
	names := Numbers(300000)
	for i := range names {
		names[i] = "a column " + names[i]
	}
	names[250000] = "price"
	_, err := Choose(names, true, []string{"Price"}, nil)
	if err == nil || !strings.HasSuffix(err.Error(), `there is no column "Price"; did you mean "price"? the 300000 columns are `+strings.Join(names[:12], ", ")+", …") {
		t.Errorf("%v", err)
	}
	_, err = Choose(names, true, []string{"a column 1234567"}, nil)
	if err == nil || strings.Contains(err.Error(), "mean") {
		t.Errorf("%v", err)
	}
}

// BenchmarkNear is the message for a name that is none of very many.
func BenchmarkNear(b *testing.B) {
	names := Numbers(300000)
	for b.Loop() {
		if _, err := Choose(names, true, []string{"a column"}, nil); err == nil {
			b.Fatal("it is found")
		}
	}
}
