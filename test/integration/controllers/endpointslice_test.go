package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/miniapi/miniapi"
)

func endpointSlices() miniapi.Config {
	return miniapi.Config{Controllers: []string{"*", "endpointslice"}, Pods: miniapi.PodsInstant}
}

// createService creates the Service s, which selects the pods with the label app=s.
func (e *env) createService(edits ...func(*corev1.Service)) *corev1.Service {
	e.Helper()
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s", Labels: map[string]string{"team": "x"}}}
	s.Spec.Selector = map[string]string{"app": "s"}
	s.Spec.Ports = []corev1.ServicePort{{Name: "web", Port: 80, TargetPort: intstr.FromInt32(8080)}}
	for _, edit := range edits {
		edit(s)
	}
	created, err := e.client.CoreV1().Services("default").Create(e.Context(), s, metav1.CreateOptions{})
	e.check(err)
	return created
}

func ofService(p *corev1.Pod) { metav1.SetMetaDataLabel(&p.ObjectMeta, "app", "s") }

// awaitSlices waits until the slices of the Service s meet a condition, and returns them.
func (e *env) awaitSlices(what string, done func([]discoveryv1.EndpointSlice) bool) (list []discoveryv1.EndpointSlice) {
	e.Helper()
	e.await("EndpointSlices: "+what, func(ctx context.Context) bool {
		found, err := e.client.DiscoveryV1().EndpointSlices("default").List(ctx, metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=s"})
		e.check(err)
		list = found.Items
		return done(list)
	})
	return list
}

// ready returns "POD:PORT" of the ready endpoints, sorted.
func ready(list []discoveryv1.EndpointSlice) string {
	var names []string
	for _, slice := range list {
		for _, endpoint := range slice.Endpoints {
			if *endpoint.Conditions.Ready {
				names = append(names, fmt.Sprintf("%s:%d", endpoint.TargetRef.Name, *slice.Ports[0].Port))
			}
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// readyAre reports whether the ready endpoints are those in want. An empty slice of a new Service
// has other ports and is deleted after the first slice with endpoints is created: until then the
// result is false.
func readyAre(want string) func([]discoveryv1.EndpointSlice) bool {
	return func(list []discoveryv1.EndpointSlice) bool {
		empty := slices.ContainsFunc(list, func(s discoveryv1.EndpointSlice) bool { return len(s.Endpoints) == 0 })
		return !empty && ready(list) == want
	}
}

func TestAnEndpointSliceHasTheReadyPods(t *testing.T) {
	e := start(t, endpointSlices())
	service := e.createService()
	empty := e.awaitSlices("an empty one", func(list []discoveryv1.EndpointSlice) bool { return len(list) == 1 })
	if s := empty[0]; len(s.Endpoints)+len(s.Ports) > 0 || s.AddressType != discoveryv1.AddressTypeIPv4 {
		t.Errorf("slice %+v", s)
	}
	e.createPod(pod("other"))
	e.createPod(pod("a", ofService))
	list := e.awaitSlices("the pod", readyAre("a:8080"))
	a := e.getPod("a")
	if len(list) != 1 || !metav1.IsControlledBy(&list[0], service) || list[0].Labels["team"] != "x" ||
		list[0].Labels["endpointslice.kubernetes.io/managed-by"] != "endpointslice-controller.k8s.io" {
		t.Fatalf("slices %+v", list)
	}
	endpoint := list[0].Endpoints[0]
	if endpoint.Addresses[0] != a.Status.PodIP || *endpoint.NodeName != "miniapi" || endpoint.TargetRef.UID != a.UID || !*endpoint.Conditions.Serving || *endpoint.Conditions.Terminating {
		t.Errorf("endpoint %+v", endpoint)
	}
	if port := list[0].Ports[0]; *port.Name != "web" || *port.Protocol != corev1.ProtocolTCP {
		t.Errorf("port %+v", port)
	}
	e.createPod(pod("b", ofService))
	e.awaitSlices("two pods", readyAre("a:8080 b:8080"))
	e.check(e.client.CoreV1().Pods("default").Delete(t.Context(), "a", metav1.DeleteOptions{}))
	e.awaitSlices("one pod", readyAre("b:8080"))
}

func TestAnUnreadyPodIsNotReadyInItsSlice(t *testing.T) {
	e := start(t, endpointSlices())
	e.createService()
	e.createPod(pod("a", ofService))
	e.awaitSlices("the pod", readyAre("a:8080"))
	_, err := e.client.CoreV1().Pods("default").Patch(t.Context(), "a", types.StrategicMergePatchType,
		[]byte(`{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`), metav1.PatchOptions{}, "status")
	e.check(err)
	list := e.awaitSlices("no ready pod", readyAre(""))
	if len(list) != 1 || len(list[0].Endpoints) != 1 {
		t.Errorf("slices %+v", list)
	}
}

func TestNamedPortsAreResolvedPerPod(t *testing.T) {
	e := start(t, endpointSlices())
	e.createService(func(s *corev1.Service) { s.Spec.Ports[0].TargetPort = intstr.FromString("http") })
	with := func(port int32) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: port}}
		}
	}
	e.createPod(pod("a", ofService, with(1)))
	e.createPod(pod("b", ofService, with(2)))
	if list := e.awaitSlices("both ports", readyAre("a:1 b:2")); len(list) != 2 {
		t.Errorf("%d slices", len(list))
	}
}

