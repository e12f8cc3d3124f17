package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
	"github.com/fdridge/fdridge/ridge"
)

// TestHostileLanes: a forged sketch of a few bytes claims lanes with room for millions of rows. Merging the lanes would
// allocate that room, so the sketch is refused first. A sketch whose lanes have room for a few rows is read.
func TestHostileLanes(t *testing.T) {
	if rss.Available() == 0 {
		t.Skip("the memory of this machine is not known")
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	must(
		t,
		"sketch",
		"--data",
		write(t, "data.csv", rowsCSV(30)),
		"--target",
		"y",
		"--features",
		"poly:3",
		"--size",
		"2",
		"--lanes",
		"3",
		"-o",
		in("a"),
	)
	b, err := os.ReadFile(in("a"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := ridge.ReadSummary(bytes.NewReader(b), nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := sum.Config()
	n := 3 * cfg.LaneRows
	for range 2 { // beyond the rows that were merged, into all lanes
		err := sum.AppendBlock(dataset.Block{N: n, X: make([]float64, n*cfg.Dim), Y: make([]float64, n)})
		if err != nil {
			t.Fatal(err)
		}
	}
	if sum.Joined() {
		t.Fatal("the rows are in one lane")
	}
	b, err = sum.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	must(t, "solve", write(t, "good", string(b)), "--gamma", "1e12")
	const shrinkRows = 40
	for at := 64 + len(sum.Meta); at < len(b)-4; {
		lane := b[at:][:binary.LittleEndian.Uint64(b[at+16:])]
		sketch := lane[len(lane)-4-int(binary.LittleEndian.Uint64(lane[88:])) : len(lane)-4]
		wiretest.Put(sketch, shrinkRows, 1<<21)
		wiretest.Seal(sketch)
		wiretest.Seal(lane)
		at += len(lane)
	}
	forged := write(t, "forged", string(wiretest.Seal(b)))
	const want = "merging 3 lanes, each a sketch of 2097154 rows"
	for _, args := range [][]string{
		{"solve", forged, "--gamma", "1", "--out", in("o")}, {"merge", forged, in("a"), "-o", in("o")},
		{"merge", in("a"), forged, "-o", in("o")}, {"plan", "--sketch", forged},
	} {
		refused(t, args[0], dir, want, args...)
	}
}
