// Command driftd-helm renders Helm charts for driftd, which starts it as a box.
package main

import (
	"fmt"
	"os"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/chart/render"
)

func main() {
	if len(os.Args) != 2 || os.Args[1] != box.Verb {
		fmt.Fprintln(os.Stderr, "driftd-helm: driftd starts this program itself, to render Helm charts")
		os.Exit(1)
	}
	out := os.Stdout
	// Output of a library must not mix with the messages to the parent.
	os.Stdout = os.Stderr
	if err := box.Serve(os.Stdin, out, render.Jobs()); err != nil {
		fmt.Fprintln(os.Stderr, "driftd-helm:", err)
		os.Exit(1)
	}
}
