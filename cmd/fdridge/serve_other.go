//go:build !unix

package main

import (
	"context"
	"io"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
)

// serveVariable names an environment variable with the number of a socket. Only Unix has such sockets.
const serveVariable = "FDRIDGE_SERVE"

func serve(context.Context, string, func(context.Context, []string, io.Writer, io.Writer) int) error {
	return cli.BadInput("%s: this system cannot send files through a socket", serveVariable)
}
