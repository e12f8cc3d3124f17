package disttest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/internal/twofold"
)

// lengths returns small lengths, and lengths close to size.
func lengths(size int) []int {
	return []int{0, 1, 2, size - 1, size, size + 1, 1000, 10007}
}

// terms returns n numbers of both signs for a rank. Their sizes differ by up to a factor of about 2⁴⁰. Every fourth
// number is an integer.
func terms(rank, trial, n int) []float64 {
	rnd := random(rank, trial)
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Ldexp(rnd.NormFloat64(), rnd.IntN(40))
		if i%4 == 0 {
			x[i] = math.Round(x[i])
		}
	}
	return x
}

// allreduce checks the sums of Allreduce over all P ranks. The round-off must not exceed the round-off of P−1
// additions. All ranks must get the same bits, and a second call with the same numbers must give them again.
func allreduce(ctx context.Context, _ *testing.T, r dist.Transport) error {
	for trial, n := range lengths(r.Size()) {
		x := terms(r.Rank(), trial, n)
		if err := r.Allreduce(ctx, x); err != nil {
			return err
		}
		if err := isSum(x, trial, r.Size()); err != nil {
			return fmt.Errorf("of %d numbers: %w", n, err)
		}
		if err := sameAsRoot(ctx, r, float64Bytes(x)); err != nil {
			return fmt.Errorf("of %d numbers: %w", n, err)
		}
		again := terms(r.Rank(), trial, n)
		if err := r.Allreduce(ctx, again); err != nil {
			return err
		}
		if !bytes.Equal(float64Bytes(x), float64Bytes(again)) {
			return fmt.Errorf("a second sum of the same %d numbers differs", n)
		}
	}
	return nil
}

// isSum compares x with a compensated sum of the numbers that terms returns for all ranks. Sums of integers must be
// exact, because they stay below 2⁵³.
func isSum(x []float64, trial, size int) error {
	all := make([][]float64, size)
	for r := range all {
		all[r] = terms(r, trial, len(x))
	}
	for i, got := range x {
		var want, scale twofold.Total
		for _, t := range all {
			want.Add(t[i])
			scale.Add(math.Abs(t[i]))
		}
		tol := float64(size-1) * eps * scale.Value()
		if i%4 == 0 {
			tol = 0
		}
		if !(math.Abs(got-want.Value()) <= tol) {
			return fmt.Errorf("component %d is %v, should be %v", i, got, want.Value())
		}
	}
	return nil
}

// sameAsRoot returns an error unless this rank and rank 0 have the same bytes b.
func sameAsRoot(ctx context.Context, r dist.Transport, b []byte) error {
	root, err := r.Broadcast(ctx, 0, b)
	if err == nil && !bytes.Equal(b, root) {
		err = errors.New("the bits are not those of rank 0")
	}
	return err
}

func float64Bytes(x []float64) []byte {
	b := make([]byte, 0, 8*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// payload returns the bytes that a rank sends in a trial.
func payload(rank, trial, n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(rank), byte(trial)}).Read(b) // cannot fail
	return b
}

// broadcast checks that Broadcast gives every rank the bytes of the root, and that the other ranks get copies.
func broadcast(ctx context.Context, _ *testing.T, r dist.Transport) error {
	last := r.Size() - 1
	for trial, c := range []struct{ root, n int }{
		{0, 0}, {0, 1}, {0, 1000}, {last / 2, 1}, {last, 0}, {last, 1000}, {last, 10 << 20},
	} {
		want := payload(c.root, trial, c.n)
		b := []byte("not looked at")
		if r.Rank() == c.root {
			b = bytes.Clone(want)
		}
		got, err := r.Broadcast(ctx, c.root, b)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("%d bytes of rank %d arrived as %d different ones", c.n, c.root, len(got))
		}
		clear(got) // must not change another rank's bytes
		if r.Rank() != c.root && string(b) != "not looked at" {
			return errors.New("an argument was written to")
		}
	}
	_, err := r.Broadcast(ctx, 0, nil)
	return err
}

// inside passes slices that lie inside a struct which also holds a pointer. cgo would refuse such slices if it
// looked at the whole struct and found the pointer.
func inside(ctx context.Context, _ *testing.T, r dist.Transport) error {
	o := &struct {
		x       [2]float64
		b       [3]byte
		pointer *int
	}{x: [2]float64{1, float64(r.Rank())}, b: [3]byte{1, 2, 3}, pointer: new(int)}
	if err := r.Allreduce(ctx, o.x[:]); err != nil {
		return err
	}
	if p := float64(r.Size()); o.x != [2]float64{p, p * (p - 1) / 2} {
		return fmt.Errorf("the sums are %v", o.x)
	}
	b, err := r.Broadcast(ctx, 0, o.b[:])
	if err == nil && !bytes.Equal(b, []byte{1, 2, 3}) {
		err = fmt.Errorf("%v came", b)
	}
	if err != nil || r.Size() == 1 {
		return err
	}
	switch last := r.Size() - 1; r.Rank() {
	case 0:
		return r.Send(ctx, last, o.b[:])
	case last:
		b, err = r.Recv(ctx, 0)
		if err == nil && !bytes.Equal(b, []byte{1, 2, 3}) {
			err = fmt.Errorf("%v came", b)
		}
	}
	return err
}

// barrier checks that no rank returns from Barrier before all ranks have called it. Every rank creates a file
// before Barrier, and must see the files of all ranks afterwards.
func barrier(ctx context.Context, t *testing.T, r dist.Transport) error {
	dir, err := r.Broadcast(ctx, 0, []byte(t.TempDir()))
	if err != nil {
		return err
	}
	for turn := range 10 {
		name := func(rank int) string { return filepath.Join(string(dir), fmt.Sprint(turn, "-", rank)) }
		if err := os.WriteFile(name(r.Rank()), nil, 0o600); err != nil {
			return err
		}
		if err := r.Barrier(ctx); err != nil {
			return err
		}
		for rank := range r.Size() {
			if _, err := os.Stat(name(rank)); err != nil {
				return fmt.Errorf("a rank passed the barrier before rank %d arrived: %w", rank, err)
			}
		}
	}
	return r.Barrier(ctx) // rank 0 then deletes the files
}

// mismatch checks that collective calls fail on all ranks if one rank makes a different call. Later calls must
// work.
func mismatch(ctx context.Context, _ *testing.T, r dist.Transport) error {
	if r.Size() == 1 {
		return nil
	}
	odd := r.Rank() == r.Size()-1
	for _, c := range []struct {
		name         string
		call, others func() error
	}{
		{"length",
			func() error { return r.Allreduce(ctx, make([]float64, 3)) },
			func() error { return r.Allreduce(ctx, make([]float64, 4)) },
		},
		{"root",
			func() error { _, err := r.Broadcast(ctx, 0, nil); return err },
			func() error { _, err := r.Broadcast(ctx, 1, nil); return err },
		},
		{"call",
			func() error { return r.Barrier(ctx) },
			func() error { return r.Allreduce(ctx, nil) },
		},
	} {
		call := c.others
		if odd {
			call = c.call
		}
		if err := call(); !errors.Is(err, dist.ErrMismatch) {
			return fmt.Errorf("another %s: %w", c.name, err)
		}
		if err := r.Barrier(ctx); err != nil {
			return fmt.Errorf("after another %s: %w", c.name, err)
		}
	}
	return nil
}
