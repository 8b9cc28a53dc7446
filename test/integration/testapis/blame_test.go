package testapis_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/testapi/history"
)

const (
	labelField    = ".metadata.labels.biz-version"
	replicasField = ".spec.replicas"
	imageField    = `.spec.template.spec.containers[name="b"].image`
	nameField     = ".metadata.name"
)

// readBlame returns the resourceVersion of an object, and by path the value and the origin of some
// fields. The origin is a resourceVersion and a user agent.
func readBlame(t *testing.T, c *kubernetes.Clientset) (string, map[string]string) {
	t.Helper()
	body, err := raw(t, c, webPath+"/blame")
	check(t, err)
	var b history.Blame
	check(t, json.Unmarshal(body, &b))
	found := map[string]string{}
	for _, f := range b.Fields {
		writer := "unknown"
		if f.Writer != nil {
			writer = f.Writer.UserAgent
		}
		if f.Older {
			writer = "older"
		}
		switch f.Path {
		case labelField, replicasField, imageField, nameField:
			found[f.Path] = fmt.Sprint(string(f.Value), " ", f.ResourceVersion, " ", writer)
		case ".metadata.uid", ".metadata.resourceVersion", ".metadata.managedFields", ".kind":
			t.Errorf("the field %s is included", f.Path)
		}
	}
	return b.ResourceVersion, found
}

// A field is attributed to the write that gave it its present value: not to a write of another
// field, of the same value, or of an earlier object of the same name.
func TestBlameNamesLastChange(t *testing.T) {
	server := servertest.Start(t, withTestAPIs)
	c := live(t, server)
	patch := func(agent, body string) string {
		client, _ := client(t, server, agent)
		patched, err := client.AppsV1().Deployments("default").Patch(t.Context(), "web", types.StrategicMergePatchType, []byte(body), metav1.PatchOptions{})
		check(t, err)
		return patched.ResourceVersion
	}
	h, _ := readHistory(t, c, webPath)
	created, scaled := h.Versions[3].ResourceVersion, h.Versions[4].ResourceVersion
	patch("other", `{"metadata":{"labels":{"biz-version":"3"}}}`)
	restored := patch("restorer", `{"metadata":{"labels":{"biz-version":"1"}},"spec":{"replicas":7}}`)
	image := patch("painter", `{"spec":{"template":{"spec":{"containers":[{"name":"b","image":"b:2"}]}}}}`)
	last := patch("prepender", `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"c:1"}]}}}}`)
	want := map[string]string{
		nameField:     `"web" ` + created + " first/v1",
		replicasField: "7 " + scaled + " second/v1",
		labelField:    `"1" ` + restored + " restorer/v1",
		imageField:    `"b:2" ` + image + " painter/v1",
	}
	version, got := readBlame(t, c)
	if diff := cmp.Diff(want, got); diff != "" || version != last {
		t.Errorf("version %s, want %s; fields (-want +got):\n%s", version, last, diff)
	}

	var revision int64
	_, err := fmt.Sscan(restored, &revision)
	check(t, err)
	_, err = server.EtcdClient().Compact(t.Context(), revision)
	check(t, err)
	want[nameField], want[replicasField], want[labelField] = `"web" `+restored+" older", "7 "+restored+" older", `"1" `+restored+" older"
	if _, got := readBlame(t, c); cmp.Diff(want, got) != "" {
		t.Errorf("after a compaction (-want +got):\n%s", cmp.Diff(want, got))
	}

	check(t, c.AppsV1().Deployments("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
	if _, err := raw(t, c, webPath+"/blame"); !apierrors.IsNotFound(err) {
		t.Errorf("a deleted object: %v", err)
	}
}

// Large integers keep their digits, and custom resources have a blame too.
func TestBlameOfCustomResource(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{TestAPIs: true, CRDs: []string{widgets(t)}})
	c, _ := client(t, server, "first")
	const path = "/apis/example.com/v1/widgets"
	body := []byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":9007199254740993}}`)
	check(t, c.RESTClient().Post().AbsPath(path).Body(body).Do(t.Context()).Error())
	read, err := raw(t, c, path+"/w/blame")
	check(t, err)
	var b history.Blame
	check(t, json.Unmarshal(read, &b))
	i := len(b.Fields) - 1
	if i < 0 || b.Fields[i].Path != ".spec.size" || string(b.Fields[i].Value) != "9007199254740993" || b.Fields[i].Older {
		t.Errorf("blame %s", read)
	}
}
