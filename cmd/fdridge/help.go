package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A listing describes where --help lists a flag: the index of its group and its index in the group.
type listing struct {
	group, index int
	value        string // name of the flag's value; "": none
}

// listFlag returns the position of a command's flag in --help. ok is false if the table flagGroups does not contain
// the flag.
func listFlag(command, flag string) (place listing, ok bool) {
	for i, g := range flagGroups {
		for j, entry := range strings.Fields(g.flags) {
			name, value, _ := strings.Cut(entry, "=")
			switch name {
			case command + ":" + flag:
				return listing{i, j, value}, true
			case flag:
				place = listing{i, j, value}
				ok = true
			}
		}
	}
	return place, ok
}

// helpWidth is the maximum width of a line of --help in characters.
const helpWidth = 100

// writeUsage writes the usage, the subcommands, the examples and the flags of a command.
func writeUsage(c *cobra.Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", c.UseLine())
	if c.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, s := range c.Commands() {
			if s.IsAvailableCommand() || s.Name() == "help" {
				fmt.Fprintf(&b, "  %-12s%s\n", s.Name(), s.Short)
			}
		}
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	b.WriteString(describeFlags(c))
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nRun %q for the flags of a command.\n", c.CommandPath()+" COMMAND --help")
	}
	_, err := fmt.Fprint(c.OutOrStderr(), b.String())
	return err
}

// describeFlags returns the part of --help about the flags of a command: a heading for each group, and a line for
// each flag.
func describeFlags(c *cobra.Command) string {
	type line struct {
		listing
		name, text string
	}
	var lines []line
	width := 0
	c.Flags().VisitAll(func(f *pflag.Flag) {
		place, _ := listFlag(c.Name(), f.Name)
		name := strings.TrimRight("  --"+f.Name+" "+place.value, " ")
		if f.Shorthand != "" {
			name = "  -" + f.Shorthand + "," + name[1:]
		}
		width = max(width, utf8.RuneCountInString(name))
		text := f.Usage + describeDefault(f)
		if f.Name == "help" {
			text = "print this help"
		}
		lines = append(lines, line{place, name, text})
	})
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(a.group-b.group, a.index-b.index)
	})
	var b strings.Builder
	for i, l := range lines {
		if i == 0 || l.group != lines[i-1].group {
			fmt.Fprintf(&b, "\n%s:\n", flagGroups[l.group].title)
		}
		fmt.Fprintf(&b, "%-*s  %s\n", width, l.name, l.text)
	}
	return b.String()
}

// describeDefault returns the default value of a flag in parentheses. It returns "" if the default is empty, or if
// the usage text already contains the default.
func describeDefault(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "0", "0s", "false":
		return ""
	}
	if strings.Contains(f.Usage, "(default") {
		return ""
	}
	return fmt.Sprintf(" (default %s)", f.DefValue)
}

// wrapCommand indents a command line. If the command line is longer than helpWidth, it is broken before flags, and
// each line but the last ends with a backslash.
func wrapCommand(line string) string {
	const indent = 2
	var b strings.Builder
	column := 0
	for i, part := range strings.SplitAfter(strings.ReplaceAll(line, " --", "\n--"), "\n") {
		part = strings.TrimSpace(part)
		switch {
		case i == 0:
			b.WriteString("  ")
			column = indent
		case column+1+len(part) > helpWidth-2:
			b.WriteString(" \\\n    ")
			column = 2 * indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(part)
		column += len(part)
	}
	return b.String()
}
