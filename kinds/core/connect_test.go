package core_test

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// connectable creates objects in each state that Connect distinguishes.
func connectable(e env) {
	e.Helper()
	node := &corev1.Node{Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.3.3.3"}}}}
	node.Name = "n"
	e.Create("nodes", node)
	bare := &corev1.Node{}
	bare.Name = "bare"
	e.Create("nodes", bare)
	e.Create("pods", newPod("unscheduled"))
	for pod, host := range map[string]string{"p": "n", "lost": "gone"} {
		scheduled := newPod(pod)
		scheduled.Spec.NodeName = host
		e.Create("pods", scheduled)
	}
	two := newPod("two")
	two.Spec.Containers = append(two.Spec.Containers, corev1.Container{Name: "d", Image: "i"})
	two.Spec.InitContainers = []corev1.Container{{Name: "i", Image: "i"}}
	e.Create("pods", two)
	addressed := newPod("addressed")
	addressed.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080}}
	e.Create("pods", addressed)
	mustPut(e, "pods", "addressed", "status", func(p *corev1.Pod) { p.Status.PodIP = "10.9.9.9" })
	e.Create("services", &corev1.Service{ObjectMeta: named("s"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}}})
	e.Create("services", &corev1.Service{ObjectMeta: named("empty"), Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}})
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: named("s-1"), AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{
			{Addresses: []string{"10.9.9.8"}, Conditions: discoveryv1.EndpointConditions{Ready: new(false)}},
			{Addresses: []string{"10.9.9.9"}},
		},
		Ports: []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(8080))}},
	}
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: "s"}
	e.Create("endpointslices.discovery.k8s.io", slice)
}

func TestServiceProxyOfOlderReleasesUsesEndpoints(t *testing.T) {
	e := env{registrytest.New(t, nil, kinds.Resources(feature.At(36))...)}
	e.Create("endpoints", &corev1.Endpoints{ObjectMeta: named("empty")})
	e.Create("endpoints", &corev1.Endpoints{ObjectMeta: named("s"), Subsets: []corev1.EndpointSubset{{
		Addresses: []corev1.EndpointAddress{{IP: "10.9.9.9"}},
		Ports:     []corev1.EndpointPort{{Name: "http", Port: 8080}},
	}}})
	for name, want := range map[string]string{
		"absent":  `services "absent" not found`,
		"empty":   `no endpoints available for service "empty"`,
		"s:http":  `error trying to reach service: dial tcp 10.9.9.9:8080: connect: connection refused`,
		"s:other": `no endpoints available for service "s:other"`,
	} {
		err := e.Store("services").Connect(t.Context(), "proxy", registry.ConnectRequest{Namespace: "default", Name: name, Method: "GET"})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestConnectWithoutKubelet(t *testing.T) {
	e := newEnv(t)
	connectable(e)
	for _, tc := range []struct {
		resource, name, subresource string
		query                       map[string][]string
		want                        string // "": no error
	}{
		{"pods", "unscheduled", "log", nil, ""},
		{"pods", "absent", "log", nil, `pods "absent" not found`},
		{"pods", "lost", "log", nil, `pods "gone" not found`},
		{"pods", "p", "log", nil, `Get "https://10.3.3.3:10250/containerLogs/default/p/c": dial tcp 10.3.3.3:10250: connect: connection refused`},
		{"pods", "two", "log", nil, `a container name must be specified for pod two, choose one of: [c d] or one of the init containers: [i]`},
		{"pods", "two", "log", map[string][]string{"container": {"x"}}, `container x is not valid for pod two`},
		{"pods", "absent", "log", map[string][]string{"tailLines": {"-1"}, "limitBytes": {"0"}, "sinceSeconds": {"0"}, "stream": {"All"}},
			"PodLogOptions \"absent\" is invalid: [tailLines: Invalid value: -1: must be greater than or equal to 0, " +
				"limitBytes: Invalid value: 0: must be greater than 0, sinceSeconds: Invalid value: 0: must be greater than 0, " +
				"stream: Forbidden: may not be specified]"},
		{"pods", "absent", "log", map[string][]string{"sinceSeconds": {"1"}, "sinceTime": {"2020-01-01T00:00:00Z"}},
			"PodLogOptions \"absent\" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"},
		{"pods", "unscheduled", "log", map[string][]string{"tailLines": {"a"}}, `strconv.ParseInt: parsing "a": invalid syntax`},
		{"pods", "unscheduled", "log", map[string][]string{"tailLines": {"5"}, "sinceTime": {"2020-01-01T00:00:00Z"}}, ""},
		{"pods", "two", "exec", map[string][]string{"container": {"i"}}, `pod two does not have a host assigned`},
		{"pods", "p", "exec", nil, `error dialing backend: dial tcp 10.3.3.3:10250: connect: connection refused`},
		{"pods", "p", "attach", nil, `error dialing backend: dial tcp 10.3.3.3:10250: connect: connection refused`},
		{"pods", "two", "portforward", nil, `pod two does not have a host assigned`},
		{"pods", "p", "proxy", nil, `address not allowed`},
		{"pods", "addressed", "proxy", nil, `error trying to reach service: dial tcp 10.9.9.9:8080: connect: connection refused`},
		{"pods", "addressed:90", "proxy", nil, `error trying to reach service: dial tcp 10.9.9.9:90: connect: connection refused`},
		{"nodes", "n", "proxy", nil, `error trying to reach service: dial tcp 10.3.3.3:10250: connect: connection refused`},
		{"nodes", "bare", "proxy", nil, `no preferred addresses found; known addresses: []`},
		{"nodes", "absent", "proxy", nil, `nodes "absent" not found`},
		{"services", "absent", "proxy", nil, `no endpoints available for service "absent"`},
		{"services", "absent:80", "proxy", nil, `services "absent" not found`},
		{"services", "empty", "proxy", nil, `no endpoints available for service "empty"`},
		{"services", "s:http", "proxy", nil, `error trying to reach service: dial tcp 10.9.9.9:8080: connect: connection refused`},
		{"services", "s:80", "proxy", nil, `error trying to reach service: dial tcp 10.9.9.9:8080: connect: connection refused`},
		{"services", "s:81", "proxy", nil, `no service port 81 found for service "s"`},
		{"services", "s:other", "proxy", nil, `no endpoints available for service "s"`},
	} {
		err := e.Store(tc.resource).Connect(t.Context(), tc.subresource, registry.ConnectRequest{
			Namespace: namespaceOf(e, tc.resource), Name: tc.name, Query: tc.query, Method: "GET",
		})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s/%s/%s: %q, want %q", tc.resource, tc.name, tc.subresource, got, tc.want)
		}
	}
}

func TestTokensRequireSigningKeys(t *testing.T) {
	e := newEnv(t)
	e.Create("serviceaccounts", &corev1.ServiceAccount{ObjectMeta: named("a")})
	for _, tc := range []struct {
		name, account string
		request       authenticationv1.TokenRequest
		want          string
	}{
		{"an existing account", "a", authenticationv1.TokenRequest{},
			`cannot issue a token for serviceaccounts "a": this server has no keys to sign tokens with`},
		{"a missing account", "b", authenticationv1.TokenRequest{}, `serviceaccounts "b" not found`},
		{"too short", "a", authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(5))}},
			`TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes`},
		{"too long", "a", authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(1<<32 + 1))}},
			`TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds`},
	} {
		if err := e.post("serviceaccounts", tc.account, "token", &tc.request); err == nil || err.Error() != tc.want {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
}
