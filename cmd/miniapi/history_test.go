package main

import (
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi"
)

func TestHistoryPrintsVersions(t *testing.T) {
	server, err := miniapi.Start(t.Context(), miniapi.Config{TestAPIs: true})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop(t.Context())
	config := rest.CopyConfig(server.RESTConfig())
	config.UserAgent = "writer/v1"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	maps := client.CoreV1().ConfigMaps("default")
	if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Patch(t.Context(), "c", types.MergePatchType, []byte(`{"data":{"k":"v"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`^RESOURCEVERSION +EVENT +VERSION +WRITER +VERB +TIME +FIELDS
\d+ +Created +1 +writer +create +\S+Z +-
\d+ +Updated +2 +writer +patch +\S+Z +\.data\.k
$`)
	for _, object := range []string{"cm/c", "configmap/c", "ConfigMap/c", "configmaps/c"} {
		out, err := runHistory(t, object, "--server", server.URL())
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
		if _, err := runHistory(t, object, "--server", server.URL()); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %q", object, err, text)
		}
	}
}

func runHistory(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := newMiniapi()
	var out strings.Builder
	cmd.SetOut(&out)
	cmd.SetArgs(append([]string{"history"}, args...))
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}
