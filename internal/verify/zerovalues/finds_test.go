package zerovalues

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var errBad = errors.New("bad")

type (
	// Careful refuses what cannot be done.
	Careful struct{ rows []int }
	// Careless does not.
	Careless struct{ rows []int }
)

func (c *Careful) Add(int) error {
	if c.rows == nil {
		return fmt.Errorf("none: %w", errBad)
	}
	return nil
}

func (c *Careful) All() iter.Seq2[int, error] {
	return func(yield func(int, error) bool) { yield(0, c.Add(0)) }
}

func (c *Careful) Err() error { return nil }

func (c Careless) First() int        { return c.rows[0] }
func (c Careless) Sum(with *int) int { return len(c.rows) + *with }
func (c *Careless) Add(int) error    { return nil }
func (c *Careless) All() iter.Seq[int] {
	return func(yield func(int) bool) { yield(c.rows[0]) }
}

// TestFailures: failures finds methods that panic, in iterators, too, and methods that do not refuse a zero value
// though they must. It accepts methods that refuse, that may pass, and that are excepted.
func TestFailures(t *testing.T) {
	p := Package{
		Types:     []any{new(Careful), new(Careless)},
		Arguments: func() []any { return []any{1, new(int)} },
		Refuse:    []any{new(Careful)}, Input: errBad, MayPass: []string{"Err"},
		Except: map[string]string{"Careless.First": "for this test", "Careful.Add": "which does not panic"},
	}
	var got []string
	for _, err := range p.failures() {
		name, _, _ := strings.Cut(err.Error(), " ")
		got = append(got, name)
	}
	slices.Sort(got)
	if want := []string{"Careful.Add", "Careless.All", "Careless.All", "Careless.Sum"}; !slices.Equal(got, want) {
		t.Errorf("found %v, must find %v", got, want)
	}
	p.Refuse, p.Except = p.Types, nil
	if list := fmt.Sprint(p.failures()); !strings.Contains(
		list, "Careless.Add of a zero value: returns the error <nil>; it must be bad",
	) || strings.Contains(list, "Careful.Add") {
		t.Error(list)
	}
	p.Arguments = nil
	if list := fmt.Sprint(p.failures()); !strings.Contains(list, "has no argument of type int") {
		t.Error(list)
	}
}

// TestComplete: a type with exported methods that is not tried is named; tests and types that are not
// exported are none of its concern.
func TestComplete(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go": "package a\ntype T[P any] struct{}\nfunc (t *T[P]) M() {}\ntype U int\nfunc (u U) m() {}\ntype v " +
			"int\nfunc (x v) M() {}\ntype Careful int\nfunc (c Careful) M() {}\n",
		"a_test.go": "package a\ntype W int\nfunc (w W) M() {}\n",
		"notes.txt": "func (n Note) M()",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := Package{Types: []any{new(Careful)}, Dirs: []string{"."}}
	if err := p.complete(dir); err == nil || !strings.Contains(err.Error(), "methods of T are not tested") {
		t.Errorf("of T, U, v, W and Careful: %v", err)
	}
	p.Types = append(p.Types, new(T[int]))
	if err := p.complete(dir); err != nil {
		t.Error(err)
	}
	p.Dirs = append(p.Dirs, "none")
	if err := p.complete(dir); err == nil {
		t.Error("a directory that there is not")
	}
}

// T has the name of the type in TestComplete's file.
type T[P any] struct{}
