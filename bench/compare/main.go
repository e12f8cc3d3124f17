// Command compare times the same jobs for fdridge and its rivals in turn, and prints a table of medians and ratios.
// The jobs are sketches, solutions for many γ, and kernels: products, gradients and factorisations:
//
//	go run -tags openblas ./bench/compare [-run REGEXP] [-rivals REGEXP] [-rounds 5] [-threads 1] [-json]
//
// The rivals are fdridge's backends. If python3 has numpy (and scikit-learn), the programs in rows.py are rivals,
// too. The last column is the rate of the first rival of the job divided by the rate of the row. The first rival is
// purego unless -rivals leaves out purego.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"regexp"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/fdridge/fdridge/bench/internal/python"
	"github.com/fdridge/fdridge/engine"
)

// An entry is a named job. The job is created by make just before it runs.
type entry struct {
	name string
	make func() *job
}

// A job is one piece of work and its rivals.
type job struct {
	amount float64 // thousands of rows, or γ, of one run
	unit   string  // krows/s or γ/s
	rivals []rival
	once   bool   // one run is too long for a warm-up
	done   func() // tidies up; may be nil
}

// contenders returns the backends of this build, purego first.
func contenders(threads int) (names []string, engines []engine.Backend, err error) {
	t, err := engine.DefaultTuning()
	if err != nil {
		return nil, nil, err
	}
	t.Threads.Value = threads
	names = engine.Names()
	if names[0] != "purego" {
		names[0], names[1] = names[1], names[0]
	}
	for _, name := range names {
		be, err := engine.New(name, t)
		if err != nil {
			return nil, nil, err
		}
		engines = append(engines, be)
	}
	return names, engines, nil
}

// A rival is a program that can run a job. run repeats a short job, and returns the time of one repetition.
type rival struct {
	name string
	run  func() time.Duration
}

// timed returns a rival that repeats f for 50 ms.
func timed(name string, f func()) rival {
	reps := 0
	return rival{name, func() time.Duration {
		if reps == 0 { // the first call warms up and counts
			f()
			for begin := time.Now(); reps == 0 || time.Since(begin) < 50*time.Millisecond; reps++ {
				f()
			}
		}
		begin := time.Now()
		for range reps {
			f()
		}
		return time.Since(begin) / time.Duration(reps)
	}}
}

// A Row is one line of the table.
type Row struct {
	Job     string             `json:"job"`
	Unit    string             `json:"unit"`
	Rates   map[string]float64 `json:"rates"` // medians
	Rivals  []string           `json:"rivals"`
	Seconds map[string]float64 `json:"seconds"`
}

func main() {
	log.SetFlags(0)
	run := flag.String("run", ".", "only the jobs whose name matches")
	who := flag.String("rivals", ".", "only the rivals whose name matches")
	rounds := flag.Int("rounds", 5, "rounds of which the median is taken")
	threads := flag.Int("threads", 1, "threads of every rival")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	if *rounds < 1 || *threads < 1 {
		log.Fatal("compare: -rounds and -threads must be at least 1")
	}
	pattern, err := regexp.Compile(*run)
	if err != nil {
		log.Fatal(err)
	}
	chosen, err := regexp.Compile(*who)
	if err != nil {
		log.Fatal(err)
	}
	runtime.GOMAXPROCS(*threads)
	names, engines, err := contenders(*threads)
	if err != nil {
		log.Fatal(err)
	}
	py, err := python.Start(rowsPy, "numpy, scipy", *threads)
	if err != nil {
		log.Printf("compare: without Python's rivals: %v", err)
	}
	dir, err := os.MkdirTemp("", "compare")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	jobs := append(sketches(names, engines, py, dir), paths(names, engines, py, dir)...)
	jobs = append(jobs, kernels(names, engines)...)
	var rows []Row
	for _, j := range jobs {
		if !pattern.MatchString(j.name) {
			continue
		}
		work := j.make()
		work.rivals = slices.DeleteFunc(work.rivals, func(r rival) bool { return !chosen.MatchString(r.name) })
		row := work.compete(j.name, *rounds)
		if work.done != nil {
			work.done()
		}
		rows = append(rows, row)
		if !*asJSON {
			fmt.Fprintln(os.Stderr, row)
		}
	}
	if *asJSON {
		if err := json.NewEncoder(os.Stdout).Encode(rows); err != nil {
			log.Fatal(err)
		}
		return
	}
	table(rows)
}

// compete runs the rivals in turn and returns the medians.
func (j *job) compete(name string, rounds int) Row {
	times := make([][]float64, len(j.rivals))
	if !j.once { // warm up
		for _, r := range j.rivals {
			r.run()
		}
	}
	for round := range rounds {
		for k := range j.rivals {
			k = (k + round) % len(j.rivals)
			times[k] = append(times[k], j.rivals[k].run().Seconds())
		}
	}
	row := Row{Job: name, Unit: j.unit, Rates: map[string]float64{}, Seconds: map[string]float64{}}
	for k, r := range j.rivals {
		slices.Sort(times[k])
		t := times[k][rounds/2]
		row.Rivals = append(row.Rivals, r.name)
		row.Seconds[r.name] = t
		row.Rates[r.name] = j.amount / t
	}
	return row
}

func (r Row) String() string {
	s := r.Job
	for _, name := range r.Rivals {
		s += fmt.Sprintf("  %s %.3g", name, r.Rates[name])
	}
	return s
}

// table prints the rate of each rival, and the factor by which the first rival is faster.
func table(rows []Row) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "job\trival\trate\t\tfirst/rival")
	for _, r := range rows {
		if len(r.Rivals) == 0 {
			continue
		}
		first := r.Rates[r.Rivals[0]]
		for _, name := range r.Rivals {
			fmt.Fprintf(w, "%s\t%s\t%.3g\t%s\t%.2f\n", r.Job, name, r.Rates[name], r.Unit, first/r.Rates[name])
		}
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
}
