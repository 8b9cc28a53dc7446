package integration_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi"
)

func TestConfigFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		config miniapi.Config
		want   []string
	}{
		"the zero value has none": {miniapi.Config{}, nil},
		"every loopback address will do": {
			miniapi.Config{Listen: "[::1]:0", EtcdListenClientURLs: []string{"http://localhost:0"}}, nil,
		},
		"other addresses must be demanded": {
			miniapi.Config{Listen: ":8080"},
			[]string{`listen address ":8080" is not on loopback, and whoever can reach it could do everything: use 127.0.0.1, or set --allow-unauthenticated-network-access (Config.AllowUnauthenticatedNetworkAccess) if you mean it`},
		},
		"and can be": {
			miniapi.Config{Listen: "0.0.0.0:8080", AllowUnauthenticatedNetworkAccess: true}, nil,
		},
		"a name is no loopback address": {
			miniapi.Config{Listen: "localhost.example:80"},
			[]string{`listen address "localhost.example:80" is not on loopback, and whoever can reach it could do everything: use 127.0.0.1, or set --allow-unauthenticated-network-access (Config.AllowUnauthenticatedNetworkAccess) if you mean it`},
		},
		"a cluster keeps its own data": {
			miniapi.Config{EtcdServers: []string{"http://127.0.0.1:2379"}, DataDir: "data", EtcdListenClientURLs: []string{"http://127.0.0.1:0"}},
			[]string{
				"an etcd cluster (--etcd-servers) and a data directory (--data-dir) exclude each other: the cluster keeps the data",
				"--etcd-listen-client-url is for the embedded etcd, which --etcd-servers turns off",
			},
		},
		"a plugin of admission is one that kube-apiserver knows": {
			miniapi.Config{EnableAdmissionPlugins: []string{"ServiceAccount", "NodeRestriction"}, DisableAdmissionPlugins: []string{"LimitRager"}},
			[]string{`disable-admission-plugins plugin "LimitRager" is unknown`},
		},
		"ports are numbers up to 65535": {
			miniapi.Config{
				Listen: "127.0.0.1:99999", Secure: &miniapi.Secure{Listen: "127.0.0.1:-1"},
				EtcdServers: []string{"http://127.0.0.1:65536"},
			},
			[]string{
				`listen address "127.0.0.1:99999": "99999" is no port: use a number from 0 to 65535`,
				`secure address "127.0.0.1:-1": "-1" is no port: use a number from 0 to 65535`,
				`etcd address "http://127.0.0.1:65536": "65536" is no port: use a number from 0 to 65535`,
			},
		},
		"the port of an embedded etcd too": {
			miniapi.Config{EtcdListenClientURLs: []string{"http://127.0.0.1:65536"}},
			[]string{`client URL "http://127.0.0.1:65536": "65536" is no port: use a number from 0 to 65535`},
		},
		"files that are not there": {
			miniapi.Config{CRDs: []string{"/nowhere/a", "/nowhere/b"}, Manifests: "/nowhere/c"},
			[]string{
				"definitions to serve (--crds): stat /nowhere/a: no such file or directory",
				"definitions to serve (--crds): stat /nowhere/b: no such file or directory",
				"manifests to apply (--manifests): stat /nowhere/c: no such file or directory",
			},
		},
		"a prefix needs no slashes around it": {miniapi.Config{EtcdPrefix: "registry/"}, nil},
		"a quota is for the embedded etcd": {
			miniapi.Config{EtcdServers: []string{"http://127.0.0.1:2379"}, EtcdQuotaBackendBytes: 1 << 30},
			[]string{"--etcd-quota-backend-bytes is for the embedded etcd, which --etcd-servers turns off"},
		},
		"a quota has room for objects": {
			miniapi.Config{EtcdQuotaBackendBytes: 1 << 20},
			[]string{"--etcd-quota-backend-bytes 1048576 is too small: use at least 16777216 (16 MiB), or 0 for the default"},
		},
		"all are listed at once": {
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
