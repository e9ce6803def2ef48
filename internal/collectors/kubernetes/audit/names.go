package audit

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A name is what an answer calls an object.
type name struct{ namespace, name string }

// names are the objects that an answer holds: itself, or its items. Nothing else
// of it is looked at.
type names struct{ names []name }

// maxNames bounds how many objects of one answer are known.
const maxNames = 100_000

var _ json.UnmarshalerFrom = (*names)(nil)

// UnmarshalJSONFrom takes what the answer names. Nothing in it is an error: an
// object may have fields of any form.
func (n *names) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return object(dec, func(field string) error {
		switch {
		case field == "metadata":
			return n.metadata(dec)
		case field == "items" && dec.PeekKind() == '[':
			return n.items(dec)
		}
		return dec.SkipValue()
	})
}

// object calls field for each member of the object that comes next; what is
// none is skipped.
func object(dec *jsontext.Decoder, field func(string) error) error {
	if dec.PeekKind() != '{' {
		return dec.SkipValue()
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if err := field(tok.String()); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

func (n *names) metadata(dec *jsontext.Decoder) error {
	var found name
	err := object(dec, func(field string) error {
		into := map[string]*string{"name": &found.name, "namespace": &found.namespace}[field]
		if into == nil || dec.PeekKind() != '"' {
			return dec.SkipValue()
		}
		tok, err := dec.ReadToken()
		if err == nil {
			*into = tok.String()
		}
		return err
	})
	if found.name != "" && len(n.names) < maxNames {
		n.names = append(n.names, found)
	}
	return err
}

func (n *names) items(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		err := object(dec, func(field string) error {
			if field == "metadata" {
				return n.metadata(dec)
			}
			return dec.SkipValue()
		})
		if err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// A rehearsal tells the options of a deletion that only tries: unlike other
// requests it says so in its body.
type rehearsal bool

var _ json.UnmarshalerFrom = (*rehearsal)(nil)

// UnmarshalJSONFrom looks at dryRun alone, of the options or of those in an
// eviction.
func (r *rehearsal) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return object(dec, func(field string) error {
		switch field {
		case "dryRun":
			*r = *r || dec.PeekKind() == '['
		case "deleteOptions":
			return r.UnmarshalJSONFrom(dec)
		}
		return dec.SkipValue()
	})
}
