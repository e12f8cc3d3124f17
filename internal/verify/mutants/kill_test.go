// Package mutants has a test that breaks the code on purpose, one small patch at a time, and runs the test that must
// notice it:
//
//	go test ./internal/verify/mutants -sample 0 -timeout 0                         # all of them
//	go test ./internal/verify/mutants -sample 0 -run 'TestKilled/merge'            # some of them, by name
//	go test ./internal/verify/mutants -sample 6 -seed 1 -run TestKilled            # six of them, the same for the same seed
//
// A mutant survives if its test passes. It is an error, too, if a mutant does not compile or no longer applies, or
// if its test fails without the patch. The patches are in mutants.txt. The test does not change the tree: the
// compiler reads the broken file instead of the original (go help build, -overlay). Each mutant takes a few seconds.
package mutants

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
	"slices"
	"strings"
	"testing"
	"time"
)

// limit is the longest time of a test. A test that hangs has noticed the patch.
const limit = 5 * time.Minute

var (
	sample = flag.Int("sample", -1, "number of mutants to try, drawn by -seed; 0: all (default none)")
	seed   = flag.Uint64("seed", 1, "which sample is drawn")
)

// TestKilled tries a sample of the mutants.
func TestKilled(t *testing.T) {
	if *sample < 0 {
		t.Skip("-sample asks for no mutants")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	l := lab{root: root, dir: t.TempDir(), healthy: make(map[string]error)}
	for _, m := range drawn(parsed(t), *sample, *seed) {
		t.Run(m.name, func(t *testing.T) {
			if err := l.kill(m); err != nil {
				t.Errorf("%s, %s %s: %v", m.file, m.pkg, m.test, err)
			}
		})
	}
}

// drawn returns a random sample of mutants in the order of the table, or all if size is 0.
func drawn(mutants []mutant, size int, seed uint64) []mutant {
	if size == 0 || size >= len(mutants) {
		return mutants
	}
	chosen := rand.New(rand.NewPCG(seed, 0)).Perm(len(mutants))[:size]
	slices.Sort(chosen)
	out := make([]mutant, size)
	for i, k := range chosen {
		out[i] = mutants[k]
	}
	return out
}

// A lab builds and runs the tests of mutants.
type lab struct {
	root, dir string
	healthy   map[string]error // results of tests of the original code: nil if the test passes
}

var errSurvived = errors.New("SURVIVED")

// kill returns nil if the test passes on the original code and fails on the mutant.
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

// passes runs the mutant's test. It returns nil if the test passes, errFails if it fails, and another error
// if it cannot be run. broken, if not nil, replaces the contents of the mutant's file.
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

// rapidFlags returns flags for a test binary with property tests: they draw the same cases each time, and
// write no file if they fail. Other test binaries do not have these flags.
func rapidFlags(bin string) []string {
	// It ends with status 2 after printing its flags.
	usage, _ := exec.Command(bin, "-help").CombinedOutput()
	if !strings.Contains(string(usage), "-rapid.nofailfile") {
		return nil
	}
	return []string{"-rapid.nofailfile", "-rapid.seed=1", "-rapid.checks=100"}
}

// overlay writes two files: broken, and a list that makes the compiler use it instead of file. It returns the
// name of the list.
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

// apply returns the contents of the mutant's file with the patch applied.
func (m mutant) apply(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return nil, fmt.Errorf("no longer applies: %q occurs in %s %d times, not once", m.old, m.file, n)
	}
	return []byte(strings.Replace(string(text), m.old, m.new, 1)), nil
}
