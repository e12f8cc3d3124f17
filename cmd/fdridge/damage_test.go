package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/internal/wire/wiretest"
)

// damageBytes changes a few bytes of a file, or cuts or repeats a part of it.
func damageBytes(r *rand.Rand, file []byte) []byte {
	out := slices.Clone(file)
	for range 1 + r.IntN(3) {
		if len(out) == 0 {
			return out
		}
		from := r.IntN(len(out))
		to := from + r.IntN(min(40, len(out)-from)+1)
		switch r.IntN(6) {
		case 0:
			out = out[:from]
		case 1:
			out = slices.Delete(out, from, to)
		case 2:
			out = slices.Insert(out, from, slices.Clone(out[from:to])...)
		case 3:
			out[from] ^= 1 << r.IntN(8)
		case 4:
			out[from] = "0123456789-.,eE[]{}\":ntf \n\x00\xff"[r.IntN(28)]
		default:
			out[from] = byte(r.IntN(256))
		}
	}
	return out
}

// oddValues replace values of JSON.
var oddValues = []string{
	"0", "-0", "-1", "1", "2", "3", "7", "0.5", "1e-320", "-1e-320", "5e-324", "1e308", "-1e308", "1e400", "2147483647", "2147483648", "4294967296",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "1000000000", "null", "true", "false", `""`, `"NaN"`, `"1"`, `"x"`,
	`"\u0000"`, `"a,b,c,d,e,f"`, `"first"`, `"last"`, "[]", "[null]", "[0]", "[[]]", "[1,2]", "[[1,2],[3,4]]", "{}", `{"x":1}`,
}

// A slot is a place in a JSON value.
type slot struct {
	get func() any
	set func(any)
}

// slots returns all places below v.
func slots(v any, out []slot) []slot {
	switch v := v.(type) {
	case *any:
		out = append(out, slot{func() any { return *v }, func(x any) { *v = x }})
		return slots(*v, out)
	case []any:
		for i := range v {
			out = append(out, slot{func() any { return v[i] }, func(x any) { v[i] = x }})
			out = slots(v[i], out)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, slot{func() any { return v[k] }, func(x any) { v[k] = x }})
			out = slots(v[k], out)
		}
	}
	return out
}

// parseJSON parses text and keeps the digits of its numbers.
func parseJSON(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// damageJSON changes some values of a JSON text: it drops, repeats, swaps and replaces elements, members and numbers.
func damageJSON(r *rand.Rand, text []byte) []byte {
	for range 1 + r.IntN(3) {
		v, err := parseJSON(text)
		if err != nil {
			return text
		}
		all := slots(&v, nil)
		damageSlot(r, all, all[r.IntN(len(all))])
		out, err := json.Marshal(v)
		if err != nil {
			return text
		}
		text = out
	}
	return text
}

// damageSlot changes the value at a place in one of many ways.
func damageSlot(r *rand.Rand, all []slot, at slot) {
	odd := func() any {
		v, err := parseJSON([]byte(oddValues[r.IntN(len(oddValues))]))
		if err != nil {
			panic(err)
		}
		return v
	}
	copied := func(v any) any { // lists that share memory would be changed together
		text, err := json.Marshal(v)
		if err != nil {
			return nil
		}
		v, err = parseJSON(text)
		if err != nil {
			return nil
		}
		return v
	}
	switch v := at.get().(type) {
	case []any:
		if len(v) == 0 || r.IntN(8) == 0 {
			break
		}
		i := r.IntN(len(v))
		switch r.IntN(9) {
		case 0, 1:
			at.set(slices.Delete(slices.Clone(v), i, i+1))
		case 2, 3:
			at.set(slices.Insert(slices.Clone(v), i, copied(v[i])))
		case 4:
			at.set(v[:i])
		case 5:
			at.set(append(slices.Clone(v), odd()))
		case 6:
			k := r.IntN(len(v))
			v[i], v[k] = v[k], v[i]
		case 7:
			at.set(v[i])
		default:
			at.set([]any{v})
		}
		return
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) == 0 || r.IntN(8) == 0 {
			break
		}
		k, other := keys[r.IntN(len(keys))], keys[r.IntN(len(keys))]
		switch r.IntN(5) {
		case 0, 1:
			delete(v, k)
		case 2:
			v[other+"_"] = v[k]
			delete(v, k)
		case 3:
			v[k], v[other] = v[other], v[k]
		default:
			v[k] = copied(v[other])
		}
		return
	case string:
		if r.IntN(3) == 0 {
			at.set(v + strings.Repeat("x", r.IntN(3)*100))
			return
		}
	case json.Number:
		if r.IntN(3) == 0 {
			at.set(json.Number("-" + strings.TrimPrefix(v.String(), "-")))
			return
		}
	}
	if r.IntN(4) == 0 {
		at.set(copied(all[r.IntN(len(all))].get()))
		return
	}
	at.set(odd())
}

