package arrow_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	lib "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/arrow"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// unscaled returns the integer of the decimal in row i, with about the given number of bits.
func unscaled(i int, bits uint) *big.Int {
	v := big.NewInt(int64(i*i%97 - 40))
	return v.Mul(v, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), bits), big.NewInt(7)))
}

// quotient returns v/10^scale, rounded to the nearest float64.
func quotient(v *big.Int, scale int64) float64 {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(scale, -scale)), nil)
	exact := new(big.Rat).SetFrac(v, power)
	if scale < 0 {
		exact.SetInt(power.Mul(power, v))
	}
	f, _ := exact.Float64()
	return f
}

// TestDecimals compares decimals of all widths, also in lists and with nulls, with exact arithmetic.
func TestDecimals(t *testing.T) {
	const n = 700
	wide := &lib.Decimal128Type{Precision: 38, Scale: 10}
	list := lib.FixedSizeListOf(2, wide)
	schema := lib.NewSchema([]lib.Field{
		{Name: "d32", Type: &lib.Decimal32Type{Precision: 9, Scale: 3}, Nullable: true},
		{Name: "d64", Type: &lib.Decimal64Type{Precision: 18, Scale: -2}},
		{Name: "d128", Type: wide, Nullable: true},
		{Name: "small", Type: wide},
		{Name: "d256", Type: &lib.Decimal256Type{Precision: 76, Scale: 30}},
		{Name: "list", Type: list, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	var want [][]float64
	for i := range n {
		isNull := i%9 == 0
		row := []float64{
			quotient(unscaled(i, 20), 3),
			quotient(unscaled(i, 55), -2),
			quotient(unscaled(i, 115), 10),
			quotient(unscaled(i, 30), 10),
			quotient(unscaled(i, 240), 30),
			quotient(unscaled(i, 70), 10),
			quotient(unscaled(i, 3), 10),
		}
		d128, items := b.Field(2).(*array.Decimal128Builder), b.Field(5).(*array.FixedSizeListBuilder)
		if isNull {
			b.Field(0).AppendNull()
			d128.AppendNull()
			items.AppendNull()
			row[0], row[2], row[5], row[6] = math.NaN(), math.NaN(), math.NaN(), math.NaN()
		} else {
			b.Field(0).(*array.Decimal32Builder).Append(decimal.Decimal32(unscaled(i, 20).Int64()))
			d128.Append(decimal128.FromBigInt(unscaled(i, 115)))
			items.Append(true)
			values := items.ValueBuilder().(*array.Decimal128Builder)
			values.Append(decimal128.FromBigInt(unscaled(i, 70)))
			values.Append(decimal128.FromBigInt(unscaled(i, 3)))
		}
		b.Field(1).(*array.Decimal64Builder).Append(decimal.Decimal64(unscaled(i, 55).Int64()))
		b.Field(3).(*array.Decimal128Builder).Append(decimal128.FromBigInt(unscaled(i, 30)))
		b.Field(4).(*array.Decimal256Builder).Append(decimal256.FromBigInt(unscaled(i, 240)))
		want = append(want, row)
	}
	batch := b.NewRecordBatch()
	for name, opts := range map[string][]ipc.Option{"plain": nil, "lz4": {ipc.WithLZ4()}, "zstd": {ipc.WithZstd()}} {
		s, err := arrow.Open(
			written(t, schema, name == "zstd", []lib.RecordBatch{batch}, opts...),
			arrow.Options{Cells: &prepare.Cells{Missing: prepare.MissingMean}},
		)
		if err != nil {
			t.Fatal(err)
		}
		for _, first := range []int64{0, 300} {
			row := int(first)
			for block, err := range dataset.From(t.Context(), s, first) {
				if err != nil {
					t.Fatal(err)
				}
				row = int(block.First)
				for i, got := range block.X {
					if w := want[row+i/7][i%7]; got != w && (got == got || w == w) {
						t.Fatalf("%s, row %d, column %d: %v, want %v", name, row+i/7, i%7, got, w)
					}
				}
				row += block.N
			}
			if row != n {
				t.Errorf("%s: %d rows", name, row)
			}
		}
	}
}

// TestNullLists: all items of a list that is null are missing, also items that have values.
func TestNullLists(t *testing.T) {
	list := lib.FixedSizeListOf(2, lib.PrimitiveTypes.Float64)
	schema := lib.NewSchema([]lib.Field{{Name: "x", Type: list, Nullable: true}}, nil)
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	b.AppendValues([]float64{1, 2, 3, 4, 5, 6}, nil)
	valid := memory.NewBufferBytes([]byte{0b101})
	data := array.NewData(list, 3, []*memory.Buffer{valid}, []lib.ArrayData{b.NewArray().Data()}, 1, 0)
	batch := array.NewRecordBatch(schema, []lib.Array{array.MakeFromData(data)}, 3)
	path := written(t, schema, false, []lib.RecordBatch{batch})
	s, err := arrow.Open(path, arrow.Options{Cells: &prepare.Cells{Missing: prepare.MissingMean}})
	if err != nil {
		t.Fatal(err)
	}
	for block, err := range s.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range block.X {
			if isNull := i == 2 || i == 3; isNull != (v != v) || !isNull && v != float64(i+1) {
				t.Errorf("item %d is %v", i, v)
			}
		}
	}
	s, err = arrow.Open(path, arrow.Options{})
	if err == nil {
		_, _, err = rowsOf(s, 0)
	}
	if err == nil || !strings.Contains(err.Error(), ":2:1: column x[1] has a missing value (null)") {
		t.Error(err)
	}
}

// TestLeftOut: automatic preparation leaves out columns that cannot be read, and gives the reason.
func TestLeftOut(t *testing.T) {
	const n = 30
	fixed := &lib.FixedSizeBinaryType{ByteWidth: 3}
	schema := lib.NewSchema([]lib.Field{
		{Name: "a", Type: lib.PrimitiveTypes.Float64},
		{Name: "time", Type: lib.FixedWidthTypes.Time32s},
		{Name: "bytes", Type: fixed},
		{Name: "pairs", Type: lib.FixedSizeListOf(2, lib.BinaryTypes.String)},
		{Name: "when", Type: lib.FixedWidthTypes.Date32},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range n {
		b.Field(0).(*array.Float64Builder).Append(float64(i * i))
		b.Field(1).(*array.Time32Builder).Append(lib.Time32(i))
		b.Field(2).(*array.FixedSizeBinaryBuilder).Append([]byte{1, 2, byte(i)})
		pairs := b.Field(3).(*array.FixedSizeListBuilder)
		pairs.Append(true)
		pairs.ValueBuilder().(*array.StringBuilder).AppendValues([]string{"x", "y"}, nil)
		b.Field(4).(*array.Date32Builder).Append(lib.Date32(i * 40))
	}
	path := written(t, schema, false, []lib.RecordBatch{b.NewRecordBatch()})
	cells := &prepare.Cells{Look: true}
	s, err := arrow.Open(path, arrow.Options{Cells: cells})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"a", "time", "bytes", "pairs[1]", "pairs[2]", "when"}
	e, _, err := prepare.Look(
		t.Context(),
		s,
		prepare.LookOptions{
			LearnOptions: prepare.LearnOptions{Cells: cells},
			Names:        names,
			Rules:        prepare.Rules{Auto: true},
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"time":     "holds values of type time",
		"bytes":    "holds text or bytes",
		"pairs[1]": "holds text or bytes",
		"pairs[2]": "holds text or bytes",
	}
	for _, c := range e.Columns {
		if why := want[c.Name]; (c.Use == prepare.UseOmit) != (why != "") || c.Why != why {
			t.Errorf("%s: %v, %q, want %q", c.Name, c.Use, c.Why, why)
		}
	}
	if _, err := arrow.Open(path, arrow.Options{Columns: e.Names, Cells: e.Cells()}); err != nil {
		t.Error(err)
	}
}
