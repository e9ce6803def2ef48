package catalogue

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/awsapi"
)

// CloudControlService is the ID of the service that lists types of CloudFormation by their names.
const CloudControlService = "cloudcontrolapi"

// CloudControl returns the lists of types that the catalogue does not have. Of their properties only the tags, a name and
// the ARN are kept: what is secret differs from type to type.
func CloudControl(types []string) []*List {
	service := &awsapi.Service{ID: CloudControlService, Protocol: awsapi.JSON, Version: "1.0", Target: "CloudApiService"}
	lists := make([]*List, len(types))
	for i, name := range types {
		last := name[strings.LastIndexByte(name, ':')+1:]
		lists[i] = &List{
			Call: awsapi.Call{
				Service: service, Action: "ListResources", Input: map[string]any{"TypeName": name, "MaxResults": 100},
				Page: []awsapi.PageToken{{Param: "NextToken", Field: "NextToken"}},
			},
			Rights: "cloudformation:ListResources", Rows: "ResourceDescriptions", Home: isGlobal(name),
			Kinds: []*Kind{{
				Name: strings.TrimPrefix(name, "AWS::"), Document: "Properties", ID: "{^.Identifier@regional}", Label: "{Name|" + last + "Name|^.Identifier}",
				Identities: [][2]string{{"arn", "{^.Identifier@arn|Arn@arn|ARN@arn|" + last + "Arn@arn|" + last + "ARN@arn}"}},
				Tags:       "Tags", Tagged: true,
			}},
		}
	}
	return lists
}

// isGlobal reports whether a type of CloudFormation belongs to no region. Cloud Control lists these in the home region.
func isGlobal(name string) bool {
	return slices.ContainsFunc([]string{"Budgets", "CE", "CloudFront", "IAM", "Organizations", "Route53", "Shield"}, func(service string) bool {
		return strings.HasPrefix(name, "AWS::"+service+"::")
	})
}
