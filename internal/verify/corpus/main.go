// Corpus runs command lines of fdridge by two binaries and compares all that they print
// and write, to the bit:
//
//	go run ./internal/verify/corpus OLD NEW            # from the top of the repository
//	go run ./internal/verify/corpus -mpi OLD NEW       # those by ranks too; both built with -tags openblas,mpi
//	go run ./internal/verify/corpus -run 'sparse|cv' OLD NEW
//
// It prints a line for each entry of commands.txt: same, or DIFFERS with the first
// difference. With -v it prints every line that differs. At the end it prints a table of the streams and
// files that differ, each with its first line that does. It fails if any entry differs, or
// if OLD does not end as the entry says. Each entry runs in a folder of its own for each
// binary, by one thread unless it says otherwise, with the same names of files and the same
// data: files of the repository and others that a seed makes (data.go). FDRIDGE_KERNEL and
// other variables are left as they are. -j entries run at a time, one for each core.
//
// Compared are exit codes, stdout, stderr and all files in the folder at the end, so
// that a checkpoint which should have gone counts. Ignored is what is about time and
// place; normalise.go has the list:
//
//   - in JSON the fields sketch_seconds, total_seconds, open_seconds, seconds,
//     peak_rss_bytes, communicating_seconds, communicating_share, gemm_gflops,
//     read_gigabytes_per_second, version, cpu, platform, go and modules, of a live
//     sketch time and rows_per_second, and of a plan bytes, best and reason;
//   - in text, seconds and MiB at most, and of a plan also memory, the mark of the
//     fastest, the reason, chebyshev and newton;
//   - the process and the host that a lock names;
//   - in the HTML report the time, the memory, the CPU, the version;
//   - in the paper's tables the version, the CPU and Go, where in the code a claim is
//     judged or explained, and claims about times;
//   - in the file of a window, the times at which rows came, and so its checksum;
//   - the path of the folder; what an interrupted command printed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"
)

func main() {
	mpi := flag.Bool("mpi", false, "run the entries by ranks too, under mpirun")
	pattern := flag.String("run", "", "only entries whose name matches this regular expression")
	jobs := flag.Int("j", runtime.GOMAXPROCS(0), "number of entries that run at a time")
	verbose := flag.Bool("v", false, "print every line that differs, and how long each entry took")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	bad, err := run(ctx, flag.Args(), *pattern, *mpi, max(1, *jobs), *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
	}
	if err != nil || bad > 0 {
		os.Exit(1)
	}
}

// run compares the binaries and returns how many entries differ.
func run(ctx context.Context, binaries []string, pattern string, mpi bool, jobs int, verbose bool) (bad int, err error) {
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
	var chosen []*entry
	lines := 0
	for i := range all {
		if e := &all[i]; match.MatchString(e.name) && (mpi || !e.byRanks()) {
			chosen, lines = append(chosen, e), lines+len(e.commands)
		}
	}
	table, err := s.compareAll(ctx, chosen, jobs)
	if err != nil {
		return len(table), err
	}
	fmt.Printf("%d entries of %d command lines, %d differ\n", len(chosen), lines, len(table))
	return len(table), printTable(os.Stdout, table)
}

// A stage is where entries run.
type stage struct {
	old, new  string // the binaries
	data, dir string
	verbose   bool
}

// A verdict is the result of an entry. Its findings are empty if nothing differs.
type verdict struct {
	name     string
	failed   error // it could not be compared
	findings []finding
	lines    string // every line that differs
	took     time.Duration
}

func (v *verdict) same() bool { return v.failed == nil && len(v.findings) == 0 }

func (v *verdict) String() string {
	switch {
	case v.failed != nil:
		return fmt.Sprintf("FAILED: %v", v.failed)
	case len(v.findings) > 1:
		return fmt.Sprintf("DIFFERS: %v; and %d more", v.findings[0], len(v.findings)-1)
	case len(v.findings) == 1:
		return fmt.Sprintf("DIFFERS: %v", v.findings[0])
	}
	return "same"
}

// compareAll runs entries, some at a time, and prints a line for each in their order. It
// returns the verdicts on those that differ or failed.
func (s *stage) compareAll(ctx context.Context, entries []*entry, jobs int) ([]verdict, error) {
	results := make([]chan verdict, len(entries))
	for i := range results {
		results[i] = make(chan verdict, 1)
	}
	var next atomic.Int64
	var players sync.WaitGroup
	defer players.Wait()
	for job := range jobs {
		players.Go(func() {
			dir := filepath.Join(s.dir, fmt.Sprint("run", job))
			for i := next.Add(1) - 1; i < int64(len(entries)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				results[i] <- s.compare(ctx, entries[i], dir)
			}
		})
	}
	var bad []verdict
	for i := range results {
		var v verdict
		select {
		case v = <-results[i]:
		case <-ctx.Done():
			return bad, ctx.Err()
		}
		text := v.String()
		if s.verbose {
			text = fmt.Sprintf("%s (%.1f s)", text, v.took.Seconds())
		}
		fmt.Printf("%-48s %s\n", v.name, text)
		if s.verbose {
			fmt.Print(v.lines)
		}
		if !v.same() {
			bad = append(bad, v)
		}
	}
	return bad, nil
}

// compare runs an entry by both binaries in dir, one after the other: the name of the
// folder is the same for both.
func (s *stage) compare(ctx context.Context, e *entry, dir string) verdict {
	v, start := verdict{name: e.name}, time.Now()
	var outcomes [2]outcome
	for i, binary := range []string{s.old, s.new} {
		outcomes[i], v.failed = play(ctx, e, binary, s.data, dir)
		if err := os.RemoveAll(dir); v.failed == nil {
			v.failed = err
		}
		if v.failed != nil {
			v.failed = fmt.Errorf("%s: %w", [2]string{"OLD", "NEW"}[i], v.failed)
			return v
		}
	}
	if err := e.asExpected(outcomes[0]); err != nil {
		v.failed = fmt.Errorf("of OLD %w", err)
		return v
	}
	if v.findings = differences(outcomes[0], outcomes[1]); len(v.findings) > 0 {
		v.lines = whole(outcomes[0], outcomes[1])
	}
	v.took = time.Since(start)
	return v
}

// printTable prints what differs: a row for each stream or file of an entry, with the
// first line that differs.
func printTable(w io.Writer, table []verdict) error {
	if len(table) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nentry\tstream or file\tline\tOLD\tNEW")
	for _, v := range table {
		if v.failed != nil {
			first, _, _ := strings.Cut(v.failed.Error(), "\n")
			fmt.Fprintf(t, "%s\tfailed\t\t%s\t\n", v.name, cell(first))
		}
		for _, f := range v.findings {
			line := ""
			if f.line > 0 {
				line = fmt.Sprint(f.line)
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", v.name, f.where, line, cell(f.old), cell(f.new))
		}
	}
	return t.Flush()
}

// cell shortens a text for the table.
func cell(s string) string {
	const most = 60
	runes := []rune(strings.ReplaceAll(s, "\t", " "))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}
