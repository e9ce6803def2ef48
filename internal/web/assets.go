package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"
)

//go:embed static templates
var files embed.FS

// assets are the static files, each under a name that contains a digest of its content.
type assets struct {
	// names maps a file's name to its name with the digest, contents that name to the content.
	names    map[string]string
	contents map[string][]byte
}

func readAssets() (*assets, error) {
	entries, err := files.ReadDir("static")
	if err != nil {
		return nil, fmt.Errorf("read assets: %w", err)
	}
	a := &assets{map[string]string{}, map[string][]byte{}}
	for _, entry := range entries {
		content, err := files.ReadFile(path.Join("static", entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("read assets: %w", err)
		}
		sum := sha256.Sum256(content)
		stem, kind, _ := strings.Cut(entry.Name(), ".")
		name := stem + "." + hex.EncodeToString(sum[:6]) + "." + kind
		a.names[entry.Name()], a.contents[name] = name, content
	}
	return a, nil
}

// path returns the URL path of a file.
func (a *assets) path(name string) (string, error) {
	full, ok := a.names[name]
	if !ok {
		return "", fmt.Errorf("no asset is named %s", name)
	}
	return "/static/" + full, nil
}

// static serves a file with an unlimited cache lifetime, because a changed file has another name.
func (s *site) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	content, ok := s.assets.contents[name]
	if !ok {
		http.Error(w, "file not found: reload the page", http.StatusNotFound)
		return
	}
	kinds := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
	h := w.Header()
	h.Set("Content-Type", kinds[path.Ext(name)])
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Etag", `"`+name+`"`)
	if r.Header.Get("If-None-Match") == `"`+name+`"` {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	s.write(w, r, http.StatusOK, content)
}

func parseTemplates(a *assets) (*template.Template, error) {
	t, err := template.New("pages").Funcs(functions(a)).ParseFS(files, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("parse pages: %w", err)
	}
	return t, nil
}
