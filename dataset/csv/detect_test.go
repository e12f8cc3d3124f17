package csv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// readAll returns the rows of a text, and the remarks on it.
func readAll(t *testing.T, text string, opts Options) (names []string, rows [][]float64, remarks string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, opts)
	if err != nil {
		return nil, nil, "", err
	}
	for _, r := range s.Remarks {
		remarks += strings.TrimPrefix(r.String(), path) + "\n"
	}
	names, _, err = Names(path, opts)
	if err != nil {
		return nil, nil, "", err
	}
	_, d, _ := s.Dims()
	for b, err := range s.Blocks(context.Background()) {
		if err != nil {
			return names, rows, remarks, err
		}
		for i := range b.N {
			rows = append(rows, append([]float64(nil), b.X[i*d:(i+1)*d]...))
		}
	}
	return names, rows, remarks, nil
}

// TestHeaders checks which first lines are headers. The value is the names, or the number of rows, and a word of the
// remark.
func TestHeaders(t *testing.T) {
	gaps := &prepare.Cells{Look: true}
	for _, c := range []struct {
		text   string
		cells  *prepare.Cells
		names  string
		rows   int
		remark string
	}{
		// pandas: DataFrame(X).to_csv(index=False), with and without its index
		{"0,1,2\n0.5,1.0,2.5\n3.5,4.0,5.5\n", nil, "0 1 2", 2, "names"},
		{",0,1\n0,0.5,1.5\n1,2.5,3.5\n", nil, " 0 1", 2, "names"},
		{"0,1,2,3,4,5,6,7\n3,1,4,1,5,9,2,6\n", nil, "0 1 2 3 4 5 6 7", 1, "names"},
		{"2019,2020,2021\n1.0,2.5,3.5\n2.5,1.5,0.5\n", nil, "2019 2020 2021", 2, "names"},
		{"2010,2011,2012,2013\n5,3,8,1\n2,2,2,2\n", nil, "", 3, "--header yes"},
		{"\"0\",\"1\"\n5,3\n2,7\n", nil, "0 1", 2, "names"},
		{"\"2010\",\"2011\",\"2012\"\n1,2,3\n4,5,6\n", nil, "2010 2011 2012", 2, "names"},
		{"0\n5.0\n4.5\n6.25\n", nil, "0", 3, "names"},
		{"1001,2007,1733\n3.0,7.0,2.0\n4.5,1.5,6.25\n2.5,9.5,4.5\n", nil, "1001 2007 1733", 3, "names"},
		{"400,410,420,430,440\n0.1,0.2,0.3,0.4,0.5\n0.2,0.25,0.5,0.3,0.1\n", nil, "400 410 420 430 440", 2, "names"},
		{"100,150,200\n0.12,0.20,0.33\n0.41,0.52,0.63\n", nil, "100 150 200", 2, "names"},
		// a first line that may be names or a row
		{"100,150,200\n3.5,7,2\n4,1.25,6\n2,9,4.5\n8,7,6\n", nil, "", 5, "--header yes, otherwise --header no"},
		{"100,150,200\n3,7,2\n4,1,6\n2,9,4\n8,7,6\n", nil, "", 5, "--header yes, otherwise --header no"},
		{"100,150,200\n0.12,0.21,0.33\n0.41,0.52,0.63\n", nil, "", 3, "--header yes, otherwise --header no"},
		{"12,13,14\n3.25,7.5,2.5\n4.5,1.125,6.25\n", nil, "", 3, "--header yes, otherwise --header no"},
		{"1001,2007,1733\n3,7,2\n4,1,6\n2,9,4\n8,7,6\n", nil, "", 5, "--header yes, otherwise --header no"},
		{"0.1,0.5,2.5\n3,7,2\n4,1,6\n2,9,4\n", nil, "", 4, "--header yes, otherwise --header no"},
		{"0,1\n3,7\n4,5\n2,9\n8,7\n", nil, "", 5, "--header yes, otherwise --header no"},
		{"0,1\n1,5\n2,9\n3,7\n", nil, "", 4, "--header yes, otherwise --header no"},
		{"0,1\n1,1\n0,0\n", nil, "", 3, "--header yes, otherwise --header no"},
		{"0,1\n0,5\n1,9\n1,12\n", nil, "", 4, "--header yes, otherwise --header no"},
		{"\"0\";\"1\"\n\"5\";\"1\"\n\"2\";\"0\"\n", nil, "", 3, "--header yes, otherwise --header no"},
		{"2003,2004\n2001,1996\n2002,2012\n1994,1990\n", nil, "", 4, "--header yes, otherwise --header no"},
		{"text 2003 2004\na 2001 1996\nb 2002 2012\nc 1994 1990\n", gaps, "", 4, "--header yes, otherwise --header no"},
		{"0|text|1\n1|green|2\n8|blue|9\n", gaps, "", 3, "--header yes, otherwise --header no"},
		{"0\n15.5\n15\n11.5\n", nil, "", 4, "--header yes, otherwise --header no"},
		// headers of files that were joined
		{"1950|1951|1952|s\n0.25|229.15|0.5|a\n1950|1951|1952|s\n0.75|2.5|1.5|b\n", gaps, "1950 1951 1952 s", 3, "names"},
		// comments above a header of numbers
		{"# comment 0\n0 1\n0.5 1\n2.5 7\n1.25 8\n", nil, "comment 0", 4, "use --skip-rows 1 and --header yes"},
		{"# x,y,z\n0,1,2\n0,0,1980\n1,1,1984\n", nil, "x y z", 3, "use --skip-rows 1 and --header yes"},
		{"# comment 0\n0,1\n0.50,1.25\n2.50,7.25\n1.25,8.75\n", nil, "0 1", 3, "names"},
		{"# a b c\n0 1 2\n0.5 1.0 2.5\n3.5 4.0 5.5\n", nil, "0 1 2", 2, "names"},
		// a comment with the names, above rows with texts, marks or a delimiter at the end
		{"# a,s,b\n5,id0,2\n2,id1,3\n", gaps, "a s b", 2, ""},
		{"# x,y,z\n\"1\",\"s\",\"2\"\n5,id0,2\n2,id1,3\n", gaps, "1 s 2", 2, "names"},
		// names and a mark
		{"id0,NA\nid1,5\nid2,7\n", gaps, "", 3, "--header yes, otherwise --header no"},
		{"id0 \"\" \"\"\nid1 0 1\nid2 1 1\n", gaps, "", 3, "--header yes, otherwise --header no"},
		{"1,2,3\nNA,3,9\nNA,6,5\n1,4,8\n", gaps, "", 4, "--header yes, otherwise --header no"},
		{"1601,1142490,2.26e-10,638,x\n1602,925084,-2.97e-11,645,\n", gaps, "", 2, "--header yes, otherwise --header no"},
		{"# a,b\nNA,2\n2,3\n", gaps, "a b", 2, ""},
		{"# a,b\n\"1 421\",2\n\"1 423\",3\n", gaps, "a b", 2, ""},
		{"# a,b\n1,2,\n2,3,\n", nil, "a b", 2, "empty last field"},
		{"# source: x, y\n0.5,\n0.75,\n", nil, "", 2, "line before the table"},
		{"#\ta\tb\n0\t5\t2\n1\t2\t7\n2\t9\t5\n", nil, "# a b", 3, ""},
		{"# \ta\tb\n0\t5\t2\n1\t2\t7\n2\t9\t5\n", nil, "# a b", 3, ""},
		// marks that begin with #
		{"#N/A|#N/A\n18|#N/A\n3.5|0.66\n", gaps, "", 3, ""},
		{"#NULL!\t2\n18\t3\n", gaps, "", 2, ""},
		{"\"#N/A\"\n2016\n2011\n", gaps, "", 3, ""},
		{"#NAMES are below\na,b\n1,2\n3,4\n", nil, "a b", 2, "line before the table"},
		// groups of digits
		{"\"1 605\",\"\"\n\"1 606\",2\n\"1 607\",3\n", gaps, "", 3, ""},
		{"1'605|2'005'000\n1'606|2\n", nil, "", 2, ""},
		{"Person,2023,2024,2025\nJohn,100,150,200\n", gaps, "", 2, "--header yes, otherwise --header no"},
		{
			"c,100,150,200\nb,10.5,17.25,10.25\nb,12.5,17.75,10.5\na,9.25,9.5,8.5\n", gaps, "", 4,
			"--header yes, otherwise --header no",
		},
		{"1,2,3\n1820,100,4\n1821,227,5\n1822,13,6\n", nil, "", 4, "--header yes, otherwise --header no"},
		// rows that begin with #
		{"#1\t583\t0.94\n#1\t584\t0.8\na\t3\t0.5\n", gaps, "", 3, ""},
		{"#version 2\n0 1\n1738727 513761\n1785923 18027\n63 113\n", nil, "#version 2", 4, "use --skip-rows 1"},
		{"#columns: 0,1,2\n1,2,3\n-1.5,94,5\n2.5,99,6\n7.5,103,2\n", nil, "#columns: 0 1 2", 4, "use --skip-rows 1"},
		{"#chr\t2019\t2020\n1\t583.5\t0.94\n2\t584.25\t0.8\n", nil, "#chr 2019 2020", 2, ""},
		{"0,1,2,\n0.5,1.0,2.5,\n3.5,4.0,5.5,\n", nil, "0 1 2", 2, "names"},
		{"2015,2016\n5 €,3\n6 €,2\n7 €,9\n", gaps, "2015 2016", 3, "names"},
		{"$5,12810\n$6,2\nNA,3\n$7,4\n", gaps, "", 4, ""},
		{"\n# made by x\na,b\n1,2\n", nil, "a b", 1, "line before the table"},
		{"# my data\na b\n1 2\n3 5\n", nil, "a b", 2, "line before the table"},
		{"# my,data\na,b\n1,2\n", gaps, "a b", 1, "line before the table"},
		{"2015;2016\n5;-3000\n3000;7\n-6000;4000\n", nil, "", 4, "--header yes, otherwise --header no"},
		{"\n\na,b\n1,2\n", nil, "a b", 1, ""},
		// rows that count on from the first line
		{"1,2\n2,5\n3,9\n4,7\n", nil, "", 4, ""},
		{"1,2,3\n2,7,4\n3,1,5\n4,9,6\n", nil, "", 4, ""},
		{"2019,2020,2021\n2020,2021,2022\n2021,2022,2023\n", nil, "", 3, ""},
		{"5,3,9\n3.25,7.5,2.5\n4.5,1.125,6.25\n2.5,9.5,4.5\n", nil, "", 4, ""},
		{"X,0,1\na,5.5,6.5\na,7.5,8.5\n", gaps, "X 0 1", 2, "names"},
		{"0,1,2,target\n5.1,3.5,1.4,setosa\n4.9,3.0,1.4,setosa\n", gaps, "0 1 2 target", 2, "names"},
		{"0,1,2,3\n5.1,3.5,1.4,setosa\n4.9,3.0,1.4,setosa\n", gaps, "0 1 2 3", 2, "names"},
		// data
		{"1,2,3\n4,5,6\n7,8,9\n", nil, "", 3, ""},
		{"0,1\n0.1,0.905\n0.2,0.819\n", nil, "", 3, "--header"},
		{"0,0,1\n0.5,1.0,2.5\n3.5,4.0,5.5\n", nil, "", 3, ""},
		{"5.1,3.5,1.4,setosa\n4.9,3.0,1.4,setosa\n", gaps, "", 2, ""},
		{"red,small\nblue,big\nred,small\n", gaps, "", 3, ""},
		{"2024-01-01,5\n2024-01-02,6\n", gaps, "", 2, ""},
		{"$5,12%\n$6,13%\n", gaps, "", 2, ""},
		{"10,NA,3,1\n1,2,3,4\n5,6,7,8\n", gaps, "", 3, ""},
		{"10,?,3,1\n1,2,3,4\n5,6,7,8\n", gaps, "", 3, ""},
		{"10,.,3,1\n1,2,3,4\n5,6,7,8\n", gaps, "", 3, ""},
		{"10,null,3,1\n1,2,3,4\n5,6,7,8\n", gaps, "", 3, ""},
		{"10,-,3,1\n1,2,3,4\n5,6,7,8\n", gaps, "", 3, ""},
		{"10,#N/A,3,1\n1,2,3,4\n5,6,7,8\n", gaps, "", 3, ""},
		// headers of words
		{"a,b\n1,2\n", nil, "a b", 1, ""},
		{"a,2020\n1,2\n3,5\n", nil, "a 2020", 2, ""},
		{"Na,K\n1,2\n3,5\n", nil, "Na K", 2, ""},
		{"Na\n1\n3\n", nil, "Na", 2, "names"},
		{"1m,2m\n1,2\n3,5\n", nil, "1m 2m", 2, ""},
		{"a,a\n1,2\n3,5\n", nil, "a a", 2, "same name: a"},
		{",a\n0,2\n1,5\n2,6\n", nil, " a", 3, "counts the rows from 0"},
		{"a,b,\n1,2,\n3,4,\n", nil, "a b", 2, "neither a name nor values"},
		{"a,b\n1,2,\n3,4,\n", nil, "a b", 2, "empty last field"},
		{"1,2,\n3,4,\n", nil, "", 2, "neither a name nor values"},
		{"\"a\" \"b\"\n\"1\" 5 6\n\"2\" 7 8\n", nil, "a b", 2, "one field shorter"},
		{"# made by x\n# on a day\na,b\n1,2\n", nil, "a b", 1, "2 lines before the table"},
		{"# title\n# a b\n1 2\n3 5\n", nil, "a b", 2, "line before the table"},
		{"# a,b\n1,2\n3,5\n", nil, "a b", 2, ""},
		{"#a,b\n1,2\n3,5\n", nil, "#a b", 2, ""},
		{"a|b\n1|2\n3|5\n", nil, "a b", 2, ""},
		{"1 \t2   3\n4\t5 6\n", nil, "", 2, ""},
	} {
		cells := c.cells
		if cells != nil {
			cells = &prepare.Cells{Look: true}
		}
		names, rows, remarks, err := readAll(t, c.text, Options{Cells: cells})
		if err != nil || len(rows) != c.rows || strings.Join(names, " ") != c.names {
			t.Errorf("%q: names %q, %d rows, %v; want %q, %d", c.text, names, len(rows), err, c.names, c.rows)
		}
		if (c.remark == "") != (remarks == "") || !strings.Contains(remarks, c.remark) {
			t.Errorf("%q: remarks %q, want %q", c.text, remarks, c.remark)
		}
	}
}

