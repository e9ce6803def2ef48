package openstack

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/openstack/normalize"
	"github.com/driftd/driftd/internal/httpclient"
)

// Config is the settings of an openstack source.
type Config struct {
	// CloudsFile is a clouds.yaml, as the openstack command reads one. A
	// secure.yaml beside it is read with it. It must be given; the variables OS_*
	// of the environment do not count.
	CloudsFile string `mapstructure:"clouds_file" path:"true"`
	// Cloud is the entry of clouds_file that is read. It must be given.
	Cloud string `mapstructure:"cloud"`
	// Region is the one that is read, where clouds_file names none, or another.
	Region string `mapstructure:"region"`
	// AllProjects reads every project, which needs the role admin. Otherwise the
	// project that the entry of clouds_file names is read, and no other.
	AllProjects bool `mapstructure:"all_projects"`
	// SameUser is the operator's word that declarations are applied as the user
	// that driftd reads as: nobody sees another one's keypairs.
	SameUser bool `mapstructure:"same_user"`
	// Concurrency is how many requests run at once.
	Concurrency int `mapstructure:"concurrency"`
	// Rate limits the requests per second; 0 does not.
	Rate float64 `mapstructure:"rate"`
	// Timeout bounds each request with its answer.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxBody bounds each answer, in bytes.
	MaxBody int64 `mapstructure:"max_body"`
	// PageSize is how many objects are asked for at once; most services give 1000
	// at most.
	PageSize int `mapstructure:"page_size"`
	// ExcludeKinds are patterns of kinds that are not read ("server_group").
	ExcludeKinds []string `mapstructure:"exclude_kinds"`
	// Actions is how many servers, those that changed last, are asked in one look
	// for what was done to them and by whom; 0 asks none.
	Actions int `mapstructure:"actions"`
	// Notifications are what the services tell over their message bus, which says
	// who did what where the services themselves do not.
	Notifications Notifications `mapstructure:"notifications"`
}

// Notifications are the settings of the message bus.
type Notifications struct {
	// URLFile holds the bus's address with its user and password, such as
	// amqps://driftd:PASSWORD@rabbit.example.org/; without it no bus is read.
	URLFile string `mapstructure:"url_file" path:"true"`
	// CAFile holds the authorities to trust instead of the system's, for the bus; without
	// it, the system's count.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// Cleartext lets the password cross the network where the bus has no TLS
	// (amqp://).
	Cleartext bool `mapstructure:"cleartext"`
	// Queue is driftd's own queue there, which no other source and no other driftd
	// may share; without it, driftd- and the source's name.
	Queue string `mapstructure:"queue"`
	// Exchanges are those that the services notify by: their control_exchange.
	Exchanges []string `mapstructure:"exchanges"`
	// Topic is what the services call their notifications.
	Topic string `mapstructure:"topic"`
	// Keep is how long what was told is kept.
	Keep time.Duration `mapstructure:"keep"`
}

// Defaults returns the settings that hold where the configuration is silent.
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

// check tells what is wrong with the settings.
func (c Config) check() error {
	return errors.Join(c.checkCloud(), c.checkLimits(), c.checkKinds(), c.Notifications.check())
}

func (c Config) checkCloud() error {
	switch {
	case c.CloudsFile == "":
		return errors.New("setting clouds_file is missing: set the clouds.yaml that says how to log in; docs/openstack.md says what belongs there")
	case c.Cloud == "":
		return errors.New("setting cloud is missing: set the name of the entry of clouds_file that is to be read")
	}
	return nil
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
		// oslo.messaging makes a queue for each topic and priority.
		return fmt.Errorf("setting notifications.queue must not be %s, which others read: driftd would take their messages", n.Queue)
	case n.Keep <= 0:
		return errors.New("setting notifications.keep must be more than 0")
	}
	return nil
}

// queue returns the queue of a source: two that shared one would each take what
// the other waits for.
func (n Notifications) queue(source string) string { return cmp.Or(n.Queue, "driftd-"+source) }

// excludes tells whether a kind is left out.
func (c Config) excludes(k *normalize.Kind) bool { return collectors.Excludes(c.ExcludeKinds, k.Name) }

// limits returns those of the requests; backoff is the first pause before one is
// sent again.
func (c Config) limits(backoff time.Duration) httpclient.Limits {
	return httpclient.Limits{Concurrency: c.Concurrency, Rate: c.Rate, Timeout: c.Timeout, MaxBody: c.MaxBody, Backoff: backoff}
}
