package layout_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// apiTime lists the packages whose times are times of the API: they use the clock of the server
// (registry.Now, Catalog.Now, reconcile.Config.Clock), so that Server.Advance has an effect.
var apiTime = []string{
	"admission", "aggregator", "auth/authn", "controllers", "crd", "internal/bootstrap",
	"internal/heartbeat", "internal/quota", "internal/serviceip", "kinds", "registry",
}

// The reasons of more than one file.
const (
	deadline        = "it computes the rest of the deadline of a request"
	certificate     = "certificates have the time of the machine"
	defaultOfConfig = "the default of its configuration"
	duration        = "it measures a duration"
)

// machineTime lists the files of these packages that use the time of the machine, with the reason.
var machineTime = map[string]string{
	"admission/plugin/pod_security_namespace.go":                    deadline,
	"admission/metrics/metrics.go":                                  duration,
	"admission/webhook/mutating.go":                                 duration,
	"admission/webhook/validating.go":                               duration,
	"registry/admission.go":                                         duration,
	"admission/webhook/call.go":                                     deadline,
	"internal/bootstrap/authentication.go":                          certificate,
	"internal/bootstrap/bootstrap.go":                               defaultOfConfig,
	"internal/serviceip/allocator.go":                               defaultOfConfig,
	"registry/clock.go":                                             "without a clock the time of the API is the time of the machine",
	"registry/registrytest":                                         "tests",
	"auth/authn/serviceaccount.go":                                  defaultOfConfig,
	"controllers/namespace/content.go":                              duration,
	"kinds/certificates/podcertificaterequest_status_validation.go": certificate,
}

var machineClock = regexp.MustCompile(`\b(time\.(Now|Since|Until)|metav1\.(Now|NowMicro))\b`)

func TestTimesOfTheAPIFollowTheClock(t *testing.T) {
	used := map[string]bool{}
	forEachFile(t, ".go", func(path string, data []byte) {
		name, err := filepath.Rel(repository, path)
		if err != nil {
			t.Fatal(err)
		}
		name = filepath.ToSlash(name)
		within := func(tree string) bool { return strings.HasPrefix(name, tree+"/") }
		if strings.HasSuffix(name, "_test.go") || !slices.ContainsFunc(apiTime, within) {
			return
		}
		for i, line := range strings.Split(string(data), "\n") {
			code, _, _ := strings.Cut(line, "//")
			if !machineClock.MatchString(code) {
				continue
			}
			excepted := false
			for exception := range machineTime {
				if name == exception || within(exception) {
					used[exception], excepted = true, true
				}
			}
			if !excepted {
				t.Errorf("%s:%d uses the time of the machine: use registry.Now, or add the file to machineTime", name, i+1)
			}
		}
	})
	for exception := range machineTime {
		if !used[exception] {
			t.Errorf("%s does not use the time of the machine: remove it from machineTime", exception)
		}
	}
}
