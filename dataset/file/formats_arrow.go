package file

import (
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/arrow"
	"github.com/fdridge/fdridge/dataset/parquet"
)

func parquetFormat() format {
	return format{
		name:     "parquet",
		magic:    parquetMagic,
		suffixes: parquetSuffixes,
		numbered: true,
		open: func(o *Opened, p part, opts Options) (dataset.Source, error) {
			s, err := parquet.Open(p.path, parquetOptions(opts))
			return o.keep(p, s, err)
		},
		columns: func(path string, _ Options) ([]string, error) {
			return parquet.Columns(path)
		},
		chosen: func(path string, opts Options) ([]string, []string, error) {
			return parquet.Names(path, parquetOptions(opts))
		},
	}
}

func arrowFormat() format {
	return format{
		name:     "arrow",
		magic:    arrowMagic,
		suffixes: arrowSuffixes,
		numbered: true,
		piped:    true,
		open: func(o *Opened, p part, opts Options) (dataset.Source, error) {
			s, err := arrow.Open(p.path, arrowOptions(opts))
			return o.keep(p, s, err)
		},
		columns: func(path string, opts Options) ([]string, error) {
			return arrow.Columns(path, arrow.Options{Pipe: opts.Pipe})
		},
		chosen: func(path string, opts Options) ([]string, []string, error) {
			return arrow.Names(path, arrowOptions(opts))
		},
	}
}

func parquetOptions(opts Options) parquet.Options {
	return parquet.Options{Targets: opts.Target, Columns: opts.Columns, Cells: opts.Cells}
}

func arrowOptions(opts Options) arrow.Options {
	return arrow.Options{
		Targets: opts.Target,
		Columns: opts.Columns,
		Cells:   opts.Cells,
		Pipe:    opts.Pipe,
	}
}
