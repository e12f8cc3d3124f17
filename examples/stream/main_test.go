package main

import (
	"log"
	"os"
)

func Example() {
	err := serve(os.Stdout)
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// after 1000 rows: prediction in [1.00, 1.00]
	// after 2000 rows: prediction in [1.00, 1.00]
	// after 3000 rows: prediction in [-0.52, -0.52]
	// after 4000 rows: prediction in [-0.88, -0.88]
}