// TestRepeatedNumericHeader checks errors about rows that may be a header or a comment.
func TestRepeatedNumericHeader(t *testing.T) {
	long := strings.Repeat("0.5,1.0,2.5\n", 200)
	for text, want := range map[string]string{
		"0,1,2\n" + long + "0,1,2\n" + long:          ":202:1: the header is repeated, as in files that were joined",
		"\"0\",\"1\"\n" + "5,6\n\"0\",\"1\"\n7,8\n":  ":3:1: the header is repeated",
		"0,1,2\n" + long + "0,1,2.0\n":               "",
		"# made by x\n# \na,b,c\n1,2,3\n#4,5,6\n":    ":5:1: the line begins with #, like the comments before the table",
		"a,b,c\n1,2,3\n4,5,6\n" + "1,2,3\n":          "",
		"0,1,2\n" + long + "0,1,2,3\n":               "the row has 4 fields",
		"# made by x\na,b,c\n" + long + "#1,0.5,1\n": ":203:1: the line begins with #",
	} {
		_, _, _, err := readAll(t, text, Options{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.40q…: %v, want %s", text, err, want)
		}
	}
	// Both errors name the option for the other reading.
	const rows = "0,1,2\n0.5,1.0,2.5\n0,1,2\n3.5,4.0,2.5\n"
	_, got, _, err := readAll(t, rows, Options{Header: Absent, Skipped: Skipped{Skip: []Lines{{1, 1}}}})
	if err != nil || len(got) != 3 {
		t.Errorf("--skip-rows 1 --header no: %v, %v", got, err)
	}
	const hashes = "# made by x\na,b\n1,2\n#3,4\n"
	_, got, _, err = readAll(t, hashes, Options{Columns: []string{"b"}, Skipped: Skipped{Skip: []Lines{{1, 1}}}})
	if err != nil || len(got) != 2 {
		t.Errorf("--skip-rows 1: %v, %v", got, err)
	}
}

// TestDecimalCommaDelimiters checks that decimal commas are no delimiters, and groups of digits are no fields.
func TestDecimalCommaDelimiters(t *testing.T) {
	for text, want := range map[string]string{
		"2498,30|id0|-32,89\n8952,36|id1|37,06\n":                          "2498.3 -32.89|8952.36 37.06",
		"0,324\tred\t0,311\n0,271\tred\t0,36\n":                            "0.324 0.311|0.271 0.36",
		"#source: x, y\n6,3e-10 plain 0,73\n1,5 plain 0,97\n":              "6.3e-10 0.73|1.5 0.97",
		"100,24 blue 3\n-13,33 red 4\n":                                    "100.24 3|-13.33 4",
		"6,3 plain 0,7\n-7,3 \"5\\\" pipe\" 0,9\n":                         "6.3 0.7|-7.3 0.9",
		"4\tblue\t8 263.20\n1\tred\t8 097.38\n":                            "4 8263.2|1 8097.38",
		"0,435;x;1\n0,123;y;2\n":                                           "0.435 1|0.123 2",
		"1.946\tx\t1\n1.948\tx\t0\n":                                       "1.946 1|1.948 0",
		"5,x,1 234\n6,x,2 345\n":                                           "5 1234|6 2345",
		"1 \tx   3\n4\tx 6\n":                                              "1|4",
		"order id\tname\tprice\n1 2\tred shoe\t5.5\n3 4\tblue shoe\t6.5\n": "NaN 5.5|NaN 6.5",
		"1 \t2   3\n4\t5 6\n":                                              "1 3|4 6",
		"2023-01-01 10:30,x,5\n2023-01-01 10:40,x,6\n2023-01-01,x,7\n":     "NaN 5|NaN 6|NaN 7",
		"x y,a;b,3\nx z,a;c,4\n":                                           "NaN 3|NaN 4",
		"# c\n\"1,5\";\"x\";\"2,5\"\n\"3,5\";\"x\";\"4,5\"\n":              "1.5 2.5|3.5 4.5",
	} {
		_, rows, _, err := readAll(t, text, Options{Columns: []string{"-2"}, Cells: &prepare.Cells{Look: true}})
		var got []string
		for _, row := range rows {
			got = append(got, strings.Trim(fmt.Sprint(row), "[]"))
		}
		if s := strings.Join(got, "|"); s != want || (err != nil) != (want == "") {
			t.Errorf("%q: %s, %v, want %s", text, s, err, want)
		}
	}
}

// TestWideHeaders checks first lines of more fields than are examined one by one.
func TestWideHeaders(t *testing.T) {
	const d = sampleCells
	line := func(start, step float64) string {
		cells := make([]string, d)
		for i := range cells {
			cells[i] = fmt.Sprint(start + step*float64(i))
		}
		return strings.Join(cells, ",") + "\n"
	}
	row := strings.Repeat("0.5,", d-1) + "0.5\n"
	for name, c := range map[string]struct {
		text   string
		rows   int
		remark string
	}{
		"names": {line(0, 1) + row + row, 2, "the first line (0, 1, 2, 3, 4, …) is read as the names"},
		"wavelengths": {
			line(400, 0.5) + row + row, 2,
			"the first line (400, 400.5, 401, 401.5, 402, …) is read as the names",
		},
		"rows in order": {line(0, 1) + line(5, 1), 2, ""},
		"rows":          {row + line(0, 1) + row, 3, ""},
	} {
		_, rows, remarks, err := readAll(t, c.text, Options{})
		if err != nil || len(rows) != c.rows {
			t.Errorf("%s: %d rows, %v; want %d", name, len(rows), err, c.rows)
		}
		if (c.remark == "") != (remarks == "") || !strings.Contains(remarks, c.remark) {
			t.Errorf("%s: remarks %q, want %q", name, remarks, c.remark)
		}
	}
}

// TestKnownHeaders checks that numbers are names if a model has these names, in files and pipes.
func TestKnownHeaders(t *testing.T) {
	wide := strings.Repeat("7,", sampleCells) + "7\n"
	for _, c := range []struct {
		text  string
		known []string
		rows  int
	}{
		{"0,1\n5,6\n7,8\n", []string{"0", "1"}, 2},
		{"1,0,k\n5,6,1\n7,8,1\n", []string{"0", "1"}, 2},
		{"0,1\n5,6\n7,8\n", []string{"0", "1", "2"}, 3},
		{"0,1\n5,6\n7,8\n", nil, 3},
		{"5," + wide + "4," + wide, []string{"5", "7"}, 1},
		{"5," + wide + "4," + wide, []string{"5", "8"}, 2},
	} {
		for _, pipe := range []*dataset.Pipe{nil, dataset.NewPipe(t.Context(), "pipe", strings.NewReader(c.text))} {
			_, rows, remarks, err := readAll(t, c.text, Options{Known: c.known, Pipe: pipe})
			if err != nil || len(rows) != c.rows {
				t.Errorf("%.20q for %q: %d rows, %v; want %d", c.text, c.known, len(rows), err, c.rows)
			}
			if c.rows < strings.Count(c.text, "\n") && !strings.Contains(remarks, "--header no") {
				t.Errorf("%.20q for %q: remarks %q", c.text, c.known, remarks)
			}
		}
	}
}

// TestPipedHeaders: a missing mark in the first line of a pipe does not make the line a header.
func TestPipedHeaders(t *testing.T) {
	for text, want := range map[string]int{"10,NA,3\n1,2,3\n": 2, "a,b,c\n1,2,3\n": 1, "0,1,2\n1.5,2.0,3.5\n": 2} {
		pipe := dataset.NewPipe(context.Background(), "pipe", strings.NewReader(text))
		s, err := Open("-", Options{Pipe: pipe, Cells: &prepare.Cells{Look: true}})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for b, err := range s.Blocks(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			n += b.N
		}
		if n != want {
			t.Errorf("%q: %d rows, want %d", text, n, want)
		}
	}
}

// TestThousands checks the remark on decimal commas beside points. It is a doubt, unless a number has both.
func TestThousands(t *testing.T) {
	const comma, both = "with a decimal comma, as in 25,64", ", and the point in numbers such as 1.174 as a separator"
	for text, want := range map[string]dataset.Remark{
		"a;b\n1.174;25,64\n2;11.893,55\n": {Msg: comma + both},
		"a;b\n1.174;25,64\n2;11,55\n":     {Msg: comma + both, Doubt: true},
		"a;b\n1;25,64\n2;11.893,55\n":     {Msg: comma + " ("},
	} {
		path := filepath.Join(t.TempDir(), "f.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Remarks; len(got) != 1 || got[0].Doubt != want.Doubt || !strings.Contains(got[0].Msg, want.Msg) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// TestTargetUnit: a target with a unit is an error that names the unit. If the unit has letters, the texts may be
// labels.
func TestTargetUnit(t *testing.T) {
	for text, isLabel := range map[string]bool{
		"25 €": false, "$5": false, "EUR 5": false, "5%": false, "3 kg": true, "1st": true,
	} {
		_, _, _, err := readAll(t, "a,y\n1,"+text+"\n2,3\n", Options{Targets: []string{"y"}})
		e, ok := errors.AsType[*dataset.InputError](err)
		if !ok || e.IsLabel != isLabel || !strings.Contains(e.Hint, "leave out the unit") {
			t.Errorf("%s: %v", text, err)
		}
	}
	_, _, _, err := readAll(t, "a,y\n1 kg,2\n2,3\n", Options{Targets: []string{"y"}})
	if err == nil || strings.Contains(err.Error(), "unit") {
		t.Errorf("a feature: %v", err)
	}
}

// TestNotations checks the numbers of tables with decimal commas and separators of thousands.
func TestNotations(t *testing.T) {
	for _, c := range []struct {
		text string
		opts Options
		want string // rows, or a part of the error
	}{
		{"a;b\n0,435;1,5\n2,25;-3,0\n", Options{}, "[[0.435 1.5] [2.25 -3]]"},
		{"0,435;1,5\n2,25;-3,0\n", Options{}, "[[0.435 1.5] [2.25 -3]]"},
		{"a\tb\n1.234,5\t1,5\n2,25\t3.000\n", Options{}, "[[1234.5 1.5] [2.25 3000]]"},
		{"a;b\n1.174;25,64\n2.875;1,5\n", Options{}, "[[1174 25.64] [2875 1.5]]"},
		{"a;b\n1.174;25,64\n2.8;1,5\n", Options{}, ":2:7:"},
		{"a;b\n0.174;25,64\n2.875;1,5\n", Options{}, ":2:7:"},
		{"a,b\n1.174,\"25,64\"\n2.875,\"1,5\"\n", Options{}, ":2:7:"},
		{"a\tb\n1.234,5\t1,5\n2,25\t3.000,0\n", Options{}, "[[1234.5 1.5] [2.25 3000]]"},
		{"a;b\n1,234.5;1.5\n\"2,250\";3.25\n", Options{}, "[[1234.5 1.5] [2250 3.25]]"},
		{"a,b\n\"1,234.5\",1.5\n\"2,250\",3.25\n", Options{}, "[[1234.5 1.5] [2250 3.25]]"},
		{"a,b\n\"0,435\",\"1,5\"\n\"2,25\",\"3,1\"\n", Options{}, "[[0.435 1.5] [2.25 3.1]]"},
		{"a;b\n1,234;5\n2,345;6\n", Options{}, "1.234 with a decimal comma, or 1234"},
		{"a;b\n1,234;5\n2,345;6\n", Options{Text: prepare.Text{Decimal: ","}}, "[[1.234 5] [2.345 6]]"},
		{"a;b\n1,234;5\n2,345;6\n", Options{Text: prepare.Text{Decimal: "."}}, "[[1234 5] [2345 6]]"},
		{"a;b\n1.234;5\n2.345;6\n", Options{Text: prepare.Text{Decimal: ","}}, "[[1234 5] [2345 6]]"},
		{"a;b\n1,234;5\n2,345;6\n", Options{Text: prepare.Text{Decimal: ",", IsDefault: true}}, "[[1.234 5] [2.345 6]]"},
		{"a;b\n1.5;5\n2.5;6\n", Options{Text: prepare.Text{Decimal: ",", IsDefault: true}}, "[[1.5 5] [2.5 6]]"},
		{"a;b\n0,5;5\n2,5;6.5\n", Options{}, ":2:1:"},
		{"a;b\n0,5;5\n2,5;6.5\n", Options{Text: prepare.Text{Decimal: ","}}, ":3:5: column b"},
		{"a,b\n1 234,5\n12 345,6\n", Options{}, "[[1234 5] [12345 6]]"},
		{"a,b\n1'234,5\n12'345,6\n", Options{}, "[[1234 5] [12345 6]]"},
		{"a,b\n1\u202f234,5\n12\u00a0345,6\n", Options{}, "[[1234 5] [12345 6]]"},
		{"a,b\n12 34,5\n", Options{}, ":2:1: column a"},
		{"a,b\n1.5D+03,5\n-1D-01,6\n", Options{}, "[[1500 5] [-0.1 6]]"},
		{"a,b\n9007199254740993,5\n", Options{}, "[[9.007199254740992e+15 5]]"},
		{"\"a\" \"b\"\n\"1\" 0,5 6\n\"2\" 7 8,25\n", Options{}, "[[0.5 6] [7 8.25]]"},
		{"a,b\nkm,kg\n1,2\n3,4\n5,6\n", Options{}, ":2: the line has texts such as \"km\""},
		{"a,b\nkm,kg\n1,2\n3,4\n5,6\n", Options{Skipped: Skipped{Skip: []Lines{{2, 2}}}}, "[[1 2] [3 4] [5 6]]"},
		{"A report\na,b\n1,2\n3,4\n", Options{}, ":1: the line has 1 field, the lines below have 2: \"A report\""},
		{"A report\n\na,b\n1,2\n3,4\n", Options{Skipped: Skipped{Skip: []Lines{{1, 1}}}}, "[[1 2] [3 4]]"},
		{"a,b,\nr1,1,2,\nr2,3,4,\n", Options{}, ":1: the line has 3 fields, the lines below have 4"},
		{"a,b\n\"x\" ,1\n", Options{}, "blanks after a closing quote"},
		{"a,b\n% x\n1,2\n%y\n3,4\n", Options{Skipped: Skipped{Comment: '%'}}, "[[1 2] [3 4]]"},
		{"a,b\n1,2,\n3,4,5\n", Options{}, ":1: the line has 2 fields"},
		{"a,b,\n1,2,\n" + strings.Repeat("1,2,\n", 200) + "3,4,5\n", Options{}, ":203:5: the column without a name"},
	} {
		_, rows, _, err := readAll(t, c.text, c.opts)
		if err == nil && fmt.Sprint(rows) != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, %v; want %s", c.text, rows, err, c.want)
		}
	}
}