// A change of the ports of a Service replaces its slices.
func TestThePortsOfAServiceChange(t *testing.T) {
	e := start(t, endpointSlices())
	e.createService()
	e.createPod(pod("a", ofService))
	e.awaitSlices("the pod", readyAre("a:8080"))
	_, err := e.client.CoreV1().Services("default").Patch(t.Context(), "s", types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/ports/0/targetPort","value":9090}]`), metav1.PatchOptions{})
	e.check(err)
	e.awaitSlices("the new port", func(list []discoveryv1.EndpointSlice) bool { return len(list) == 1 && ready(list) == "a:9090" })
}

func TestLargeServicesHaveSeveralSlices(t *testing.T) {
	e := start(t, endpointSlices())
	for i := range 120 {
		e.createPod(pod(fmt.Sprintf("p%03d", i), ofService))
	}
	e.awaitPod("p119", "ready", isReady)
	e.createService()
	list := e.awaitSlices("all pods", func(list []discoveryv1.EndpointSlice) bool { return len(strings.Fields(ready(list))) == 120 })
	for _, slice := range list {
		if len(slice.Endpoints) > 100 {
			t.Errorf("%d endpoints", len(slice.Endpoints))
		}
	}
}

func TestHeadlessServices(t *testing.T) {
	e := start(t, endpointSlices())
	e.createService(func(s *corev1.Service) { s.Spec.ClusterIP = corev1.ClusterIPNone })
	e.createPod(pod("a", ofService, func(p *corev1.Pod) { p.Spec.Hostname, p.Spec.Subdomain = "host", "s" }))
	list := e.awaitSlices("the pod", readyAre("a:8080"))
	if _, ok := list[0].Labels["service.kubernetes.io/headless"]; !ok || *list[0].Endpoints[0].Hostname != "host" {
		t.Errorf("slices %+v", list)
	}
}

// The slices of a Service without a selector belong to the user, and those of a deleted Service are
// collected.
func TestSlicesEndWithTheirService(t *testing.T) {
	e := start(t, endpointSlices())
	e.createService()
	e.awaitSlices("one", func(list []discoveryv1.EndpointSlice) bool { return len(list) == 1 })
	e.check(e.client.CoreV1().Services("default").Delete(t.Context(), "s", metav1.DeleteOptions{}))
	e.awaitSlices("none", func(list []discoveryv1.EndpointSlice) bool { return len(list) == 0 })
	own := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Name: "own", Labels: map[string]string{"kubernetes.io/service-name": "s"}}, AddressType: discoveryv1.AddressTypeIPv4}
	_, err := e.client.DiscoveryV1().EndpointSlices("default").Create(t.Context(), own, metav1.CreateOptions{})
	e.check(err)
	e.createService(func(s *corev1.Service) { s.Spec.Selector = nil })
	e.createPod(pod("a", ofService))
	e.awaitPod("a", "ready", isReady)
	e.awaitSlices("the user's", func(list []discoveryv1.EndpointSlice) bool { return len(list) == 1 && list[0].Name == "own" })
}
