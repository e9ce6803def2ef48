//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/test/tftest"
)

const typesConfig = `
sources:
  - name: prod
    type: aws
    settings:
      endpoint: %q
      regions: [eu-central-1, us-east-1]
      services: [sns]
      cloud_control: ["AWS::Backup::BackupVault", "AWS::ECS::TaskSet"]
      profile: test
      credentials_file: credentials
      config_file: config
declarations:
  - {name: infra, type: terraform, governs: [prod], settings: {engine: state, state: [terraform.tfstate], mappings: [mappings]}}
`

const typesMapping = `
provider: hashicorp/aws
types:
  aws_backup_vault: {compare: plan, kind: aws/AWS::Backup::BackupVault, id: "{region|arn:3}:{name}", place: "{region|arn:3}", name: "{name}"}
  aws_ecs_task_set: {compare: plan, kind: aws/AWS::ECS::TaskSet, id: "{region|arn:3}:{id}", place: "{region|arn:3}"}
`

// TestAWSTypes compares types that Cloud Control lists. moto has no Cloud Control: a stand-in before it answers in the documented form.
func TestAWSTypes(t *testing.T) {
	t.Parallel()
	moto, err := tftest.StartMoto(t.Context())
	stopLater(t, moto, err)
	vaults := map[string]string{"eu-central-1": `{"Identifier":"daily"},{"Identifier":"byhand","Properties":"{\"BackupVaultName\":\"byhand\"}"}`}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: moto.Address})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Amz-Target") != "CloudApiService.ListResources" {
			proxy.ServeHTTP(w, r)
			return
		}
		var input struct{ TypeName string }
		if err := json.NewDecoder(r.Body).Decode(&input); err != nil || input.TypeName != "AWS::Backup::BackupVault" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type":"com.amazon.cloudapiservice#UnsupportedActionException","Message":"does not support LIST action"}`)
			return
		}
		region := strings.Split(r.Header.Get("Authorization"), "/")[2]
		_, _ = io.WriteString(w, `{"TypeName":"AWS::Backup::BackupVault","ResourceDescriptions":[`+vaults[region]+`]}`)
	}))
	t.Cleanup(front.Close)
	s := &shelf{t: t, dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(s.dir, "mappings"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join("mappings", "types.yaml"), typesMapping)
	s.write("driftd.yaml", fmt.Sprintf(typesConfig, front.URL))
	s.write("credentials", "[test]\naws_access_key_id = AKIATEST\naws_secret_access_key = secret-of-the-test\n")
	s.write("config", "[profile test]\n")
	vault := func(name, region string) [2]string {
		return [2]string{"aws_backup_vault", fmt.Sprintf(`{"id": %q, "name": %[1]q, "arn": "arn:aws:backup:%s:123456789012:backup-vault:%[1]s"}`, name, region)}
	}
	s.state(vault("daily", "eu-central-1"), vault("daily", "us-east-1"), vault("other", "eu-west-1"),
		[2]string{"aws_ecs_task_set", `{"id": "ecs-svc/1,service,cluster", "arn": "arn:aws:ecs:eu-central-1:123456789012:task-set/cluster/service/ecs-svc/1"}`})
	s.expect("one made by hand, one gone, one in a region that is not read, and one that cannot be listed",
		"low unmanaged aws/AWS::Backup::BackupVault byhand",
		"high missing aws/AWS::Backup::BackupVault daily",
		"low unchecked aws/AWS::Backup::BackupVault other",
		"low unchecked aws/AWS::ECS::TaskSet eu-central-1:ecs-svc/1,service,cluster")
}
