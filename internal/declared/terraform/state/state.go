package state

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/model"
)

// DefaultMaxBytes bounds a state where Options does not, in bytes.
const DefaultMaxBytes = 1 << 30

// Options say how a state is read.
type Options struct {
	// Sealer digests what the state marks as sensitive.
	Sealer model.Sealer
	// Passphrases open a state that OpenTofu encrypted with key provider pbkdf2
	// and method aes_gcm. Each is tried, in order.
	Passphrases []string
	// MaxBytes bounds the state; 0 means DefaultMaxBytes.
	MaxBytes int64
}

// A State is what a state says of itself as a whole.
type State struct {
	// TerraformVersion is the version of the tool that wrote it last.
	TerraformVersion string
	Lineage          string
	Serial           int64
	// Hash is the SHA-256 of the content, in hex; of the content that was
	// encrypted, where it was, so that a new key changes nothing.
	Hash string
}

// Record returns what a run record keeps of the reading.
func (s *State) Record(address string) model.StateRead {
	return model.StateRead{Address: address, Lineage: s.Lineage, Serial: s.Serial, Hash: s.Hash}
}

// An Instance is one object that the state records.
type Instance struct {
	// Address is as Terraform prints it: module.m["a"].disk.data[0]. A deposed
	// object has the address of the one that replaced it.
	Address string
	// Module is the part of the address before the resource, or "".
	Module string
	// Data tells a data source from a managed resource.
	Data bool
	Type string
	Name string
	// Key is the part of the address after the name: "", "[0]" or ["a"].
	Key      string
	Provider Provider
	// Deposed is the key of an object that waits to be destroyed, or "".
	Deposed string
	// Attributes is a map. What is marked as sensitive is sealed, dynamic
	// values stand without their types.
	Attributes model.Value
	// Flat tells that Attributes were written by Terraform 0.11 and have not
	// been refreshed since: every scalar is a string.
	Flat bool
}

// Read reads a state and hands its instances to each, in the state's order.
// It holds one of them at a time, so that memory hardly grows with the state;
// only an encrypted one is held as a whole. When Read returns an error, what
// it handed out does not count. An error of each ends the reading and is
// returned as it stands. No error shows a value of the state.
func Read(ctx context.Context, r io.Reader, o Options, each func(Instance) error) (*State, error) {
	outer, err := read(ctx, r, o, each)
	switch {
	case err != nil:
		return nil, err
	case !outer.sealed.present():
		return outer.supported()
	}
	plain, err := outer.sealed.open(o.Passphrases)
	if err != nil {
		return nil, err
	}
	s, err := readDecrypted(ctx, plain, o, each)
	switch {
	case err != nil:
		return nil, err
	case s.Serial != outer.state.Serial || s.Lineage != outer.state.Lineage:
		return nil, errors.New("the serial or lineage beside the encrypted state is not its own: somebody edited the file")
	}
	return s, nil
}

func readDecrypted(ctx context.Context, plain []byte, o Options, each func(Instance) error) (*State, error) {
	d, err := read(ctx, bytes.NewReader(plain), o, each)
	if err != nil {
		return nil, err
	}
	return d.supported()
}

// read reads one document to its end.
func read(ctx context.Context, r io.Reader, o Options, each func(Instance) error) (*document, error) {
	source := newSource(budget.Reader(ctx, r), o.MaxBytes)
	d := &document{decoder: newDecoder(source), ctx: ctx, options: o, each: each, seen: map[string]bool{}}
	err := d.read()
	d.state.Hash = source.sum()
	switch {
	case d.stopped != nil:
		return nil, d.stopped
	case source.err != nil:
		return nil, source.err
	case err != nil && source.size == 0:
		return nil, errors.New("the state is empty: nothing was applied yet, or it was cut off")
	case err != nil:
		return nil, d.locate(err)
	}
	return d, nil
}
