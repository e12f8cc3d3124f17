package python

import (
	"os/exec"
	"testing"
)

// TestAsk: what it prints at first is an answer, each line is answered by one, and a program that ends is an error.
func TestAsk(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3 here")
	}
	p, err := Start("print('begun', flush=True); print(input()[::-1], flush=True)", "sys", 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Answer(); err != nil || got != "begun" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := p.Ask("ab", 12); err != nil || got != "21 ba" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := p.Ask("more"); err == nil {
		t.Errorf("%q of a program that has ended", got)
	}
}

// TestStart: modules that nobody has are an error.
func TestStart(t *testing.T) {
	if _, err := Start("", "no_such_module_anywhere", 1); err == nil {
		t.Error("it runs without its modules")
	}
}
