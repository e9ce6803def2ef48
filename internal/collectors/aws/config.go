package aws

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/aws/normalize"
	"github.com/driftd/driftd/internal/httpclient"
)

// Config is the settings of an aws source. What is empty is what the AWS SDK
// finds: environment, profiles, the instance's role.
type Config struct {
	// Region is the one that is asked first; buckets in others are followed.
	Region string `mapstructure:"region"`
	// Profile is that of the files in the form of ~/.aws.
	Profile string `mapstructure:"profile"`
	// CredentialsFile is in the form of ~/.aws/credentials.
	CredentialsFile string `mapstructure:"credentials_file" path:"true"`
	// ConfigFile is in the form of ~/.aws/config.
	ConfigFile string `mapstructure:"config_file" path:"true"`
	// Endpoint is the URL of a compatible store.
	Endpoint string `mapstructure:"endpoint"`
	// PathStyle puts the bucket into the path instead of the host's name.
	PathStyle bool `mapstructure:"path_style"`
	// CAFile holds the authorities to trust instead of the system's; without it, the
	// system's count.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// Account is the number of the account that the buckets must belong to; ""
	// where that is not checked.
	Account string `mapstructure:"account"`
	// Buckets are the names of those that are read; without any all are.
	Buckets []string `mapstructure:"buckets"`
	// ExcludeKinds are patterns of kinds that are not read
	// ("AWS::S3::Bucket.Accelerate*").
	ExcludeKinds []string `mapstructure:"exclude_kinds"`
	// Concurrency is how many requests run at once.
	Concurrency int `mapstructure:"concurrency"`
	// Rate limits the requests per second; 0 does not.
	Rate float64 `mapstructure:"rate"`
	// Timeout bounds each request with its answer.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxBody bounds each answer, in bytes.
	MaxBody int64 `mapstructure:"max_body"`
}

// Defaults returns the settings that hold where the configuration is silent.
func Defaults() Config {
	return Config{Concurrency: 8, Timeout: 30 * time.Second, MaxBody: 8 << 20}
}

func (c Config) check() error {
	return errors.Join(c.checkEndpoint(), c.checkLimits(), c.checkNames())
}

func (c Config) checkEndpoint() error {
	if c.Endpoint == "" {
		return nil
	}
	u, err := url.Parse(c.Endpoint)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "":
		return errors.New("setting endpoint is no address: want one such as https://s3.example.org")
	case u.User != nil:
		return errors.New("setting endpoint must not hold credentials: use credentials_file")
	}
	return nil
}

func (c Config) checkLimits() error {
	if err := (httpclient.Limits{Concurrency: c.Concurrency, Timeout: c.Timeout, MaxBody: c.MaxBody}).Check(); err != nil {
		return err
	}
	if c.Rate < 0 {
		return errors.New("setting rate must not be below 0; 0 switches it off")
	}
	return nil
}

func (c Config) checkNames() error {
	for _, name := range c.Buckets {
		if name == "" || strings.ContainsAny(name, "/?#*: ") {
			return fmt.Errorf("setting buckets: %q is no name of a bucket", name)
		}
	}
	if c.Account != "" && (len(c.Account) != 12 || strings.Trim(c.Account, "0123456789") != "") {
		return errors.New("setting account is no account: want its number, twelve digits in quotes")
	}
	return collectors.CheckPatterns(c.ExcludeKinds, "AWS::S3::Bucket.Accelerate*")
}

// excludes tells whether a kind is left out.
func (c Config) excludes(k *normalize.Kind) bool { return collectors.Excludes(c.ExcludeKinds, k.Name) }
