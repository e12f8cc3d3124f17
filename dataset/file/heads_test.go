package file_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
)

// TestHeadsKeep checks that calls with the same Heads read the beginning of a file once: the later calls succeed
// without the file.
func TestHeadsKeep(t *testing.T) {
	for name, text := range map[string]string{
		"rows.csv":   "a;b;c\n1,5;2;3\n4;5;6\n7;8;9,5\n",
		"rows.jsonl": "{\"a\":1,\"b\":2,\"c\":3}\n{\"a\":4,\"b\":5,\"c\":6}\n",
	} {
		path := aged(t, name, text)
		opts := file.Options{Target: []string{"c"}, Targets: 1, Origin: file.Origin{Heads: new(file.Heads)}}
		opened, err := file.Open([]string{path}, opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		want := []string{"a", "b", "c"}
		for _, target := range []string{"c", "a", "last"} {
			opts.Target = []string{target}
			if names, err := file.Columns(path, opts); err != nil || !slices.Equal(names, want) {
				t.Errorf("%s: columns %q, %v; want %q", name, names, err, want)
			}
			if where, err := file.OwnTarget(path, opts); err != nil || where != "" {
				t.Errorf("%s: the target %s is in %q, %v", name, target, where, err)
			}
		}
		if _, err := file.Columns(path, file.Options{}); err == nil {
			t.Errorf("%s: columns of a file that is absent, without Heads", name)
		}
		if !slices.Equal(opened.Names, want[:2]) {
			t.Errorf("%s: features %q", name, opened.Names)
		}
	}
}

// TestHeadsAskOptions checks that options which change the reading of the first lines are not answered by what other
// options found.
func TestHeadsAskOptions(t *testing.T) {
	path := aged(t, "rows.csv", "a;b,1;c\n1;2;3\n4;5;6\n")
	heads := new(file.Heads)
	for _, c := range []struct {
		opts file.Options
		want []string
	}{
		{file.Options{}, []string{"a", "b,1", "c"}},
		{file.Options{Delimiter: ','}, nil},
		{file.Options{Header: 2}, nil},
		{file.Options{}, []string{"a", "b,1", "c"}},
	} {
		alone, errAlone := file.Columns(path, c.opts)
		c.opts.Heads = heads
		names, err := file.Columns(path, c.opts)
		if (err == nil) != (errAlone == nil) || !slices.Equal(names, alone) || c.want != nil && !slices.Equal(names, c.want) {
			t.Errorf("%+v: columns %q, %v; want %q, %v", c.opts, names, err, alone, errAlone)
		}
	}
	// The names that options select decide whether a first line is a header, and Heads must not mix them up.
	words := aged(t, "words.csv", "a,b\nc,d\ne,f\n")
	for _, target := range []string{"x", "b", "x"} {
		opts := file.Options{Target: []string{target}, Header: 0}
		alone, _ := file.Columns(words, opts)
		opts.Heads = heads
		names, err := file.Columns(words, opts)
		if err != nil || !slices.Equal(names, alone) {
			t.Errorf("target %s: columns %q, %v; want %q", target, names, err, alone)
		}
	}
}

// TestHeadsChanged checks that a file that changes after a look fails at the pass over its rows.
func TestHeadsChanged(t *testing.T) {
	for name, text := range map[string]string{
		"rows.csv":   "a,b\n1,2\n3,4\n",
		"rows.jsonl": "{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":4}\n",
	} {
		path := aged(t, name, text)
		opts := file.Options{Target: []string{"b"}, Targets: 1, Origin: file.Origin{Heads: new(file.Heads)}}
		if _, err := file.Columns(path, opts); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+text[len(text)-4:]), 0o600); err != nil {
			t.Fatal(err)
		}
		opened, err := file.Open([]string{path}, opts)
		if err == nil {
			for _, bad := range opened.Blocks(context.Background()) {
				err = bad
			}
		}
		if _, ok := errors.AsType[*dataset.ChangedError](err); !ok {
			t.Errorf("%s: %v, want a ChangedError", name, err)
		}
	}
}

// TestCountCancelled checks that Open stops counting rows when its context is cancelled.
func TestCountCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, text := range map[string]string{
		"rows.csv":   "1,2\n3,4\n5,6\n",
		"rows.jsonl": "{\"a\":1}\n{\"a\":3}\n{\"a\":5}\n",
	} {
		path, y := aged(t, name, text), aged(t, "y.csv", "1\n2\n3\n")
		opts := file.Options{Target: []string{y}, Targets: 1, Share: dataset.Share{Rank: 1, Size: 2}}
		if _, err := file.Open([]string{path}, opts); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		opts.Context = ctx
		if _, err := file.Open([]string{path}, opts); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want that the count is cancelled", name, err)
		}
	}
}
