package main

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/bench/internal/python"
)

//go:embed peers.py
var peersPy string

// peerNames lists the solvers of numpy and scikit-learn: the name in tables and the name in peers.py.
var peerNames = [][2]string{
	{"numpy lstsq", "lstsq"},
	{"numpy lstsq, rcond=-1", "lstsq-1"},
	{"sklearn cholesky", "cholesky"},
	{"sklearn svd", "svd"},
	{"sklearn lsqr", "lsqr"},
	{"sklearn lsqr, tol=1e-15", "lsqr:1e-15"},
	{"sklearn sparse_cg", "sparse_cg"},
	{"sklearn sparse_cg, tol=1e-15", "sparse_cg:1e-15"},
}

// peers starts Python. It returns the solvers of the libraries and their versions. Problems are passed to Python in
// files in dir.
func peers(dir string) ([]solver, string, error) {
	py, err := python.Start(peersPy, "numpy, scipy, sklearn", 1)
	if err != nil {
		return nil, "", err
	}
	versions, err := py.Answer()
	if err != nil {
		return nil, "", err
	}
	var all []solver
	for _, name := range peerNames {
		all = append(all, solver{
			name:  name[0],
			solve: func(p *problem) (answer, error) { return ask(py, name[1], dir, p) },
		})
	}
	return all, versions, nil
}

// absent returns placeholders for the peers if Python is missing.
func absent() []solver {
	var all []solver
	for _, name := range peerNames {
		all = append(all, solver{
			name:  name[0],
			solve: func(*problem) (answer, error) { return answer{failed: "-"}, nil },
		})
	}
	return all
}

// ask solves p by a solver of peers.py.
func ask(py *python.Process, solver, dir string, p *problem) (answer, error) {
	file := filepath.Join(dir, p.name)
	if _, err := os.Stat(file); err != nil {
		var data []byte
		for _, part := range [][][]float64{p.x, p.y} {
			for _, row := range part {
				data, err = binary.Append(data, binary.LittleEndian, row)
				if err != nil {
					return answer{}, err
				}
			}
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return answer{}, err
		}
	}
	d := len(p.x[0])
	line, err := py.Ask(solver, file, len(p.x), d, p.gamma, p.intercept, p.sparse)
	if err != nil {
		return answer{}, fmt.Errorf("%s by %s: %w", p.name, solver, err)
	}
	if why, failed := strings.CutPrefix(line, "failed: "); failed {
		fmt.Fprintf(os.Stderr, "digits: %s by %s: %s\n", p.name, solver, why)
		return answer{failed: "fails"}, nil
	}
	a := answer{bound: math.NaN()}
	for _, word := range strings.Fields(line) {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return answer{}, fmt.Errorf("%s by %s: %w", p.name, solver, err)
		}
		a.coef = append(a.coef, v)
	}
	if len(a.coef) != d+1 {
		return answer{}, fmt.Errorf(
			"%s by %s: %d numbers for %d weights and the intercept",
			p.name,
			solver,
			len(a.coef),
			d,
		)
	}
	a.coef, a.intercept = a.coef[:d], a.coef[d]
	return a, nil
}
