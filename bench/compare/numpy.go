package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/fdridge/fdridge/engine/purego"
)

//go:embed rows.py
var rowsPy string

// python is a running rows.py.
type python struct {
	in  io.Writer
	out *bufio.Reader
}

// startPython starts rows.py on so many threads, or reports why it cannot.
func startPython(threads int) (*python, error) {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if err := exec.Command(name, "-c", "import numpy, scipy").Run(); err != nil {
			continue
		}
		c := exec.Command(name, "-c", rowsPy)
		n := strconv.Itoa(threads)
		c.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS="+n, "OMP_NUM_THREADS="+n)
		if os.Getenv("OPENBLAS_CORETYPE") == "" && purego.Kernels()[0].Name == "avx512" {
			// A version that doesn't know the processor takes SSE3 kernels.
			c.Env = append(c.Env, "OPENBLAS_CORETYPE=SkylakeX")
		}
		c.Stderr = os.Stderr
		in, err := c.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := c.StdoutPipe()
		if err != nil {
			return nil, err
		}
		return &python{in, bufio.NewReader(out)}, c.Start()
	}
	return nil, fmt.Errorf("no python3 with numpy and scipy here")
}

// rival runs a method of rows.py on a file of rows.
func (p *python) rival(label, method, file string, d, m int) rival {
	return rival{label, func() time.Duration {
		if _, err := fmt.Fprintln(p.in, method, file, d, m); err != nil {
			log.Fatal(err)
		}
		line, err := p.out.ReadString('\n')
		if err != nil {
			log.Fatalf("rows.py stopped: %v", err)
		}
		seconds, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
		if err != nil {
			log.Fatal(err)
		}
		return time.Duration(seconds * 1e9)
	}}
}
