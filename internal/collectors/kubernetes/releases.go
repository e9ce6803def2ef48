package kubernetes

import (
	"sync"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// maxReleases bounds the memory of the records that are kept for the next scan, in bytes.
const maxReleases = 128 << 20

// A releaseReader reads the records of Helm releases one after another, because reading one can
// take a hundred times its size. It keeps those of the last scan, so that unchanged records are not
// unpacked again. The zero value is ready for use.
type releaseReader struct {
	turn sync.Mutex
	// known are the records that were read in this scan, and before those in the last one. weight
	// is the memory of known.
	known, before map[releaseVersion]*model.Installation
	weight        int64
}

// A releaseVersion is the UID and the resource version of a Secret, which change with its content.
type releaseVersion struct{ uid, version string }

// begin begins a scan. end drops the records that are not in it.
func (r *releaseReader) begin() (end func()) {
	r.turn.Lock()
	defer r.turn.Unlock()
	r.known, r.before, r.weight = map[releaseVersion]*model.Installation{}, r.known, 0
	return func() {
		r.turn.Lock()
		defer r.turn.Unlock()
		r.before = nil
	}
}

// read returns the record in a Secret, or nil if there is none.
func (r *releaseReader) read(secret model.Value, sealer model.Sealer) *model.Installation {
	if secret.At("type").Str() != kube.ReleaseType {
		return nil
	}
	metadata := secret.At("metadata")
	version := releaseVersion{metadata.At("uid").Str(), metadata.At("resourceVersion").Str()}
	r.turn.Lock()
	defer r.turn.Unlock()
	record, ok := r.known[version]
	if !ok {
		record, ok = r.before[version]
	}
	if !ok || version.uid == "" || version.version == "" {
		record = kube.ReadRelease(secret, sealer)
	}
	r.keep(version, record)
	return record
}

// keep keeps a record for the next scan.
func (r *releaseReader) keep(version releaseVersion, record *model.Installation) {
	const entry = 200
	if _, ok := r.known[version]; ok || r.known == nil {
		return
	}
	if weight := entry + record.Weight(); r.weight+weight <= maxReleases {
		r.known[version], r.weight = record, r.weight+weight
	}
}
