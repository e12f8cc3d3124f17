package outside

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"
)

// shortRuns is the number of runs without FDRIDGE_OUTSIDE.
const shortRuns = 120

func setting(name string, value int) int {
	v, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return value
	}

	return v
}

// command returns the binary to attack.
func command(t *testing.T) string {
	t.Helper()

	if path := os.Getenv("FDRIDGE_BINARY"); path != "" {
		return path
	}

	path := filepath.Join(t.TempDir(), "fdridge")
	build := exec.Command("go", "build", "-trimpath", "-o", path, "../../../cmd/fdridge")

	output, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}

	return path
}

// start runs the command and returns its outputs and exit code.
func start(binary, folder string, args []string) (stdout, stderr []byte, code int) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()

	var out, errs bytes.Buffer

	run := exec.CommandContext(ctx, binary, args...)
	run.Dir = folder
	run.Stdout = &out
	run.Stderr = &errs

	err := run.Run()

	var exit *exec.ExitError

	switch {
	case err == nil:
	case errors.As(err, &exit):
		code = exit.ExitCode()
	default:
		code = -2
	}

	return out.Bytes(), errs.Bytes(), code
}

var digits = regexp.MustCompile(`[-+]?[0-9][0-9.e+-]*`)

func TestOutside(t *testing.T) {
	binary := command(t)
	runs := setting("FDRIDGE_OUTSIDE", shortRuns)
	seed := setting("FDRIDGE_OUTSIDE_SEED", 1)
	first := setting("FDRIDGE_OUTSIDE_FIRST", 0)
	folder := t.TempDir()
	counts := map[string]int{}
	refused := map[string]int{}
	codes := map[int]int{}
	wrong := 0

	for i := first; i < first+runs; i++ {
		r := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
		trial := draw(r)

		faults, code, message := attack(t, binary, folder, trial, counts)
		codes[code]++

		if code == 1 || code == 2 {
			refused[digits.ReplaceAllString(strings.SplitN(message, "\n", 2)[0], "#")]++
		}

		if len(faults) == 0 {
			continue
		}

		wrong++

		if os.Getenv("FDRIDGE_OUTSIDE_MINIMISE") != "" {
			trial, faults = minimise(t, binary, folder, trial, faults)
		}

		rows, _ := os.ReadFile(filepath.Join(folder, "rows.csv"))
		penalty := ""

		if trial.penalty {
			content, _ := os.ReadFile(filepath.Join(folder, "penalty.csv"))
			penalty = "penalty.csv:\n" + string(content)
		}

		t.Errorf("seed %d, run %d: fdridge %s\nrows.csv:\n%s%s%s", seed, i,
			strings.Join(trial.arguments(), " "), rows, penalty, strings.Join(faults, "\n"))
	}

	report(t, runs, wrong, codes, counts, refused)
}

func report(t *testing.T, runs, wrong int, codes map[int]int, counts, refused map[string]int) {
	t.Helper()

	total := 0

	var lines []string

	for kind, n := range counts {
		total += n
		lines = append(lines, fmt.Sprintf("%8d %s", n, kind))
	}

	sort.Strings(lines)
	t.Logf("%d runs, %d checks, %d runs with faults; exit codes %v\n%s",
		runs, total, wrong, codes, strings.Join(lines, "\n"))

	lines = nil
	for message, n := range refused {
		lines = append(lines, fmt.Sprintf("%8d %s", n, message))
	}

	sort.Strings(lines)
	t.Logf("refused:\n%s", strings.Join(lines, "\n"))
}

// attack runs one trial and returns what is false.
func attack(t *testing.T, binary, folder string, trial *trial, counts map[string]int) (
	faults []string, code int, message string,
) {
	t.Helper()

	err := trial.write(folder)
	if err != nil {
		t.Fatal(err)
	}

	stdout, stderr, code := start(binary, folder, trial.arguments())
	message = string(stderr)

	if code < 0 || code > 3 || strings.Contains(message, "panic:") || strings.Contains(message, "goroutine ") {
		return []string{fmt.Sprintf("crash: exit %d: %s", code, message)}, code, message
	}

	if code == 1 || code == 2 {
		return nil, code, message
	}

	model, err := os.ReadFile(filepath.Join(folder, "model.json"))
	if err != nil {
		return []string{"no model: " + err.Error()}, code, message
	}

	c := &checker{t: trial, counts: counts, code: code}

	err = c.run(stdout, model)
	if err != nil {
		return []string{"unreadable: " + err.Error()}, code, message
	}

	if trial.predict && len(c.record.Fits) == 1 {
		c.predictions(binary, folder)
	}

	if trial.solve {
		c.faults = append(c.faults, solveSketch(binary, folder, trial, counts)...)
	}

	return c.faults, code, message
}

