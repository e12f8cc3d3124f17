package batch

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/safefile"
	"github.com/fdridge/fdridge/ridge"
)

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestState: a state that is saved and read has the same header, summary and passes, also where its passes are in the
// file of the state before. One whose lengths do not make up the file is refused.
func TestState(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run")
	file, err := safefile.OpenCheckpoint(name)
	noError(t, err)
	defer file.Close()
	sum, err := ridge.NewSummary(ridge.SummaryConfig{Dim: 2, Size: 1})
	noError(t, err)
	noError(t, sum.AppendBlock(dataset.Block{N: 2, X: []float64{1, 2, 3, 4}, Y: []float64{1, 2}}))
	message, err := sum.MarshalBinary()
	noError(t, err)
	passes := []string{"one", "", "another"}
	made := state{header: header{Version: version, Sketched: true, At: Position{2, 3}}, sum: sum}
	for _, text := range passes {
		made.passes = append(made.passes, io.NewSectionReader(strings.NewReader(text), 0, int64(len(text))))
	}
	noError(t, made.save(file))
	noError(t, made.save(file)) // of what the file holds
	noError(t, made.close())

	read := func() (*state, error) {
		last, err := file.Load()
		noError(t, err)
		s := &state{last: last}
		return s, s.read(nil)
	}
	got, err := read()
	noError(t, err)
	again, err := got.sum.MarshalBinary()
	noError(t, err)
	if !bytes.Equal(again, message) || got.header.At != made.header.At || !got.header.Sketched ||
		len(got.passes) != len(passes) {
		t.Errorf("%+v, %d passes", got.header, len(got.passes))
	}
	for i, p := range got.passes {
		text, err := io.ReadAll(p)
		noError(t, err)
		if string(text) != passes[i] {
			t.Errorf("pass %d is %q", i, text)
		}
	}
	noError(t, got.close())

	for what, c := range map[string]struct {
		change func(h *header)
		length func(n int) int64 // that is said of the header
		tail   string
		want   string
	}{
		"as it was":               {tail: "", want: ""},
		"a byte more":             {tail: "x", want: "its header requires"},
		"a pass that isn't there": {change: func(h *header) { h.Passes = append(h.Passes, 1) }, want: "a pass of 1 bytes"},
		"a pass less":             {change: func(h *header) { h.Passes = h.Passes[:2] }, want: "its header requires"},
		"a negative pass":         {change: func(h *header) { h.Passes[0] = -1 }, want: "a pass of -1 bytes"},
		"passes that wrap": {
			change: func(h *header) { h.Passes[0] = math.MaxInt64 },
			want:   "a pass of 9223372036854775807 bytes",
		},
		"a newer version":   {change: func(h *header) { h.Version = version + 1 }, want: "version"},
		"no version":        {change: func(h *header) { h.Version = -1 }, want: "version"},
		"a long header":     {length: func(n int) int64 { return int64(n) + 1<<20 }, want: "an impossible header"},
		"a negative header": {length: func(int) int64 { return -1 }, want: "an impossible header"},
		"a cut summary":     {change: func(h *header) { h.Summary-- }, want: "ends"},
	} {
		h := header{Version: version, Summary: int64(len(message))}
		for _, text := range passes {
			h.Passes = append(h.Passes, int64(len(text)))
		}
		if c.change != nil {
			c.change(&h)
		}
		text, err := json.Marshal(&h)
		noError(t, err)
		said := int64(len(text))
		if c.length != nil {
			said = c.length(len(text))
		}
		content := append(binary.LittleEndian.AppendUint64(nil, uint64(said)), text...)
		content = append(append(append(content, message...), strings.Join(passes, "")...), c.tail...)
		saved, err := file.Save(int64(len(content)), func(w io.Writer) error {
			_, err := w.Write(content)
			return err
		})
		noError(t, err)
		noError(t, saved.Close())
		s, err := read()
		switch {
		case c.want == "":
			noError(t, err)
		case err == nil || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
		noError(t, s.close())
	}
}

// TestGolden: a checkpoint of version 1 that an older build wrote is read, and written with the same
// bytes.
func TestGolden(t *testing.T) {
	const golden = "testdata/v1.ckpt"
	want, err := os.ReadFile(golden)
	noError(t, err)
	name := filepath.Join(t.TempDir(), "run")
	noError(t, os.WriteFile(name, want, 0o600))
	file, err := safefile.OpenCheckpoint(name)
	noError(t, err)
	defer file.Close()
	last, err := file.Load()
	noError(t, err)
	s := &state{last: last}
	noError(t, s.read(nil))
	h := s.header
	if h.Version != 1 || !h.Sketched || h.At != (Position{3, 20000}) || len(h.Scaling.Mean) != 12 ||
		h.Nonzeros != (nonzeros{All: true, Count: 240000}) ||
		s.sum.Rows() != 20000 ||
		len(s.passes) != 3 {
		t.Errorf("%+v, %d passes", h, len(s.passes))
	}
	noError(t, s.save(file))
	got, err := os.ReadFile(name)
	noError(t, err)
	if !bytes.Equal(got, want) {
		t.Error("written with other bytes")
	}
	noError(t, s.close())
}
