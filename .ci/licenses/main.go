// Command licenses reads the output of "go mod download -json" and checks the licence texts in the
// root of each module. At least one must be recognised, and all recognised ones must be allowed. It
// prints modules and licences, and exits with 1 if a module has no licence or a forbidden one.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
)

// allowed lists licences that require at most attribution.
var allowed = []string{
	"Apache-2.0",
	"BSD-2-Clause",
	"BSD-3-Clause",
	"CC0-1.0",
	"ISC",
	"MIT",
	"MIT-0",
	"Unlicense",
	"Zlib",
}

// exceptions lists modules that may have other licences, and only these.
var exceptions = map[string][]string{
	"codeberg.org/go-fonts/liberation": {"OFL-1.1"},                            // the fonts of charts
	"github.com/ajstarks/svgo":         {"CC-BY-4.0"},                          // requires attribution
	"github.com/apache/thrift":         {"GNU-All-permissive-Copying-License"}, // for its build scripts
	"github.com/golang/freetype":       {unknown},                              // FTL or GPL-2, by choice
	// its own documentation, which is not copied
	"github.com/opencontainers/go-digest": {"CC-BY-SA-4.0"},
	"pgregory.net/rapid":                  {"MPL-2.0"}, // only in tests, unchanged
}

// unknown stands for a licence text that is missing or not recognised.
const unknown = "unknown"

// texts matches the names of licence files.
var texts = regexp.MustCompile(`(?i)^(un)?licen[sc]e|^copying`)

type module struct{ Path, Version, Dir, Error string }

func main() {
	log.SetFlags(0)
	log.SetPrefix("licenses: ")
	c, err := assets.DefaultClassifier()
	if err != nil {
		log.Fatal(err)
	}
	refused := false
	for in := json.NewDecoder(os.Stdin); ; {
		var m module
		if err := in.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		if m.Error != "" {
			log.Fatalf("%s: %s", m.Path, m.Error)
		}
		names, err := licences(c, m.Dir)
		if err != nil {
			log.Fatal(err)
		}
		verdict := judge(m.Path, names)
		fmt.Printf("%-50s %-40s %s%s\n", m.Path, m.Version, strings.Join(names, ", "), verdict)
		refused = refused || verdict != ""
	}
	if refused {
		log.Fatal("a module has no allowed licence")
	}
}

// licences returns the names of the licences found in the texts of a folder.
func licences(c *classifier.Classifier, dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() || !texts.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		for _, m := range c.Match(text).Matches {
			if m.MatchType == "License" {
				names = append(names, m.Name)
			}
		}
	}
	if names == nil {
		names = []string{unknown}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// judge returns the reason why the licences are not allowed, or "".
func judge(path string, names []string) string {
	for _, n := range names {
		if !slices.Contains(allowed, n) && !slices.Contains(exceptions[path], n) {
			return "  <- " + n + " is not allowed"
		}
	}
	return ""
}
