package mutants

import (
	_ "embed"
	"fmt"
	"strings"
)

// A mutant is a deliberate bug. In file, the text old, which must occur exactly once, is replaced by new. The
// tests of pkg whose names match test must fail.
type mutant struct {
	name      string
	file      string
	old, new  string
	pkg, test string
}

// table has all mutants, separated by empty lines. The comment at its start describes the format.
//
//go:embed mutants.txt
var table string

// parse returns the mutants in a table.
func parse(table string) ([]mutant, error) {
	var all []mutant
	for _, record := range strings.Split(table, "\n\n") {
		var m mutant
		var old, fresh []string
		for _, line := range strings.Split(strings.Trim(record, "\n"), "\n") {
			key, value, _ := strings.Cut(line, ": ")
			switch {
			case strings.HasPrefix(line, "#"):
			case line[:min(1, len(line))] == "-":
				old = append(old, line[1:])
			case line[:min(1, len(line))] == "+":
				fresh = append(fresh, line[1:])
			case key == "name" && m.name == "":
				m.name = value
			case key == "file" && m.file == "":
				m.file = value
			case key == "test" && m.test == "":
				m.pkg, m.test, _ = strings.Cut(value, " ")
			default:
				return nil, fmt.Errorf("mutants.txt: %q in the record\n%s", line, record)
			}
		}
		m.old, m.new = strings.Join(old, "\n"), strings.Join(fresh, "\n")
		switch {
		case m == mutant{}: // a comment
		case m.name == "" || m.file == "" || m.test == "" || old == nil || fresh == nil:
			return nil, fmt.Errorf(
				"mutants.txt: the record needs a name, a file, lines - and + and a test:\n%s",
				record,
			)
		default:
			all = append(all, m)
		}
	}
	return all, nil
}
