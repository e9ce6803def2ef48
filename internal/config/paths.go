package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/driftd/driftd/internal/credential"
)

// resolve makes the paths absolute in every field of v with the tag `path:"true"`.
func (d *document) resolve(path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for name, field := range fieldsOf(v.Type()) {
			below := v.FieldByIndex(field.Index)
			if field.Tag.Get("path") == "true" {
				d.resolvePath(child(path, name), below)
				if field.Tag.Get("glob") != "true" {
					d.checkNoPattern(child(path, name), below)
				}
			} else if field.Type != reflect.TypeFor[Settings]() {
				d.resolve(child(path, name), below)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			d.resolve(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			d.resolve(path, v.Elem())
		}
	}
}

func (d *document) resolvePath(path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		resolved, err := absolute(v.String(), d.dir)
		if err != nil {
			d.add(path, "%v", err)
		}
		v.SetString(resolved)
	case reflect.Slice:
		for i := range v.Len() {
			d.resolvePath(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	}
}

// checkNoPattern adds a problem for each path that looks like a pattern and does not exist,
// if the setting takes no patterns.
func (d *document) checkNoPattern(path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if file := v.String(); strings.ContainsAny(file, "*?[") && !strings.Contains(file, "://") {
			if _, err := os.Lstat(file); err != nil {
				d.add(path, "%s does not support patterns, and no file or folder has this exact name: name one", path[strings.LastIndex(path, ".")+1:])
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			d.checkNoPattern(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	}
}

// absolute returns the absolute path of a file. A relative path is relative to dir, or to the
// working folder if dir is "". "~/" is the user's home. A bare name is first looked up among
// the service's credentials, then among those that the service would get. An empty path and a
// URL are returned unchanged.
func absolute(file, dir string) (string, error) {
	if found, ok := credential.Find(file); ok {
		return found, nil
	}
	below, home := strings.CutPrefix(file, "~/")
	if found, ok := credential.Fallback(file, dir); ok {
		return filepath.Abs(found)
	}
	switch {
	case file == "" || strings.Contains(file, "://"):
		return file, nil
	case filepath.IsAbs(file):
		return filepath.Clean(file), nil
	case !home:
		return filepath.Abs(filepath.Join(dir, file))
	}
	folder, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("~/ cannot be expanded, because HOME is not set: write the whole path")
	}
	return filepath.Join(folder, below), nil
}
