//go:build mpi && cgo

package mpi

// #include "layer.h"
import "C"

import (
	"context"
	"time"
	"unsafe"

	"github.com/fdridge/fdridge/dist"
)

// terms describes a collective call of one rank. The fields kind and arg must be equal on all ranks. Only the root
// of a broadcast sets length, the number of bytes.
type terms struct {
	kind   int
	arg    int // the root, or the length of x
	length int // set on the root
}

// Kinds of collective calls.
const (
	callBarrier = iota
	callBroadcast
	callAllreduce
	callFinalize
)

// meet waits until all ranks have called meet. Afterwards c.link.all[4] is the field length that the root has set.
// If the ranks made different calls, meet returns [dist.ErrMismatch].
func (c *Comm) meet(ctx context.Context, t terms) error {
	// The ranks send each number v and −v and compute the maxima. The number is equal on all ranks exactly if the
	// maximum of v is minus the maximum of −v.
	kind := C.int64_t(t.kind)
	arg := C.int64_t(t.arg)
	c.link.mine = [C.TERMS]C.int64_t{kind, -kind, arg, -arg, C.int64_t(t.length)}
	if err := check("MPI_Iallreduce", C.fdr_imax(c.link)); err != nil {
		return err
	}
	if err := c.wait(ctx); err != nil {
		return err
	}
	all := c.link.all
	if all[0] != -all[1] || all[2] != -all[3] {
		return dist.ErrMismatch
	}
	return nil
}

// Barrier returns when every rank has called it.
func (c *Comm) Barrier(ctx context.Context) error {
	start := time.Now()
	err := c.do(ctx, func() error {
		return c.meet(ctx, terms{kind: callBarrier})
	})
	c.meter.Barrier(start, err)
	return err
}

// Allreduce overwrites x with its sum over all ranks, see [dist.Transport]. If it returns an error, x must not be
// used any more, because the MPI library may still write to x.
func (c *Comm) Allreduce(ctx context.Context, x []float64) error {
	start := time.Now()
	err := c.do(ctx, func() error {
		if err := c.meet(ctx, terms{kind: callAllreduce, arg: len(x)}); err != nil {
			return err
		}
		for part := range pieces(x, c.maxCallBytes/8) {
			err := check("MPI_Allreduce", C.fdr_sum(c.link, unsafe.Pointer(&part[0]), C.int(len(part))))
			if err != nil {
				return err
			}
		}
		return nil
	})
	c.meter.Allreduce(c, start, len(x), err)
	return err
}

// Broadcast returns root's b on every rank. See [dist.Transport].
func (c *Comm) Broadcast(
	ctx context.Context,
	root int,
	b []byte,
) ([]byte, error) {
	start := time.Now()
	err := dist.CheckRoot(c, root)
	if err == nil {
		err = c.do(ctx, func() error { return c.broadcast(ctx, root, &b) })
	}
	if err != nil {
		c.meter.Broadcast(c, root, start, 0, err)
		return nil, err
	}
	c.meter.Broadcast(c, root, start, len(b), nil)
	return b, nil
}

func (c *Comm) broadcast(ctx context.Context, root int, b *[]byte) error {
	t := terms{kind: callBroadcast, arg: root}
	if c.rank == root {
		t.length = len(*b)
	}
	if err := c.meet(ctx, t); err != nil {
		return err
	}
	if c.rank != root {
		*b = make([]byte, c.link.all[4])
	}
	for part := range pieces(*b, c.maxCallBytes) {
		err := check("MPI_Bcast", C.fdr_bcast(c.link, unsafe.Pointer(&part[0]), C.int(len(part)), C.int(root)))
		if err != nil {
			return err
		}
	}
	return nil
}