// solveSketch solves from the sketch that fit saved, and returns what is false.
func solveSketch(binary, folder string, trial *trial, counts map[string]int) []string {
	var list []string
	for _, g := range trial.gammas {
		list = append(list, number(g))
	}

	args := []string{"solve", "rows.fds", "--gamma", strings.Join(list, ","), "--log-format", "none", "--json",
		"--out", "solved.json"}

	stdout, stderr, code := start(binary, folder, args)
	if code < 0 || code > 3 || strings.Contains(string(stderr), "panic:") {
		return []string{fmt.Sprintf("crash: solve: exit %d: %s", code, stderr)}
	}

	if code == 1 || code == 2 {
		return nil
	}

	model, err := os.ReadFile(filepath.Join(folder, "solved.json"))
	if err != nil {
		return []string{"no model: " + err.Error()}
	}

	s := *trial
	s.method = "one-shot"
	own := map[string]int{}
	c := &checker{t: &s, counts: own, code: code}

	err = c.run(stdout, model)
	if err != nil {
		return []string{"unreadable: solve: " + err.Error()}
	}

	for kind, n := range own {
		counts["solve: "+kind] += n
	}

	for i := range c.faults {
		c.faults[i] = "solve: " + c.faults[i]
	}

	return c.faults
}

// labels checks the proved labels of all rows.
func (c *checker) labels(binary, folder string) {
	args := []string{"predict", "--model", "model.json", "--data", "rows.csv", "--header", "yes", "--target", "label"}

	stdout, _, code := start(binary, folder, args)
	e := c.at(c.record.Fits[0].Gamma)

	if code != 0 || e == nil {
		return
	}

	for i, line := range strings.Split(strings.TrimSpace(string(stdout)), "\n") {
		cells := strings.Split(line, ",")
		if i >= len(c.t.x) || len(cells) != 3 || cells[2] != "true" {
			continue
		}

		class, tied := classOf(multiply(matrix{c.fittedRow(c.t.x[i])}, e.x)[0])
		c.count("proved label", !tied && c.record.Classes.Labels[class] == cells[0],
			"row %d: %s is proved, exact %s (tied: %v)", i, cells[0], c.record.Classes.Labels[class], tied)
	}
}

// predictions checks the predictions and intervals of all rows.
func (c *checker) predictions(binary, folder string) {
	if c.t.labels != nil {
		c.labels(binary, folder)

		return
	}

	args := []string{"predict", "--model", "model.json", "--interval", "model.json", "--data", "rows.csv",
		"--header", "yes", "--target", strings.Join(c.t.targets(), ",")}

	stdout, _, code := start(binary, folder, args)
	if code != 0 {
		return
	}

	e := c.at(c.record.Fits[0].Gamma)
	if e == nil {
		return
	}

	lines := strings.Split(strings.TrimSpace(string(stdout)), "\n")
	c.count("predicted rows", len(lines) == len(c.t.x), "%d lines for %d rows", len(lines), len(c.t.x))

	for i, line := range lines {
		if i >= len(c.t.x) {
			break
		}

		cells := strings.Split(line, ",")

		row := c.fittedRow(c.t.x[i])

		for k := range c.fitted.y[0] {
			if len(cells) < 3*k+3 {
				break
			}

			var b bracket

			for s := range 2 {
				v, err := strconv.ParseFloat(cells[3*k+1+s], 64)
				if err == nil && v-v == 0 {
					b[s] = &v
				}
			}

			exact := dot(row, column(e.x, k))
			c.inside("interval", b, exact, fmt.Sprintf("prediction of row %d, target %d", i, k))

			v, err := strconv.ParseFloat(cells[3*k], 64)
			if err == nil && !c.scaled {
				c.prediction(v, i, k)
			}
		}
	}
}

// prediction checks the plain prediction up to round-off.
func (c *checker) prediction(v float64, i, k int) {
	m := c.model.Models[0]
	coef := c.vector(m.Coef[k], at(m.Intercept, k))
	row := c.row(c.t.x[i])
	size := new(big.Rat)

	for j := range row {
		size.Add(size, new(big.Rat).Abs(mul(row[j], coef[j])))
	}

	difference := new(big.Rat).Abs(sub(rat(v), dot(row, coef)))
	limit := add(mul(size, rat(1e-14)), rat(1e-300))
	c.count("prediction", difference.Cmp(limit) <= 0, "row %d, target %d: %v is off by %s", i, k, v, show(difference))
}
