package kubernetes

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// A reader turns what the API server answers into resources.
type reader struct {
	*client
	config Config
	source string
	sealer model.Sealer
	now    func() time.Time
}

// object decodes one object of a kind. The items of a list of a built-in kind
// do not name their kind: it is filled in.
func (r *reader) object(a api, raw jsontext.Value) (model.Resource, error) {
	tree, err := decode.JSON(raw)
	if err != nil {
		return model.Resource{}, err
	}
	tree = named(tree, a.apiVersion(), a.object)
	resource, err := kube.NewResource(r.source, tree, r.sealer)
	if err != nil {
		return model.Resource{}, err
	}
	if resource.Kind != a.kind {
		return model.Resource{}, fmt.Errorf("it calls itself %s", httpclient.Printable(resource.Kind))
	}
	return resource, nil
}

// named fills in the kind of an object that does not name it.
func named(tree model.Value, apiVersion, kind string) model.Value {
	if _, ok := tree.Get("kind"); ok || tree.Kind() != model.Map {
		return tree
	}
	return tree.With("apiVersion", model.StringOf(apiVersion)).With("kind", model.StringOf(kind))
}

// label is what little is understood of an object that cannot be decoded.
type label struct {
	Metadata struct {
		Name            string `json:"name"`
		Namespace       string `json:"namespace"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
}

func labelOf(raw []byte) label {
	var l label
	if json.Unmarshal(raw, &l) != nil {
		return label{}
	}
	return l
}

// id returns the object's id, as in model.Key.
func (l label) id() string {
	if l.Metadata.Namespace == "" {
		return l.Metadata.Name
	}
	return l.Metadata.Namespace + "/" + l.Metadata.Name
}

// String returns the object's name for people.
func (l label) String() string {
	if l.Metadata.Name == "" {
		return "an object without a name"
	}
	return httpclient.Printable(l.id())
}

// An unreadable is an object that the answer held and that cannot be decoded.
type unreadable struct {
	label
	err error
}

// fault says why an object cannot be decoded, on one line.
func (u unreadable) fault() string {
	var syntax *decode.SyntaxError
	if errors.As(u.err, &syntax) {
		return fmt.Sprintf("%s: %s", u.label, httpclient.Printable(syntax.Err.Error()))
	}
	return fmt.Sprintf("%s: %s", u.label, httpclient.Printable(u.err.Error()))
}
