// Corpus runs command lines of fdridge by two binaries and compares all that they print
// and write, to the bit:
//
//	go run ./internal/verify/corpus OLD NEW            # from the top of the repository
//	go run ./internal/verify/corpus -mpi OLD NEW       # those by ranks too; both built with -tags openblas,mpi
//	go run ./internal/verify/corpus -run 'sparse|cv' OLD NEW
//
// It prints a line for each entry of commands.txt, same or DIFFERS with what differs
// and where, with -v every line that does, and fails if any does or if OLD does not end
// as the entry says. Each entry runs in a folder of its own for each binary, by one
// thread unless it says otherwise, with the same names of files and the same data: two
// files of the repository and others that a seed makes (data.go). FDRIDGE_KERNEL and
// other variables are left as they are.
//
// Compared are exit codes, stdout, stderr and all files in the folder at the end, so
// that a checkpoint which should have gone counts. Ignored is what is about time and
// place; normalise.go has the list:
//
//   - in JSON the fields sketch_seconds, total_seconds, open_seconds, seconds,
//     peak_rss_bytes, communicating_seconds, communicating_share, gemm_gflops,
//     read_gigabytes_per_second, version, cpu, platform, go and modules, and of a plan
//     bytes, best and reason;
//   - in text, seconds and MiB at most, and of a plan also memory, the mark of the
//     fastest, the reason, chebyshev and newton;
//   - in the HTML report the time, the memory, the CPU, the version;
//   - in the paper's tables the version, the CPU and Go, where in the code a claim is
//     judged or explained, and claims about times;
//   - the path of the folder; what an interrupted command printed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	mpi := flag.Bool("mpi", false, "run the entries by ranks too, under mpirun")
	pattern := flag.String("run", "", "only entries whose name matches this regular expression")
	verbose := flag.Bool("v", false, "print every line that differs, and how long each entry took")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	bad, err := run(ctx, flag.Args(), *pattern, *mpi, *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
	}
	if err != nil || bad > 0 {
		os.Exit(1)
	}
}

// run compares the binaries and returns how many entries differ.
func run(ctx context.Context, binaries []string, pattern string, mpi, verbose bool) (bad int, err error) {
	if len(binaries) != 2 {
		return 0, errors.New("two binaries are to be named, OLD NEW")
	}
	for i := range binaries {
		if binaries[i], err = filepath.Abs(binaries[i]); err != nil {
			return 0, err
		}
	}
	match, err := regexp.Compile(pattern)
	if err != nil {
		return 0, err
	}
	all, err := parse(commandText)
	if err != nil {
		return 0, fmt.Errorf("commands.txt: %w", err)
	}
	dir, err := os.MkdirTemp("", "corpus")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	s := stage{old: binaries[0], new: binaries[1], data: filepath.Join(dir, "data"), dir: dir, verbose: verbose}
	if err := os.Mkdir(s.data, 0o700); err != nil {
		return 0, err
	}
	if err := makeData(".", s.data); err != nil {
		return 0, err
	}
	ran, lines := 0, 0
	for i := range all {
		if e := &all[i]; match.MatchString(e.name) && (mpi || !e.byRanks()) {
			ran, lines = ran+1, lines+len(e.commands)
			if !s.compare(ctx, e) {
				bad++
			}
		}
		if err := ctx.Err(); err != nil {
			return bad, err
		}
	}
	fmt.Printf("%d entries of %d command lines, %d differ\n", ran, lines, bad)
	return bad, nil
}

// A stage is where entries run.
type stage struct {
	old, new  string // the binaries
	data, dir string
	verbose   bool
}

// compare runs an entry by both binaries, prints a line and reports whether all is the
// same.
func (s *stage) compare(ctx context.Context, e *entry) bool {
	start := time.Now()
	verdict, more := s.verdict(ctx, e)
	if s.verbose {
		verdict = fmt.Sprintf("%s (%.1f s)", verdict, time.Since(start).Seconds())
	}
	fmt.Printf("%-48s %s\n", e.name, verdict)
	if s.verbose {
		fmt.Print(more)
	}
	return more == "" && verdict[0] == 's'
}

// verdict is what to print of an entry, and all the lines that differ.
func (s *stage) verdict(ctx context.Context, e *entry) (verdict, more string) {
	var outcomes [2]outcome
	for i, binary := range []string{s.old, s.new} {
		dir := filepath.Join(s.dir, "run")
		var err error
		if outcomes[i], err = play(ctx, e, binary, s.data, dir); err != nil {
			return fmt.Sprintf("FAILED, %s: %v", filepath.Base(binary), err), ""
		}
		if err := os.RemoveAll(dir); err != nil {
			return "FAILED: " + err.Error(), ""
		}
	}
	if err := e.asExpected(outcomes[0]); err != nil {
		return "FAILED: of OLD " + err.Error(), ""
	}
	all := differences(outcomes[0], outcomes[1])
	if len(all) == 0 {
		return "same", ""
	}
	verdict = "DIFFERS: " + all[0]
	if len(all) > 1 {
		verdict += fmt.Sprintf("; and %d more", len(all)-1)
	}
	return verdict, whole(outcomes[0], outcomes[1])
}
