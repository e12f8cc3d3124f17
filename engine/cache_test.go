package engine

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/cpuid/v2"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/engine/purego"
)

// sysfs is a cache directory as Linux shows it: for each index a type, a level, a
// size, and ways, sets and line where they are given.
func sysfs(indices ...[6]string) fstest.MapFS {
	sys := fstest.MapFS{"uevent": {}}
	for i, index := range indices {
		for k, name := range []string{"type", "level", "size", "ways_of_associativity", "number_of_sets", "coherency_line_size"} {
			if index[k] != "" {
				sys[fmt.Sprintf("index%d/%s", i, name)] = &fstest.MapFile{Data: []byte(index[k] + "\n")}
			}
		}
	}
	return sys
}

// pretendCPUID sets what CPUID tells of caches for one test.
func pretendCPUID(t *testing.T, l1, l2, l3 int) {
	t.Helper()
	before := cpuid.CPU
	t.Cleanup(func() { cpuid.CPU = before })
	cpuid.CPU.Cache.L1D, cpuid.CPU.Cache.L2, cpuid.CPU.Cache.L3 = l1, l2, l3
	cpuid.CPU.CacheLine = 64
}

func TestDetectCaches(t *testing.T) {
	none := Cache{Origin: "unknown"}
	told := func(size int) Cache { return Cache{Size: size, Line: 64, Origin: "cpuid"} }
	for _, c := range []struct {
		name  string
		cpuid [3]int
		sys   fstest.MapFS
		want  [3]Cache
	}{
		{"x86", [3]int{1, 2, 3}, sysfs(
			[6]string{"Data", "1", "48K", "12", "64", "64"},
			[6]string{"Instruction", "1", "32K", "8", "64", "64"},
			[6]string{"Unified", "2", "2048K", "16", "2048", "64"},
			[6]string{"Unified", "3", "32M", "16", "32768", "64"},
		), [3]Cache{
			{48 << 10, 12, 64, 64, "sysfs index0"},
			{2 << 20, 16, 2048, 64, "sysfs index2"},
			{32 << 20, 16, 32768, 64, "sysfs index3"},
		}},
		{"virtual machine with 480 MiB of L3", [3]int{48 << 10, 2 << 20, 480 << 20}, sysfs(
			[6]string{"Data", "1", "48K", "12", "64", "64"},
			[6]string{"Unified", "3", "491520K", "20", "1", "64"},
		), [3]Cache{
			{48 << 10, 12, 64, 64, "sysfs index0"},
			told(2 << 20),
			{480 << 20, 0, 0, 64, "sysfs index1, without associativity"},
		}},
		{"ARM with nothing", [3]int{-1, -1, -1}, fstest.MapFS{}, [3]Cache{none, none, none}},
		{"sizes from CPUID alone", [3]int{32 << 10, 1 << 20, 0}, fstest.MapFS{}, [3]Cache{told(32 << 10), told(1 << 20), none}},
		{"ARM with sizes and no ways", [3]int{-1, -1, -1}, sysfs(
			[6]string{"Data", "1", "64K", "", "", ""},
			[6]string{"Unified", "2", "1024K", "0", "", ""},
		), [3]Cache{
			{64 << 10, 0, 0, 0, "sysfs index0, without associativity"},
			{1 << 20, 0, 0, 0, "sysfs index1, without associativity"},
			none,
		}},
		{"nonsense", [3]int{0, 0, 0}, sysfs(
			[6]string{"Data", "0", "48K", "12", "64", "64"},
			[6]string{"Data", "-1", "48K", "12", "64", "64"},
			[6]string{"Unified", "4", "128M", "16", "1", "64"},
			[6]string{"Unified", "2", "big", "16", "1", "64"},
			[6]string{"Unified", "2", "-5K", "16", "1", "64"},
			[6]string{"Unified", "2", "99999999999999999999K", "16", "1", "64"},
			[6]string{"Unified", "3", "9999999999999M", "16", "1", "64"},
			[6]string{"Unified", "2", "48KM", "16", "1", "64"},
			[6]string{"Unified", "2", "+48K", "16", "1", "64"},
			[6]string{"", "1", "48K", "12", "64", "64"},
			[6]string{"Data", "one", "48K", "12", "64", "64"},
			[6]string{},
		), [3]Cache{none, none, none}},
		{"ways that multiply out to nothing", [3]int{0, 0, 0}, sysfs(
			[6]string{"Data", "1", "48K", "4294967296", "-64", "64"},
		), [3]Cache{{48 << 10, 0, 0, 64, "sysfs index0, without associativity"}, none, none}},
		{"a product of 48K + 2·2⁶⁴", [3]int{0, 0, 0}, sysfs(
			[6]string{"Data", "1", "48K", "4131104", "2328064", "3836089"},
		), [3]Cache{{48 << 10, 0, 0, 3836089, "sysfs index0, without associativity"}, none, none}},
		{"sizes at the limit", [3]int{0, 0, 0}, sysfs(
			[6]string{"Unified", "1", "2147483648", "", "", ""},
			[6]string{"Unified", "2", "2147483647", "", "", ""},
			[6]string{"Unified", "3", "2048M", "", "", ""},
		), [3]Cache{none, {math.MaxInt32, 0, 0, 0, "sysfs index1, without associativity"}, none}},
	} {
		t.Run(c.name, func(t *testing.T) {
			pretendCPUID(t, c.cpuid[0], c.cpuid[1], c.cpuid[2])
			got := detectCaches(c.sys)
			if got != c.want {
				t.Errorf("got\n%+v, want\n%+v", got, c.want)
			}
			for _, k := range purego.Kernels() {
				tuning := Tuning{ISA: k.Name, MR: k.MR, NR: k.NR, L1: got[0], L2: got[1], L3: got[2]}
				tuning.setBlocks()
				if err := sensible(tuning); err != "" {
					t.Errorf("%s: %s\n%v", k.Name, err, tuning)
				}
			}
		})
	}
}

