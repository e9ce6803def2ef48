// Command driftd finds drift between what was declared and what is.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // quiet hours have a timezone, on machines without any as well

	"github.com/driftd/driftd/internal/cli"
	_ "github.com/driftd/driftd/internal/headroom" // a short command ends without a garbage collection
)

// Set by the linker.
var version, commit, date = "devel", "", ""

func main() {
	if err := forbidCores(); err != nil {
		fmt.Fprintln(os.Stderr, "driftd:", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends a program that does not stop
	code := cli.Run(ctx, cli.Build{Version: version, Commit: commit, Date: date}, os.Args[1:],
		cli.Streams{Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}
