package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// ManifestFile is the name of the file with the manifest. All other files have answers.
const ManifestFile = "manifest.json"

// format is the version of the format of recordings.
const format = 1

// A Manifest describes a recording.
type Manifest struct {
	Format int `json:"format"`
	// Type is the type of the source, and Driftd the version that recorded it.
	Type   string `json:"type"`
	Driftd string `json:"driftd"`
	// Taken is when it was recorded, shifted as all times are.
	Taken time.Time `json:"taken"`
	// Regions are the regions that were read, and Services the services.
	Regions  []string `json:"regions"`
	Services []string `json:"services"`
	Answers  int      `json:"answers"`
	// Foreign is the number of answers whose body is left out, because it is no document of the
	// API. Lost is the number of requests without a complete answer, which are not recorded.
	Foreign int `json:"foreign"`
	Lost    int `json:"lost"`
	// Resources are the numbers of resources by kind, and Unread that of the scopes that could
	// not be read.
	Resources map[string]int `json:"resources"`
	Unread    int            `json:"unread"`
	// LeftOut are the kinds that the settings leave out.
	LeftOut []string `json:"left_out"`
	// Replaced are the numbers of different texts that were replaced, by kind.
	Replaced map[string]int `json:"replaced"`
}

// fileOf returns the name of the file with the answer to a request.
func fileOf(r *Request) string { return r.Service + "." + r.Region + ".json" }

// CheckNew returns an error unless a folder does not exist, or is empty.
func CheckNew(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s exists and is no folder: name a new one", dir)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty: name a new folder", dir)
	}
	return nil
}

// Ambiguous returns texts that were kept as words of the API, and are also names of something in
// the system.
func (r *Recorder) Ambiguous() []string {
	s := r.scrubber
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for word := range s.kept {
		if p := s.pseudonyms[word]; p.kind == kindName || p.kind == kindID || p.kind == kindAccount {
			all = append(all, word)
		}
	}
	slices.Sort(all)
	return all
}

// Write writes the recording to a folder that does not exist, or is empty. The folder appears
// with all of its files, or not at all. Their contents are searched for what was replaced
// before. m has what only the caller has.
func (r *Recorder) Write(dir string, m Manifest) (err error) {
	if err := CheckNew(dir); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.answers) == 0 {
		return errors.New("no request was answered: there is nothing to record")
	}
	m.Format, m.Type, m.Taken = format, r.scrubber.v.Type, m.Taken.Add(r.scrubber.shift).UTC().Truncate(time.Second)
	m.Regions = slices.DeleteFunc(m.Regions, func(place string) bool { return !r.regions[place] })
	m.Services, m.Foreign, m.Lost, m.Replaced = slices.Sorted(maps.Keys(r.services)), r.foreign, r.lost, r.scrubber.replaced()
	for _, answers := range r.answers {
		m.Answers += len(answers)
	}
	files := map[string]any{ManifestFile: m}
	for name, answers := range r.answers {
		files[name] = answers
	}
	contents := make(map[string]string, len(files))
	for name, content := range files {
		if contents[name], err = encode(content); err != nil {
			return err
		}
	}
	// Nothing is written before the search, so that a process that is killed leaves nothing else.
	if err := r.search(contents); err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	unfinished, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".unfinished-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(unfinished))
		}
	}()
	for name, content := range contents {
		if err := writeFile(filepath.Join(unfinished, name), content); err != nil {
			return err
		}
	}
	// An empty folder is replaced.
	if err = os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(unfinished, dir)
}

// search returns an error if a file contains a true text. The manifest has texts of driftd only.
func (r *Recorder) search(contents map[string]string) error {
	f := r.scrubber.newSearch()
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		if name == ManifestFile {
			continue
		}
		if kind := f.find(name + "\n" + contents[name]); kind != "" {
			return &leak{name, kind}
		}
		var answers map[string]Answer
		if err := json.Unmarshal([]byte(contents[name]), &answers); err != nil {
			return err
		}
		for request, answer := range answers {
			if kind := f.find(request + "\n" + answer.Body); kind != "" {
				return &leak{name, kind}
			}
		}
	}
	return nil
}

// encode returns the content of a file.
func encode(content any) (string, error) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(content)
	return text.String(), err
}

// writeFile writes a new file that only its owner can read.
func writeFile(name, content string) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(content)
	return errors.Join(err, file.Sync(), file.Close())
}

// ManifestOf returns the manifest of a recording of what was read. driftd is the version.
func ManifestOf(s *model.Snapshot, driftd string) Manifest {
	m := Manifest{Driftd: driftd, Taken: s.Taken, Resources: map[string]int{}}
	for i := range s.Resources {
		m.Resources[s.Resources[i].Kind]++
	}
	wanted, places, leftOut := set{}, set{}, set{}
	for i := range s.Coverage {
		c := &s.Coverage[i]
		if c.Failed() {
			m.Unread++
		}
		if !c.Skipped {
			wanted[c.Kind] = true
		}
		// Write leaves out the places that are no regions.
		places[c.Place] = true
	}
	for i := range s.Coverage {
		if kind := s.Coverage[i].Kind; !wanted[kind] && !strings.Contains(kind, "/*") {
			leftOut[kind] = true
		}
	}
	m.Regions, m.LeftOut = slices.Sorted(maps.Keys(places)), slices.Sorted(maps.Keys(leftOut))
	return m
}
