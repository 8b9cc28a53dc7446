package integration_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/auth/certs"
	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/internal/servertest"
)

const things = "/apis/ext.example.org/v1/namespaces/default/things"

// thingsDocument is the OpenAPI document of things.
const thingsDocument = `{"openapi":"3.0.0","info":{"title":"things","version":"1"},
	"paths":{"/apis/ext.example.org/v1/namespaces/{namespace}/things":{"get":{"x-kubernetes-action":"list",
	"x-kubernetes-group-version-kind":{"group":"ext.example.org","kind":"Thing","version":"v1"},"responses":{}}}},"components":{"schemas":{"org.example.ext.v1.Thing":{
	"type":"object","description":"A Thing is served by an extension API server.","properties":{"spec":{"type":"string","description":"What it is."}},
	"x-kubernetes-group-version-kind":[{"group":"ext.example.org","kind":"Thing","version":"v1"}]}}}}`

// startExtension starts an extension API server. It requires a client certificate of the front
// proxy, returns the headers of a request, and streams watches.
func startExtension(t *testing.T, front []byte) (port string, authority *certs.Authority) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/apis/ext.example.org/v1", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"ext.example.org/v1","resources":[
			{"name":"things","singularName":"thing","namespaced":true,"kind":"Thing","verbs":["get","list"],"shortNames":["th"]},
			{"name":"things/status","namespaced":true,"kind":"Thing","verbs":["get"]}]}`)
	})
	mux.HandleFunc("/openapi/v3", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"paths":{"version":{"serverRelativeURL":"/openapi/v3/version?hash=X"},"apis/ext.example.org/v1":{"serverRelativeURL":"/openapi/v3/apis/ext.example.org/v1?hash=ABC"}}}`)
	})
	mux.HandleFunc("/openapi/v3/apis/ext.example.org/v1", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("hash") != "ABC" {
			http.Redirect(w, r, r.URL.Path+"?hash=ABC", http.StatusMovedPermanently)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, thingsDocument)
	})
	mux.HandleFunc(things, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Query().Has("redirect"):
			http.Redirect(w, r, "https://other.example.org/", http.StatusFound)
		case r.Header.Get("Upgrade") != "":
			echo(w)
		case r.URL.Query().Has("watch"):
			io.WriteString(w, "first\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case r.URL.Query().Has("slow"):
			<-r.Context().Done()
		default:
			w.WriteHeader(http.StatusTeapot)
			json.NewEncoder(w).Encode(r.Header)
		}
	})
	authority, err := certs.NewAuthority("extension")
	check(t, err)
	pair, err := authority.IssueServing("ext.default.svc")
	check(t, err)
	certificate, err := pair.TLS()
	check(t, err)
	server := httptest.NewUnstartedServer(mux)
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(front)
	server.TLS = &tls.Config{
		Certificates: []tls.Certificate{certificate}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert,
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()[len("127.0.0.1:"):], authority
}

// echo upgrades the connection to a protocol that returns the first line.
func echo(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	line, _ := bufio.NewReader(conn).ReadString('\n')
	io.WriteString(conn, line)
}

// aggregation is a server with the resources of aggregation.
type aggregation struct {
	t      *testing.T
	server *miniapi.Server
	client dynamic.Interface
}

func newAggregation(t *testing.T, config miniapi.Config) *aggregation {
	t.Helper()
	a := &aggregation{t: t, server: servertest.Start(t, config)}
	var err error
	a.client, err = dynamic.NewForConfig(a.server.RESTConfig())
	check(t, err)
	return a
}

func (a *aggregation) services() dynamic.ResourceInterface {
	return a.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "services"}).Namespace("default")
}

func (a *aggregation) apiServices() dynamic.ResourceInterface {
	return a.client.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
}

func (a *aggregation) create(in dynamic.ResourceInterface, object string) {
	a.t.Helper()
	var u unstructured.Unstructured
	check(a.t, u.UnmarshalJSON([]byte(object)))
	_, err := in.Create(a.t.Context(), &u, metav1.CreateOptions{})
	check(a.t, err)
}

