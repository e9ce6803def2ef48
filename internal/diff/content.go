package diff

import (
	"bytes"
	"math/big"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// content returns the live value for comparing it with itself over time: in one spelling, and without what the system allocates and
// what controllers write, which may change at any time.
func content(s *model.Subject, o Options) model.Value {
	w := newWalk(s, &model.Claim{Kind: s.Key.Kind, ID: s.Key.ID}, s.Live.Value, o)
	return canonical(w.schema, w.lasting(w.schema, s.Live.Value))
}

// lasting returns a live value without the parts that may change at any time, or null if nothing
// remains.
func (w *walk) lasting(schema *model.Schema, l model.Value) model.Value {
	switch {
	case schema != nil && schema.Generated:
		return model.Value{}
	case l.Kind() == model.Map && len(l.Fields()) > 0:
		var kept []model.Field
		for _, f := range l.Fields() {
			w.push(fieldSegment(f.Name))
			kept = append(kept, model.Field{Name: f.Name, Value: w.lasting(schema.Field(f.Name), f.Value)})
			w.pop()
		}
		return mapOrNull(kept)
	case l.Kind() == model.List && granular(schema) && len(l.Items()) > 0:
		var kept []model.Value
		for i := range l.Items() {
			w.push(elementSegment(schema, &l.Items()[i]))
			if v := w.lasting(schema.Element(), l.Items()[i]); !v.IsNull() {
				kept = append(kept, v)
			}
			w.pop()
		}
		if len(kept) == 0 {
			return model.Value{}
		}
		return model.ListOf(kept...)
	case w.isExempt(l):
		return model.Value{}
	}
	return l
}

// mapOrNull returns a map of the fields that are not null; null if there is none.
func mapOrNull(fields []model.Field) model.Value {
	fields = slices.DeleteFunc(fields, func(f model.Field) bool { return f.Value.IsNull() })
	if len(fields) == 0 {
		return model.Value{}
	}
	return model.MapOf(fields...)
}

// isExempt reports whether there is evidence for each owner of the node that its write is not drift.
func (w *walk) isExempt(l model.Value) bool {
	owners := w.writers.ownersAt(w.path)
	return len(owners) > 0 && !slices.ContainsFunc(owners, func(o *model.Owner) bool {
		why, missing := w.evidence(o, l)
		return why == "" || missing != nil
	})
}

// canonical returns a value in the spelling that all values that are equal by the schema have, without those that are volatile or
// the default. Zero values stay: without a known default, they may mean more than absent ones.
func canonical(schema *model.Schema, v model.Value) model.Value {
	switch {
	case schema != nil && (schema.Volatile || schema.Default != nil && Equal(schema, *schema.Default, v)):
		return model.Value{}
	case v.Kind() == model.Map:
		return canonicalMap(schema, v)
	case v.Kind() == model.List:
		return canonicalList(schema, v)
	case schema == nil || v.Kind() == model.Secret:
		return v
	}
	return canonicalScalar(schema, v)
}

// canonicalMap leaves out a map in which nothing is left, if that is equal to an absent one. An empty map stays.
func canonicalMap(schema *model.Schema, v model.Value) model.Value {
	var kept []model.Field
	for _, f := range v.Fields() {
		kept = append(kept, model.Field{Name: f.Name, Value: canonical(schema.Field(f.Name), f.Value)})
	}
	if c := mapOrNull(kept); !c.IsNull() || len(v.Fields()) > 0 && absentEquals(schema, v) {
		return c
	}
	return model.MapOf()
}

// canonicalList sorts a list of which the order does not count.
func canonicalList(schema *model.Schema, v model.Value) model.Value {
	items := make([]model.Value, len(v.Items()))
	for i, item := range v.Items() {
		items[i] = canonical(schema.Element(), item)
	}
	if schema != nil && schema.List != model.Ordered && schema.List != model.Sequence {
		slices.SortFunc(items, func(a, b model.Value) int { return bytes.Compare(a.AppendJSON(nil), b.AppendJSON(nil)) })
	}
	return model.ListOf(items...)
}

// canonicalScalar returns the canonical spelling of a scalar, or the scalar itself if it cannot be
// parsed.
func canonicalScalar(schema *model.Schema, v model.Value) model.Value {
	inside := *schema
	inside.Format, inside.Default = model.Plain, nil
	tree := func(t model.Value) string { return string(canonical(&inside, t).AppendJSON(nil)) }
	switch schema.Format {
	case model.IntOrString:
		return model.StringOf(v.Text())
	case model.CaseFold:
		return model.StringOf(strings.ToLower(v.Text()))
	case model.Base64:
		return model.StringOf(withoutSpace(v.Text()))
	case model.JSON:
		return spelled(v, parseJSON, tree)
	case model.PropertyString:
		return spelled(v, func(s string) (model.Value, error) { return parseProperties(schema, s) }, tree)
	case model.Quantity:
		return spelled(v, parseQuantity, (*big.Rat).RatString)
	case model.Boolean:
		return spelled(v, parseBoolean, strconv.FormatBool)
	case model.Instant:
		return spelled(v, parseInstant, func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) })
	case model.Duration:
		return spelled(v, time.ParseDuration, time.Duration.String)
	case model.Address:
		return spelled(v, parseAddress, netip.Prefix.String)
	}
	return v
}

// spelled returns a scalar as the text of its parsed value.
func spelled[T any](v model.Value, parse func(string) (T, error), format func(T) string) model.Value {
	parsed, err := parse(v.Text())
	if err != nil {
		return v
	}
	return model.StringOf(format(parsed))
}
