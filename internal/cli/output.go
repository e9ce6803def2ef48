package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// A checkedWriter is the standard output of a command. It keeps the first error: a command that prints line by line has
// failed if a part of its lines was not written, for example because the disk is full.
type checkedWriter struct {
	io.Writer
	err error
}

func (w *checkedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// terminal returns the file of a terminal, and whether w is one.
func terminal(w io.Writer) (*os.File, bool) {
	if checked, ok := w.(*checkedWriter); ok {
		w = checked.Writer
	}
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// terminalWidth returns the width of a terminal, and whether w is one.
func terminalWidth(w io.Writer) (int, bool) {
	f, ok := terminal(w)
	if !ok {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 20 {
		width = 80
	}
	return width, true
}
