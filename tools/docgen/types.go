package main

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	collect "github.com/driftd/driftd/internal/collectors/all"
	"github.com/driftd/driftd/internal/declared"
	declare "github.com/driftd/driftd/internal/declared/all"
	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/netboxapi"
	"github.com/driftd/driftd/internal/notify"
	tell "github.com/driftd/driftd/internal/notify/all"
	"github.com/driftd/driftd/internal/openstackapi"
	"github.com/driftd/driftd/internal/pveapi"
)

// typed is a type of source, declaration or receiver, with its default settings and the page about
// it.
type typed struct {
	name, page string
	settings   reflect.Value
}

// pages returns the pages of sections, and of types whose page has another name.
func pages() map[string]string {
	return map[string]string{
		"server":                   "access.md",
		"people":                   "access.md",
		"retention":                "operations.md",
		"ignore":                   "acceptance.md",
		"severity":                 "report.md",
		"owners":                   "notifications.md",
		"notify":                   "notifications.md",
		"triggers":                 "triggers.md",
		"audit":                    "audit.md",
		"reconcile":                "reconcile.md",
		"kubernetes":               "kubernetes.md",
		"declarations/acceptances": "acceptance.md",
		"declarations/flux":        "flux.md",
		"declarations/helm":        "helm.md",
		"declarations/manifests":   "kubernetes.md",
		"declarations/netbox":      "netbox-intent.md",
	}
}

// settings returns the types by the list that they are used in.
func settings() (map[string][]typed, error) {
	types := map[string][]typed{}
	var errs []error
	add := func(key, name string, open func(decode func(any) error) error) {
		page, ok := pages()[key+"/"+name]
		if !ok {
			page = name + ".md"
		}
		found, err := capture(open)
		if err != nil {
			errs = append(errs, fmt.Errorf("read the settings of %s of type %s: %w", key, name, err))
			return
		}
		types[key] = append(types[key], typed{name, page, found})
	}
	log := slog.New(slog.DiscardHandler)
	for _, d := range collect.Definitions() {
		add("sources", d.Type, func(decode func(any) error) error {
			_, err := d.Open(collectors.Env{Sealer: model.NewSealer([]byte("docgen")), Log: log}, decode)
			return err
		})
	}
	for _, d := range declare.Definitions() {
		add("declarations", d.Type, func(decode func(any) error) (err error) {
			if d.Derive != nil {
				_, err = d.Derive(declared.Env{Log: log}, decode)
				return err
			}
			_, err = d.Open(declared.Env{Log: log}, decode)
			return err
		})
	}
	for _, d := range tell.Definitions() {
		add("notify.receivers", d.Type, func(decode func(any) error) error {
			_, err := d.Open(notify.Env{Now: time.Now, Log: log}, decode)
			return err
		})
	}
	types["reconcile.writers"] = []typed{{"kubernetes", "reconcile.md", reflect.ValueOf(kubeapi.Access{})},
		{"proxmox", "reconcile.md", reflect.ValueOf(pveapi.Account{})}, {"terraform", "reconcile.md", reflect.ValueOf(terraform.Writing{})},
		{"openstack", "reconcile.md", reflect.ValueOf(openstackapi.Entry{})}, {"netbox", "reconcile.md", reflect.ValueOf(netboxapi.Token{})}}
	return types, errors.Join(errs...)
}

var errCaptured = errors.New("captured")

// capture returns the settings that a definition decodes into.
func capture(open func(decode func(any) error) error) (reflect.Value, error) {
	var found reflect.Value
	err := open(func(into any) error {
		found = reflect.ValueOf(into).Elem()
		return errCaptured
	})
	if !errors.Is(err, errCaptured) {
		return found, fmt.Errorf("it decodes no settings: %w", err)
	}
	return found, nil
}
