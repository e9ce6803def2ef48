package state

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// format is the supported version of the state format.
const format = 4

// A document is a state that is being read.
type document struct {
	*decoder
	ctx     context.Context //nolint:containedctx // it lives as long as the call of Read
	options Options
	each    func(Instance) error
	// seen holds the keys of all instances so far.
	seen map[string]bool
	// stopped is the error of the caller or the context that ended the reading.
	stopped error

	state   State
	version int64
	sealed  envelope
	// kind describes the kind of a document that is not a state.
	kind string
}

// read reads the document.
func (d *document) read() error {
	err := d.record(map[string]func() error{
		"version":            set(&d.version, d.whole),
		"terraform_version":  set(&d.state.TerraformVersion, d.string),
		"serial":             set(&d.state.Serial, d.whole),
		"lineage":            set(&d.state.Lineage, d.string),
		"resources":          d.resources,
		"meta":               set(&d.sealed.meta, d.texts64),
		"encrypted_data":     set(&d.sealed.data, d.base64),
		"encryption_version": set(&d.sealed.version, d.string),
		"format_version":     d.hint("the output of `terraform show -json`; use `terraform state pull`"),
		"backend":            d.hint("a .terraform/terraform.tfstate, which only has the backend settings; set the location of the state itself"),
	})
	if err == nil {
		err = d.end()
	}
	return err
}

// end returns an error if the stream continues after the document.
func (d *document) end() error {
	switch _, err := d.ReadToken(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return errors.New("the file continues after the state")
}

func (d *document) hint(kind string) func() error {
	return func() error {
		d.kind = kind
		return d.SkipValue()
	}
}

// resources reads the instances. It skips them if the version is already known to be unsupported.
func (d *document) resources() error {
	if d.version != 0 && d.version != format {
		return d.SkipValue()
	}
	return d.array(d.resource)
}

// supported returns the state, or an error if its format is not supported.
func (d *document) supported() (*State, error) {
	switch {
	case d.version == format:
		return &d.state, nil
	case d.kind != "":
		return nil, fmt.Errorf("the file is not a state but %s", d.kind)
	case d.version == 0:
		return nil, errors.New("the file is not a Terraform state: it has no version")
	case d.version < format:
		return nil, fmt.Errorf("the state has format %d, of Terraform 0.11 or older; run `terraform apply` with a newer version, which writes format %d",
			d.version, format)
	}
	return nil, fmt.Errorf("the state has format %d, written by version %s, and this version of driftd reads format %d; update driftd, or use engine: plan",
		d.version, d.state.TerraformVersion, format)
}

// stop records err as an error that is not about the document.
func (d *document) stop(err error) error {
	d.stopped = err
	return err
}

// locate adds the position in the document to err.
func (d *document) locate(err error) error {
	offset, at := d.InputOffset(), d.StackPointer()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		offset, at, err = syntax.ByteOffset, syntax.JSONPointer, syntax.Err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the state is truncated")
	}
	if at == "" {
		return fmt.Errorf("at byte %d: %w", offset, err)
	}
	return fmt.Errorf("at byte %d, %s: %w", offset, at, err)
}
