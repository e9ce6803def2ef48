package aws

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/awsconfig"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/aws/catalogue"
	"github.com/driftd/driftd/internal/collectors/aws/cloudtrail"
	"github.com/driftd/driftd/internal/collectors/aws/normalize"
	"github.com/driftd/driftd/internal/httpclient"
)

// Config configures an aws source. The AWS SDK's defaults apply to an empty setting:
// environment, profiles, the role of the instance.
type Config struct {
	// Region is the region of the first request. Buckets in other regions are requested there.
	Region string `mapstructure:"region"`
	// Regions are the regions that are read, other than buckets; empty for Region.
	Regions []string `mapstructure:"regions"`
	// Services are the services that are read; empty for all, or for s3 alone if Endpoint is set.
	Services []string `mapstructure:"services"`
	// AssumeRole is the ARN of a role that is assumed with the credentials.
	AssumeRole string `mapstructure:"assume_role"`
	// ExternalID is the external ID that the role requires.
	ExternalID string `mapstructure:"external_id"`
	// Profile is the name of a profile in the AWS configuration and credentials files.
	Profile string `mapstructure:"profile"`
	// CredentialsFile is a file in the format of ~/.aws/credentials.
	CredentialsFile string `mapstructure:"credentials_file" path:"true"`
	// ConfigFile is a file in the format of ~/.aws/config.
	ConfigFile string `mapstructure:"config_file" path:"true"`
	// Endpoint is the URL of an S3-compatible server, or of one that simulates AWS.
	Endpoint string `mapstructure:"endpoint"`
	// PathStyle puts the bucket's name into the path instead of the host name.
	PathStyle bool `mapstructure:"path_style"`
	// CAFile holds the authorities to trust in place of those of the system.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// Account is the number of the account of the credentials and of the buckets; "" for that of the last scan,
	// and buckets of any.
	Account string `mapstructure:"account"`
	// Buckets are the names of the buckets to read; empty for all.
	Buckets []string `mapstructure:"buckets"`
	// Shares has the accounts read that each snapshot and image is shared with, with one request for each.
	Shares bool `mapstructure:"shares"`
	// MaxKeyAge is the age at which an active access key fails the check aws/key-age; 0 for none.
	MaxKeyAge time.Duration `mapstructure:"max_key_age"`
	// CloudControl are further types of CloudFormation that Cloud Control lists ("AWS::Backup::BackupVault").
	CloudControl []string `mapstructure:"cloud_control"`
	// ExcludeKinds are patterns of kinds that are not read ("AWS::S3::Bucket.Accelerate*").
	ExcludeKinds []string `mapstructure:"exclude_kinds"`
	// Audit configures the reading of CloudTrail, which has who changed something.
	Audit cloudtrail.Config `mapstructure:"audit"`
	// Concurrency is the largest number of simultaneous requests.
	Concurrency int `mapstructure:"concurrency"`
	// Rate is the largest number of requests per second; 0 for no limit.
	Rate float64 `mapstructure:"rate"`
	// Timeout is the time limit of a request, including its answer.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxBody is the size limit of an answer, in bytes.
	MaxBody int64 `mapstructure:"max_body"`
}

// Defaults returns the default settings.
func Defaults() Config {
	return Config{Concurrency: 8, Timeout: 30 * time.Second, MaxBody: 8 << 20, Audit: cloudtrail.Defaults()}
}

func (c Config) check() error {
	return errors.Join(c.checkEndpoint(), c.checkLimits(), c.checkNames(), c.checkRole(), c.checkScope(), c.checkTypes(), c.checkNeeds(), c.Audit.Check())
}

func (c Config) checkEndpoint() error {
	if c.Endpoint == "" {
		return nil
	}
	u, err := url.Parse(c.Endpoint)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "":
		return errors.New("setting endpoint is not a URL: want one such as https://s3.example.org")
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
	if c.MaxKeyAge != 0 && c.MaxKeyAge < 24*time.Hour {
		return errors.New("setting max_key_age must be at least 24h; 0 switches it off")
	}
	return nil
}

