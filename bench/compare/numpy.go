package main

import (
	_ "embed"
	"log"
	"strconv"
	"time"

	"github.com/fdridge/fdridge/bench/internal/python"
)

//go:embed rows.py
var rowsPy string

// pythonRival runs a method of rows.py on a file of rows.
func pythonRival(p *python.Process, label, method, file string, d, m int) rival {
	return rival{label, func() time.Duration {
		line, err := p.Ask(method, file, d, m)
		if err != nil {
			log.Fatalf("rows.py: %v", err)
		}
		seconds, err := strconv.ParseFloat(line, 64)
		if err != nil {
			log.Fatal(err)
		}
		return time.Duration(seconds * 1e9)
	}}
}
