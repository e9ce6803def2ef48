package audit

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A name is the namespace and name of an object in an answer.
type name struct{ namespace, name string }

// names are the names of the objects in an answer: the object itself, or the items of a
// list. The other fields of the answer are skipped.
type names struct{ names []name }

// maxNames bounds the names of one answer.
const maxNames = 100_000

var _ json.UnmarshalerFrom = (*names)(nil)

// UnmarshalJSONFrom decodes the names in a response. It skips fields of unexpected types, because
// an object may have any fields.
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

// object calls field for each member of the next object. It skips a value that is not an object.
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

// A dryRun reports whether the body of a request is the options of a dry-run deletion.
// Other dry runs have dryRun in the query.
type dryRun bool

var _ json.UnmarshalerFrom = (*dryRun)(nil)

// UnmarshalJSONFrom decodes dryRun in DeleteOptions, or in deleteOptions of an Eviction.
func (r *dryRun) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
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