func (c Config) checkNames() error {
	for _, name := range c.Buckets {
		if name == "" || strings.ContainsAny(name, "/?#*: ") {
			return fmt.Errorf("setting buckets: %q is not a bucket name", name)
		}
	}
	if c.Account != "" && (len(c.Account) != 12 || strings.Trim(c.Account, "0123456789") != "") {
		return errors.New("setting account is not an account number: want twelve digits in quotes")
	}
	return cmp.Or(collectors.CheckPatterns(c.ExcludeKinds, "AWS::S3::Bucket.Accelerate*"), c.checkExcluded())
}

// checkExcluded returns an error if a pattern matches no kind: what it should leave out would be read.
func (c Config) checkExcluded() error {
	known := catalogue.Schemas(c.further()...)
	maps.Copy(known, normalize.Schemas())
	for _, pattern := range c.ExcludeKinds {
		matches := func(kind string) bool { return collectors.Excludes([]string{pattern}, kind) }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(known)), matches) {
			return fmt.Errorf("setting exclude_kinds: %q matches no kind: docs/aws.md lists them", pattern)
		}
	}
	return nil
}

func (c Config) checkRole() error {
	switch {
	case c.AssumeRole == "" && c.ExternalID != "":
		return errors.New("setting external_id belongs to a role: set assume_role")
	case c.AssumeRole != "" && !regexp.MustCompile(`^arn:[a-z-]+:iam::[0-9]{12}:role/.+`).MatchString(c.AssumeRole):
		return errors.New("setting assume_role is not a role: want one such as arn:aws:iam::123456789012:role/driftd")
	}
	return nil
}

func (c Config) checkScope() error {
	for i, region := range c.Regions {
		if !isRegion(region) || slices.Contains(c.Regions[:i], region) {
			return fmt.Errorf("setting regions: %q is not a region, or stands there twice: want a list such as [eu-central-1, us-east-1]", region)
		}
	}
	if c.Region != "" && len(c.Regions) > 0 && !slices.Contains(c.Regions, c.Region) {
		return fmt.Errorf("setting regions lacks %s, the setting region: add it, or remove region", c.Region)
	}
	known := knownServices()
	for _, service := range c.Services {
		if !slices.Contains(known, service) {
			return fmt.Errorf("setting services: %q is not one of %s", service, strings.Join(known, ", "))
		}
	}
	return nil
}

// checkTypes checks the types that Cloud Control lists. One that is read anyway would be read twice.
func (c Config) checkTypes() error {
	read := catalogue.Schemas()
	maps.Copy(read, normalize.Schemas())
	for i, name := range c.CloudControl {
		switch {
		case !regexp.MustCompile(`^AWS::[A-Za-z0-9]+::[A-Za-z0-9]+$`).MatchString(name):
			return fmt.Errorf("setting cloud_control: %q is not a type of CloudFormation: want one such as AWS::Backup::BackupVault", name)
		case slices.Contains(c.CloudControl[:i], name):
			return fmt.Errorf("setting cloud_control: %s stands there twice", name)
		case read[Type+"/"+name] != nil:
			return fmt.Errorf("setting cloud_control: %s is read without it, with more of its fields: remove it", name)
		}
	}
	return nil
}

// checkNeeds returns an error for settings of kinds that are not read.
func (c Config) checkNeeds() error {
	for _, need := range []struct {
		set     bool
		setting string
		kinds   []string
	}{
		{c.MaxKeyAge > 0, "max_key_age", []string{"IAM::AccessKey"}},
		{c.Shares, "shares", []string{"EC2::SnapshotShare", "EC2::ImageShare"}},
	} {
		read := slices.ContainsFunc(need.kinds, func(kind string) bool { return c.leavesOut(Type+"/AWS::"+kind) == "" })
		if need.set && !read {
			return fmt.Errorf("setting %s has no effect: services or exclude_kinds leave out AWS::%s", need.setting, need.kinds[0])
		}
	}
	return nil
}

