package proxmox

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// A list is the rules of a firewall or of a security group, or the entries of an IP set, as they were read.
type list struct {
	place

	kind string
	// field is the name of the list in the form of the collector.
	field string
	// cluster is the name of the cluster.
	cluster string
	// object is the security group or the IP set without its rows, as Proxmox VE has it.
	object model.Value
	// rows are the rows as Proxmox VE has them, without their positions, the digest of the list, and what it derives.
	rows   []model.Value
	digest string
}

// isList reports whether a kind has a list that is put back row by row.
func isList(kind string) bool {
	return kind == normalize.FirewallRules || kind == normalize.FirewallGroup || kind == normalize.FirewallIPSet
}

// isOrdered reports whether the order of the rows has a meaning.
func (l *list) isOrdered() bool { return l.field == "rules" }

// emptyDigest is the digest of an empty list: the SHA-1 of nothing.
const emptyDigest = "da39a3ee5e6b4b0d3255bfef95601890afd80709"

// readList reads a list with the account of the source. The error is a *reconcile.Refusal if the node that answers has no
// quorum, and errGone if the list does not exist.
func (a *Actuator) readList(ctx context.Context, key model.Key) (l *list, err error) {
	err = a.with(ctx, a.options.Reading, func(s *pveapi.Session) error {
		l, err = a.readListOver(ctx, s, key)
		return err
	})
	return l, err
}

func (a *Actuator) readListOver(ctx context.Context, s *pveapi.Session, key model.Key) (*list, error) {
	cluster, err := a.quorate(ctx, s)
	if err != nil {
		return nil, err
	}
	l, err := readRows(ctx, s, key)
	if isGone(err) || errors.Is(err, errGone) {
		return nil, errGone
	}
	if err != nil {
		return nil, a.explain(err)
	}
	l.cluster = cluster
	return l, nil
}

func readRows(ctx context.Context, s *pveapi.Session, key model.Key) (*list, error) {
	p, err := placeOf(ctx, s, key)
	if err != nil {
		return nil, err
	}
	l := &list{place: p, kind: key.Kind, field: "rules", digest: emptyDigest}
	parents, name := "/groups", "group"
	if key.Kind == normalize.FirewallIPSet {
		l.field, parents, name = "cidr", "/ipset", "name"
	}
	if key.Kind != normalize.FirewallRules {
		all, err := rowsAt(ctx, s, p.path+parents)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(all, func(row model.Value) bool { return row.At(name).Text() == p.name })
		if at < 0 {
			return nil, errGone
		}
		l.object = all[at].Without("digest")
	}
	rows, err := rowsAt(ctx, s, p.list(key.Kind))
	if err != nil {
		return nil, err
	}
	ordered := slices.Clone(rows)
	slices.SortStableFunc(ordered, func(a, b model.Value) int { return cmp.Compare(position(a), position(b)) })
	for _, row := range ordered {
		if l.digest = row.At("digest").Text(); l.digest == "" {
			return nil, errNoDigest
		}
		l.rows = append(l.rows, row.Without("digest", "pos", "ipversion", "errors"))
	}
	return l, nil
}

// rowsAt returns the rows at a path. An answer that is no list is an error, and not an empty one.
func rowsAt(ctx context.Context, s *pveapi.Session, path string) ([]model.Value, error) {
	answer, err := s.Get(ctx, path)
	if err != nil {
		return nil, err
	}
	if answer.Kind() != model.List {
		return nil, &httpclient.Unexpected{Reason: "the answer is not a list"}
	}
	return answer.Items(), nil
}

func position(row model.Value) int {
	n, err := strconv.Atoi(row.At("pos").Text())
	if err != nil {
		return 0
	}
	return n
}

// listValue returns a list with some rows in the form of the collector.
func (a *Actuator) listValue(l *list, rows []model.Value) model.Value {
	return a.normalizer.Object(l.kind, l.object.With(l.field, model.ListOf(rows...)))
}

// isSame reports whether two lists of rows mean the same.
func (a *Actuator) isSame(l *list, x, y []model.Value) bool {
	return diff.Equal(a.kinds[l.kind].Schema, a.listValue(l, x), a.listValue(l, y))
}

// maxWords bounds the description of a row, in characters: it has texts that anyone who can edit the list chose.
const maxWords = 160

// words describes a row.
func words(row model.Value) string {
	var parts []string
	for _, name := range []string{"type", "action", "macro", "cidr"} {
		if text := row.At(name).Text(); text != "" {
			parts = append(parts, text)
		}
	}
	for _, f := range row.Fields() {
		switch f.Name {
		case "type", "action", "macro", "cidr", "comment", "enable":
		case "nomatch":
			if pveapi.Truth(f.Value) {
				parts = append(parts, "nomatch")
			}
		default:
			parts = append(parts, f.Name+" "+f.Value.Text())
		}
	}
	if comment := row.At("comment").Text(); comment != "" {
		parts = append(parts, "("+comment+")")
	}
	return printable.Line(strings.Join(parts, " "), maxWords)
}
