package kubernetes

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// A reader reads resources from the API server.
type reader struct {
	*client
	config Config
	source string
	sealer model.Sealer
	now    func() time.Time
	// releases reads the records of Helm.
	releases *releaseReader
}

// object decodes one object of a kind. It adds the fields apiVersion and kind, which are missing
// from the items in lists of built-in kinds.
func (r *reader) object(a api, raw jsontext.Value) (model.Resource, error) {
	tree, err := decode.JSON(raw)
	if err != nil {
		return model.Resource{}, err
	}
	tree = withKind(tree, a.apiVersion(), a.object)
	resource, err := kube.NewResource(r.source, tree, r.sealer)
	if err != nil {
		return model.Resource{}, err
	}
	if resource.Kind != a.kind {
		return model.Resource{}, fmt.Errorf("its kind is %s", printable.Text(resource.Kind))
	}
	resource.Record = r.releases.read(tree, r.sealer)
	return resource, nil
}

// withKind returns the object with the given apiVersion and kind if it has no kind.
func withKind(tree model.Value, apiVersion, kind string) model.Value {
	if _, ok := tree.Get("kind"); ok || tree.Kind() != model.Map {
		return tree
	}
	return tree.With("apiVersion", model.StringOf(apiVersion)).With("kind", model.StringOf(kind))
}

// A label is the part of the metadata that is read from undecodable objects and events.
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

// String returns the ID of the object for messages.
func (l label) String() string {
	if l.Metadata.Name == "" {
		return "an object without a name"
	}
	return printable.Text(l.id())
}

// An unreadable is an object that cannot be decoded, with the error.
type unreadable struct {
	label
	err error
}

// fault returns why an object cannot be decoded, on one line.
func (u unreadable) fault() string {
	var syntax *decode.SyntaxError
	if errors.As(u.err, &syntax) {
		return fmt.Sprintf("%s: %s", u.label, printable.Text(syntax.Err.Error()))
	}
	return fmt.Sprintf("%s: %s", u.label, printable.Text(u.err.Error()))
}
