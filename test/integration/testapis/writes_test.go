package testapis_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/testapi/faults"
)

// userClient returns a client of an administrator with another name.
func userClient(t *testing.T, server *miniapi.Server, user string) *kubernetes.Clientset {
	t.Helper()
	config, err := server.AddUser(user, "system:masters")
	check(t, err)
	return servertest.Client(t, config)
}

// writesOf returns a line for each write of a user.
func writesOf(t *testing.T, server *miniapi.Server, filter miniapi.WriteFilter) []string {
	t.Helper()
	list, err := server.Writes(t.Context(), filter)
	check(t, err)
	var lines []string
	for _, w := range list {
		line := fmt.Sprintf("%s %s %s/%s", w.Event, w.Resource, w.Namespace, w.Name)
		for _, lost := range w.Lost {
			line += fmt.Sprintf(" undoes %s by %s", lost.Field, lost.By.User)
		}
		lines = append(lines, line)
	}
	return lines
}

// TestWritesNameLostUpdates writes one object from two clients in all ways.
func TestWritesNameLostUpdates(t *testing.T) {
	server := servertest.Start(t, withTestAPIs)
	ours, theirs := userClient(t, server, "ours").CoreV1().ConfigMaps("default"), userClient(t, server, "theirs").CoreV1().ConfigMaps("default")
	created, err := ours.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "a-", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "u"}}},
		Data:       map[string]string{"k": "1"},
	}, metav1.CreateOptions{})
	check(t, err)
	patch := func(value string) {
		t.Helper()
		_, err := theirs.Patch(t.Context(), created.Name, types.MergePatchType, []byte(`{"data":{"k":"`+value+`"}}`), metav1.PatchOptions{})
		check(t, err)
	}
	update := func(resourceVersion string, data map[string]string) string {
		t.Helper()
		changed := created.DeepCopy()
		changed.ResourceVersion, changed.Data = resourceVersion, data
		updated, err := ours.Update(t.Context(), changed, metav1.UpdateOptions{})
		check(t, err)
		return updated.ResourceVersion
	}
	old := map[string]string{"k": "1", "own": "1"}
	patch("2")
	update("", old) // lost
	patch("3")
	seen, err := ours.Get(t.Context(), created.Name, metav1.GetOptions{})
	check(t, err)
	update(seen.ResourceVersion, old)                   // the client has seen the change
	update("", map[string]string{"k": "1", "own": "2"}) // a field of its own
	update("", map[string]string{"k": "4", "own": "1"}) // another value, and back to an own value
	patch("5")
	_, err = ours.Patch(t.Context(), created.Name, types.MergePatchType, []byte(`{"data":{"k":"4"}}`), metav1.PatchOptions{})
	check(t, err)
	check(t, ours.Delete(t.Context(), created.Name, metav1.DeleteOptions{}))

	name := "configmaps default/" + created.Name
	want := []string{
		"Created " + name, "Updated " + name + " undoes .data.k by theirs",
		"Updated " + name, "Updated " + name, "Updated " + name,
		"Updated " + name + " undoes .data.k by theirs", "Deleted " + name,
	}
	if diff := cmp.Diff(want, writesOf(t, server, miniapi.WriteFilter{User: "ours"})); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	list, err := server.Writes(t.Context(), miniapi.WriteFilter{User: "ours"})
	check(t, err)
	if first := list[0]; first.GenerateName != "a-" || first.Owner != "Node/n" || first.Verb != "create" {
		t.Errorf("the creation is %+v", first)
	}
	if sent := list[2].ResourceVersion; sent != seen.ResourceVersion {
		t.Errorf("the third write was sent with version %q, want %q", sent, seen.ResourceVersion)
	}
	if after := writesOf(t, server, miniapi.WriteFilter{User: "ours", After: list[5].Revision}); len(after) != 1 {
		t.Errorf("writes after the second but last: %v", after)
	}
}

// TestOverwrittenInterveningWriteIsLost overwrites the annotation of an injected write.
func TestOverwrittenInterveningWriteIsLost(t *testing.T) {
	server := servertest.Start(t, withTestAPIs)
	ours := userClient(t, server, "ours").CoreV1().ConfigMaps("default")
	created, err := ours.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	check(t, err)
	server.Faults().InterveningWrite(faults.On("update", "configmaps"))
	created.ResourceVersion, created.Data = "", map[string]string{"k": "1"}
	_, err = ours.Update(t.Context(), created, metav1.UpdateOptions{})
	check(t, err)
	want := []string{
		"Created configmaps default/a",
		"Updated configmaps default/a undoes .metadata.annotations.miniapi.dev/intervening-write by system:miniapi:faults",
	}
	if diff := cmp.Diff(want, writesOf(t, server, miniapi.WriteFilter{User: "ours"})); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}
