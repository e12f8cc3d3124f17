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

// Send waits until the receiving rank has called Recv, and then sends b. See [dist.Transport].
func (c *Comm) Send(ctx context.Context, to int, b []byte) error {
	start := time.Now()
	err := dist.CheckPeer(c, to)
	if err == nil {
		err = c.do(ctx, func() error { return c.send(ctx, to, b) })
	}
	c.meter.Send(start, len(b), err)
	return err
}

// send sends the length of b when the receiver is ready, and then the bytes.
func (c *Comm) send(ctx context.Context, to int, b []byte) error {
	c.link.mine[0] = C.int64_t(len(b))
	if err := check("MPI_Issend", C.fdr_issend_length(c.link, C.int(to))); err != nil {
		return err
	}
	if err := c.wait(ctx); err != nil {
		return err
	}
	for part := range pieces(b, c.maxCallBytes) {
		err := check("MPI_Send", C.fdr_send(c.link, unsafe.Pointer(&part[0]), C.int(len(part)), C.int(to)))
		if err != nil {
			return err
		}
	}
	return nil
}

// Recv returns the next bytes that another rank sends to this rank. See [dist.Transport].
func (c *Comm) Recv(ctx context.Context, from int) ([]byte, error) {
	start := time.Now()
	var b []byte
	err := dist.CheckPeer(c, from)
	if err == nil {
		err = c.do(ctx, func() error { return c.recv(ctx, from, &b) })
	}
	if err != nil {
		c.meter.Recv(start, 0, err)
		return nil, err
	}
	c.meter.Recv(start, len(b), nil)
	return b, nil
}

func (c *Comm) recv(ctx context.Context, from int, b *[]byte) error {
	if err := check("MPI_Irecv", C.fdr_irecv_length(c.link, C.int(from))); err != nil {
		return err
	}
	if err := c.wait(ctx); err != nil {
		return err
	}
	*b = make([]byte, c.link.all[0])
	for part := range pieces(*b, c.maxCallBytes) {
		err := check("MPI_Recv", C.fdr_recv(c.link, unsafe.Pointer(&part[0]), C.int(len(part)), C.int(from)))
		if err != nil {
			return err
		}
	}
	return nil
}
