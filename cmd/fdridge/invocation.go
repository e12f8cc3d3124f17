package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// invocation returns a command line that repeats the run. It contains all arguments and flags that were given,
// quoted for a shell.
func invocation(cmd *cobra.Command, args []string) string {
	words := strings.Fields(cmd.CommandPath())
	for _, a := range args {
		words = append(words, quote(a))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case f.Value.Type() != "bool":
			words = append(words, "--"+f.Name, quote(f.Value.String()))
		case f.Value.String() == "true":
			words = append(words, "--"+f.Name)
		default:
			words = append(words, "--"+f.Name+"=false")
		}
	})
	return strings.Join(words, " ")
}

// quote returns text in a form that a shell reads as one word. It adds single quotes if needed.
func quote(text string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' ||
			'A' <= r && r <= 'Z' ||
			'0' <= r && r <= '9' ||
			strings.ContainsRune("_./:,=+@%-", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
