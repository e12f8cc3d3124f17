//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/internal/rss"
)

// serveVariable names an environment variable with the number of an inherited socket. If it is set, the program runs
// the command lines that the calling program sends through the socket, one after the other. It ends when the calling
// program closes the socket. A fit then takes no time to start a process.
//
// A message to the program has a length of 8 bytes, little-endian, and a [request] as JSON of this length. The
// descriptors of the request's files are sent with the first byte (SCM_RIGHTS). The answer has the exit code and the
// lengths of the standard output and the standard error, each of 8 bytes, and then these two texts.
//
// A request gives the same result as a process of its own, because only these settings outlive a request:
//   - A request has the environment of the process. [request.Environment] changes it for one request.
//   - The first request determines the tuning, which may depend on --threads. The calling program sends requests with
//     other --threads to another process.
const serveVariable = "FDRIDGE_SERVE"

// A request is a command line.
type request struct {
	Args []string `json:"args"`
	// Files are numbers of file descriptors in the calling program. An argument /dev/fd/N refers to its descriptor
	// N.
	Files       []int             `json:"files"`
	Environment map[string]string `json:"environment"`

	received []int // the numbers of the files in this process
}

// maxRequest limits the size of a request in bytes. maxFiles limits the number of files in a request, because Linux
// sends at most 253 with a message.
const (
	maxRequest = 1 << 28
	maxFiles   = 253
)

// serve answers requests from the socket with the given number. It ends when the calling program closes the socket,
// or when ctx ends. The function run executes a command line and returns its exit code.
func serve(
	ctx context.Context,
	number string,
	run func(ctx context.Context, args []string, stdout, stderr io.Writer) int,
) error {
	socket, err := inheritedSocket(number)
	if err != nil {
		return err
	}
	defer socket.Close()
	spare := make([]byte, spareBytes)
	defer runtime.KeepAlive(spare)
	defer context.AfterFunc(ctx, func() { socket.CloseRead() })() // ends the wait for a request
	// timer that returns memory to the system; it is stopped if a request comes first
	var release *time.Timer
	for ctx.Err() == nil {
		r, err := receive(socket)
		if release != nil {
			release.Stop()
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: a request cannot be read: %w", serveVariable, err)
		}
		var stdout, stderr bytes.Buffer
		code, err := r.execute(ctx, run, &stdout, &stderr)
		err = errors.Join(err, ctx.Err())
		if err != nil {
			return err // the process ends without an answer, so that it gets no further request
		}
		if err := answer(socket, code, stdout.Bytes(), stderr.Bytes()); err != nil {
			return fmt.Errorf("%s: the answer cannot be sent: %w", serveVariable, err)
		}
		release = freeMemory()
	}
	return ctx.Err()
}

// inheritedSocket returns the connection of an inherited descriptor.
func inheritedSocket(number string) (*net.UnixConn, error) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 3 {
		return nil, cli.BadInput("%s: %q is not the number of a socket", serveVariable, number)
	}
	f := os.NewFile(uintptr(n), "socket of the calling program")
	connection, err := net.FileConn(f)
	err = errors.Join(err, f.Close()) // the connection has a descriptor of its own
	socket, ok := connection.(*net.UnixConn)
	if err != nil || !ok {
		return nil, cli.BadInput("%s: %q is not the number of a socket", serveVariable, number)
	}
	return socket, nil
}

// receive reads a request and the file descriptors that are sent with it. It returns io.EOF if the calling program
// closed the socket before it sent a request.
func receive(socket *net.UnixConn) (*request, error) {
	var head [8]byte
	rights := make([]byte, syscall.CmsgSpace(4*maxFiles))
	n, used, _, _, err := socket.ReadMsgUnix(head[:], rights)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, io.EOF
	}
	r := &request{}
	r.received, err = descriptors(rights[:used])
	if err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(socket, head[n:]); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint64(head[:])
	if size > maxRequest {
		return nil, fmt.Errorf("it has %d bytes, at most %d are allowed", size, maxRequest)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(socket, text); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, err
	}
	if len(r.Files) != len(r.received) {
		return nil, fmt.Errorf("it names %d files, and %d were sent", len(r.Files), len(r.received))
	}
	return r, nil
}

// descriptors returns the descriptors in control messages.
func descriptors(rights []byte) (all []int, err error) {
	messages, err := syscall.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		some, err := syscall.ParseUnixRights(&m)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// execute runs the command line of the request and returns its exit code. It closes the files that were sent with
// the request.
func (r *request) execute(
	ctx context.Context,
	run func(ctx context.Context, args []string, stdout, stderr io.Writer) int,
	stdout, stderr io.Writer,
) (code int, err error) {
	defer func() {
		for _, n := range r.received {
			err = errors.Join(err, syscall.Close(n))
		}
	}()
	names := make(map[string]string, len(r.Files))
	for i, n := range r.Files {
		names[fmt.Sprintf("/dev/fd/%d", n)] = fmt.Sprintf("/dev/fd/%d", r.received[i])
	}
	args := make([]string, len(r.Args))
	for i, a := range r.Args {
		args[i] = a
		if name, ok := names[a]; ok {
			args[i] = name
		}
	}
	for name, value := range r.Environment {
		before, was := os.LookupEnv(name)
		if err := os.Setenv(name, value); err != nil {
			return 0, err
		}
		defer func() {
			if was {
				err = errors.Join(err, os.Setenv(name, before))
			} else {
				err = errors.Join(err, os.Unsetenv(name))
			}
		}()
	}
	threads := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(threads) // --threads holds for one request
	rss.ResetPeak()
	return run(ctx, args, stdout, stderr), nil
}

// answer sends the exit code and what was printed.
func answer(socket *net.UnixConn, code int, stdout, stderr []byte) error {
	var head [24]byte
	binary.LittleEndian.PutUint64(head[:], uint64(code))
	binary.LittleEndian.PutUint64(head[8:], uint64(len(stdout)))
	binary.LittleEndian.PutUint64(head[16:], uint64(len(stderr)))
	parts := net.Buffers{head[:], stdout, stderr}
	_, err := parts.WriteTo(socket)
	return err
}

// spareBytes is the size of an array that is never written, so that it occupies no memory. The garbage collector
// runs when the heap has grown to twice the memory in use. The array counts as memory in use, so the collector does
// not run in each small request.
const spareBytes = 32 << 20

// idleBytes is the memory that the process may keep while it waits for requests.
const idleBytes = 64 << 20

// idleTime is how long the process waits for a request before it returns memory to the system. A request that comes
// earlier uses this memory again, which is faster than getting new memory.
const idleTime = time.Second

// freeMemory runs the garbage collector if the process holds much memory after a request. The collector runs at
// once, so that the next request does not add to the memory. freeMemory then returns a timer that will give the
// memory back to the system. Otherwise it returns nil.
func freeMemory() *time.Timer {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapSys-m.HeapReleased <= spareBytes+idleBytes {
		return nil
	}
	runtime.GC()
	return time.AfterFunc(idleTime, debug.FreeOSMemory)
}
