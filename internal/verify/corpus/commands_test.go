package corpus

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed commands.txt
var commandText string

// An entry is a test of the corpus: command lines that run one after the other in the same folder.
type entry struct {
	name     string
	commands []command
}

// A command is one command line.
type command struct {
	args   []string
	exit   int      // required exit code
	ranks  int      // number of ranks under mpirun; 0 runs without mpirun
	stdin  string   // file to read as standard input, or ""
	stdout string   // file to print to, or ""
	until  string   // the command is interrupted as soon as this file exists; "" never interrupts it
	timed  []string // files to which the command writes arrival times of rows
}

// byRanks reports whether a command of the entry runs under mpirun.
func (e *entry) byRanks() bool {
	for _, c := range e.commands {
		if c.ranks > 0 {
			return true
		}
	}
	return false
}

// parse parses commands.txt. The format is described at the start of the file.
func parse(text string) ([]entry, error) {
	var all []entry
	for i, line := range strings.Split(text, "\n") {
		body := strings.TrimSpace(line)
		switch {
		case body == "" || body[0] == '#':
		case line[0] != '\t':
			all = append(all, entry{name: body})
		case len(all) == 0:
			return nil, fmt.Errorf("line %d: a command line has no name above it", i+1)
		default:
			c, err := parseCommand(strings.Fields(body))
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			last := &all[len(all)-1]
			last.commands = append(last.commands, c)
		}
	}
	return all, nil
}

func parseCommand(words []string) (command, error) {
	var c command
	for len(words) > 0 {
		name, value, ok := strings.Cut(words[0], "=")
		if !ok {
			break
		}
		var err error
		switch name {
		case "exit":
			c.exit, err = strconv.Atoi(value)
		case "ranks":
			c.ranks, err = strconv.Atoi(value)
		case "stdin":
			c.stdin = value
		case "stdout":
			c.stdout = value
		case "until":
			c.until = value
		case "timed":
			c.timed = strings.Split(value, ",")
		default:
			err = fmt.Errorf("%q must be exit, ranks, stdin, stdout, until or timed", name)
		}
		if err != nil {
			return c, err
		}
		words = words[1:]
	}
	if len(words) == 0 {
		return c, fmt.Errorf("there is no command")
	}
	c.args = words
	return c, nil
}
