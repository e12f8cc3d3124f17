package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestPredictKey checks that --key writes the key of each row before its prediction, as it stands in the file.
func TestPredictKey(t *testing.T) {
	writeAll(t, map[string]string{
		"train.csv": "a,y\n1,2\n2,3\n3,5\n4,7\n", "bare.csv": "1,2\n2,3\n3,5\n4,7\n", "kinds.csv": "a,kind\n1,u\n2,v\n3,u\n4,v\n",
		"new.csv": "id,\"the, name\",a\n007, ann ,1\n8,\"b, \"\"c\"\"\",2\n\n,NA,3\n", "more.csv": "\"the, name\",a,id\nd,4,10\n", "plain.csv": "11,1\n12,2\n",
		"numbers.csv": "0,1,2\n0.5,1.0,2.5\n3.5,4.0,5.5\n1.25,2.25,3.5\n", "whole.csv": "0,1,id\n5,6,a\n7,8,b\n4,3,c\n",
		"steps.csv":  "100,150,200\n1.5,2.5,4.25\n2.5,1.5,3.25\n0.5,2.25,5.25\n4.5,1.25,2.25\n",
		"rows.jsonl": "{\"id\":\"k1\",\"a\":1}\n{\"id\":5,\"a\":2}\n{\"a\":3}\n",
	})
	must(t, "fit", "--data", "train.csv", "--target", "y", "--gamma", "1", "--out", "m.json")
	must(t, "fit", "--data", "bare.csv", "--target", "2", "--gamma", "1", "--out", "bare.json")
	must(t, "fit", "--data", "kinds.csv", "--target", "kind", "--classes", "--gamma", "1", "--out", "kinds.json")
	must(t, "fit", "--data", "numbers.csv", "--target", "2", "--gamma", "1", "--out", "numbers.json")
	must(t, "fit", "--data", "steps.csv", "--header", "yes", "--target", "200", "--gamma", "1", "--out", "steps.json")
	for _, c := range []struct {
		args, header string
		want         []string // keys
	}{
		{"--model m.json --data new.csv --key id", "id,prediction", []string{"007", "8", ""}},
		{"--model m.json --data new.csv,more.csv --key id", "id,prediction", []string{"007", "8", "", "10"}},
		{"--model m.json --data new.csv,more.csv --key id --rows 2:4", "id,prediction", []string{"8", "", "10"}},
		{"--model m.json --data new.csv --key id --interval m.json", "id,prediction,low,high", []string{"007", "8", ""}},
		{"--model bare.json --data plain.csv --header no --key 1", "1,prediction", []string{"11", "12"}},
		{"--model numbers.json --data whole.csv --key id", "id,prediction", []string{"a", "b", "c"}},
		{"--model steps.json --data steps.csv --key 200", "200,prediction", []string{"4.25", "3.25", "5.25", "2.25"}},
		{"--model m.json --data rows.jsonl --key id", "id,prediction", []string{"k1", "5", ""}},
		{"--model kinds.json --data new.csv --key id", "id,class,margin,proved", []string{"007", "8", ""}},
	} {
		got := strings.Split(
			strings.TrimSuffix(
				must(t, append(strings.Fields("predict --out-format csv"), strings.Fields(c.args)...)...),
				"\n",
			),
			"\n",
		)
		var keys []string
		for _, line := range got[1:] {
			key, rest, _ := strings.Cut(line, ",")
			keys = append(keys, key)
			if strings.Count(rest, ",") != strings.Count(c.header, ",")-1 {
				t.Errorf("%s: %q", c.args, line)
			}
		}
		if got[0] != c.header || !slices.Equal(keys, c.want) {
			t.Errorf("%s: %q", c.args, got)
		}
	}
	named := must(t, "predict", "--model", "m.json", "--data", "new.csv", "--key", "the, name", "--out-format", "csv")
	if want := "\"the, name\",prediction\nann,"; !strings.HasPrefix(named, want) ||
		!strings.Contains(named, "\n\"b, \"\"c\"\"\",") ||
		!strings.Contains(named, "\nNA,") {
		t.Errorf("%q", named)
	}
	var found struct {
		Key         string
		Keys        []string
		Predictions []any
	}
	err := json.Unmarshal(
		[]byte(must(t, "predict", "--model", "m.json", "--data", "new.csv", "--key", "id", "--json")),
		&found,
	)
	if err != nil {
		t.Fatal(err)
	}
	if found.Key != "id" || !slices.Equal(found.Keys, []string{"007", "8", ""}) || len(found.Predictions) != 3 {
		t.Errorf("JSON: %+v", found)
	}
	must(t, "predict", "--model", "m.json", "--data", "new.csv", "--key", "id", "--out", "p.npy")
	must(t, "predict", "--model", "m.json", "--data", "p.npy", "--key", "1", "--out", "again.csv")
	must(t, "predict", "--model", "m.json", "--data", "new.csv", "--key", "id", "--out", "p.arrow")
	got := must(
		t,
		"fit",
		"--data",
		"p.arrow",
		"--target",
		"prediction",
		"--columns",
		"id",
		"--missing",
		"drop",
		"--gamma",
		"1",
	)
	if !strings.Contains(got, "2 rows × 1 features, 1 target: prediction") {
		t.Errorf("Arrow: %s", got)
	}
	for args, want := range map[string]string{
		"--data new.csv --key nobody":                        "new.csv:1: there is no column \"nobody\"",
		"--data new.csv --key id --rows 2:9":                 "rows 2 to 9 were requested",
		"--data rows.jsonl --key id --out p.npy":             "--key: row 1 has the key \"k1\", which is not exact as a number, and arrays hold only numbers: write csv",
		"--data - --key id":                                  "--key: the column is read apart, and standard input can be read only once",
		"--data new.csv --key id --transposed --columns 1,2": "--key: with --transposed a sample has no column",
	} {
		code, _, stderr := call(append(strings.Fields("predict --model m.json"), strings.Fields(args)...)...)
		if code != usage ||
			!strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %s", args, code, stderr)
		}
	}
}
