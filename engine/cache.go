package engine

import (
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

// A Cache describes one level of the data cache of the processor. A field is zero if its value is unknown.
type Cache struct {
	Size   int    `json:"size"` // in bytes
	Ways   int    `json:"ways"` // associativity
	Sets   int    `json:"sets"`
	Line   int    `json:"line"` // line size in bytes
	Origin string `json:"origin"`
}

// detectCaches returns the data caches of levels 1 to 3. It reads their associativity and their numbers of sets
// from sys, which is the directory /sys/devices/system/cpu/cpu0/cache. If this directory is missing, it returns
// only the sizes that the CPUID instruction reports.
func detectCaches(sys fs.FS) [3]Cache {
	c := [3]Cache{
		{Size: cpuid.CPU.Cache.L1D, Origin: "cpuid"},
		{Size: cpuid.CPU.Cache.L2, Origin: "cpuid"},
		{Size: cpuid.CPU.Cache.L3, Origin: "cpuid"},
	}
	for i := range c {
		c[i].Line = cpuid.CPU.CacheLine
		if c[i].Size <= 0 {
			c[i] = Cache{Origin: "unknown"}
		}
	}
	dirs, err := fs.Glob(sys, "index*")
	if err != nil {
		return c
	}
	for _, dir := range dirs {
		if level, cache, ok := readCache(sys, dir); ok {
			c[level-1] = cache
		}
	}
	return c
}

// readCache reads the description of one cache from the files in the directory dir. It returns false if the
// directory does not describe a data cache of level 1 to 3.
func readCache(sys fs.FS, dir string) (level int, c Cache, ok bool) {
	kind := readText(sys, dir+"/type")
	level = readInt(sys, dir+"/level")
	if level < 1 || level > 3 || (kind != "Data" && kind != "Unified") {
		return 0, Cache{}, false
	}
	c = Cache{
		Size:   readSize(sys, dir+"/size"),
		Ways:   readInt(sys, dir+"/ways_of_associativity"),
		Sets:   readInt(sys, dir+"/number_of_sets"),
		Line:   readInt(sys, dir+"/coherency_line_size"),
		Origin: "sysfs " + dir,
	}
	if c.Size <= 0 {
		return 0, Cache{}, false
	}
	// The size differs from the product of ways, sets and line size if the cache is fully associative. The number
	// of ways is then 0. It also differs if a hypervisor reports wrong numbers. The product is computed in float64,
	// because it could overflow an int.
	if float64(c.Ways)*float64(c.Sets)*float64(c.Line) != float64(c.Size) {
		c.Ways, c.Sets = 0, 0
		c.Origin += ", without associativity"
	}
	return level, c, true
}

// readText returns the content of the named file, or "" if the file cannot be read.
func readText(sys fs.FS, name string) string {
	b, err := fs.ReadFile(sys, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func readInt(sys fs.FS, name string) int {
	return parse(readText(sys, name))
}

// readSize returns the size in bytes that the named file contains, such as 48K or 32M. It returns 0 if the file
// does not contain a size below 2 GiB.
func readSize(sys fs.FS, name string) int {
	text := readText(sys, name)
	unit := 1
	if digits, ok := strings.CutSuffix(text, "K"); ok {
		text, unit = digits, 1<<10
	} else if digits, ok := strings.CutSuffix(text, "M"); ok {
		text, unit = digits, 1<<20
	}
	n := parse(text)
	if n > math.MaxInt32/unit {
		return 0
	}
	return n * unit
}

// parse returns the integer in text, or 0 if text is not an integer below 2³¹.
func parse(text string) int {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

func (c Cache) String() string {
	if c.Size == 0 {
		return "unknown"
	}
	s := fmt.Sprintf("%d KiB", c.Size>>10)
	if c.Ways > 0 {
		s += fmt.Sprintf(", %d ways × %d sets × %d B", c.Ways, c.Sets, c.Line)
	}
	return s
}
