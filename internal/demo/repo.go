package demo

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/demo/cluster"
)

// manifests are the Kubernetes manifests of the shop.
//
//go:embed manifests/*.yaml
var manifests embed.FS

// A person is the author of commits.
type person struct{ name, email string }

// A repository is the git repository with the shop's manifests.
type repository struct {
	dir string
	git *git.Repository
}

// inRepository is the folder of the manifests in the repository.
const inRepository = "clusters/prod"

// A revision is a past commit that replaced a text in a file.
type revision struct {
	by      person
	message string
	// ago is the age of the commit. It was applied soon after.
	ago            time.Duration
	file, from, to string
}

func lena() person { return person{"Lena Vogt", "lena@example.org"} }

// revisions returns the commits after the first, the oldest first.
func revisions() []revision {
	return []revision{
		{person{"Omar Haddad", "omar@example.org"}, "checkout 2.3.0: pay by instalments", 12 * 24 * time.Hour, "checkout.yaml", "checkout:2.2.1", "checkout:2.3.0"},
		{person{"Nina Berg", "nina@example.org"}, "web 1.4.2: mend the search box", 5 * 24 * time.Hour, "web.yaml", "web:1.4.1", "web:1.4.2"},
	}
}

// past returns the manifests before all revisions, by file.
func past() (map[string]string, error) {
	files := map[string]string{}
	entries, err := fs.ReadDir(manifests, "manifests")
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	for _, e := range entries {
		text, err := fs.ReadFile(manifests, "manifests/"+e.Name())
		if err != nil {
			return nil, fmt.Errorf("read manifests: %w", err)
		}
		files[e.Name()] = string(text)
	}
	for _, r := range slices.Backward(revisions()) {
		files[r.file] = strings.Replace(files[r.file], r.to, r.from, 1)
	}
	return files, nil
}

// newRepository creates a repository without commits.
func newRepository(dir string) (*repository, error) {
	r, err := git.PlainInitWithOptions(dir, &git.PlainInitOptions{InitOptions: git.InitOptions{DefaultBranch: plumbing.Main}})
	if err != nil {
		return nil, fmt.Errorf("create git repository: %w", err)
	}
	return &repository{dir, r}, nil
}

// commit writes files and commits them.
func (r *repository) commit(files map[string]string, by person, message string, at time.Time) error {
	work, err := r.git.Worktree()
	if err != nil {
		return fmt.Errorf("open working tree: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(r.dir, inRepository), 0o700); err != nil {
		return fmt.Errorf("create folder of manifests: %w", err)
	}
	for name, content := range files {
		path := inRepository + "/" + name
		if err := os.WriteFile(filepath.Join(r.dir, filepath.FromSlash(path)), []byte(content), 0o600); err != nil {
			return fmt.Errorf("write manifest: %w", err)
		}
		if _, err := work.Add(path); err != nil {
			return fmt.Errorf("add %s: %w", path, err)
		}
	}
	who := &object.Signature{Name: by.name, Email: by.email, When: at}
	if _, err := work.Commit(message, &git.CommitOptions{Author: who, Committer: who}); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// replace replaces a text in a file and commits the change.
func (r *repository) replace(file, from, to string, by person, message string, at time.Time) error {
	text, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(inRepository), file))
	if err != nil {
		return fmt.Errorf("read manifest: %w", err)
	}
	return r.commit(map[string]string{file: strings.Replace(string(text), from, to, 1)}, by, message, at)
}

// objects returns the objects of a manifest file.
func objects(text string) ([]cluster.Object, error) {
	documents, err := decode.YAML(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	list := make([]cluster.Object, len(documents))
	for i, d := range documents {
		decoder := json.NewDecoder(bytes.NewReader(d.Value.AppendJSON(nil)))
		if err := decoder.Decode(&list[i]); err != nil {
			return nil, fmt.Errorf("read manifests: %w", err)
		}
	}
	return list, nil
}

// deliver applies the objects of a file.
func deliver(c *cluster.Cluster, text string, at time.Time) error {
	list, err := objects(text)
	for _, o := range list {
		if err == nil {
			err = c.Apply(o, pipeline(), at)
		}
	}
	return err
}

// pipeline returns the writer that applies manifests.
func pipeline() cluster.Writer {
	return cluster.Writer{User: "system:serviceaccount:ci:deploy", Agent: "kubectl", Manager: "kubectl-client-side-apply"}
}

// kubectl returns a user that edits objects by hand.
func kubectl(user string) cluster.Writer {
	return cluster.Writer{User: user, Agent: "kubectl", Manager: "kubectl-edit"}
}

// createHistory commits and applies the revisions, and makes one manual edit.
func createHistory(r *repository, c *cluster.Cluster, now time.Time) error {
	files, err := past()
	if err != nil {
		return err
	}
	begin := now.Add(-60 * 24 * time.Hour)
	if err := r.commit(files, lena(), "The shop, as it was", begin); err != nil {
		return err
	}
	const soon = 5 * time.Minute
	for _, name := range sortedNames(files) {
		if err := deliver(c, files[name], begin.Add(soon)); err != nil {
			return err
		}
	}
	for _, v := range revisions() {
		at := now.Add(-v.ago)
		if err := r.replace(v.file, v.from, v.to, v.by, v.message, at); err != nil {
			return err
		}
		files[v.file] = strings.Replace(files[v.file], v.from, v.to, 1)
		if err := deliver(c, files[v.file], at.Add(soon)); err != nil {
			return err
		}
	}
	return c.Edit(deployment("web"), kubectl("anna@example.org"), now.Add(-9*time.Hour), setImage("registry.example.org/shop/web:1.4.3-hotfix"))
}

func deployment(name string) cluster.Ref {
	return cluster.Ref{Kind: "Deployment", Namespace: "shop", Name: name}
}

// setImage sets the image of a workload's first container.
func setImage(image string) func(cluster.Object) {
	return func(o cluster.Object) {
		spec, _ := o["spec"].(map[string]any)
		template, _ := spec["template"].(map[string]any)
		pod, _ := template["spec"].(map[string]any)
		containers, _ := pod["containers"].([]any)
		if len(containers) == 0 {
			return
		}
		if first, ok := containers[0].(map[string]any); ok {
			first["image"] = image
		}
	}
}

// find returns the manifest of an object.
func (r *repository) find(ref cluster.Ref) (cluster.Object, error) {
	folder := filepath.Join(r.dir, filepath.FromSlash(inRepository))
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read manifests: %w", err)
		}
		list, err := objects(string(text))
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			if found, err := cluster.RefOf(o); err == nil && found == ref {
				return o, nil
			}
		}
	}
	return nil, fmt.Errorf("%s %s/%s is not declared", ref.Kind, ref.Namespace, ref.Name)
}
