package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// packagePrefix matches the name of a Go package at the beginning of an error or of a wrapped error.
var packagePrefix = regexp.MustCompile(
	`(^|: |; |\n)(accum|arrow|batch|cblas|certify|chart|checkpoint|choose|classes|csv|dataset|direct|dist|dual|engine|fd|file|gob|json|krylov|live|` +
		`model|npy|numpy|parquet|plan|prepare|project|purego|randsketch|reason|report|ridge|strconv|svmlight|window|wire|zip): |fdridge: fdridge|Go struct|Go value`,
)

// prefixed collects the messages with names of Go packages that the tests of this package see. TestMain reports them.
var prefixed struct {
	sync.Mutex
	messages []string
}

// checkPrefix keeps a message that has the name of a Go package.
func checkPrefix(args []string, message string) {
	if packagePrefix.MatchString(message) {
		prefixed.Lock()
		defer prefixed.Unlock()
		prefixed.messages = append(prefixed.messages, strings.Join(args, " ")+": "+message)
	}
}

// TestNoPackageNames: the messages about wrong input of every kind have no names of Go packages.
func TestNoPackageNames(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	good, table := write(t, "good.csv", rowsCSV(30)), write(t, "homes.csv", homes(60, homesHeader))
	must(t, "fit", "--data", good, "--target", "y", "--gamma", "1", "--out", in("model"), "--save-sketch", in("sketch"))
	must(t, "fit", "--data", good, "--target", "y", "--gamma", "1,2", "--out", in("two.npz"))
	must(
		t,
		"sketch",
		"--data",
		table,
		"--target",
		"rent",
		"--columns",
		"row",
		"--missing-target",
		"drop",
		"-o",
		in("other"),
	)
	fit := func(args ...string) []string {
		return append([]string{"fit", "--data", good, "--target", "y", "--out", in("m")}, args...)
	}
	data := func(name, text string) []string {
		return []string{"fit", "--target", "last", "--gamma", "1", "--out", in("m"), "--data", write(t, name, text)}
	}
	for _, args := range [][]string{
		fit("--gamma", "0", "--method", "cg"), fit("--gamma", "1", "--weights", table), fit("--gamma", "1", "--rows", "40:50"),
		fit("--gamma", "1", "--size", "0"), fit("--gamma", "1", "--size", "-3"), fit("--gamma", "1", "--lanes", "-1"), fit("--gamma", "auto:0,1"), fit("--cv", "1"), fit("--cv", "31"),
		fit("--features", "poly:0"), fit("--features", "poly:99999"), fit("--features", "rff:0"), fit("--features", "rff:5,gamma=-1"), fit("--features", "rff:99999999999999"),
		fit("--penalty", table), fit("--bands", "x1=-1"), fit("--bands", "none=1"), fit("--unpenalized", "none"), fit("--columns", "none"), fit("--columns", "y"), fit("--holdout", "1"),
		fit("--select", "cv", "--cv", "99"), fit("--per-target", "--gamma", "1,2"), fit("--classes"), fit("--classes", "--select", "accuracy", "--method", "cg"),
		fit("--prepare", good), fit("--prepare", in("model")), fit("--prepare", in("none")), fit("--onehot", "none"), fit("--part", "5/3"),
		fit("--gamma", "1e-300", "--method", "cholesky", "--strict", "--tol", "1e-30"), fit("--checkpoint", in("model"), "--gamma", "1"), fit("--tol", "-1"), fit("--max-passes", "-1"),
		{"fit", "--data", in("none.csv"), "--target", "y"}, {"fit", "--data", dir, "--target", "y"}, {"fit", "--data", in("sketch"), "--target", "y"},
		{"fit", "--data", good, "--target", "none"}, {"fit", "--data", good, "--target", "1,2,3"}, {"fit", "--data", good + "," + table, "--target", "y"},
		data("e.csv", ""), data("h.csv", "a,y\n"), data("one.csv", "a,y\n1,1e200\n1,1\n"), data("l.csv", "a,y\n1e200,1\n1,1\n"), data("q.csv", "a,y\n1,\"2\n"),
		data("n.npy", "\x93NUMPY\x01\x00"), data("n.npz", "PK\x03\x04"), data("p.parquet", "PAR1"), data("a.arrow", "ARROW1"), data("g.csv.gz", "\x1f\x8b"), data("s.svm", "1 1:x\n"),
		{"solve", in("sketch"), "--gamma", "0"}, {"solve", in("sketch"), "--gamma", "1", "--data", table}, {"solve", in("model"), "--gamma", "1"}, {"solve", in("sketch"), "--bands", "x1=1,x2=0"},
		{"solve", good, "--gamma", "1"}, {"solve", in("sketch"), "--gamma", "1", "--cv", "5"}, {"merge", in("sketch"), in("other"), "-o", in("s")}, {"merge", in("sketch"), in("model"), "-o", in("s")},
		{"plan", "--sketch", in("model")}, {"plan", "--sketch", in("sketch"), "--error", "-1"}, {"plan", "--data", good, "--target", "none"}, {"plan", "--data", good, "--target", "y", "--every", "0"},
		{"predict", "--model", in("model"), "--data", table}, {"predict", "--model", in("two.npz"), "--data", good}, {"predict", "--model", in("two.npz"), "--data", good, "--gamma", "7"},
		{"predict", "--model", in("model"), "--data", good, "--interval", in("other")}, {"predict", "--model", in("sketch"), "--data", good}, {"predict", "--model", in("none"), "--data", good},
		{"predict", "--model", in("model"), "--data", write(t, "big.csv", "x1,x2,x3,y\n1e308,1e308,1e308,1\n")}, {"show", in("sketch")}, {"show", good}, {"show", in("two.npz"), "--gamma", "9"},
		{"plot", in("two.npz"), "--out", in("none/p.svg")}, {"plot", in("model"), "--out", in("p.svg")}, {"paper", "--experiment", "none"}, {"doctor", "x"},
		{"sketch", "--data", good, "--target", "y", "-o", in("l"), "--half-life", "-1"}, {"sketch", "--data", good, "--target", "y", "-o", in("l"), "--window", "0"},
		{"sketch", "--data", good, "--target", "y", "-o", in("model"), "--live"},
	} {
		code, _, errs := call(args...)
		if code == done && !strings.Contains(errs, "warning") {
			t.Errorf("%v is accepted", args)
		}
		if packagePrefix.MatchString(errs) {
			t.Errorf("%v: %s", args, errs)
		}
	}
}
