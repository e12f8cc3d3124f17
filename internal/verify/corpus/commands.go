package main

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed commands.txt
var commandText string

// An entry of the corpus is a sequence of command lines that share a folder.
type entry struct {
	name     string
	commands []command
}

// A command is one command line.
type command struct {
	args   []string
	exit   int      // that it must have
	ranks  int      // under mpirun; 0: alone
	stdin  string   // the file that it reads as standard input, "" for none
	stdout string   // the file that it prints to, "" for none
	until  string   // the file whose appearance has it interrupted, "" for none
	timed  []string // the files in which it writes the times at which rows came
}

// byRanks reports whether the entry needs mpirun.
func (e *entry) byRanks() bool {
	for _, c := range e.commands {
		if c.ranks > 0 {
			return true
		}
	}
	return false
}

// parse reads what commands.txt holds; its first lines say how it is written.
func parse(text string) ([]entry, error) {
	var all []entry
	for i, line := range strings.Split(text, "\n") {
		body := strings.TrimSpace(line)
		switch {
		case body == "" || body[0] == '#':
		case line[0] != '\t':
			all = append(all, entry{name: body})
		case len(all) == 0:
			return nil, fmt.Errorf("line %d: a command line without a name above it", i+1)
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
			err = fmt.Errorf("%q is none of exit, ranks, stdin, stdout, until, timed", name)
		}
		if err != nil {
			return c, err
		}
		words = words[1:]
	}
	if len(words) == 0 {
		return c, fmt.Errorf("no command")
	}
	c.args = words
	return c, nil
}
