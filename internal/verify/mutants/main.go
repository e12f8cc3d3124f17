// Mutants breaks the code on purpose, one small patch at a time, and runs the test
// that is to notice:
//
//	go run ./internal/verify/mutants            # all of them, from the top of the repository
//	go run ./internal/verify/mutants -run merge # those whose name matches a regular expression
//	go run ./internal/verify/mutants -sample 6 -seed 1 # six of them, the same for the same seed
//
// It prints a line for each, killed or SURVIVED, and fails if any survives, or does
// not compile, or no longer applies, or if its test fails without it. The patches are
// in table.go and edges.go. Nothing in the tree is written: the compiler is shown the broken file in
// place of the real one (go help build, -overlay). It takes a few seconds for each.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// limit is how long a test may run; one that hangs has noticed.
const limit = 5 * time.Minute

func main() {
	pattern := flag.String("run", "", "only mutants whose name matches this regular expression")
	sample := flag.Int("sample", 0, "only so many of these mutants, drawn by -seed (default all)")
	seed := flag.Uint64("seed", 1, "which sample is drawn")
	flag.Parse()
	killed, failed, err := run(*pattern, *sample, *seed)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
	fmt.Printf("%d killed, %d not\n", killed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

func run(pattern string, sample int, seed uint64) (killed, failed int, err error) {
	match, err := regexp.Compile(pattern)
	if err != nil {
		return 0, 0, err
	}
	if sample < 0 {
		return 0, 0, fmt.Errorf("-sample: %d", sample)
	}
	root, err := filepath.Abs(".")
	if err != nil {
		return 0, 0, err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	l := lab{root: root, dir: dir, healthy: make(map[string]error)}
	for _, m := range drawn(match, sample, seed) {
		verdict := "killed"
		if err := l.kill(m); err != nil {
			verdict = err.Error()
			failed++
		} else {
			killed++
		}
		fmt.Printf("%-52s %-26s %-32s %s\n", m.name, m.file, m.pkg+" "+m.test, verdict)
	}
	return killed, failed, nil
}

// drawn are the mutants that match, or a sample of so many of them, in the order of the table.
// All samples of one size are equally likely.
func drawn(match *regexp.Regexp, sample int, seed uint64) []mutant {
	var all []mutant
	for _, m := range mutants {
		if match.MatchString(m.name) {
			all = append(all, m)
		}
	}
	if sample == 0 || sample >= len(all) {
		return all
	}
	chosen := rand.New(rand.NewPCG(seed, 0)).Perm(len(all))[:sample]
	slices.Sort(chosen)
	out := make([]mutant, sample)
	for i, k := range chosen {
		out[i] = all[k]
	}
	return out
}

// A lab builds and runs tests.
type lab struct {
	root, dir string
	healthy   map[string]error // whether a test passes on the code as it is
}

var errSurvived = errors.New("SURVIVED")

// kill returns nil if the mutant's test passes without it and fails with it.
func (l *lab) kill(m mutant) error {
	broken, err := m.apply(l.root)
	if err != nil {
		return err
	}
	key := m.pkg + " " + m.test
	if _, ok := l.healthy[key]; !ok {
		l.healthy[key] = l.passes(m, nil)
	}
	if err := l.healthy[key]; err != nil {
		return fmt.Errorf("the test fails without it: %w", err)
	}
	switch err := l.passes(m, broken); {
	case err == nil:
		return errSurvived
	case errors.Is(err, errFails):
		return nil
	default:
		return err
	}
}

var errFails = errors.New("fails")

// passes returns nil, errFails, or why there is no telling. broken, if not nil, takes
// the place of the mutant's file.
func (l *lab) passes(m mutant, broken []byte) error {
	bin := filepath.Join(l.dir, "test")
	args := []string{"test", "-c", "-vet=off", "-o", bin}
	if broken != nil {
		overlay, err := l.overlay(m.file, broken)
		if err != nil {
			return err
		}
		args = append(args, "-overlay", overlay)
	}
	build := exec.Command("go", append(args, "./"+m.pkg)...)
	build.Dir = l.root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("does not compile: %s", out)
	}
	defer os.Remove(bin)

	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	test := exec.CommandContext(ctx, bin, append(rapidFlags(bin), "-test.run", m.test, "-test.failfast", "-test.v")...)
	test.Dir = filepath.Join(l.root, m.pkg)
	out, err := test.CombinedOutput()
	switch {
	case strings.Contains(string(out), "no tests to run"):
		return errors.New("there is no such test")
	case err != nil:
		return errFails
	}
	return nil
}

// rapidFlags make property tests draw the same cases every time and write no file where
// they fail. A test binary without such tests doesn't know them.
func rapidFlags(bin string) []string {
	// It ends with status 2 after printing its flags.
	usage, _ := exec.Command(bin, "-help").CombinedOutput()
	if !strings.Contains(string(usage), "-rapid.nofailfile") {
		return nil
	}
	return []string{"-rapid.nofailfile", "-rapid.seed=1"}
}

// overlay writes broken and the file that puts it in place of file.
func (l *lab) overlay(file string, broken []byte) (string, error) {
	source, list := filepath.Join(l.dir, "broken.go"), filepath.Join(l.dir, "overlay.json")
	if err := os.WriteFile(source, broken, 0o600); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(l.root, file): source}})
	if err != nil {
		return "", err
	}
	return list, os.WriteFile(list, text, 0o600)
}

// apply returns the mutant's file with the patch made.
func (m mutant) apply(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return nil, fmt.Errorf("no longer applies: %q is in %s %d times, not once", m.old, m.file, n)
	}
	return []byte(strings.Replace(string(text), m.old, m.new, 1)), nil
}
