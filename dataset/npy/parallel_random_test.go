package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// TestRandomParallel reads random arrays on one core and on several. Blocks and errors must be equal, bit for bit.
// FDRIDGE_THOROUGH reads 1000 arrays instead of 200.
func TestRandomParallel(t *testing.T) {
	files := 60
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		files = 1000
	}
	dir, names := t.TempDir(), slices.Sorted(maps.Keys(kinds))
	parallel, failed := 0, 0
	for seed := range files {
		rng := rand.New(rand.NewPCG(uint64(seed), 37))
		name, order := names[rng.IntN(len(names))], "<>"[rng.IntN(2)]
		size, n, cols := kinds[name].size, 1+rng.IntN(4000), 1+rng.IntN(150)
		dict := fmt.Sprintf("{'descr': '%c%s', 'fortran_order': False, 'shape': (%d, %d), }\n", order, name, n, cols)
		file := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(dict)))
		file = append(file, dict...)
		start := len(file)
		file = append(file, entries(rng, name, order == '>', n*cols)...)
		for range max(0, rng.IntN(6)-2) { // an entry that is not finite, or an integer beyond 2⁵³
			b := file[start+rng.IntN(n*cols)*size:][:size]
			copy(b, bytes.Repeat([]byte{0xff}, size))
			b[top(order == '>', size)] = 0x7f
		}
		opts := Options{Targets: [][]string{nil, {"last"}, {"first"}}[rng.IntN(3)]}
		if cols == 1 {
			opts.Targets = nil
		}
		path, open := filepath.Join(dir, "x.npy"), Open
		if rng.IntN(2) == 0 {
			var archive bytes.Buffer
			z := zip.NewWriter(&archive)
			w, err := z.CreateHeader(&zip.FileHeader{Name: "x.npy", Method: zip.Store})
			if err == nil {
				_, err = w.Write(file)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			file, path = archive.Bytes(), filepath.Join(dir, "x.npz")
			open = func(name string, opts Options) (*dataset.Stream, error) { return OpenMember(name, "x", opts) }
		}
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := open(path, opts)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		s.BlockRows = 1 + rng.IntN(2*n)
		if min(s.BlockRows, n)*cols*size >= 2*chunkBytes {
			parallel++
		}
		want, wantErr := blockBits(t, s, 1)
		got, err := blockBits(t, s, 2+rng.IntN(9))
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("seed %d: error %v, on one core %v", seed, err, wantErr)
		}
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: the blocks differ from those that one core reads", seed)
		}
		if wantErr != nil {
			failed++
		}
	}
	if parallel < files/20 || failed < files/10 || failed > files*9/10 {
		t.Errorf("of %d arrays, %d were read in parts, and %d had errors", files, parallel, failed)
	}
}

// top returns the index of the most significant byte of an entry.
func top(big bool, size int) int {
	if big {
		return 0
	}
	return size - 1
}

// entries returns n random entries that float64 can represent.
func entries(rng *rand.Rand, name string, big bool, n int) []byte {
	size := kinds[name].size
	out := make([]byte, 0, n*size+8)
	for len(out) < n*size {
		out = binary.LittleEndian.AppendUint64(out, rng.Uint64())
	}
	for i := range n {
		b := out[i*size : (i+1)*size]
		switch at := top(big, size); {
		case name[0] == 'f':
			b[at] = 0x3b
		case size == 8:
			clear(b[min(at, 6):][:2]) // the two most significant bytes
		}
	}
	return out[:n*size]
}

// blockBits reads all blocks on the given number of cores. It returns their positions and the bits of their numbers.
func blockBits(t *testing.T, s *dataset.Stream, cores int) (out []uint64, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	for b, err := range s.Blocks(t.Context()) {
		if err != nil {
			return out, err
		}
		out = append(out, uint64(b.First), uint64(b.N))
		for _, v := range append(b.X[:len(b.X):len(b.X)], b.Y...) {
			out = append(out, math.Float64bits(v))
		}
	}
	return out, nil
}
