package main

import (
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// startWithConfigMap starts a server with the test APIs. The ConfigMap default/c has two versions,
// whose resourceVersions it returns.
func startWithConfigMap(t *testing.T) (server *miniapi.Server, created, patched string) {
	t.Helper()
	server = servertest.Start(t, miniapi.Config{TestAPIs: true})
	config := rest.CopyConfig(server.RESTConfig())
	config.UserAgent = "writer/v1"
	maps := servertest.Client(t, config).CoreV1().ConfigMaps("default")
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"kept": "same"}}
	first, err := maps.Create(t.Context(), object, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := maps.Patch(t.Context(), "c", types.MergePatchType, []byte(`{"data":{"k":"v"}}`), metav1.PatchOptions{FieldManager: "patcher"})
	if err != nil {
		t.Fatal(err)
	}
	return server, first.ResourceVersion, second.ResourceVersion
}

func TestHistoryPrintsVersions(t *testing.T) {
	server, _, _ := startWithConfigMap(t)
	want := regexp.MustCompile(`^RESOURCEVERSION +EVENT +VERSION +WRITER +VERB +TIME +FIELDS
\d+ +Created +1 +writer +create +\S+Z +-
\d+ +Updated +2 +patcher +patch +\S+Z +\.data\.k
$`)
	for _, object := range []string{"cm/c", "configmap/c", "ConfigMap/c", "configmaps/c"} {
		out, err := runMiniapi(t, "history", object, "--server", server.URL())
		if err != nil || !want.MatchString(out) {
			t.Errorf("%s: %v\n%s", object, err, out)
		}
	}
	for object, text := range map[string]string{
		"c":                   "history takes an object such as deploy/web",
		"cm/other":            `history of cm/other: configmaps "other" not found`,
		"nothing/c":           `history of nothing/c: the server has no resource type "nothing"`,
		"configmaps.apps/c":   `history of configmaps.apps/c: the server has no resource type "configmaps.apps"`,
		"clusterrole/missing": `clusterroles.rbac.authorization.k8s.io "missing" not found`,
	} {
		if _, err := runMiniapi(t, "history", object, "--server", server.URL()); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %q", object, err, text)
		}
	}
}

// runMiniapi runs the program with arguments and returns its output.
func runMiniapi(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := newMiniapi()
	var out strings.Builder
	cmd.SetOut(&out)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}
