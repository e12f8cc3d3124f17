package main

import (
	"archive/zip"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/sbinet/npyio"
	"gonum.org/v1/gonum/mat"
)

// archive writes a .npz file as np.savez does, a target beside its features.
func archive(t *testing.T, features, target string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.npz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	x, y := mat.NewDense(40, 2, nil), make([]float64, 40)
	for i := range y {
		x.SetRow(i, []float64{float64(i % 7), float64(i % 5)})
		y[i] = 13 + x.At(i, 0) - 3*x.At(i, 1)
	}
	for name, v := range map[string]any{features: x, target: y} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if err := npyio.Write(w, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestArchive: which array of a .npz archive is X and which is y.
func TestArchive(t *testing.T) {
	fit := func(args ...string) map[string]any {
		v := reported(t, append([]string{"fit", "--gamma", "0.1", "--method", "exact"}, args...)...)
		if v["n"] != 40.0 || v["d"] != 2.0 {
			t.Errorf("%v: %v rows of %v", args, v["n"], v["d"])
		}
		return v
	}
	want := fit("--data", archive(t, "X", "y"), "--target", "y")["objective"]
	for _, args := range [][]string{
		{"--data", archive(t, "x", "b"), "--target", "b"},
		{"--data", archive(t, "rows", "labels") + ":rows", "--target", "labels"},
		{"--data", archive(t, "rows", "labels") + ":rows", "--target", archive(t, "rows", "labels") + ":labels"},
	} {
		if got := fit(args...)["objective"]; !reflect.DeepEqual(got, want) {
			t.Errorf("%v: objective %v, want %v", args, got, want)
		}
	}
	// Weights are the same array by its own name, by the archive's too, and from another.
	weighted := archive(t, "X", "y")
	want = fit("--data", weighted, "--target", "y", "--weights", "y")["objective"]
	for _, name := range []string{weighted + ":y", archive(t, "x", "w") + ":w"} {
		got := fit("--data", weighted, "--target", "y", "--weights", name)["objective"]
		if !reflect.DeepEqual(got, want) {
			t.Errorf("weights %s: objective %v, want %v", name, got, want)
		}
	}
	// Of several archives each has its own.
	twice := reported(
		t,
		"fit",
		"--gamma",
		"0.2",
		"--method",
		"exact",
		"--data",
		weighted+","+weighted,
		"--target",
		"y",
		"--weights",
		"y",
	)
	got, once := twice["objective"].([]any)[0].([]any)[0].(float64), want.([]any)[0].([]any)[0].(float64)
	if twice["n"] != 80.0 || !(math.Abs(got-2*once) <= 1e-9*once) {
		t.Errorf("two archives: %v rows, objective %v, want twice %v", twice["n"], got, once)
	}
	t.Chdir(filepath.Dir(weighted))
	if got := fit("--data", "rows.npz", "--target", "y", "--weights", "rows.npz:y")["objective"]; !reflect.DeepEqual(got, want) {
		t.Errorf("weights of a file here: objective %v, want %v", got, want)
	}
	// A file of their own, of any name; what is a column or an array is no file.
	if err := os.Rename(archive(t, "x", "w"), "w.zip"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("y", []byte("no weights"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"w.zip:w", "y"} {
		got := fit("--data", "rows.npz", "--target", "y", "--weights", name)["objective"]
		if !reflect.DeepEqual(got, want) {
			t.Errorf("weights %s: objective %v, want %v", name, got, want)
		}
	}
	for _, args := range [][]string{
		{"--data", archive(t, "rows", "labels"), "--target", "labels"}, {"--data", archive(t, "X", "y"), "--target", "z"},
		{"--data", "rows.npz", "--target", "y", "--weights", "no-rows.npz"}, {"--data", "rows.npz," + archive(t, "X", "z"), "--target", "y", "--weights", "y"},
	} {
		code, _, errs := call(append([]string{"fit", "--gamma", "1"}, args...)...)
		if code != usage || !strings.Contains(errs, "rows.npz") {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
}
