package manifests

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// fluxArtifact is the kind of sources that an ArtifactGenerator makes.
const fluxArtifact = "ExternalArtifact" + fluxSourceGroup

// A sourceFolder is the folder of a source of Flux that contains what a Kustomization refers to.
type sourceFolder struct {
	// id is the ID of the source, and folder the path in it; "." is all of it.
	id, folder string
	// copied are the folders of which the copy has all files; nil if nothing is copied.
	copied []string
}

// addArtifacts adds the artifacts of an ArtifactGenerator to the inputs, each with the generator.
func (r *fluxReader) addArtifacts(generator object) {
	place := cmp.Or(generator.value.At("metadata", "namespace").Str(), "default")
	for _, artifact := range generator.value.At("spec", "artifacts").Items() {
		id := fluxArtifact + " " + place + "/" + artifact.At("name").Str()
		if r.inputs[id].value.IsNull() {
			r.inputs[id] = generator
		}
	}
}

// sourceFolder returns where the files of a Kustomization's source are, or the reason why that is unknown.
// An artifact is followed if all of its copies have the files at the same paths below one folder of one source.
// https://fluxcd.io/flux/components/source/artifactgenerators/
func (r *fluxReader) sourceFolder(kustomization object) (at sourceFolder, reason string) {
	id := sourceID(kustomization.value)
	name, isArtifact := strings.CutPrefix(id, fluxArtifact+" ")
	if !isArtifact {
		return sourceFolder{id: id, folder: "."}, ""
	}
	generator, found := r.input(id)
	switch {
	case !found:
		return at, fmt.Sprintf("its source is ExternalArtifact %s, and no ArtifactGenerator in git makes it", name)
	case !generator.isCertain("spec"):
		return at, fmt.Sprintf("the ArtifactGenerator of its source is left to %s", generator.chance)
	}
	at, reason = copiedFolder(generator.value, path.Base(name))
	if reason != "" {
		reason = fmt.Sprintf("its source ExternalArtifact %s %s", name, reason)
	}
	return at, reason
}

// copiedFolder returns the folder of a source that contains the files of an artifact.
func copiedFolder(generator model.Value, artifact string) (at sourceFolder, reason string) {
	spec, sources := generator.At("spec"), map[string]string{}
	for _, s := range spec.At("sources").Items() {
		sources[s.At("alias").Str()] = artifactSourceID(generator, s)
	}
	var copies []model.Value
	for _, a := range spec.At("artifacts").Items() {
		if a.At("name").Str() == artifact {
			copies = append(copies, a.At("copy").Items()...)
		}
	}
	for i, c := range copies {
		one, ok := copied(c, sources)
		switch {
		case !ok:
			return at, fmt.Sprintf("is made by copy[%d], and driftd follows only copies of whole folders: @alias/folder/** to @artifact/folder/", i)
		case i > 0 && (one.id != at.id || one.folder != at.folder):
			return at, "has files at other paths than their source"
		}
		at.id, at.folder, at.copied = one.id, one.folder, append(at.copied, one.copied...)
	}
	if len(copies) == 0 {
		return at, "has no files"
	}
	return at, ""
}

// artifactSourceID returns the ID of a source of an ArtifactGenerator.
func artifactSourceID(generator, source model.Value) string {
	place := cmp.Or(source.At("namespace").Str(), generator.At("metadata", "namespace").Str(), "default")
	return source.At("kind").Str() + fluxSourceGroup + " " + place + "/" + source.At("name").Str()
}

// copied returns the folder that contains the files of one copy of a whole folder.
func copied(c model.Value, sources map[string]string) (at sourceFolder, ok bool) {
	alias, from, _ := strings.Cut(c.At("from").Str(), "/")
	from, whole := strings.CutSuffix(from, "**")
	to, inside := strings.CutPrefix(c.At("to").Str(), "@artifact")
	at.id = sources[strings.TrimPrefix(alias, "@")]
	strategy := cmp.Or(c.At("strategy").Str(), "Overwrite")
	if at.id == "" || !whole || from != "" && !strings.HasSuffix(from, "/") || !inside || strings.ContainsAny(from+to, "*?[{\\") || strings.Contains(from+to, "..") ||
		strategy != "Overwrite" || !c.At("exclude").IsEmpty() {
		return at, false
	}
	from, to = folderOf(from), folderOf(to)
	at.copied = []string{from}
	switch {
	case to == ".":
		at.folder = from
	case from == to:
		at.folder = "."
	default:
		at.folder, ok = strings.CutSuffix(from, "/"+to)
		return at, ok
	}
	return at, true
}

// has reports whether a copy has all files of a folder of the source.
func (at *sourceFolder) has(folder string) bool {
	return at.copied == nil || slices.ContainsFunc(at.copied, func(dir string) bool { return liesIn(folder+"/.", dir) })
}
