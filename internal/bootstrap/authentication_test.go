package bootstrap

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/auth/certs"
	"github.com/miniapi/miniapi/kinds/core"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestUpdateAuthentication(t *testing.T) {
	env := registrytest.New(t, nil, core.Resources(feature.Default())...)
	newCA := func() []byte {
		authority, err := certs.NewAuthority("test")
		if err != nil {
			t.Fatal(err)
		}
		return authority.CertificatePEM()
	}
	publish := func(info Authentication) *corev1.ConfigMap {
		t.Helper()
		if err := UpdateAuthentication(t.Context(), env.Store("configmaps"), info); err != nil {
			t.Fatal(err)
		}
		stored, err := registry.Read[*corev1.ConfigMap](t.Context(), env.Store("configmaps"), "kube-system", AuthenticationConfigMap, "")
		if err != nil {
			t.Fatal(err)
		}
		return stored
	}
	clients, proxies := newCA(), newCA()
	info := Authentication{
		ClientCA: clients, RequestHeaderCA: proxies, AllowedNames: []string{"front-proxy-client"},
		UsernameHeaders: []string{"X-Remote-User"}, UIDHeaders: []string{"X-Remote-Uid"},
		GroupHeaders: []string{"X-Remote-Group"}, ExtraHeaderPrefixes: []string{"X-Remote-Extra-"},
	}
	env.Create("configmaps", info.configMap())
	first := publish(info)
	want := map[string]string{
		"client-ca-file": string(clients), "requestheader-client-ca-file": string(proxies),
		"requestheader-allowed-names":    `["front-proxy-client"]`,
		"requestheader-username-headers": `["X-Remote-User"]`, "requestheader-uid-headers": `["X-Remote-Uid"]`,
		"requestheader-group-headers": `["X-Remote-Group"]`, "requestheader-extra-headers-prefix": `["X-Remote-Extra-"]`,
	}
	if diff := cmp.Diff(want, first.Data); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if again := publish(info); again.ResourceVersion != first.ResourceVersion {
		t.Error("the same content is written again")
	}

	// Another server of the same cluster.
	replica := publish(Authentication{ClientCA: newCA(), AllowedNames: []string{"gateway"}})
	if n := strings.Count(replica.Data["client-ca-file"], "BEGIN CERTIFICATE"); n != 2 {
		t.Errorf("%d CAs of clients", n)
	}
	var names []string
	if err := json.Unmarshal([]byte(replica.Data["requestheader-allowed-names"]), &names); err != nil || len(names) != 2 {
		t.Errorf("names of front proxies: %q, %v", names, err)
	}
	if replica.Data["requestheader-client-ca-file"] != string(proxies) {
		t.Error("the CA of front proxies is lost")
	}
}

func TestMergeCertificatesDropsInvalidOnes(t *testing.T) {
	invalid := "-----BEGIN CERTIFICATE-----\nYWJj\n-----END CERTIFICATE-----\n"
	if got := mergeCertificates(invalid+"junk", nil); got != "" {
		t.Errorf("got %q", got)
	}
}