// sensible says what is wrong with blocks, "" if nothing: multiples of the tile
// within their bounds, an A panel within L1, blocks within caches that exist.
func sensible(t Tuning) string {
	mc, kc, nc := t.MC.Value, t.KC.Value, t.NC.Value
	switch {
	case kc < 64 || kc > 384 || kc%8 != 0:
		return "kc out of its bounds"
	case mc < t.MR || mc > 1024 || mc%t.MR != 0:
		return "mc out of its bounds"
	case nc < t.NR || nc > 8192 || nc%t.NR != 0:
		return "nc out of its bounds"
	case t.L1.Size >= fallbackL1 && kc*t.MR*word > t.L1.Size:
		return "a panel of A exceeds L1"
	case t.ISA != "avx512" && t.L1.Size >= fallbackL1 && kc*(t.MR+t.NR)*word > t.L1.Size:
		return "a panel of A and a panel of B exceed L1"
	case t.L2.Size >= fallbackL2 && mc*kc*word > t.L2.Size:
		return "the block of A exceeds L2"
	case t.L3.Size >= fallbackL3 && kc*nc*word > min(t.L3.Size, largestL3):
		return "the block of B exceeds the share of L3"
	case t.MC.Origin == "" || t.KC.Origin == "" || t.NC.Origin == "":
		return "a block without origin"
	}
	return ""
}

func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cache := func(level string) Cache {
			c := Cache{Ways: rapid.IntRange(-1, math.MaxInt32).Draw(t, level+" ways"), Line: 64, Origin: "made up"}
			if rapid.Bool().Draw(t, level+" usual") {
				c.Ways = rapid.IntRange(1, 24).Draw(t, level+" few ways")
			}
			c.Size = rapid.IntRange(-1, 1<<rapid.IntRange(1, min(40, strconv.IntSize-2)).Draw(t, level+" bits")).Draw(t, level+" size")
			return c
		}
		k := rapid.SampledFrom(purego.Kernels()).Draw(t, "kernel")
		tuning := Tuning{ISA: k.Name, MR: k.MR, NR: k.NR, L1: cache("L1"), L2: cache("L2"), L3: cache("L3")}
		tuning.setBlocks()
		if err := sensible(tuning); err != "" {
			t.Fatalf("%s\n%v", err, tuning)
		}
		for _, d := range []int{0, 1, 100, 1 << 20} {
			if rows := tuning.GradientRows(d); rows < 16 || rows > 8192 {
				t.Fatalf("%d rows of a gradient block for d = %d", rows, d)
			}
		}
	})
}