// damageArchive changes the members of an .npz archive. Their checksums are right.
func damageArchive(r *rand.Rand, file []byte) []byte {
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		panic(err)
	}
	type member struct {
		name string
		text []byte
	}
	var all []member
	for _, f := range z.File {
		m, err := f.Open()
		if err != nil {
			panic(err)
		}
		text, err := io.ReadAll(m)
		if err != nil {
			panic(err)
		}
		all = append(all, member{f.Name, text})
	}
	for range 1 + r.IntN(2) {
		if len(all) == 0 {
			break
		}
		i := r.IntN(len(all))
		m := &all[i]
		switch k := r.IntN(10); {
		case k == 0:
			all = slices.Delete(all, i, i+1)
		case k == 1:
			m.text = all[r.IntN(len(all))].text
		case k == 2:
			m.text = damageBytes(r, m.text)
		case strings.HasSuffix(m.name, ".json"):
			m.text = damageJSON(r, m.text)
		default:
			m.text = damageArray(r, m.text)
		}
	}
	var out bytes.Buffer
	to := zip.NewWriter(&out)
	for _, m := range all {
		w, err := to.Create(m.name)
		if err != nil {
			panic(err)
		}
		if _, err := w.Write(m.text); err != nil {
			panic(err)
		}
	}
	if err := to.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

var npyShape = regexp.MustCompile(`\((\d+), (\d+)\)`)

// damageArray changes the shape or the numbers of a .npy file.
func damageArray(r *rand.Rand, file []byte) []byte {
	at := npyShape.FindIndex(file)
	if at == nil {
		return file
	}
	var rows, cols int
	fmt.Sscanf(string(file[at[0]:at[1]]), "(%d, %d)", &rows, &cols)
	head, numbers := 10+int(file[8])+int(file[9])<<8, slices.Clone(file)
	numbers = numbers[head:]
	switch r.IntN(4) {
	case 0: // fewer or more rows
		more := r.IntN(4) - 2
		rows = max(0, rows+more)
		numbers = append(numbers, make([]byte, 8*max(0, more*cols))...)[:8*rows*cols]
	case 1:
		rows, cols = cols, rows
	case 2: // fewer or more columns
		more := r.IntN(3) - 1
		cols = max(0, cols+more)
		numbers = append(numbers, make([]byte, 8*max(0, more*rows))...)[:8*rows*cols]
	default:
		if len(numbers) >= 8 {
			odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e308, -1e308, 5e-324}
			wiretest.Put(numbers, 8*r.IntN(len(numbers)/8), math.Float64bits(odd[r.IntN(len(odd))]))
		}
	}
	shape := fmt.Sprintf("(%d, %d)", rows, cols)
	text := string(file[10:at[0]]) + shape + strings.TrimRight(string(file[at[1]:head]), " \n")
	text += strings.Repeat(" ", max(0, head-11-len(text))) + "\n"
	return slices.Concat(file[:8], []byte{byte(len(text)), byte(len(text) >> 8)}, []byte(text), numbers)
}
