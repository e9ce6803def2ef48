package awsapi

import (
	"cmp"
	"strings"
)

// A Protocol is how a service encodes requests and answers. See
// https://smithy.io/2.0/aws/protocols/index.html
type Protocol uint8

// The protocols. EC2 and Query send forms and answer in XML; JSON sends documents to one
// path, with the operation in a header; the others have a path for each operation.
const (
	EC2 Protocol = iota
	Query
	JSON
	RESTJSON
	RESTXML
)

// A Service is one service of AWS.
type Service struct {
	// ID is the name for which requests are signed, which is also that of its IAM actions
	// with few exceptions.
	ID string
	// Prefix is the first part of its host names, if that is not ID.
	Prefix   string
	Protocol Protocol
	// Version is the version of the API in forms, or of the JSON protocol ("1.0").
	Version string
	// Target is the first part of the operation in the header X-Amz-Target.
	Target string
	// Global reports whether all regions of a partition share one endpoint.
	Global bool
	// Rate is the largest number of requests per second to it in one region.
	Rate float64
	// Lists are the names of the XML elements that are elements of a list, other than
	// item and member, separated by blanks.
	Lists string
}

// A Call is one operation of a service.
type Call struct {
	Service *Service
	// Action is the name of the operation.
	Action string
	// Path is the path of a REST operation. "{Name}" stands for a parameter.
	Path string
	// Input are the parameters: texts, numbers, booleans, lists of texts, and in documents
	// anything that encoding/json encodes.
	Input map[string]any
	// Page are the parameters that request the next page.
	Page []PageToken
}

// A PageToken is a parameter that requests the next page, and the field of an answer with
// its value. A page without that field is the last one.
type PageToken struct{ Param, Field string }

// xml reports whether the answers are XML documents.
func (p Protocol) xml() bool { return p != JSON && p != RESTJSON }

// A partition is a group of regions with accounts and endpoints of its own.
type partition struct {
	// regions is what the names of its regions begin with; "" for all others.
	regions string
	suffix  string
	// home is the region in whose name requests to global services are signed.
	home string
	// global is the host of a global service, with the service's prefix for "*".
	global string
}

// partitions returns the partitions. The hosts are those of the SDK's endpoints.json.
func partitions() []partition {
	return []partition{
		{"cn-", "amazonaws.com.cn", "cn-north-1", "*.cn-north-1.amazonaws.com.cn"},
		{"us-gov-", "amazonaws.com", "us-gov-west-1", "*.us-gov.amazonaws.com"},
		{"us-isob-", "sc2s.sgov.gov", "us-isob-east-1", "*.us-isob-east-1.sc2s.sgov.gov"},
		{"us-isof-", "csp.hci.ic.gov", "us-isof-south-1", "*.us-isof-south-1.csp.hci.ic.gov"},
		{"us-iso-", "c2s.ic.gov", "us-iso-east-1", "*.us-iso-east-1.c2s.ic.gov"},
		{"eu-isoe-", "cloud.adc-e.uk", "eu-isoe-west-1", "*.eu-isoe-west-1.cloud.adc-e.uk"},
		{"eusc-", "amazonaws.eu", "eusc-de-east-1", "*.eusc-de-east-1.amazonaws.eu"},
		{"", "amazonaws.com", "us-east-1", "*.amazonaws.com"},
	}
}

func partitionOf(region string) partition {
	all := partitions()
	for _, p := range all {
		if strings.HasPrefix(region, p.regions) {
			return p
		}
	}
	return all[len(all)-1]
}

// Home returns the region in whose name requests to global services are signed, in the partition of a region.
func Home(region string) string { return partitionOf(region).home }

// endpoint returns the URL of a service in a region, and the region in whose name requests
// to it are signed. A compatible server has one URL for all.
func (s *Service) endpoint(base, region string) (url, signed string) {
	p, prefix := partitionOf(region), cmp.Or(s.Prefix, s.ID)
	host := prefix + "." + region + "." + p.suffix
	if s.Global {
		region = p.home
		host = strings.Replace(p.global, "*", prefix, 1)
		if s.ID == "route53" && p.home == "cn-north-1" {
			host, region = "route53.amazonaws.com.cn", "cn-northwest-1"
		}
	}
	if base != "" {
		return strings.TrimSuffix(base, "/"), region
	}
	return "https://" + host, region
}
