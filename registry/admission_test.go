package registry_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestReinvocationRunsEachStepOnceMore(t *testing.T) {
	var runs []string
	chain := registry.Chain{
		{Name: "first", Admit: func(_ context.Context, a *registry.Attributes) error {
			if a.Reinvocation {
				runs = append(runs, "first, reinvoked")
				return nil
			}
			runs = append(runs, "first")
			a.SetState("first", "set")
			return nil
		}},
		{Name: "second", Admit: func(_ context.Context, a *registry.Attributes) error {
			runs = append(runs, "second with state "+a.State("first").(string))
			a.RequestReinvocation()
			return nil
		}},
	}
	if err := chain.Admit(t.Context(), &registry.Attributes{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"first", "second with state set", "first, reinvoked", "second with state set"}
	if diff := cmp.Diff(want, runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestAdmissionReceivesTheOptionsOfTheOperation(t *testing.T) {
	var seen []runtime.Object
	chain := registry.Chain{{Validate: func(_ context.Context, a *registry.Attributes) error {
		seen = append(seen, a.Options.Sent)
		return nil
	}}}
	e := registrytest.New(t, chain)
	put := registry.UpdateRequest{
		Namespace: "x", Name: "l", CreateIfAbsent: true,
		Options: registry.WriteOptions{Sent: &metav1.UpdateOptions{FieldManager: "m"}},
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			if current != nil {
				return current, nil
			}
			return registrytest.NewLease("l"), nil
		},
	}
	update[runtime.Object](e, "leases.coordination.k8s.io", put)
	update[runtime.Object](e, "leases.coordination.k8s.io", put)
	put.Options.Sent = &metav1.PatchOptions{FieldManager: "m", Force: new(true)}
	update[runtime.Object](e, "leases.coordination.k8s.io", put)
	updated := &metav1.UpdateOptions{FieldManager: "m"}
	want := []runtime.Object{&metav1.CreateOptions{FieldManager: "m"}, updated, updated}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

func TestAdmissionReceivesConnectOptions(t *testing.T) {
	var seen runtime.Object
	chain := registry.Chain{{Admit: func(_ context.Context, a *registry.Attributes) error {
		seen = a.Object
		return nil
	}}}
	pods := registrytest.Pods()
	connect := func(context.Context, *registry.Store, registry.ConnectRequest) error { return nil }
	pods.Subresources = []registry.Subresource{
		{Name: "exec", New: func() runtime.Object { return &corev1.PodExecOptions{} }, Connect: connect},
		{Name: "proxy", New: func() runtime.Object { return &corev1.PodProxyOptions{} }, Connect: connect},
		{Name: "portforward", New: func() runtime.Object { return &corev1.PodPortForwardOptions{} }, Connect: connect},
	}
	store := registrytest.New(t, chain, pods).Store("pods")
	for _, c := range []struct {
		subresource string
		req         registry.ConnectRequest
		want        runtime.Object
	}{
		{"exec", registry.ConnectRequest{Query: map[string][]string{
			"command": {"echo", "a"}, "container": {"c"}, "stdin": {"false"}, "stdout": {"1"}, "tty": {""},
		}}, &corev1.PodExecOptions{Command: []string{"echo", "a"}, Container: "c", Stdout: true, TTY: true}},
		{"proxy", registry.ConnectRequest{Path: "a/b"}, &corev1.PodProxyOptions{Path: "/a/b"}},
		{"portforward", registry.ConnectRequest{Query: map[string][]string{"ports": {"1", "2"}}}, &corev1.PodPortForwardOptions{Ports: []int32{1, 2}}},
	} {
		t.Run(c.subresource, func(t *testing.T) {
			c.req.Namespace, c.req.Name = "x", "p"
			if err := store.Connect(t.Context(), c.subresource, c.req); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, seen); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
		})
	}
}
