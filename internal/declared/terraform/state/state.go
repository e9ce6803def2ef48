package state

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
)

// DefaultMaxBytes is the default of Options.MaxBytes, in bytes.
const DefaultMaxBytes = 1 << 30

// Options are the options of Read.
type Options struct {
	// Sealer seals the values that the state marks as sensitive.
	Sealer model.Sealer
	// Passphrases decrypt a state that OpenTofu encrypted with key provider pbkdf2 and method
	// aes_gcm. They are tried in order.
	Passphrases []string
	// MaxBytes is the maximum size of the state, in bytes. 0 means DefaultMaxBytes.
	MaxBytes int64
}

// A State contains the metadata of a state.
type State struct {
	// TerraformVersion is the version of the program that last wrote the state.
	TerraformVersion string
	Lineage          string
	Serial           int64
	// Hash is the SHA-256 digest of the content, in hexadecimal. For an encrypted state, it is the digest
	// of the decrypted content, which a change of the key does not affect.
	Hash string
}

// Record returns the metadata of the state for a run record.
func (s *State) Record(address string) model.StateRead {
	record := model.StateRead{Address: address, Lineage: s.Lineage, Serial: s.Serial, Hash: s.Hash}
	if version().MatchString(s.TerraformVersion) {
		record.Version = s.TerraformVersion
	}
	return record
}

// version matches the version of a program.
var version = lazyregexp.New(`^[0-9]{1,5}\.[0-9]{1,5}\.[0-9]{1,5}(-[0-9A-Za-z.-]{1,30})?$`)

// An Instance is an instance of a resource or of a data source in a state, or a deposed object that
// is to be destroyed.
type Instance struct {
	// Address is the address in the format of Terraform: module.m["a"].disk.data[0]. A deposed object has
	// the address of its replacement.
	Address string
	// Module is the part of the address before the resource. It is "" in the root module.
	Module string
	// Data reports whether the instance is one of a data source.
	Data bool
	Type string
	Name string
	// Key is the part of the address after the name: "", "[0]" or ["a"].
	Key      string
	Provider Provider
	// Deposed is the key of a deposed object, or "" for a current object.
	Deposed string
	// Attributes is a map. Sensitive values are sealed. Dynamic values are stored without their
	// types.
	Attributes model.Value
	// Flat reports whether Terraform 0.11 wrote Attributes and no later version refreshed them. All scalars
	// are then strings.
	Flat bool
}

// Read reads a state and calls each for every instance, in the order of the state. It keeps one instance at
// a time in memory, but the whole content of an encrypted state. If Read returns an error, the caller must
// discard the instances that it received. An error of each ends the read and is returned unchanged. Errors
// do not contain values of the state.
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
		return nil, errors.New("the serial or lineage of the encrypted state differs from the decrypted one: the file was edited")
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

// read reads one document.
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
		return nil, errors.New("the state is empty: nothing was applied yet, or the file is truncated")
	case err != nil:
		return nil, d.locate(err)
	}
	return d, nil
}
