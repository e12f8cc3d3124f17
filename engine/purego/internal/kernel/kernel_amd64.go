//go:build !noasm

package kernel

import "github.com/klauspost/cpuid/v2"

var avx512 = Kernel{
	Name:      "avx512",
	Unit:      8,
	Tile:      []tile{tile1AVX512, tile2AVX512, tile3AVX512},
	TileRowsA: []tileRowsA{tileRowsA1AVX512, tileRowsA2AVX512, tileRowsA3AVX512},
	TileRowsB: []tileRowsB{tileRowsB1AVX512, tileRowsB2AVX512, tileRowsB3AVX512},
	Pack:      []pack{pack1AVX512, pack2AVX512, pack3AVX512},
	PackT:     packTAVX512,
	Prefetch:  prefetchAVX512,
	Dot1:      dot1AVX512,
	Dot4:      dot4AVX512,
	Symv4:     symv4AVX512,
	Axpy1:     axpy1AVX512,
	Axpy4:     axpy4AVX512,
	AxpyRows:  axpyRowsAVX512,
	Dots:      []dots{dot4x1AVX512, dot4x2AVX512, dot4x3AVX512},
	Axpys:     []axpys{axpy4x1AVX512, axpy4x2AVX512, axpy4x3AVX512},
	Twofold: Twofold{
		Maxima: maximaAVX512,
		ColMax: colMaxAVX512,
		Dots:   dotsTwofoldAVX512,
		Open:   openAVX512,
		Axpys:  axpysTwofoldAVX512,
		Close:  closeSumsAVX512,
		Add:    addSumsAVX512,
	},
	Cosines: Cosines{chainAVX512, chain4AVX512, nearAVX512},
	Rows: Rows{
		Centre:   centreAVX512,
		Spread4:  spread4AVX512,
		Norms4:   norms4AVX512,
		Squares4: squares4AVX512,
	},
	Secular: Secular{polesAVX512, polesDownAVX512, scaleQuotientsAVX512},
}

var avx2 = Kernel{
	Name:      "avx2",
	Unit:      4,
	Tile:      []tile{tile1AVX2, tile2AVX2, tile3AVX2},
	TileRowsA: []tileRowsA{tileRowsA1AVX2, tileRowsA2AVX2, tileRowsA3AVX2},
	TileRowsB: []tileRowsB{tileRowsB1AVX2, tileRowsB2AVX2, tileRowsB3AVX2},
	Pack:      []pack{pack1AVX2, pack2AVX2, pack3AVX2},
	PackT:     packTAVX2,
	Prefetch:  prefetchAVX2,
	Dot1:      dot1AVX2,
	Dot4:      dot4AVX2,
	Symv4:     symv4AVX2,
	Axpy1:     axpy1AVX2,
	Axpy4:     axpy4AVX2,
	AxpyRows:  axpyRowsAVX2,
	Dots:      []dots{dot4x1AVX2, dot4x2AVX2, dot4x3AVX2},
	Axpys:     []axpys{axpy4x1AVX2, axpy4x2AVX2, axpy4x3AVX2},
	Twofold: Twofold{
		Maxima: maximaAVX2,
		ColMax: colMaxAVX2,
		Dots:   dotsTwofoldAVX2,
		Open:   openAVX2,
		Axpys:  axpysTwofoldAVX2,
		Close:  closeSumsAVX2,
		Add:    addSumsAVX2,
	},
	Cosines: Cosines{chainAVX2, chain4AVX2, nearAVX2},
	Rows: Rows{
		Centre:   centreAVX2,
		Spread4:  spread4AVX2,
		Norms4:   norms4AVX2,
		Squares4: squares4AVX2,
	},
	Secular: Secular{polesAVX2, polesDownAVX2, scaleQuotientsAVX2},
}

func native() (k []*Kernel) {
	if cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512VL) {
		k = append(k, &avx512)
	}
	if cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3) {
		k = append(k, &avx2)
	}
	return k
}
