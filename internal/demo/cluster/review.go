package cluster

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// isReview reports whether a path is that of a review of the user or of the user's rights.
func isReview(path string) bool {
	return strings.HasPrefix(path, "/apis/authentication.k8s.io/v1/self") || strings.HasPrefix(path, "/apis/authorization.k8s.io/v1/self")
}

// verbs returns what a user may do with a resource, in all namespaces.
func verbs(user, group, resource string) []string {
	switch {
	case user == writer && group == "apps" && resource == "deployments":
		return []string{"get", "patch"}
	case user == writer:
		return nil
	}
	return []string{"get", "list", "watch"}
}

// review serves who the user of a request is, and what the user may do.
func (c *Cluster) review(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Spec struct {
			ResourceAttributes struct{ Verb, Group, Resource string }
		}
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxPatch)).Decode(&asked); err != nil {
		refuse(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	user, on := c.userOf(r), asked.Spec.ResourceAttributes
	var status map[string]any
	switch r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:] {
	case "selfsubjectreviews":
		status = map[string]any{"userInfo": map[string]any{"username": user}}
	case "selfsubjectaccessreviews":
		status = map[string]any{"allowed": slices.Contains(verbs(user, on.Group, on.Resource), on.Verb)}
	case "selfsubjectrulesreviews":
		rules := []any{}
		for _, k := range kinds() {
			if can := verbs(user, k.group, k.resource); len(can) > 0 {
				rules = append(rules, map[string]any{"verbs": can, "apiGroups": []string{k.group}, "resources": []string{k.resource}})
			}
		}
		status = map[string]any{"resourceRules": rules, "nonResourceRules": []any{}, "incomplete": false}
	default:
		refuse(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource")
		return
	}
	w.WriteHeader(http.StatusCreated)
	reply(w, map[string]any{"status": status})
}
