package integration_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi"
)

func TestConfigErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		config miniapi.Config
		want   []string
	}{
		"the zero value is valid": {miniapi.Config{}, nil},
		"every loopback address is valid": {
			miniapi.Config{Listen: "[::1]:0", EtcdListenClientURLs: []string{"http://localhost:0"}}, nil,
		},
		"a listen address that is not loopback needs a permission": {
			miniapi.Config{Listen: ":8080"},
			[]string{`listen address ":8080" is not on loopback, and its clients would have full access: use 127.0.0.1, or set --allow-unauthenticated-network-access (Config.AllowUnauthenticatedNetworkAccess)`},
		},
		"a permitted listen address that is not loopback": {
			miniapi.Config{Listen: "0.0.0.0:8080", AllowUnauthenticatedNetworkAccess: true}, nil,
		},
		"a host name other than localhost is not loopback": {
			miniapi.Config{Listen: "localhost.example:80"},
			[]string{`listen address "localhost.example:80" is not on loopback, and its clients would have full access: use 127.0.0.1, or set --allow-unauthenticated-network-access (Config.AllowUnauthenticatedNetworkAccess)`},
		},
		"options of the embedded etcd with an etcd cluster": {
			miniapi.Config{EtcdServers: []string{"http://127.0.0.1:2379"}, DataDir: "data", EtcdListenClientURLs: []string{"http://127.0.0.1:0"}},
			[]string{
				"--data-dir is for the embedded etcd: remove it, or remove --etcd-servers",
				"--etcd-listen-client-url is for the embedded etcd: remove it, or remove --etcd-servers",
			},
		},
		"a missing encryption configuration": {
			miniapi.Config{EncryptionProviderConfig: "none.yaml"},
			[]string{"read the encryption configuration: open none.yaml: no such file or directory"},
		},
		"a reload without an encryption configuration": {
			miniapi.Config{EncryptionProviderConfigAutomaticReload: true},
			[]string{"--encryption-provider-config-automatic-reload must be set with --encryption-provider-config"},
		},
		"an unknown admission plugin": {
			miniapi.Config{EnableAdmissionPlugins: []string{"ServiceAccount", "NodeRestriction"}, DisableAdmissionPlugins: []string{"LimitRager"}},
			[]string{`disable-admission-plugins plugin "LimitRager" is unknown: did you mean "LimitRanger"?`},
		},
		"an admission plugin without its configuration": {
			miniapi.Config{EnableAdmissionPlugins: []string{"EventRateLimit"}},
			[]string{`couldn't init admission plugin "EventRateLimit": limits: Invalid value: null: must not be empty`},
		},
		"an unknown controller": {
			miniapi.Config{Controllers: []string{"*", "-gc"}},
			[]string{`controller "-gc" is unknown: use *, or certificatesigningrequest-cleaner-controller (csrcleaner), cronjob-controller (cronjob), ` +
				`daemonset-controller (daemonset), deployment-controller (deployment), disruption-controller (disruption), ` +
				`endpointslice-controller (endpointslice), flowschema-controller (flowschema), ` +
				`garbage-collector-controller (garbagecollector), job-controller (job), ` +
				`namespace-controller (namespace), replicaset-controller (replicaset), resourcequota-controller (resourcequota), ` +
				`root-ca-certificate-publisher-controller (root-ca-cert-publisher), serviceaccount-controller (serviceaccount), ` +
				`statefulset-controller (statefulset), ttl-after-finished-controller (ttl-after-finished) (--controllers)`},
		},
		"invalid ports": {
			miniapi.Config{
				Listen: "127.0.0.1:99999", Secure: &miniapi.Secure{Listen: "127.0.0.1:-1"},
				EtcdServers: []string{"http://127.0.0.1:65536"},
			},
			[]string{
				`listen address "127.0.0.1:99999": port "99999" is invalid: use a number from 0 to 65535`,
				`secure address "127.0.0.1:-1": port "-1" is invalid: use a number from 0 to 65535`,
				`etcd address "http://127.0.0.1:65536": port "65536" is invalid: use a number from 0 to 65535`,
			},
		},
		"an invalid port of the embedded etcd": {
			miniapi.Config{EtcdListenClientURLs: []string{"http://127.0.0.1:65536"}},
			[]string{`client URL "http://127.0.0.1:65536": "65536" is not a port: use a number from 0 to 65535`},
		},
		"missing files": {
			miniapi.Config{CRDs: []string{"/nowhere/a", "/nowhere/b"}, Manifests: "/nowhere/c"},
			[]string{
				"CustomResourceDefinitions (--crds): stat /nowhere/a: no such file or directory",
				"CustomResourceDefinitions (--crds): stat /nowhere/b: no such file or directory",
				"manifests (--manifests): stat /nowhere/c: no such file or directory",
			},
		},
		"missing credentials files": {
			miniapi.Config{Secure: &miniapi.Secure{CertFile: "/nowhere/a", KeyFile: "/nowhere/b", TokenAuthFile: "/nowhere/c"}},
			[]string{
				"--tls-cert-file: stat /nowhere/a: no such file or directory",
				"--tls-private-key-file: stat /nowhere/b: no such file or directory",
				"--token-auth-file: stat /nowhere/c: no such file or directory",
			},
		},
		"slashes around the etcd prefix are optional": {miniapi.Config{EtcdPrefix: "registry/"}, nil},
		"a quota with an etcd cluster": {
			miniapi.Config{EtcdServers: []string{"http://127.0.0.1:2379"}, EtcdQuotaBackendBytes: 1 << 30},
			[]string{"--etcd-quota-backend-bytes is for the embedded etcd: remove it, or remove --etcd-servers"},
		},
		"a quota that is too small": {
			miniapi.Config{EtcdQuotaBackendBytes: 1 << 20},
			[]string{"--etcd-quota-backend-bytes 1048576 is too small: use at least 16777216 (16 MiB), or 0 for the default"},
		},
		"all errors are listed at once": {
			miniapi.Config{Listen: "8080", EtcdPrefix: "/", EtcdServers: []string{"127.0.0.1:2379"}, ServiceClusterIPRange: "10.0.0.0/31", Bootstrap: "some"},
			[]string{
				`listen address "8080" is not HOST:PORT, such as 127.0.0.1:8080`,
				`etcd prefix "/" is empty: use a path such as /registry`,
				`etcd address "127.0.0.1:2379" is not a URL such as http://127.0.0.1:2379`,
				`service cluster IP range "10.0.0.0/31" is too small: it needs at least 8 addresses`,
				`bootstrap "some" is neither "minimal" nor "full"`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			if err := tc.config.Validate(); err != nil {
				got = strings.Split(err.Error(), "\n")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