// TestModelByHand compares with the blocks worked out by hand from the paper's
// formulas.
func TestModelByHand(t *testing.T) {
	for _, c := range []struct {
		name       string
		tuning     Tuning
		mc, kc, nc int
	}{
		// kc = 4·4096/64 = 256, mc = 8·65536/2048 = 256,
		// nc = 5·2 MiB/2048 = 5120, in whole tiles 5112.
		{"Skylake-X", Tuning{
			ISA: "avx512", MR: 8, NR: 24, L1: Cache{Size: 32 << 10, Ways: 8},
			L2: Cache{Size: 1 << 20, Ways: 16}, L3: Cache{Size: 22 << 20, Ways: 11},
		}, 256, 256, 5112},
		// kc = 32768/(8·16) = 256; mc = 4·32768/2048 = 64; nc = 8·524288/2048 = 2048, in whole tiles 2040.
		{"Haswell", Tuning{
			ISA: "avx2", MR: 4, NR: 12, L1: Cache{Size: 32 << 10, Ways: 8},
			L2: Cache{Size: 256 << 10, Ways: 8}, L3: Cache{Size: 8 << 20, Ways: 16},
		}, 64, 256, 2040},
		// kc = 256; mc = 4·65536/2048 = 128; nc = 8·2 MiB/2048 = 8192, in whole tiles 8184.
		{"Zen 3", Tuning{
			ISA: "avx2", MR: 4, NR: 12, L1: Cache{Size: 32 << 10, Ways: 8},
			L2: Cache{Size: 512 << 10, Ways: 8}, L3: Cache{Size: 32 << 20, Ways: 16},
		}, 128, 256, 8184},
		// kc = 65536/128 = 512, at most 384; mc = 4·131072/3072 = 170, in whole tiles 168; L3 as assumed:
		// nc = 8·262144/3072 = 682, in whole tiles 672.
		{"Neoverse N1", Tuning{
			ISA: "neon", MR: 4, NR: 12, L1: Cache{Size: 64 << 10, Ways: 4},
			L2: Cache{Size: 1 << 20, Ways: 8}, L3: Cache{},
		}, 168, 384, 672},
	} {
		c.tuning.setBlocks()
		if got := [3]int{c.tuning.MC.Value, c.tuning.KC.Value, c.tuning.NC.Value}; got != [3]int{c.mc, c.kc, c.nc} {
			t.Errorf("%s: mc, kc, nc are %v, want %v", c.name, got, [3]int{c.mc, c.kc, c.nc})
		}
	}
}

// TestSharedL3 checks that a virtual machine that reports the L3 of its whole host
// gets the blocks of a core's share of it.
func TestSharedL3(t *testing.T) {
	blocks := func(l3 int) int {
		tuning := Tuning{
			MR: 4, NR: 4, L1: Cache{Size: 48 << 10, Ways: 12},
			L2: Cache{Size: 2 << 20, Ways: 16}, L3: Cache{Size: l3, Ways: 16},
		}
		tuning.setBlocks()
		return tuning.NC.Value
	}
	if share, host := blocks(largestL3), blocks(480<<20); share != host || share >= 8192 {
		t.Errorf("nc is %d for %d MiB of L3 and %d for 480 MiB", share, largestL3>>20, host)
	}
}

// TestModelOrigins: the blocks say what was known of their cache, what was assumed
// and what was left out.
func TestModelOrigins(t *testing.T) {
	told := Cache{Size: 1 << 20, Ways: 16, Origin: "told"}
	for _, c := range []struct {
		l3   Cache
		want string
	}{
		{told, "BLIS model, L3 told"},
		{Cache{Size: 1 << 20, Origin: "told"}, "BLIS model, L3 told, 16 ways assumed"},
		{Cache{Size: 1 << 20, Ways: 1 << 20, Origin: "told"}, "BLIS model, L3 told, 16 ways assumed"},
		{Cache{Origin: "unknown"}, "BLIS model, L3 unknown, 4096 KiB assumed"},
		{Cache{Size: 480 << 20, Ways: 16, Origin: "told"}, "BLIS model, L3 told, 32768 KiB of it"},
		{Cache{Size: 480 << 20, Origin: "told"}, "BLIS model, L3 told, 16 ways assumed, 32768 KiB of it"},
	} {
		tuning := Tuning{MR: 4, NR: 4, L1: told, L2: told, L3: c.l3}
		tuning.setBlocks()
		if tuning.NC.Origin != c.want || tuning.KC.Origin != "BLIS model, L1 told" ||
			tuning.MC.Origin != "BLIS model, L2 told" {
			t.Errorf("origins %q, %q, %q, want %q", tuning.KC.Origin, tuning.MC.Origin, tuning.NC.Origin, c.want)
		}
	}
}

// TestWithoutCPUID: where CPUID is silent, as under the tag noasm, nothing claims to
// come from it.
func TestWithoutCPUID(t *testing.T) {
	before := cpuid.CPU
	t.Cleanup(func() { cpuid.CPU = before })
	cpuid.CPU = cpuid.CPUInfo{}
	tuning := Detect()
	if tuning.ISA != purego.Kernels()[0].Name || strings.Contains(tuning.String(), "cpuid") {
		t.Errorf("cpuid is silent:\n%v", tuning)
	}
	r, err := NewReport()
	if err != nil {
		t.Fatal(err)
	}
	if r.CPU != "unknown CPU" {
		t.Errorf("CPU %q", r.CPU)
	}
}

func TestDetect(t *testing.T) {
	tuning := Detect()
	if err := sensible(tuning); err != "" {
		t.Errorf("%s\n%v", err, tuning)
	}
	if tuning.Shrink.Origin == "" || tuning.Gradient.Origin == "" {
		t.Errorf("rows without origin:\n%v", tuning)
	}
	if tuning.Threads.Value != runtime.GOMAXPROCS(0) {
		t.Errorf("%d threads", tuning.Threads.Value)
	}
	if again := Detect(); again != tuning {
		t.Errorf("detected\n%v then\n%v", tuning, again)
	}
}
