package main

import (
	"bytes"
	"context"
	"os/exec"
	"slices"
	"sync"
)

// helps has the help of fit by binary.
var helps sync.Map

// knownTo returns the arguments without --targets N if the binary has no such flag. Older builds
// require it for several targets; newer ones count the targets that --target names.
func knownTo(ctx context.Context, binary string, args []string) []string {
	i := slices.Index(args, "--targets")
	if i < 0 {
		return args
	}
	help, ok := helps.Load(binary)
	if !ok {
		out, err := exec.CommandContext(ctx, binary, "fit", "--help").Output()
		if err != nil {
			return args // which then fails the same way
		}
		help, _ = helps.LoadOrStore(binary, out)
	}
	if bytes.Contains(help.([]byte), []byte("--targets")) {
		return args
	}
	return slices.Delete(slices.Clone(args), i, i+2)
}
