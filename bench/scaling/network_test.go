package main

import (
	"fmt"
	"math"
	"testing"
)

var testNetwork = network{"test", 3e-6, 2e9}

// simulated is how long the even ranks of a schedule take.
func simulated(t *testing.T, s schedule) float64 {
	t.Helper()
	c := newCluster(len(s), testNetwork)
	if err := c.run(s); err != nil {
		t.Fatal(err)
	}
	return c.finish()
}

// TestCollectives: on even ranks, a power of two of them, the simulation takes the time
// of the closed form.
func TestCollectives(t *testing.T) {
	const bytes, add, merge = 1 << 20, 5e9, 2e-3
	for p := 2; p <= 256; p *= 2 {
		for _, c := range []struct {
			name    string
			s       schedule
			formula float64
		}{
			{"merge", mergeTree(p, bytes, merge), float64(levels(p)) * (testNetwork.message(bytes) + merge)},
			{"chain", mergeChain(p, bytes, merge), float64(p-1) * (testNetwork.message(bytes) + merge)},
			{"binomial", binomialTree(p, bytes), testNetwork.binomial(p, bytes)},
			{"scatter", scatterAllgather(p, bytes), testNetwork.scatterAllgather(p, bytes)},
			{"doubling", recursiveDoubling(p, bytes, add), testNetwork.recursiveDoubling(p, bytes, add)},
			{"rabenseifner", rabenseifner(p, bytes, add), testNetwork.rabenseifner(p, bytes, add)},
			{"ring", ring(p, bytes, add), testNetwork.ring(p, bytes, add)},
		} {
			if got := simulated(t, c.s); !(math.Abs(got-c.formula) <= 1e-9*c.formula) {
				t.Errorf("%s on %d ranks: simulated %g s, formula %g s", c.name, p, got, c.formula)
			}
		}
	}
}

// TestUnevenTrees: for other P the closed forms of the trees are bounds, and reached
// within a level.
func TestUnevenTrees(t *testing.T) {
	const bytes, merge = 1 << 20, 2e-3
	for _, p := range []int{1, 3, 5, 6, 7, 12, 100, 1000} {
		level := testNetwork.message(bytes)
		for _, c := range []struct {
			name           string
			s              schedule
			formula, level float64
		}{
			{"merge", mergeTree(p, bytes, merge), float64(levels(p)) * (level + merge), level + merge},
			{"binomial", binomialTree(p, bytes), testNetwork.binomial(p, bytes), level},
		} {
			if got := simulated(t, c.s); !(got <= c.formula*(1+1e-9)) || !(got >= (c.formula-c.level)*(1-1e-9)) {
				t.Errorf("%s on %d ranks: simulated %g s, formula %g s", c.name, p, got, c.formula)
			}
		}
	}
}

// TestVolumes: what the ranks of an allreduce send is what the literature counts.
func TestVolumes(t *testing.T) {
	const bytes, add = 1 << 16, 5e9
	for p := 2; p <= 64; p *= 2 {
		f := float64(p)
		for _, c := range []struct {
			name string
			s    schedule
			want float64
		}{
			{"doubling", recursiveDoubling(p, bytes, add), bytes * float64(levels(p))},
			{"rabenseifner", rabenseifner(p, bytes, add), 2 * bytes * (f - 1) / f},
			{"ring", ring(p, bytes, add), 2 * bytes * (f - 1) / f},
		} {
			cl := newCluster(p, testNetwork)
			if err := cl.run(c.s); err != nil {
				t.Fatal(err)
			}
			for r, got := range cl.sent {
				if !(math.Abs(got-c.want) <= 1e-9*c.want) {
					t.Fatalf("%s: rank %d of %d sends %g bytes, not %g", c.name, r, p, got, c.want)
				}
			}
		}
	}
}

// TestLinks: a link takes one message in at a time, and one out.
func TestLinks(t *testing.T) {
	const bytes = 1e6
	in := make(schedule, 4)
	out := make(schedule, 4)
	for r := 1; r < 4; r++ {
		in.send(r, 0, bytes)
		in.recv(0, r)
		out.send(0, r, bytes)
		out.recv(r, 0)
	}
	want := testNetwork.Alpha + 3*bytes/testNetwork.Bandwidth
	for name, s := range map[string]schedule{"in": in, "out": out} {
		if got := simulated(t, s); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("three messages %s take %g s, not %g", name, got, want)
		}
	}
}

func TestDeadlock(t *testing.T) {
	s := make(schedule, 2)
	s.recv(0, 1)
	s.recv(1, 0)
	if err := newCluster(2, testNetwork).run(s); err == nil {
		t.Error("two ranks that wait for each other finish")
	}
}

// TestJob: the simulation of a whole job is its closed form where ranks are even, but
// for messages' latencies that one rank sees while another works, and slower where
// they are not.
func TestJob(t *testing.T) {
	s := site{c: testConstants(), net: testNetwork, storage: 1e9, memory: 1e12}
	for _, j := range []job{
		{n: 1e6, d: 1024, m: 64, t: 1, q: 1, passes: 3},
		{n: 1e6, d: 16384, m: 256, t: 2, q: 8, passes: 2},
		{n: 1e5, d: 16, m: 4, t: 1, q: 1, passes: 5},
	} {
		for p := 1; p <= 128; p *= 2 {
			j.ranks = p
			formula := s.predict(j).total()
			for _, slow := range slownesses {
				t.Run(fmt.Sprintf("d=%.0f,P=%d,%s", j.d, p, slow.name), func(t *testing.T) {
					c, err := s.simulate(j, slow, 1)
					if err != nil {
						t.Fatal(err)
					}
					got := c.finish()
					if slow.name == "even" {
						if hidden := float64(levels(p)) * testNetwork.Alpha; !(got <= formula*(1+1e-9)) || !(got >= formula-hidden-1e-9*formula) {
							t.Errorf("simulated %g s, formula %g s", got, formula)
						}
						return
					}
					again, err := s.simulate(j, slow, 1)
					if err != nil {
						t.Fatal(err)
					}
					if again.finish() != got {
						t.Errorf("simulated %g s, then %g s", got, again.finish())
					}
					if p >= 8 && !(got > formula) {
						t.Errorf("uneven ranks take %g s, even ones %g s", got, formula)
					}
				})
			}
		}
	}
}

// testConstants are round figures.
func testConstants() *constants {
	return &constants{
		Gemm: 50, Add: 1e10,
		Sketch: []sketchRate{{D: 1024, M: 64, Flops: 4e10}},
		Pass:   []passRate{{D: 1024, Q: 1, Flops: 4e9}},
		Sparse: []sparseRate{{D: 1024, NNZ: 100, Flops: 2e9}},
		Step:   []stepRate{{D: 1024, M: 64, Q: 1, Flops: 3e9}},
		Merge:  []mergeRate{{D: 1024, M: 64, Write: 1e9, Load: 2e9, Shrinks: 1.5, Flops: 4e10, Spectrum: 3e-3}},
	}
}