// register creates the APIService v1.ext.example.org.
func (a *aggregation) register(spec string) {
	a.t.Helper()
	a.create(a.apiServices(), `{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1.ext.example.org"},
		"spec":{"group":"ext.example.org","version":"v1","groupPriorityMinimum":100,"versionPriority":100`+spec+`}}`)
}

// await waits until the reason of the condition Available is the given one and returns the
// condition.
func (a *aggregation) await(reason string) map[string]any {
	a.t.Helper()
	watcher, err := a.apiServices().Watch(a.t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=v1.ext.example.org"})
	check(a.t, err)
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		conditions, _, _ := unstructured.NestedSlice(event.Object.(*unstructured.Unstructured).Object, "status", "conditions")
		for _, c := range conditions {
			if condition := c.(map[string]any); condition["type"] == "Available" && condition["reason"] == reason {
				return condition
			}
		}
	}
	a.t.Fatal("the watch has ended")
	return nil
}

// extend starts an extension API server and registers it.
func (a *aggregation) extend() {
	a.t.Helper()
	front, err := a.server.FrontProxyCA()
	check(a.t, err)
	port, authority := startExtension(a.t, front)
	a.create(a.services(), `{"apiVersion":"v1","kind":"Service","metadata":{"name":"ext"},"spec":{"type":"ExternalName","externalName":"localhost"}}`)
	bundle, err := json.Marshal(authority.CertificatePEM())
	check(a.t, err)
	a.register(`,"caBundle":` + string(bundle) + `,"service":{"namespace":"default","name":"ext","port":` + port + `}`)
	a.await("Passed")
}

// fetch gets a path with the credentials of config.
func fetch(t *testing.T, config *rest.Config, path string) (status int, body string) {
	t.Helper()
	resp, err := servertest.HTTPClient(t, config).Get(config.Host + path)
	check(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	check(t, err)
	return resp.StatusCode, string(data)
}

func TestAggregatedRequestsAreProxied(t *testing.T) {
	for name, config := range map[string]miniapi.Config{
		"over plain HTTP with impersonation": {},
		"over TLS":                           {Secure: &miniapi.Secure{}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAggregation(t, config)
			a.extend()
			jane, err := a.server.AddUser("jane", "devs")
			check(t, err)
			status, body := fetch(t, jane, things)
			var headers http.Header
			check(t, json.Unmarshal([]byte(body), &headers))
			if status != http.StatusTeapot {
				t.Errorf("status %d", status)
			}
			got := map[string][]string{"user": headers["X-Remote-User"], "groups": headers["X-Remote-Group"]}
			want := map[string][]string{"user": {"jane"}, "groups": {"devs", "system:authenticated"}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			for header := range headers {
				if strings.HasPrefix(header, "Impersonate-") || header == "Authorization" {
					t.Errorf("header %s was forwarded", header)
				}
			}
		})
	}
}

func TestAggregatedStreamsAreProxied(t *testing.T) {
	a := newAggregation(t, miniapi.Config{})
	a.extend()
	resp, err := http.Get(a.server.URL() + things + "?watch=true")
	check(t, err)
	defer resp.Body.Close()
	stream := bufio.NewReader(resp.Body)
	if line, err := stream.ReadString('\n'); err != nil || line != "first\n" {
		t.Errorf("watch: %q, %v", line, err)
	}

	at, err := url.Parse(a.server.URL())
	check(t, err)
	conn, err := net.Dial("tcp", at.Host)
	check(t, err)
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n", things)
	reader := bufio.NewReader(conn)
	upgraded, err := http.ReadResponse(reader, nil)
	check(t, err)
	if upgraded.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("upgrade: %s", upgraded.Status)
	}
	io.WriteString(conn, "hello\n")
	if line, err := reader.ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("echo: %q, %v", line, err)
	}

	// Stop ends the streams.
	check(t, servertest.Stop(a.server))
	if rest, _ := io.ReadAll(stream); len(rest) > 0 {
		t.Errorf("the watch continues with %q", rest)
	}
}

