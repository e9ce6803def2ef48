package diff

import (
	"fmt"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// maxPaths bounds the fields in the reason of an object that differs from a record.
const maxPaths = 5

// judgeInstalled compares an unclaimed resource with the records that list it. It returns the
// first of these installers if the resource is as all of them applied it, or else the reason why
// it is not. A record can be forged, so it must agree with the others.
func judgeInstalled(s *model.Subject, o Options) (by model.Ref, reason string) {
	if s.Live == nil || len(s.InstalledBy) == 0 {
		return model.Ref{}, ""
	}
	o.exempted = nil
	for i := range s.InstalledBy {
		installer := &s.InstalledBy[i]
		if paths := pathsOf(differsFrom(s, installer, o)); len(paths) > 0 {
			return model.Ref{}, fmt.Sprintf("in the record of %s, and differs from it: %s", installer, strings.Join(paths, ", "))
		}
	}
	return s.InstalledBy[0].Ref, ""
}

// differsFrom returns the differences between a resource and the values that an installer applied
// or attempted to apply.
func differsFrom(s *model.Subject, installer *model.Installer, o Options) []difference {
	var found []difference
	for _, applied := range []model.Value{installer.Applied, installer.Attempted} {
		if applied.IsNull() {
			continue
		}
		differences := compareClaim(s, &model.Claim{Kind: s.Key.Kind, ID: s.Key.ID, Value: applied, RecordOnly: true}, nil, o)
		if len(differences) == 0 {
			return nil
		}
		if found == nil {
			found = differences
		}
	}
	return found
}

// pathsOf returns the paths of differences, at most maxPaths of them.
func pathsOf(differences []difference) []string {
	var paths []string
	for i := range differences {
		if i == maxPaths {
			return append(paths, fmt.Sprintf("%d more fields", len(differences)-i))
		}
		paths = append(paths, shortened(differences[i].change.Path))
	}
	return paths
}

// maxPath bounds a field in the reason, in bytes: a forged record may have names of any length.
const maxPath = 200

func shortened(path string) string {
	if len(path) <= maxPath {
		return path
	}
	return strings.ToValidUTF8(path[:maxPath], "") + "…"
}
