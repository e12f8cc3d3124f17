package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// examples lists the example command lines that --help shows. Tests run them in this order. The tests' folder
// contains the files of testdata, and the housing data as rows.csv.
var examples = []struct {
	command string
	lines   []string
}{
	{"fit", []string{
		"fdridge fit --data testdata/cal_housing.csv.gz --target last --standardize --gamma auto --out housing.json",
		"fdridge fit --data testdata/cal_housing.csv.gz --target last --standardize --features poly:2 --size 20 " +
			"--gamma 1,10,100 --method cg --save-sketch poly.fds",
		"fdridge fit --data testdata/flats.csv --target rent --onehot district,heating --missing mean --holdout " +
			"0.2 --coverage 0.9 --gamma auto --out flats.json",
	}},
	{"sketch", []string{
		"fdridge sketch --data testdata/cal_housing.csv.gz --target last --rows 1:10000 --size 6 --out first.fds",
		"fdridge sketch --data testdata/cal_housing.csv.gz --target last --rows 10001:20640 --size 6 --out second.fds",
		"fdridge sketch --data rows.csv --target last --size 6 --part 0/2 --out part-0.fds",
		"fdridge sketch --data rows.csv --target last --size 6 --part 1/2 --out part-1.fds",
		"fdridge sketch --data testdata/cal_housing.csv.gz --target last --every 30s --window 5000 --out live.fds",
	}},
	{"merge", []string{
		"fdridge merge first.fds second.fds --out housing.fds",
		"fdridge merge part-0.fds part-1.fds --out parts.fds",
	}},
	{"solve", []string{
		"fdridge solve housing.fds --gamma auto",
		"fdridge solve live.fds --gamma 1,100",
		"fdridge solve housing.fds --gamma 100 --bands 1-2=0.01,3-8=10",
		"fdridge solve housing.fds --gamma 100 --data testdata/cal_housing.csv.gz --tol 1e-10 --json >solved.json",
	}},
	{"plan", []string{"fdridge plan --data testdata/cal_housing.csv.gz --target last --every 10 --gamma 1,100"}},
	{"predict", []string{
		"fdridge predict --model housing.json --data testdata/cal_housing.csv.gz --target last --out predictions.txt",
		"fdridge predict --model flats.json --data testdata/flats.csv --target rent --unknown ignore",
		"fdridge predict --model flats.json --data testdata/flats.csv --interval coverage --out intervals.csv",
	}},
	{"diagnose", []string{
		"fdridge diagnose --model housing.json --data testdata/cal_housing.csv.gz --target last --worst 5 --out rows.npy",
	}},
	{"show", []string{"fdridge show housing.json"}},
	{"plot", []string{"fdridge plot poly.fds --kind spectrum --out spectrum.png"}},
	{"paper", []string{"fdridge paper --quick --out paper-results"}},
	{"doctor", []string{"fdridge doctor --json"}},
	{"man", []string{"fdridge man --out ."}},
}

// addExamples sets the examples of the commands below root.
func addExamples(root *cobra.Command) {
	for _, e := range examples {
		for _, c := range root.Commands() {
			if c.Name() == e.command {
				var lines []string
				for _, line := range e.lines {
					lines = append(lines, wrapCommand(line))
				}
				c.Example = strings.Join(lines, "\n")
			}
		}
	}
}
