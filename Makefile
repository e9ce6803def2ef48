# Everything that a developer or CI runs. `make test` and `make demo` need Go
# and nothing else; lint, e2e and bench build their tools once into the user's
# cache folder (see tools/build.sh). The folder test is a module of its own.

GO       ?= go
FUZZTIME ?= 10s
# The flags of the build. -fuzz has the fuzzer look for inputs that run other code, and
# builds all dependencies anew.
FUZZFLAGS ?= -fuzz .
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMIT   ?= $(shell git rev-parse HEAD 2>/dev/null)
# The commit's date, not the build's: the same commit gives the same bytes.
DATE     ?= $(shell git log -1 --format=%cI 2>/dev/null)

# The packages whose tests must notice nearly every mistake.
CORE     ?= ./internal/match ./internal/classify ./internal/diff

# Tests that take minutes under the race detector, because they start hundreds of processes
# or read large inputs. Other tests run the same goroutines.
SLOW     ?= Scripts|KilledWhile.*|FullDiskWhileMigrating|Week|Months|TenThousandRules|LargeFileInHistory|PastLeftOut|NewBranchName

# The folders whose comments follow the rules of tools/vale/styles.
PROSE    ?= cmd deploy internal test tools

# Where e2e and bench find the real parts.
TOOLS     = DRIFTD_TEST_KUBE_BIN=$$(sh tools/build.sh kube) DRIFTD_TEST_TERRAFORM_BIN=$$(sh tools/terraform.sh)

# One set of flags for every build, so that all share the build cache. With -trimpath
# the results do not depend on the folder either.
export GOFLAGS     += -trimpath
export CGO_ENABLED  = 0

LDFLAGS   = -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT) -X main.date=$(DATE)

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z][a-z0-9-]*:.*## /{printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/driftd and bin/driftd-helm
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/driftd ./cmd/driftd
	$(GO) build -ldflags '-s -w' -o bin/driftd-helm ./cmd/driftd-helm

# The tests in test read files of the product, whose changes Go's cache of test results does not notice.
.PHONY: test
test: ## run the unit tests; needs only Go
	$(GO) test ./...
	$(GO) -C test test -count 1 ./...

# Nearly every test of declared/manifests starts a process: they take as long as all others.
# The tests of the daemon and the demo run its goroutines, too.
.PHONY: race
race: ## run the tests of packages with goroutines or locks under the race detector, with fewer cases and without those of SLOW; needs a C compiler
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=20 $(GO) test -race -short -skip '^Test($(SLOW))$$' -timeout 30m \
	$$(grep -rlE --include='*.go' --exclude='*_test.go' '^\s*go [a-z]|\.Go\(|"sync(/atomic)?"|collectors\.Parallel\(' cmd internal | xargs -n1 dirname | sort -u | grep -v declared/manifests | sed 's,^,./,')

.PHONY: lint
lint: ## run golangci-lint, which also checks the imports between packages, and vale, which checks comments; needs a C compiler
	$$(sh tools/build.sh lint)/golangci-lint run
	cd test && $$(sh ../tools/build.sh lint)/golangci-lint run
	cd test/provider && $$(sh ../../tools/build.sh lint)/golangci-lint run
	$$(sh tools/build.sh vale)/vale --output line $(PROSE)

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (1m, or 1000x inputs)
	FUZZTIME=$(FUZZTIME) GO='$(GO)' sh tools/fuzz.sh $(FUZZFLAGS)

.PHONY: e2e
e2e: build tools ## drive bin/driftd against the real parts; ARGS goes to go test
	$(TOOLS) DRIFTD_TEST_HELM_BIN=$$(sh tools/build.sh helm) DRIFTD_TEST_FLUX_BIN=$$(sh tools/build.sh flux) DRIFTD_TEST_ARGOCD_BIN=$$(sh tools/build.sh argocd) DRIFTD_TEST_REDIS=$$(sh tools/redis.sh) DRIFTD_TEST_MOTO=$$(sh tools/moto.sh) \
	PROMETHEUS_BIN=$$(sh tools/prometheus.sh) POSTGRES_BIN=$$(sh tools/postgres.sh) DRIFTD_TEST_CHROMIUM=$$(sh tools/chromium.sh) \
	$(GO) -C test test -tags e2e -count 1 -timeout 60m $(ARGS) ./...

.PHONY: e2e-openstack
e2e-openstack: build ## drive bin/driftd against a real OpenStack; needs Debian 12
	DRIFTD_TEST_OPENSTACK=$$(sh tools/openstack.sh) DRIFTD_TEST_TERRAFORM_BIN=$$(sh tools/terraform.sh) \
	$(GO) -C test test -tags e2e_openstack -count 1 -timeout 30m $(ARGS) ./openstack/... ./openstacklab/...

.PHONY: mutate
mutate: ## replace each operator of CORE, and print what its tests do not find
	$(GO) run ./tools/mutate $(CORE)

.PHONY: package
package: ## build .deb and .rpm for amd64 and arm64, or for ARCH, into dist/, with SBOM and checksums
	GO='$(GO)' sh tools/package.sh dist $(ARCH)

.PHONY: bench
bench: build tools ## measure driftd against kubectl diff, tofu plan and helm template; BENCH=-short for a quick look
	$(GO) -C test build -o ../bin/bench ./bench
	$(TOOLS) DRIFTD_TEST_HELM_BIN=$$(sh tools/build.sh helm) bin/bench $(BENCH)

.PHONY: golden
golden: ## write the golden files anew; read the difference before you commit it
	grep -rlE --include='*_test.go' 'flag.Bool\("update"|collectors/table/tabletest"' internal cmd tools | xargs -n1 dirname | sort -u | sed 's,^,./,' | \
	xargs -t -I{} $(GO) test {} -update

.PHONY: demo
demo: build ## show driftd at work on an estate of stand-ins; Ctrl-C ends it
	bin/driftd demo

.PHONY: tools
tools: ## build the real parts: Kubernetes, Helm, Flux, Argo CD, OpenTofu, its providers, an S3 server, an OpenID provider
	@sh tools/build.sh kube
	@sh tools/build.sh helm
	@sh tools/build.sh flux
	@sh tools/build.sh argocd
	@sh tools/terraform.sh
	@sh tools/build.sh oidc
