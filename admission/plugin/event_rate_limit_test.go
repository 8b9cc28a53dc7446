package plugin_test

import (
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// eventWrites writes Events to one EventRateLimit, at a time that does not pass.
type eventWrites struct {
	*testing.T
	step    registry.AdmissionStep
	catalog *registry.Catalog
	clock   *stoppedClock
}

// stoppedClock is a clock that a test sets.
type stoppedClock struct{ time.Time }

func (c *stoppedClock) Now() time.Time { return c.Time }
func (c *stoppedClock) Real() bool     { return false }

func limitEvents(t *testing.T, limits ...plugin.EventLimit) eventWrites {
	clock := &stoppedClock{time.Unix(1000, 0)}
	return eventWrites{t, plugin.EventRateLimit(limits), registry.NewCatalog(registry.CatalogConfig{Clock: clock}), clock}
}

// write creates an Event and fails the test if the error has another text.
func (w eventWrites) write(namespace, user, source, want string, changes ...func(*registry.Attributes)) {
	w.Helper()
	a := &registry.Attributes{
		Catalog: w.catalog, Operation: registry.OperationCreate, Resource: registrytest.Events(), Namespace: namespace,
		Object: &corev1.Event{Source: corev1.EventSource{Component: source}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "p"}},
	}
	for _, change := range changes {
		change(a)
	}
	if want != "" {
		want = "Too many requests: " + want
	}
	ctx := registry.WithUser(w.Context(), &authenticationv1.UserInfo{Username: user})
	if got := text(w.step.Validate(ctx, a)); got != want {
		w.Errorf("got %q\nwant %q", got, want)
	}
}

func TestEventRateLimit(t *testing.T) {
	limit := func(kind string) plugin.EventLimit { return plugin.EventLimit{Type: kind, QPS: 1, Burst: 1} }
	oneUser := limit("User")
	oneUser.CacheSize = 1
	type write struct{ namespace, user, source, want string }
	for _, tc := range []struct {
		rule   string
		limits []plugin.EventLimit
		writes []write
	}{
		{"of a namespace", []plugin.EventLimit{limit("Namespace")}, []write{
			{"a", "jane", "s", ""},
			{"b", "jane", "s", ""},
			{"a", "john", "t", "limit reached on type Namespace for key a"},
		}},
		{"of a user", []plugin.EventLimit{limit("User")}, []write{
			{"a", "jane", "s", ""},
			{"a", "john", "s", ""},
			{"b", "jane", "t", "limit reached on type User for key jane"},
		}},
		{"of a source and an object", []plugin.EventLimit{limit("SourceAndObject")}, []write{
			{"a", "jane", "s", ""},
			{"a", "jane", "t", ""},
			{"b", "john", "s", "limit reached on type SourceAndObject for key sPodp"},
		}},
		{"several", []plugin.EventLimit{limit("User"), limit("Namespace")}, []write{
			{"a", "jane", "s", ""},
			{"a", "john", "s", "limit reached on type Namespace for key a"},
			{"a", "john", "s", "[limit reached on type User for key john, limit reached on type Namespace for key a]"},
		}},
		{"of the latest users", []plugin.EventLimit{oneUser}, []write{
			{"a", "jane", "s", ""},
			{"a", "john", "s", ""},
			{"a", "jane", "s", ""},
			{"a", "jane", "s", "limit reached on type User for key jane"},
		}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			w := limitEvents(t, tc.limits...)
			for _, write := range tc.writes {
				w.write(write.namespace, write.user, write.source, write.want)
			}
		})
	}
}

func TestEventRateLimitOfTheServer(t *testing.T) {
	const reached = "limit reached on type Server for key "
	w := limitEvents(t, plugin.EventLimit{Type: "Server", QPS: 2, Burst: 3, CacheSize: -1})
	w.write("a", "jane", "s", "")
	w.write("b", "john", "t", "", func(a *registry.Attributes) { a.Operation = registry.OperationUpdate })
	w.write("c", "jane", "s", "")
	w.write("a", "jane", "s", reached)
	w.clock.Time = w.clock.Add(time.Second)
	w.write("a", "jane", "s", "")
	w.write("a", "jane", "s", "")
	w.write("a", "jane", "s", reached)
}

func TestEventRateLimitIgnores(t *testing.T) {
	w := limitEvents(t, plugin.EventLimit{Type: "Server", QPS: 1, Burst: 1})
	w.write("a", "jane", "s", "")
	for _, change := range []func(*registry.Attributes){
		func(a *registry.Attributes) { a.Options.DryRun = true },
		func(a *registry.Attributes) { a.Operation, a.Object = registry.OperationDelete, nil },
		func(a *registry.Attributes) { a.Resource, a.Object = registrytest.ConfigMaps(), &corev1.ConfigMap{} },
		func(a *registry.Attributes) { a.Resource = &registry.Resource{Group: "events.k8s.io", Name: "events"} },
	} {
		w.write("a", "jane", "s", "", change)
	}
	w.write("a", "jane", "s", "limit reached on type Server for key ")
}
