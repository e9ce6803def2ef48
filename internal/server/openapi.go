package server

import (
	_ "embed"
	"net/http"
)

// openAPI is the OpenAPI document of the API.
//
//go:embed openapi.yaml
var openAPI []byte

// document serves the OpenAPI document.
func (a API) document(w http.ResponseWriter, r *http.Request) {
	if _, err := a.params(r); err != nil {
		a.reply(w, r, nil, err)
		return
	}
	a.writeBody(w, r, http.StatusOK, "application/yaml", openAPI)
}
