//go:build !noasm

package kernel

var neon = Kernel{
	Name:      "neon",
	Unit:      4,
	Tile:      []tile{tile1NEON, tile2NEON, tile3NEON},
	TileRowsA: []tileRowsA{tileRowsA1NEON, tileRowsA2NEON, tileRowsA3NEON},
	TileRowsB: []tileRowsB{tileRowsB1NEON, tileRowsB2NEON, tileRowsB3NEON},
	Pack:      []pack{packNEON},
	PackT:     packTNEON,
	Prefetch:  prefetchGo,
	Dot1:      dot1NEON,
	Dot4:      dot4NEON,
	Symv4:     symv4NEON,
	Axpy1:     axpy1NEON,
	Axpy4:     axpy4NEON,
	AxpyRows:  axpyRowsNEON,
	Dots:      []dots{dot4x1NEON, dot4x2NEON, dot4x3NEON},
	Axpys:     []axpys{axpy4x1NEON, axpy4x2NEON, axpy4x3NEON},
	Twofold: Twofold{
		Maxima: maximaNEON,
		ColMax: colMaxNEON,
		Dots:   dotsTwofoldNEON,
		Open:   openNEON,
		Axpys:  axpysTwofoldNEON,
		Close:  closeSumsNEON,
		Add:    addSumsNEON,
	},
	Cosines: Cosines{chainNEON, chain4NEON, nearNEON},
	Rows: Rows{
		Centre:   centreNEON,
		Spread4:  spread4NEON,
		Norms4:   norms4NEON,
		Squares4: squares4NEON,
	},
	Secular: Secular{polesNEON, polesDownNEON, scaleQuotientsNEON},
}

// native returns NEON, which every arm64 processor that Go supports has.
func native() []*Kernel { return []*Kernel{&neon} }
