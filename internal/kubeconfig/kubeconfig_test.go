package kubeconfig_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/miniapi/miniapi/internal/kubeconfig"
)

// A client reads the credentials that were written. Encode rejects control characters, which YAML
// does not allow.
func FuzzKubeconfig(f *testing.F) {
	f.Add("http://127.0.0.1:8080", "token", "user", []byte("certificate"))
	f.Add("https://[::1]:1", "- a: b\n#", "\u2028'\"", []byte{0, 0xff})
	f.Fuzz(func(t *testing.T, host, token, user string, ca []byte) {
		data, err := kubeconfig.Encode(&rest.Config{
			Host: host, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: ca},
			Impersonate: rest.ImpersonationConfig{UserName: user},
		})
		if err != nil && strings.ContainsFunc(host+token+user, unicode.IsControl) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		read, err := clientcmd.Load(data)
		if err != nil {
			t.Fatalf("%v:\n%s", err, data)
		}
		if got := read.Clusters["miniapi"].Server; valid(host) && got != host {
			t.Errorf("server %q, want %q", got, host)
		}
		if got := read.AuthInfos["miniapi"].Token; valid(token) && got != token {
			t.Errorf("token %q, want %q", got, token)
		}
		if got := string(read.Clusters["miniapi"].CertificateAuthorityData); got != string(ca) {
			t.Errorf("CA %q, want %q", got, ca)
		}
	})
}

// valid reports whether a text can be written in JSON, through which the kubeconfig goes.
func valid(text string) bool { return utf8.ValidString(text) }
