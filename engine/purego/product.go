package purego

import (
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
)

// tile is the edge of the blocks of C that a product is divided into, and of
// the steps along k. gonum multiplies blocks of this size in one piece on the
// calling goroutine; larger ones it divides in the same way, but allocates for
// each call.
const tile = 64

// A product is a Gemm or, when lower is set, the lower triangle of one with
// square C. Each tile of C is computed by one goroutine, in the same order along
// k, so the result doesn't depend on how many there are.
type product struct {
	be             *Backend
	lower          bool
	transA, transB bool
	m, n, k        int
	alpha          float64
	a              []float64
	lda            int
	b              []float64
	ldb            int
	beta           float64
	c              []float64
	ldc            int
}

func (p *product) tile(i, j int) {
	r, s := min(tile, p.m-i), min(tile, p.n-j)
	c := p.c[i*p.ldc+j:]
	beta := p.beta
	for l := 0; l < p.k; l += tile {
		depth := min(tile, p.k-l)
		ia, jb := i*p.lda+l, l*p.ldb+j
		if p.transA {
			ia = l*p.lda + i
		}
		if p.transB {
			jb = j*p.ldb + l
		}
		if p.lower && i == j {
			p.be.blas.Dsyrk(blas.Lower, op(p.transA), r, depth, p.alpha, p.a[ia:], p.lda, beta, c, p.ldc)
		} else {
			p.be.blas.Dgemm(op(p.transA), op(p.transB), r, s, depth, p.alpha, p.a[ia:], p.lda, p.b[jb:], p.ldb, beta, c, p.ldc)
		}
		beta = 1
	}
}

// A job is a product under way: its goroutines take row blocks of C from next
// until none are left.
type job struct {
	product
	next atomic.Int64
	wg   sync.WaitGroup
}

func (j *job) work() {
	for {
		i := (int(j.next.Add(1)) - 1) * tile
		if i >= j.m {
			return
		}
		end := j.n
		if j.lower {
			end = min(i+tile, j.n)
		}
		for k := 0; k < end; k += tile {
			j.tile(i, k)
		}
	}
}

// The helpers are goroutines that live as long as the program and wait for jobs;
// jobs are kept for reuse. So a product starts no goroutine and allocates nothing.
var (
	start sync.Once
	queue = make(chan *job)
	spare = make(chan *job, 64)
)

func startHelpers() {
	for range runtime.NumCPU() - 1 {
		go func() {
			for j := range queue {
				j.work()
				j.wg.Done()
			}
		}()
	}
}

// run computes a product on the calling goroutine and on those helpers that are
// idle, no more than GOMAXPROCS in all.
func run(p product) {
	if p.m == 0 || p.n == 0 {
		return
	}
	var j *job
	select {
	case j = <-spare:
	default:
		j = new(job)
	}
	j.product = p
	j.next.Store(0)
	j.recruit()
	j.work()
	j.wg.Wait()
	j.product = product{}
	select {
	case spare <- j:
	default:
	}
}

// minParallel is the number of multiply-adds below which waking another
// goroutine costs more than it saves.
const minParallel = 64 * 64 * 64

func (j *job) recruit() {
	if j.m*j.n*j.k < minParallel {
		return
	}
	start.Do(startHelpers)
	for range min(runtime.GOMAXPROCS(0), (j.m+tile-1)/tile) - 1 {
		j.wg.Add(1)
		select {
		case queue <- j:
		default:
			j.wg.Done()
			return
		}
	}
}
