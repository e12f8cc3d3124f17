//go:build !unix

package main

import (
	"context"
	"io"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
)

// serveVariable names an environment variable that holds the number of a socket. Setting it is an error on systems
// other than Unix, because they cannot send files through a socket.
const serveVariable = "FDRIDGE_SERVE"

func serve(context.Context, string, func(context.Context, []string, io.Writer, io.Writer) int) error {
	return cli.BadInput("%s: this system cannot send files through a socket", serveVariable)
}
