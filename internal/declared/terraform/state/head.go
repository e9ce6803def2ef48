package state

import (
	"errors"
	"io"
)

// maxHead bounds the part of a state that ReadHead reads, in bytes.
const maxHead = 64 << 10

// errHeadEnd ends ReadHead at the content of a state.
var errHeadEnd = errors.New("end of head")

// ReadHead reads the metadata that precedes the content of a state. In the result, Hash is empty. For an
// encrypted state, TerraformVersion is empty.
func ReadHead(r io.Reader) (*State, error) {
	d := &document{decoder: newDecoder(io.LimitReader(r, maxHead))}
	stop := func() error { return errHeadEnd }
	err := d.record(map[string]func() error{
		"terraform_version": set(&d.state.TerraformVersion, d.string),
		"serial":            set(&d.state.Serial, d.whole),
		"lineage":           set(&d.state.Lineage, d.string),
		"outputs":           stop,
		"resources":         stop,
		"encrypted_data":    stop,
	})
	if err != nil && !errors.Is(err, errHeadEnd) {
		return nil, d.locate(err)
	}
	return &d.state, nil
}
