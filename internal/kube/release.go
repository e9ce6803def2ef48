package kube

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// Bounds of the record of a release: its size when unpacked, that of its manifests, and that of
// one document in them, in bytes, and the number of its objects. A Secret has at most 1 MiB, of
// which gzip can make a thousand times as much.
const (
	maxRelease          = 16 << 20
	maxReleaseManifests = 4 << 20
	maxReleaseDocument  = 1 << 20
	maxReleaseObjects   = 10_000
	// maxReleaseWeight bounds the memory of the objects.
	maxReleaseWeight = 32 << 20
	// maxReleaseRatio bounds how many times as large as its packed form a record is from
	// freeReleaseSize on: those of charts are unpacked to ten times as much.
	maxReleaseRatio = 100
	freeReleaseSize = 256 << 10
)

// ReleaseType is the type of the Secrets in which Helm records its releases.
const ReleaseType = "helm.sh/release.v1"

// HelmRelease is the Installation.Tool of Helm releases.
const HelmRelease = "Helm release"

// errNoRelease is why a record cannot be read. It does not quote the record, which contains the
// values of the release.
var errNoRelease = errors.New("it is not the record of a release: delete it if Helm does not need it")

// ReadRelease returns the record of a Helm release in a Secret, or nil if the Secret contains no
// relevant one. Helm labels each revision with its status, and only the last revisions are
// relevant. The data of Secrets in the manifest is sealed. If the record cannot be decoded, Unread
// of the result is the reason. https://github.com/helm/helm/blob/main/pkg/storage/driver/util.go
func ReadRelease(secret model.Value, sealer model.Sealer) *model.Installation {
	metadata := secret.At("metadata")
	if secret.At("type").Str() != ReleaseType || KindName(secret.At("apiVersion").Str(), secret.At("kind").Str()) != secretKind {
		return nil
	}
	name, revision, ok := releaseOf(metadata.At("name").Str())
	status := metadata.At("labels", "status").Str()
	if !ok || slices.Contains([]string{"superseded", "uninstalled"}, status) {
		return nil
	}
	r := &model.Installation{Tool: HelmRelease, Place: metadata.At("namespace").Str(), Name: name, Revision: revision, Status: status}
	if err := readRelease(r, secret.At("data", "release").Str(), sealer); err != nil {
		r.Unread = err.Error()
	}
	return r
}

// releaseOf returns the release and the revision of a record by the name of its Secret.
func releaseOf(secret string) (name string, revision int, ok bool) {
	if !releaseName().MatchString(secret) {
		return "", 0, false
	}
	name = strings.TrimPrefix(secret, "sh.helm.release.v1.")
	at := strings.LastIndex(name, ".v")
	revision, err := strconv.Atoi(name[at+2:])
	return name[:at], revision, err == nil
}

// A releaseRecord has the fields of a record that driftd reads.
type releaseRecord struct {
	Name, Namespace string
	Version         int
	Info            struct{ Status string }
	Chart           struct {
		Metadata struct{ Name, Version string }
	}
	Config   json.RawMessage
	Manifest string
	Hooks    []struct{ Manifest string }
}

// readRelease reads the content of a record.
func readRelease(r *model.Installation, data string, sealer model.Sealer) error {
	text, err := UnpackRelease(data)
	if err != nil {
		return err
	}
	var record releaseRecord
	if err := json.Unmarshal(text, &record); err != nil {
		return errNoRelease
	}
	if record.Name != r.Name || record.Version != r.Revision {
		return errors.New("it is the record of another release or revision than its name")
	}
	r.Status = releaseStatus(record.Info.Status)
	if chart := record.Chart.Metadata; isChartName(chart.Name) && isChartName(chart.Version) {
		r.Package = chart.Name + "-" + chart.Version
	}
	r.Settings = model.MapOf()
	if len(record.Config) > 0 && string(record.Config) != "null" {
		if r.Settings, err = decode.JSON(record.Config); err != nil || r.Settings.Kind() != model.Map {
			return errNoRelease
		}
		r.Settings = sealTexts(r.Settings, sealer)
	}
	m := releaseManifests{sealer: sealer, namespace: record.Namespace}
	err = m.add(record.Manifest)
	for i := 0; err == nil && i < len(record.Hooks); i++ {
		err = m.add(record.Hooks[i].Manifest)
	}
	r.SetObjects(m.objects)
	return err
}

