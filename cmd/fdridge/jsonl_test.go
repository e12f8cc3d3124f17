package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// asObjects returns a csv table as JSON lines, every third line with its keys in the other direction.
func asObjects(t *testing.T, table string) string {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	names := records[0]
	var out strings.Builder
	for i, record := range records[1:] {
		pairs := []string{}
		for j, field := range record {
			if field == "" {
				if i > 0 && i%2 == 0 {
					continue
				}
				field = "null"
			}
			if !json.Valid([]byte(field)) {
				field = fmt.Sprintf("%q", field)
			}
			pair := fmt.Sprintf("%q: %s", names[j], field)
			if i%3 == 2 {
				pairs = append([]string{pair}, pairs...)
			} else {
				pairs = append(pairs, pair)
			}
		}
		out.WriteString("{" + strings.Join(pairs, ", ") + "}\n")
	}
	return out.String()
}

// modelOf returns a saved model without the names of its files.
func modelOf(t *testing.T, path string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(contents(t, path)), &m); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"data", "command", "seconds", "files"} {
		delete(m, key)
	}
	return m
}

// TestJSONLines: a table as JSON lines is fitted, predicted, sketched in parts and cached like the table as csv.
func TestJSONLines(t *testing.T) {
	flats := contents(t, "../../testdata/flats.csv")
	rows := rowsCSV(120)
	t.Chdir(t.TempDir())
	objects := asObjects(t, flats)
	for name, text := range map[string]string{
		"flats.csv": flats, "flats.jsonl": objects, "flats.ndjson.gz": gzipped(t, objects), "flats": objects, "rows.csv": rows, "rows.jsonl": asObjects(t, rows),
		"method.jsonl": "{\"method\":1,\"y\":2}\n{\"method\":2,\"y\":3}\n{\"method\":4,\"y\":3}\n", "array.json": "[{\"a\":1},{\"a\":2}]\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, flags := range []string{
		"--target rent --prepare auto --gamma 1", "--target rent --onehot district,heating --missing mean --gamma 1,2 --standardize", "--target rent --columns area,rooms --missing drop --gamma 1",
		"--target rent --columns area --gamma 1 --holdout 0.2 --cache . --method cg --size 2",
		"--target heating --classes --columns area,rooms --missing drop --gamma 1",
	} {
		want := ""
		for _, data := range []string{"flats.csv", "flats.jsonl", "flats.ndjson.gz", "flats"} {
			must(t, append([]string{"fit", "--data", data, "--out", "model"}, strings.Fields(flags)...)...)
			args := []string{"predict", "--model", "model", "--data", data}
			if i == 1 {
				args = append(args, "--gamma", "1")
			}
			got := must(t, args...) + fmt.Sprint(modelOf(t, "model")["fits"])
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s, %s:\n%.600s\nas csv:\n%.600s", data, flags, got, want)
			}
		}
	}
	for _, data := range []string{"rows.csv", "rows.jsonl"} {
		names := sketchParts(t, 3, "--data", data, "--target", "y", "--size", "2")
		mergeAll(t, names, data+".fds")
		must(t, "solve", data+".fds", "--gamma", "1", "--out", data+".model")
	}
	if a, b := modelOf(t, "rows.csv.model"), modelOf(t, "rows.jsonl.model"); !reflect.DeepEqual(a["fits"], b["fits"]) {
		t.Errorf("parts of JSON lines:\n%v\nparts of csv:\n%v", b, a)
	}
	must(t, "fit", "--data", "method.jsonl", "--target", "y", "--gamma", "1")
	for data, want := range map[string]string{
		"array.json": "array.json: is a JSON array, not a table of rows; jq -r",
	} {
		if code, _, stderr := call("fit", "--data", data, "--target", "a", "--gamma", "1"); code != 2 ||
			!strings.Contains(stderr, want) {
			t.Errorf("%s: %d, %s", data, code, stderr)
		}
	}
}