// A redirect, a missing response and a failed upgrade of an extension API server become errors.
func TestAggregatedResponsesThatAreNotProxied(t *testing.T) {
	a := newAggregation(t, miniapi.Config{})
	a.extend()
	for name, c := range map[string]struct {
		query, upgrade string
		status         int
		contentType    string
		body           string
	}{
		"redirect": {"?redirect", "", http.StatusBadGateway, "text/plain; charset=utf-8",
			"the backend attempted to redirect this request, which is not permitted"},
		"redirect of an upgrade": {"?redirect", "echo", http.StatusServiceUnavailable, "text/plain; charset=utf-8",
			"invalid upgrade response: status code 302\n"},
		"no response before the deadline": {"?slow&timeout=100ms", "", http.StatusGatewayTimeout, "application/json",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}` + "\n"},
		"an invalid timeout": {"?timeout=soon", "", http.StatusBadRequest, "application/json", `invalid timeout specified in the request URL`},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.server.URL()+things+c.query, nil)
			check(t, err)
			if c.upgrade != "" {
				r.Header.Set("Connection", "Upgrade")
				r.Header.Set("Upgrade", c.upgrade)
			}
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			res, err := transport.RoundTrip(r)
			check(t, err)
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			check(t, err)
			if res.StatusCode != c.status || res.Header.Get("Content-Type") != c.contentType || !strings.Contains(string(body), c.body) || res.Header.Get("Location") != "" {
				t.Errorf("%s %v %s", res.Status, res.Header, body)
			}
		})
	}
}

// Paths with empty segments are authorized as resource requests, not as discovery.
func TestUnusualAggregatedPathsAreAuthorized(t *testing.T) {
	a := newAggregation(t, miniapi.Config{Authorization: miniapi.RBAC})
	a.extend()
	for path, want := range map[string]string{
		"/apis/ext.example.org/v1//things":                          `cannot get resource \"\" in API group \"ext.example.org\" at the cluster scope`,
		"/apis/ext.example.org/v1/%2Fthings":                        `cannot get resource \"\" in API group \"ext.example.org\" at the cluster scope`,
		"/apis/ext.example.org/v1/namespaces//things":               `cannot list resource \"things\" in API group \"ext.example.org\" at the cluster scope`,
		"/apis/ext.example.org/v1/namespaces/default//things":       `cannot get resource \"\" in API group \"ext.example.org\" in the namespace`,
		"/apis/ext.example.org/v1/namespaces/default/things//a":     `cannot list resource \"things/a\" in API group \"ext.example.org\"`,
		"/apis/ext.example.org/v1/proxy/namespaces/default/things":  `cannot proxy resource \"things\" in API group \"ext.example.org\"`,
		"/apis/ext.example.org/v1/things/..%2f..%2fv1":              `cannot get resource \"things/..\" in API group \"ext.example.org\"`,
		"/apis/ext.example.org%2Fv1/things":                         `cannot list resource \"things\" in API group \"ext.example.org\"`,
		"/apis/ext.example.org/v1/things?fieldSelector=a&watch=yes": `cannot watch resource \"things\" in API group \"ext.example.org\"`,
	} {
		if status, body := sendAs(t, a.server.RESTConfig(), "jane", "GET "+path, jsonType, ""); status != http.StatusForbidden || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if status, body := sendAs(t, a.server.RESTConfig(), "jane", "GET /apis/ext.example.org/v1", jsonType, ""); status != http.StatusOK {
		t.Errorf("discovery: %d %s", status, body)
	}
}

func TestAggregatedDiscovery(t *testing.T) {
	a := newAggregation(t, miniapi.Config{CRDs: []string{write(t, t.TempDir(), "crd.yaml", definition("widgets", "Widget"))}})
	a.extend()
	for name, client := range map[string]discovery.DiscoveryInterface{
		"aggregated": discovery.NewDiscoveryClientForConfigOrDie(a.server.RESTConfig()),
		"legacy":     discovery.NewDiscoveryClientForConfigOrDie(a.server.RESTConfig()).WithLegacy(),
	} {
		t.Run(name, func(t *testing.T) {
			groups, lists, err := client.ServerGroupsAndResources()
			check(t, err)
			var last []string
			for _, group := range groups[len(groups)-2:] {
				last = append(last, group.Name)
			}
			if diff := cmp.Diff([]string{"example.org", "ext.example.org"}, last); diff != "" {
				t.Errorf("groups are not ordered by priority:\n%s", diff)
			}
			i := slices.IndexFunc(lists, func(l *metav1.APIResourceList) bool { return l.GroupVersion == "ext.example.org/v1" })
			if i < 0 {
				t.Fatal("the group version is missing")
			}
			var found []string
			for _, r := range lists[i].APIResources {
				found = append(found, fmt.Sprintf("%s %s %v %v %v", r.Name, r.Kind, r.Namespaced, r.Verbs, r.ShortNames))
			}
			if diff := cmp.Diff([]string{"things Thing true [get list] [th]", "things/status Thing true [get] []"}, found); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// While an extension API server is available, the OpenAPI index links its document of the group
// version, and no other document of it.
func TestAggregatedOpenAPI(t *testing.T) {
	a := newAggregation(t, miniapi.Config{})
	a.extend()
	config := a.server.RESTConfig()
	index := func() map[string]struct{ ServerRelativeURL string } {
		t.Helper()
		var index struct {
			Paths map[string]struct{ ServerRelativeURL string }
		}
		_, body := fetch(t, config, "/openapi/v3")
		check(t, json.Unmarshal([]byte(body), &index))
		return index.Paths
	}
	link := index()["apis/ext.example.org/v1"].ServerRelativeURL
	if link != "/openapi/v3/apis/ext.example.org/v1?hash=ABC" {
		t.Errorf("link %q", link)
	}
	if version := index()["version"].ServerRelativeURL; strings.HasSuffix(version, "hash=X") {
		t.Errorf("link of a document of this server: %s", version)
	}
	if status, body := fetch(t, config, link); status != http.StatusOK || body != thingsDocument {
		t.Errorf("%s: %d %s", link, status, body)
	}
	if status, body := fetch(t, config, strings.Replace(link, "ABC", "OLD", 1)); status != http.StatusBadGateway {
		t.Errorf("an old hash, which the extension redirects: %d %s", status, body)
	}
	check(t, a.services().Delete(t.Context(), "ext", metav1.DeleteOptions{}))
	a.await("ServiceNotFound")
	if link := index()["apis/ext.example.org/v1"].ServerRelativeURL; strings.HasSuffix(link, "hash=ABC") {
		t.Errorf("link without a service: %s", link)
	}
}

func TestAPIServiceAvailability(t *testing.T) {
	const service = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"ext"},"spec":{"ports":[{"name":"https","port":443}]}}`
	slice := func(ready, port string) string {
		return `{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"ext-1","labels":{"kubernetes.io/service-name":"ext"}},
			"addressType":"IPv4","endpoints":[{"addresses":["192.0.2.1"],"conditions":{"ready":` + ready + `}}],"ports":[{"name":"` + port + `","port":8443}]}`
	}
	const remote = `,"insecureSkipTLSVerify":true,"service":{"namespace":"default","name":"ext"}`
	for name, c := range map[string]struct {
		service, slice, spec string
		reason, message      string
		status               string
	}{
		"a local APIService": {spec: "", reason: "Local", message: "Local APIServices are always available", status: "True"},
		"missing service":    {spec: remote, reason: "ServiceNotFound", message: `service/ext in "default" is not present`, status: "False"},
		"unknown service port": {
			service: service, spec: strings.Replace(remote, `"ext"`, `"ext","port":444`, 1),
			reason: "ServicePortError", message: `service/ext in "default" is not listening on port 444`, status: "False",
		},
		"missing endpoints": {
			service: service, spec: remote,
			reason: "EndpointsNotFound", message: `cannot find endpointslices for service/ext in "default"`, status: "False",
		},
		"endpoints that are not ready": {
			service: service, slice: slice("false", "https"), spec: remote,
			reason: "MissingEndpoints", message: `endpointslices for service/ext in "default" have no addresses with port name "https"`, status: "False",
		},
		"endpoints with another port": {
			service: service, slice: slice("true", "http"), spec: remote,
			reason: "MissingEndpoints", message: `endpointslices for service/ext in "default" have no addresses with port name "https"`, status: "False",
		},
		"invalid CA bundle": {
			service: `{"apiVersion":"v1","kind":"Service","metadata":{"name":"ext"},"spec":{"type":"ExternalName","externalName":"localhost"}}`,
			spec:    `,"caBundle":"bm9uZQ==","service":{"namespace":"default","name":"ext"}`,
			reason:  "FailedDiscoveryCheck", message: "unable to load root certificates: unable to parse bytes as PEM block", status: "False",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAggregation(t, miniapi.Config{})
			if c.service != "" {
				a.create(a.services(), c.service)
			}
			if c.slice != "" {
				a.create(a.client.Resource(schema.GroupVersionResource{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"}).Namespace("default"), c.slice)
			}
			a.register(c.spec)
			condition := a.await(c.reason)
			if condition["message"] != c.message || condition["status"] != c.status {
				t.Errorf("%v", condition)
			}
			want := http.StatusServiceUnavailable
			if c.status == "True" {
				want = http.StatusNotFound // the resource does not exist
			}
			if status, body := fetch(t, a.server.RESTConfig(), things); status != want || want == http.StatusServiceUnavailable && body != "service unavailable\n" {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}

// Changes of the Service and the APIService take effect at once.
func TestAPIServiceAvailabilityFollowsTheService(t *testing.T) {
	a := newAggregation(t, miniapi.Config{})
	a.extend()
	check(t, a.services().Delete(t.Context(), "ext", metav1.DeleteOptions{}))
	a.await("ServiceNotFound")
	if status, _ := fetch(t, a.server.RESTConfig(), things); status != http.StatusServiceUnavailable {
		t.Errorf("without a service: %d", status)
	}
	a.create(a.services(), `{"apiVersion":"v1","kind":"Service","metadata":{"name":"ext"},"spec":{"type":"ExternalName","externalName":"127.0.0.1"}}`)
	a.await("Passed")
	if status, _ := fetch(t, a.server.RESTConfig(), things); status != http.StatusTeapot {
		t.Errorf("with another service: %d", status)
	}
	check(t, a.apiServices().Delete(t.Context(), "v1.ext.example.org", metav1.DeleteOptions{}))
	if status, _ := fetch(t, a.server.RESTConfig(), things); status != http.StatusNotFound {
		t.Errorf("without an APIService: %d", status)
	}
}

// With bootstrap mode full, each group version of custom resources has an APIService.
func TestCustomResourcesHaveAPIServices(t *testing.T) {
	a := newAggregation(t, miniapi.Config{Bootstrap: bootstrap.Full})
	watcher, err := a.apiServices().Watch(t.Context(), metav1.ListOptions{LabelSelector: "kube-aggregator.kubernetes.io/automanaged=true"})
	check(t, err)
	defer watcher.Stop()
	await := func(event watch.EventType) *unstructured.Unstructured {
		t.Helper()
		got := <-watcher.ResultChan()
		service, ok := got.Object.(*unstructured.Unstructured)
		if !ok || got.Type != event || service.GetName() != "v1.example.org" {
			t.Fatalf("%s of %v, want %s of v1.example.org", got.Type, got.Object, event)
		}
		return service
	}
	crd := write(t, t.TempDir(), "crd.yaml", definition("widgets", "Widget")+"---\n"+definition("gadgets", "Gadget"))
	check(t, a.server.InstallCRDs(t.Context(), crd))
	want := map[string]any{"group": "example.org", "version": "v1", "groupPriorityMinimum": int64(1000), "versionPriority": int64(100)}
	if diff := cmp.Diff(want, await(watch.Added).Object["spec"]); diff != "" {
		t.Error(diff)
	}
	definitions := a.client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	check(t, a.apiServices().Delete(t.Context(), "v1.example.org", metav1.DeleteOptions{}))
	await(watch.Deleted)
	await(watch.Added) // again, since the resources are still served
	check(t, definitions.Delete(t.Context(), "widgets.example.org", metav1.DeleteOptions{}))
	check(t, definitions.Delete(t.Context(), "gadgets.example.org", metav1.DeleteOptions{}))
	await(watch.Deleted) // with the last resource of the group version
}