// releaseStatus returns the status in a record, or "unknown" for one that Helm does not have: it is
// shown in findings.
func releaseStatus(text string) string {
	switch text {
	case "deployed", "superseded", "failed", "uninstalling", "uninstalled", "pending-install", "pending-upgrade", "pending-rollback":
		return text
	}
	return "unknown"
}

// isChartName reports whether a text has the form of the name or the version of a chart.
func isChartName(text string) bool {
	const chars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_"
	return text != "" && len(text) <= 250 && strings.Trim(text, chars) == ""
}

// UnpackRelease returns the JSON in the record of a Helm release, which is compressed by gzip and
// encoded twice. It returns an error if the record cannot be decoded or is too large. The error
// does not quote the record.
func UnpackRelease(data string) ([]byte, error) {
	outer, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil, errNoRelease
	}
	packed, err := base64.StdEncoding.DecodeString(string(outer))
	if err != nil {
		return nil, errNoRelease
	}
	if !bytes.HasPrefix(packed, []byte{0x1f, 0x8b, 0x08}) {
		return packed, nil // written by Helm before it compressed records
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, errNoRelease
	}
	text, err := io.ReadAll(io.LimitReader(z, maxRelease+1))
	switch {
	case err != nil:
		return nil, errNoRelease
	case len(text) > maxRelease:
		return nil, fmt.Errorf("it is larger than %d MiB", maxRelease>>20)
	case len(text) > freeReleaseSize && len(text) > maxReleaseRatio*len(packed):
		return nil, fmt.Errorf("it is more than %d times as large as its packed form", maxReleaseRatio)
	}
	return text, nil
}

// releaseManifests are the objects in the manifests of a release.
type releaseManifests struct {
	sealer model.Sealer
	// namespace is that of objects without one.
	namespace string
	size      int
	weight    int64
	objects   []model.Installed
}

// add adds the objects of a manifest.
func (m *releaseManifests) add(manifest string) error {
	if m.size += len(manifest); m.size > maxReleaseManifests {
		return fmt.Errorf("its manifests are larger than %d MiB", maxReleaseManifests>>20)
	}
	for manifest != "" {
		var document string
		if document, manifest = CutDocument(manifest); len(document) > maxReleaseDocument {
			return fmt.Errorf("an object of it is larger than %d MiB", maxReleaseDocument>>20)
		}
		read, err := decode.YAML(strings.NewReader(document))
		if err != nil {
			return errors.New("its manifest is not valid YAML")
		}
		for i := range read {
			m.object(read[i].Value)
		}
		if len(m.objects) > maxReleaseObjects {
			return fmt.Errorf("it has more than %d objects", maxReleaseObjects)
		}
		if m.weight > maxReleaseWeight {
			return fmt.Errorf("its objects need more than %d MiB of memory", maxReleaseWeight>>20)
		}
	}
	return nil
}

// CutDocument cuts a YAML stream before its next document marker. If there is none, it returns the
// stream and "".
func CutDocument(stream string) (document, rest string) {
	for at := 0; ; {
		i := strings.Index(stream[at:], "\n---")
		if i < 0 {
			return stream, ""
		}
		at += i + 1
		if next := at + len("---"); next == len(stream) || strings.IndexByte(" \t\r\n", stream[next]) >= 0 {
			return stream[:at], stream[at:]
		}
	}
}

// object adds an object, or the objects of a list, in the form in which Helm applies them.
func (m *releaseManifests) object(v model.Value) {
	if items, ok := v.Get("items"); ok && strings.HasSuffix(v.At("kind").Str(), "List") {
		for _, item := range items.Items() {
			m.object(item)
		}
		return
	}
	object, _ := upgrade(AsHelmApplies(v))
	id, err := identify(object)
	if err != nil {
		return
	}
	if id.namespace == "" {
		id.namespace = m.namespace
	}
	kind := KindName(id.apiVersion, id.kind)
	value := seal(kind, content(kind, plainSecret(kind, object)), m.sealer)
	m.weight += value.Weight()
	m.objects = append(m.objects, model.Installed{Ref: model.Ref{Kind: kind, ID: id.id()}, Value: value})
}

// AsHelmApplies returns the object with the label that Helm sets on all objects except hooks.
func AsHelmApplies(v model.Value) model.Value {
	const managedBy = "app.kubernetes.io/managed-by"
	metadata := v.At("metadata")
	labels := metadata.At("labels")
	if metadata.Kind() != model.Map || labels.At(managedBy).Str() == "" || metadata.At("annotations", "helm.sh/hook").Str() != "" {
		return v
	}
	return v.With("metadata", metadata.With("labels", labels.With(managedBy, model.StringOf("Helm"))))
}
