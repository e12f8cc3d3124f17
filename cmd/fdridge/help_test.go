package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// allCommands returns the commands below a root, as run makes them.
func allCommands() []*cobra.Command { return newRoot(byMPI).Commands() }

// TestHelp: --help has one line of at most 100 columns for each flag, and no line is longer.
func TestHelp(t *testing.T) {
	for _, c := range allCommands() {
		help := must(t, c.Name(), "--help")
		for line := range strings.Lines(help) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > helpWidth {
				t.Errorf("%s --help: %d columns: %s", c.Name(), n, line)
			}
		}
		flags := regexp.MustCompile(`(?m)^  (?:-\w, )?--([\w-]+) `).FindAllStringSubmatch(help, -1)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			of := func(m []string) bool { return m[1] == f.Name }
			if i := slices.IndexFunc(flags, of); i < 0 || slices.ContainsFunc(flags[i+1:], of) {
				t.Errorf("%s --help does not have one line for --%s", c.Name(), f.Name)
			}
		})
	}
	if help := must(t, "--help"); !strings.Contains(help, "\n  fit ") {
		t.Error(help)
	}
}

// TestFlagGroups: each flag is listed once, and each entry names a flag of a command.
func TestFlagGroups(t *testing.T) {
	entries := map[string]int{}
	for _, g := range flagGroups {
		for _, entry := range strings.Fields(g.flags) {
			name, _, _ := strings.Cut(entry, "=")
			entries[name]++
		}
	}
	used := map[string]bool{"help": true, "version": true}
	for _, c := range allCommands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			place, ok := listFlag(c.Name(), f.Name)
			if !ok {
				t.Errorf("%s --%s is in no group", c.Name(), f.Name)
			}
			if isSwitch := f.Value.Type() == "bool"; isSwitch != (place.value == "") {
				t.Errorf("%s --%s: value %q", c.Name(), f.Name, place.value)
			}
			if own := c.Name() + ":" + f.Name; entries[own] > 0 {
				used[own] = true
			} else {
				used[f.Name] = true
			}
		})
	}
	for name, n := range entries {
		if n != 1 || !used[name] {
			t.Errorf("%s is listed %d times; used: %v", name, n, used[name])
		}
	}
}

// completions returns the words that a shell is offered for the last argument.
func completions(t *testing.T, args ...string) []string {
	t.Helper()
	var words []string
	for line := range strings.Lines(must(t, append([]string{"__completeNoDesc"}, args...)...)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, ":") {
			words = append(words, line)
		}
	}
	return words
}

// TestCompletion: flags complete after other flags, and flags with a fixed set of values complete these.
func TestCompletion(t *testing.T) {
	for _, before := range [][]string{nil, {"--data", "x"}, {"--data", "x", "--target", "y", "--gamma", "1,2", "--standardize"}} {
		got := completions(t, slices.Concat([]string{"fit"}, before, []string{"--m"})...)
		if !slices.Equal(got, []string{
			"--max-passes", "--method", "--min-share", "--missing", "--missing-indicator", "--missing-marks",
			"--missing-target", "--mpi",
		}) {
			t.Errorf("after %v: %v", before, got)
		}
	}
	for _, c := range []struct {
		line string
		want string
	}{
		{"fit --data x --method ", "auto one-shot cg galerkin newton exact cholesky qr tridiagonal dual dual-cg"},
		{"solve s --method ", "auto one-shot cg galerkin newton"},
		{"fit --select ", "gcv loo cv accuracy balanced-accuracy evidence"}, {"solve s --select ", "gcv loo evidence"},
		{"predict --model m --format ", "auto npy npz csv jsonl parquet arrow svmlight"},
		{"sketch --missing ", "refuse mean median most-frequent constant drop"}, {"plan --header ", "auto yes no"}, {"fit --log-format ", "auto json none"},
		{"predict --data x --unknown ", "error ignore"}, {"predict --data x --out-format ", "auto text csv arrow arrows npy"},
		{"plot x --kind ", "path spectrum convergence"}, {"fit --gamma ", "auto"}, {"fit --tol ", ""}, {"fit ", ""},
	} {
		if got := strings.Join(completions(t, strings.Split(c.line, " ")...), " "); got != c.want {
			t.Errorf("%s: %s", c.line, got)
		}
	}
}

// TestCompletionInBash: bash completes as for a user who presses Tab.
func TestCompletionInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "completion")
	if err := os.WriteFile(script, []byte(must(t, "completion", "bash")), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(dir, "fdridge")); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(
		bash,
		"--norc",
		"-c",
		`. "$1"; compopt() { :; }; _get_comp_words_by_ref() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${words[cword]}; prev=${words[cword-1]}; }
COMP_WORDS=(fdridge fit --data x.csv --target y --method g); COMP_CWORD=7; COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
__start_fdridge; printf '%s\n' "${COMPREPLY[@]}"`,
		"bash",
		script,
	)
	c.Env = append(os.Environ(), "FDRIDGE_TEST_COMMAND=1", "PATH="+dir+":"+os.Getenv("PATH"))
	if out, err := c.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "galerkin" {
		t.Errorf("%v: %s", err, out)
	}
}
