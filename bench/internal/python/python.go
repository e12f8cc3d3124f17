// Package python runs a Python program that answers each input line with one line. It runs rivals that use numpy,
// scipy and scikit-learn. [Command] runs such programs in other languages.
package python

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/engine/purego"
)

// A Process is a running program.
type Process struct {
	in  io.Writer
	out *bufio.Reader
}

// Start runs a program on the given number of threads. It uses the first python3 that has the given modules, such as
// "numpy, scipy", and returns an error if there is none. The program ends with this process.
func Start(program, modules string, threads int) (*Process, error) {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if err := exec.Command(name, "-c", "import "+modules).Run(); err != nil {
			continue
		}
		c := exec.Command(name, "-c", program)
		n := strconv.Itoa(threads)
		c.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS="+n, "OMP_NUM_THREADS="+n)
		if os.Getenv("OPENBLAS_CORETYPE") == "" && purego.Kernels()[0].Name == "avx512" {
			// A version that does not know the processor uses SSE3 kernels.
			c.Env = append(c.Env, "OPENBLAS_CORETYPE=SkylakeX")
		}
		return begun(c)
	}
	return nil, fmt.Errorf("there is no python3 with %s", modules)
}

// Command runs a program in another language. The program ends with this process.
func Command(name string, args ...string) (*Process, error) {
	return begun(exec.Command(name, args...))
}

func begun(c *exec.Cmd) (*Process, error) {
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &Process{in, bufio.NewReader(out)}, c.Start()
}

// Ask writes a line of words, separated by spaces, and returns the line that the program answers.
func (p *Process) Ask(words ...any) (string, error) {
	if _, err := fmt.Fprintln(p.in, words...); err != nil {
		return "", err
	}
	return p.Answer()
}

// Answer returns the next line that the program prints.
func (p *Process) Answer() (string, error) {
	line, err := p.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("python stopped: %w", err)
	}
	return strings.TrimSpace(line), nil
}
