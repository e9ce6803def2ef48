// Package lamps is the worked example of docs/writing-a-collector.md: it reads
// a lamp controller over HTTP. The page shows this very code.
package lamps

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// Type is the collector's type in the configuration, and the first part of its
// kinds' names.
const Type = "lamps"

// lamp is the one kind that there is.
const lamp = Type + "/lamp"

// Config is the settings of a lamps source.
type Config struct {
	// URL is the address of the controller. It must be given.
	URL string `mapstructure:"url"`
	// TokenFile holds the token. It must be given.
	TokenFile string `mapstructure:"token_file" path:"true"`
	// Timeout bounds each request with its answer.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxBody bounds each answer, in bytes.
	MaxBody int64 `mapstructure:"max_body"`
}

// Definition returns the collector of type "lamps".
func Definition() collectors.Definition {
	return collectors.Define(Type, Config{Timeout: 30 * time.Second, MaxBody: 16 << 20}, open)
}

func open(env collectors.Env, config Config) (collectors.Collector, error) {
	switch {
	case !strings.HasPrefix(config.URL, "https://") && !strings.HasPrefix(config.URL, "http://127.0.0.1:"):
		return nil, errors.New("setting url is no address: want one such as https://lamps.example.org")
	case config.TokenFile == "":
		return nil, errors.New("setting token_file is missing: set the file that holds the token")
	case config.Timeout <= 0 || config.MaxBody <= 0:
		return nil, errors.New("settings timeout and max_body must be more than 0")
	}
	limits := httpclient.Limits{Concurrency: 1, Timeout: config.Timeout, MaxBody: config.MaxBody, Backoff: 100 * time.Millisecond}
	client := httpclient.New(httpclient.NewBase(nil, limits), limits, httpclient.API{})
	return &house{env: env, config: config, client: client, now: time.Now}, nil
}

// A house is all lamps of one controller. It is safe for concurrent use.
type house struct {
	env    collectors.Env
	config Config
	client *httpclient.Client
	now    func() time.Time
}

// Collect reads the list of lamps, which the controller gives in one answer.
func (h *house) Collect(ctx context.Context) (model.Snapshot, error) {
	taken := h.now()
	answer, err := h.get(ctx, "/api/lamps")
	if err != nil {
		return model.Snapshot{}, &httpclient.Error{Server: h.config.URL, Err: err, Hint: "see that url and token_file are right"}
	}
	whole := model.Coverage{Source: h.env.Name, Kind: lamp, Complete: true}
	items := answer.At("lamps").Items()
	if count := answer.At("count").Text(); count != strconv.Itoa(len(items)) {
		whole.Complete = false
		whole.Reason = fmt.Sprintf("the controller speaks of %q lamps and shows %d: give the token the right to see all", count, len(items))
	}
	resources := make([]model.Resource, 0, len(items))
	for _, item := range items {
		resources = append(resources, h.resource(item))
	}
	slices.SortFunc(resources, func(a, b model.Resource) int { return a.Key.Compare(b.Key) })
	return model.Snapshot{Source: h.env.Name, Taken: taken, Resources: resources,
		Coverage: []model.Coverage{whole}, Kinds: kinds()}, nil
}

// resource keeps what somebody may declare of a lamp: not whether it is warm,
// which changes by itself, and of its PIN no more than that it changes.
func (h *house) resource(item model.Value) model.Resource {
	id, name := item.At("id").Str(), item.At("name").Str()
	value := item.Without("id", "temperature")
	if pin, ok := value.Get("pin"); ok {
		value = value.With("pin", h.env.Sealer.SealTree(pin))
	}
	return model.Resource{
		Key:        model.Key{Source: h.env.Name, Kind: lamp, ID: id},
		Name:       name,
		Value:      value,
		Identities: []model.Identity{{By: "name", Value: strings.ToLower(name)}},
	}
}

// kinds says how lamps are compared: their rooms are a set, and what is on is
// worth a look.
func kinds() map[string]*model.Kind {
	return map[string]*model.Kind{lamp: {
		Name:   lamp,
		Schema: &model.Schema{Fields: map[string]*model.Schema{"rooms": {List: model.Set}}},
		Severities: []model.SeverityRule{
			{Path: "on", Severity: model.High, Reason: "somebody may be in the dark"},
			{Severity: model.Low},
		},
	}}
}

// get reads one page. The client tries again where that helps, and bounds the answer.
func (h *house) get(ctx context.Context, path string) (model.Value, error) {
	token, err := credential.Read(h.config.TokenFile)
	if err != nil {
		return model.Value{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.config.URL+path, http.NoBody)
	if err != nil {
		return model.Value{}, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, _, err := h.client.JSON(r)
	return answer, err
}
