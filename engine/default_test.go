package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fdridge/fdridge/engine"
)

// TestDefault: backend and tuning are made once, whatever the environment becomes.
func TestDefault(t *testing.T) {
	one, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	tuning, err := engine.DefaultTuning()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("FDRIDGE_THREADS", "none")
	if again, err := engine.DefaultTuning(); err != nil || again != tuning {
		t.Errorf("two calls, two tunings: %v\n%v%v", err, tuning, again)
	}
	two, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	if one != two {
		t.Error("two calls, two backends")
	}
	if be, err := engine.OrDefault(nil); err != nil || be != one {
		t.Errorf("OrDefault(nil) is %v, %v", be, err)
	}
	other, err := engine.New("purego", tuning)
	if err != nil {
		t.Fatal(err)
	}
	if be, err := engine.OrDefault(other); err != nil || be != other {
		t.Errorf("OrDefault returns %v, %v instead of its argument", be, err)
	}
	if one.Name() != engine.Names()[0] {
		t.Errorf("the default is %s, the first of %v is another", one.Name(), engine.Names())
	}
}

// TestNew makes every backend of the build by its name, and none by another.
func TestNew(t *testing.T) {
	tuning, err := engine.DefaultTuning() // the process has one setting of OpenBLAS's threads
	if err != nil {
		t.Fatal(err)
	}
	purego := false
	for _, name := range engine.Names() {
		be, err := engine.New(name, tuning)
		if err != nil {
			t.Fatal(err)
		}
		if be.Name() != name {
			t.Errorf("%s calls itself %s", name, be.Name())
		}
		purego = purego || name == "purego"
	}
	if !purego {
		t.Errorf("no purego in %v", engine.Names())
	}
	for _, name := range engine.Names() { // OpenBLAS cannot have 0 threads
		if be, err := engine.New(name, engine.Tuning{}); (be == nil) != (err != nil) {
			t.Errorf("%s of the zero tuning: backend %v with error %v", name, be, err)
		}
	}
	for _, name := range []string{"", "mkl", "PUREGO"} {
		be, err := engine.New(name, tuning)
		if err == nil || be != nil {
			t.Fatalf("New(%q) makes a backend", name)
		}
		for _, part := range append(engine.Names(), `"`+name+`"`) {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("no %s in %q", part, err)
			}
		}
	}
}

// TestWithoutCgo builds with the tag openblas and cgo off: it must fail, with the
// sentence that select_nocgo.go holds for it.
func TestWithoutCgo(t *testing.T) {
	source, err := os.ReadFile("select_nocgo.go")
	if err != nil {
		t.Fatal(err)
	}
	sentence := regexp.MustCompile(`(?m)^var _ int = "(.+)"$`).FindSubmatch(source)
	if sentence == nil {
		t.Fatal("no sentence in select_nocgo.go")
	}
	cmd := exec.Command("go", "build", "-tags", "openblas", ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=") // -race, say, would fail for its own reason
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatal("it compiles")
	}
	if !strings.Contains(string(out), string(sentence[1])) {
		t.Errorf("it does not say why:\n%s", out)
	}
}

func TestReport(t *testing.T) {
	r, err := engine.NewReport()
	if err != nil {
		t.Fatal(err)
	}
	if r.Backend != engine.Names()[0] || len(r.Backends) != len(engine.Names()) || r.Capabilities["kernel"] == "" ||
		r.CPU == "" || r.Cores < 1 || r.GoMaxProcs < 1 || r.Platform == "" || r.Go == "" || r.Tuning.ISA == "" {
		t.Errorf("%+v", r)
	}
}

// TestReportKeys: every key of the JSON is lower_snake_case.
func TestReportKeys(t *testing.T) {
	r, err := engine.NewReport()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal([]any{r, engine.Measurement{}})
	if err != nil {
		t.Fatal(err)
	}
	keys := regexp.MustCompile(`"([^"]*)":`).FindAllSubmatch(text, -1)
	if len(keys) < 30 {
		t.Errorf("%d keys in %s", len(keys), text)
	}
	snake := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	for _, k := range keys {
		if !snake.Match(k[1]) {
			t.Errorf("key %q", k[1])
		}
	}
}

func TestMeasure(t *testing.T) {
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	m, err := engine.Measure(t.Context(), be, 20*time.Millisecond)
	if err != nil || !(m.Peak > 0) || !(m.Gemm > 0) || !(m.Bandwidth > 0) || !(m.Fresh > 0) {
		t.Errorf("%+v, %v", m, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	start := time.Now()
	if _, err := engine.Measure(cancelled, be, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if d := time.Since(start); d > time.Minute {
		t.Errorf("cancelled, it took %v", d)
	}
}
