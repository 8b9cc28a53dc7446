package api

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// The typed client of client-go works with JSON and with protobuf.
func TestTypedClients(t *testing.T) {
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		t.Run(contentType, func(t *testing.T) {
			s := newTestServer(t, nil)
			clients, err := kubernetes.NewForConfig(&rest.Config{
				Host: s.http.URL, ContentConfig: rest.ContentConfig{ContentType: contentType},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { clients.CoreV1().RESTClient().(*rest.RESTClient).Client.CloseIdleConnections() })
			useTypedClient(t, clients)
		})
	}
}

func useTypedClient(t *testing.T, clients kubernetes.Interface) {
	t.Helper()
	ctx, maps := t.Context(), clients.CoreV1().ConfigMaps("default")
	events, err := maps.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	created, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, BinaryData: map[string][]byte{"k": {0, 255}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	patched, err := maps.Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"p":"q"}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].ResourceVersion != patched.ResourceVersion {
		t.Errorf("list: %+v, %v", list, err)
	}
	if err := maps.Delete(ctx, "a", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(created.UID))}); err != nil {
		t.Error(err)
	}
	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
		event := <-events.ResultChan()
		got, ok := event.Object.(*corev1.ConfigMap)
		if event.Type != want || !ok || got.UID != created.UID || string(got.BinaryData["k"]) != "\x00\xff" {
			t.Errorf("want %s, got %s %+v", want, event.Type, event.Object)
		}
	}
}