// s3 is the service of buckets, which are not read with lists.
const s3Service = "s3"

// knownServices returns the services that can be read, sorted.
func knownServices() []string {
	all := []string{s3Service}
	for _, l := range catalogue.Lists() {
		if !l.Carries() {
			all = append(all, l.Call.Service.ID)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// reads reports whether a service is read. Most servers at an endpoint have only S3. Of Cloud Control
// there are only the lists of the types that are named.
func (c Config) reads(service string) bool {
	if service == catalogue.CloudControlService {
		return true
	}
	if len(c.Services) > 0 {
		return slices.Contains(c.Services, service)
	}
	return c.Endpoint == "" || service == s3Service
}

// lists returns the lists that are read, without the kinds that are not. The tags of all
// resources are read if a kind needs them.
func (c Config) lists() []*catalogue.List {
	var all []*catalogue.List
	tagged := false
	for _, l := range c.catalogue() {
		if !c.reads(l.Call.Service.ID) && !(l.Carries() && tagged) {
			continue
		}
		l = l.Without(func(k *catalogue.Kind) bool { return c.leavesOutOf(k) != "" })
		if l != nil {
			all = append(all, l)
			tagged = tagged || slices.ContainsFunc(l.AllKinds(), func(k *catalogue.Kind) bool { return k.Tagged })
		}
	}
	return all
}

// leavesOut returns the setting that leaves out a kind; "" if it is read.
func (c Config) leavesOut(kind string) string {
	for _, l := range c.catalogue() {
		all := l.AllKinds()
		if i := slices.IndexFunc(all, func(k *catalogue.Kind) bool { return k.FullName() == kind }); i >= 0 && c.reads(l.Call.Service.ID) {
			return c.leavesOutOf(all[i])
		}
	}
	return "left out by services"
}

// leavesOutOf returns the setting that leaves out a kind of a service that is read; "" if it is read.
func (c Config) leavesOutOf(k *catalogue.Kind) string {
	switch {
	case k.IsCarrier():
		return ""
	case collectors.Excludes(c.ExcludeKinds, k.FullName()):
		return "left out by exclude_kinds"
	case k.Shares && !c.Shares:
		return "read with the setting shares only: set shares: true"
	}
	return ""
}

// catalogue returns the lists of all kinds, also of those that are not read. That of the tags comes last.
func (c Config) catalogue() []*catalogue.List {
	return slices.Concat(c.further(), catalogue.Lists())
}

// further returns the lists of the types that the configuration names.
func (c Config) further() []*catalogue.List { return catalogue.CloudControl(c.CloudControl) }

// regions returns the regions that are read. found is the one of the SDK's configuration.
func (c Config) regions(found string) []string {
	if len(c.Regions) > 0 {
		return c.Regions
	}
	return []string{found}
}

// onlyRegion returns the region that is read; "" if there are several, or if only the SDK's configuration has it.
func (c Config) onlyRegion() string {
	if len(c.Regions) > 1 {
		return ""
	}
	return c.firstRegion()
}

// firstRegion returns the region of the first request; "" for that of the SDK's configuration.
func (c Config) firstRegion() string {
	if c.Region == "" && len(c.Regions) > 0 {
		return c.Regions[0]
	}
	return c.Region
}

// options returns the settings of the connection.
func (c Config) options(backoff time.Duration) awsapi.Options {
	return awsapi.Options{
		Options: awsconfig.Options{Region: c.firstRegion(), Profile: c.Profile, CredentialsFile: c.CredentialsFile, ConfigFile: c.ConfigFile, Endpoint: c.Endpoint},
		Role:    c.AssumeRole, ExternalID: c.ExternalID, CAFile: c.CAFile,
		Limits: httpclient.Limits{Concurrency: c.Concurrency, Rate: c.Rate, Timeout: c.Timeout, MaxBody: c.MaxBody, Backoff: backoff},
	}
}

// excludes reports whether a kind is excluded.
func (c Config) excludes(k *normalize.Kind) bool { return collectors.Excludes(c.ExcludeKinds, k.Name) }
