package openstack

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/openstackapi"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

// Config configures an openstack source.
type Config struct {
	// CloudsFile is a clouds.yaml, in the format of the openstack command. A secure.yaml in the
	// same folder is read with it. It is required; the environment variables OS_* are ignored.
	CloudsFile string `mapstructure:"clouds_file" path:"true"`
	// Cloud is the entry of clouds_file to use. It is required.
	Cloud string `mapstructure:"cloud"`
	// Region is the region to read; by default the region of the entry in clouds_file.
	Region string `mapstructure:"region"`
	// Project is the name or ID of the project of the entry; "" for that of the last scan. A token of another one ends the scan.
	Project string `mapstructure:"project"`
	// AllProjects reads every project, which requires the role admin. Otherwise only the project in
	// the entry of clouds_file is read.
	AllProjects bool `mapstructure:"all_projects"`
	// SameUser confirms that declarations are applied as the user of the entry, since a user sees
	// only its own keypairs.
	SameUser bool `mapstructure:"same_user"`
	// Concurrency is the maximum number of concurrent requests.
	Concurrency int `mapstructure:"concurrency"`
	// Rate is the maximum number of requests per second; 0 for no limit.
	Rate float64 `mapstructure:"rate"`
	// Timeout is the time limit of a request, including its response.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxBody is the size limit of a response, in bytes.
	MaxBody int64 `mapstructure:"max_body"`
	// PageSize is the number of objects per request; most services return 1000 at most.
	PageSize int `mapstructure:"page_size"`
	// ExcludeKinds are patterns of kinds that are not read ("server_group").
	ExcludeKinds []string `mapstructure:"exclude_kinds"`
	// Actions is the maximum number of servers whose actions, with the user of each, one scan
	// reads. The servers that changed last come first. 0 reads none.
	Actions int `mapstructure:"actions"`
	// Notifications configures the message bus of the services. Notifications name the user of
	// changes that the APIs of the services do not record.
	Notifications Notifications `mapstructure:"notifications"`
}

// Notifications configures the message bus of the services.
type Notifications struct {
	// URLFile is the file with the address of the message bus with user and password, such as
	// amqps://driftd:PASSWORD@rabbit.example.org/. Without it, no bus is read.
	URLFile string `mapstructure:"url_file" path:"true"`
	// CAFile is a file with the certificate authorities to trust for the bus instead of those of
	// the system. Without it, those of the system are trusted.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// Cleartext allows sending the password over the network to a bus without TLS (amqp://).
	Cleartext bool `mapstructure:"cleartext"`
	// Queue is driftd's own queue on the bus, which no other source and no other driftd must use.
	// Its default is driftd- and the source's name.
	Queue string `mapstructure:"queue"`
	// Exchanges are the exchanges of the services' notifications: their control_exchange.
	Exchanges []string `mapstructure:"exchanges"`
	// Topic is the topic of the services' notifications.
	Topic string `mapstructure:"topic"`
	// Keep is how long the events in notifications are kept.
	Keep time.Duration `mapstructure:"keep"`
}

// Defaults returns the default settings.
func Defaults() Config {
	return Config{
		Concurrency: 4,
		Timeout:     time.Minute,
		MaxBody:     64 << 20,
		PageSize:    1000,
		Actions:     20,
		Notifications: Notifications{
			Exchanges: []string{"neutron", "nova", "glance", "cinder"},
			Topic:     "notifications",
			Keep:      90 * 24 * time.Hour,
		},
	}
}

// check returns an error for invalid settings.
func (c Config) check() error {
	return errors.Join(c.Access().Check(), c.checkLimits(), c.checkKinds(), c.Notifications.check())
}

// Access returns the settings of the connection.
func (c Config) Access() openstackapi.Access {
	return openstackapi.Access{Entry: openstackapi.Entry{CloudsFile: c.CloudsFile, Cloud: c.Cloud}, Region: c.Region}
}

func (c Config) checkLimits() error {
	if err := c.limits(0).Check(); err != nil {
		return err
	}
	if c.PageSize < 2 {
		return errors.New("setting page_size must be more than 1: a page may begin with the last object of the one before")
	}
	if c.Rate < 0 || c.Actions < 0 {
		return errors.New("settings rate and actions must not be below 0; 0 switches them off")
	}
	return nil
}

func (c Config) checkKinds() error {
	return collectors.CheckPatterns(c.ExcludeKinds, "server_group or security_group*")
}

func (n Notifications) check() error {
	switch {
	case n.URLFile == "":
		return nil
	case n.Topic == "" || len(n.Exchanges) == 0:
		return errors.New("settings notifications.topic and notifications.exchanges must not be empty")
	case strings.HasPrefix(n.Queue, n.Topic+".") || strings.HasPrefix(n.Queue, "versioned_notifications."):
		// oslo.messaging creates a queue for each topic and priority.
		return fmt.Errorf("setting notifications.queue must not be %s, which other services read: driftd would take their messages", n.Queue)
	case n.Keep <= 0:
		return errors.New("setting notifications.keep must be more than 0")
	}
	return nil
}

// queue returns the name of the source's queue. Two sources with one queue would each miss
// messages.
func (n Notifications) queue(source string) string { return cmp.Or(n.Queue, "driftd-"+source) }

// excludes reports whether a kind is excluded.
func (c Config) excludes(k *normalize.Kind) bool { return collectors.Excludes(c.ExcludeKinds, k.Name) }

// limits returns the limits of the requests; backoff is the pause before the second attempt.
func (c Config) limits(backoff time.Duration) httpclient.Limits {
	return httpclient.Limits{Concurrency: c.Concurrency, Rate: c.Rate, Timeout: c.Timeout, MaxBody: c.MaxBody, Backoff: backoff}
}
