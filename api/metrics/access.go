package metrics

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/registry"
)

// accessBuckets are the buckets of the durations of authentication and authorization.
var accessBuckets = prometheus.ExponentialBuckets(0.001, 2, 15)

// outcome has the metrics of one result of authentication or authorization.
type outcome struct {
	attempts  prometheus.Counter
	durations prometheus.Observer
}

func (o outcome) observe(started time.Time) {
	o.attempts.Inc()
	o.durations.Observe(time.Since(started).Seconds())
}

// access has the metrics of authentication and authorization. All labels are bound in advance,
// because every request is observed.
type access struct {
	authenticated, unauthenticated, authenticationFailed outcome
	allowed, denied, noOpinion, authorizationFailed      outcome

	users               map[string]prometheus.Counter // by name
	emailUser, someUser prometheus.Counter
}

func (m *Metrics) addAccess() {
	result := []string{"result"}
	authentications := m.counter("authentication_attempts", "Authentications of requests, by result.", result)
	authenticationTimes := m.histogram("authentication_duration_seconds",
		"Duration of authentications in seconds, by result.", result, accessBuckets)
	authorizations := m.counter("authorization_attempts_total", "Authorizations of requests, by result.", result)
	authorizationTimes := m.histogram("authorization_duration_seconds",
		"Duration of authorizations in seconds, by result.", result, accessBuckets)
	authentication := func(result string) outcome {
		return outcome{authentications.WithLabelValues(result), authenticationTimes.WithLabelValues(result)}
	}
	authorization := func(result string) outcome {
		return outcome{authorizations.WithLabelValues(result), authorizationTimes.WithLabelValues(result)}
	}
	users := m.counter("authenticated_user_requests", "Authenticated requests, by kind of user.", []string{"username"})
	m.access = access{
		authenticated: authentication("success"), unauthenticated: authentication("failure"), authenticationFailed: authentication("error"),
		allowed: authorization("allowed"), denied: authorization("denied"), noOpinion: authorization("no-opinion"),
		authorizationFailed: authorization("error"),
		users:               map[string]prometheus.Counter{}, emailUser: users.WithLabelValues("email_id"), someUser: users.WithLabelValues("other"),
	}
	for _, name := range []string{"admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"} {
		m.access.users[name] = users.WithLabelValues(name)
	}
}

// user returns the counter of the requests of a user. As in kube-apiserver, few names have their
// own counter, so that clients cannot create metrics.
func (a *access) user(name string) prometheus.Counter {
	if own, ok := a.users[name]; ok {
		return own
	}
	if strings.Contains(name, "@") {
		return a.emailUser
	}
	return a.someUser
}

// Authenticator returns an authenticator that observes another one, see filters.Authenticator.
func (m *Metrics) Authenticator(
	authenticate func(*http.Request) (*authenticationv1.UserInfo, error),
) func(*http.Request) (*authenticationv1.UserInfo, error) {
	return func(r *http.Request) (*authenticationv1.UserInfo, error) {
		started := time.Now()
		user, err := authenticate(r)
		switch {
		case err != nil:
			m.access.authenticationFailed.observe(started)
		case user == nil:
			m.access.unauthenticated.observe(started)
		default:
			m.access.user(user.Username).Inc()
			m.access.authenticated.observe(started)
		}
		return user, err
	}
}

// Authorizer returns an authorizer that observes another one.
func (m *Metrics) Authorizer(next registry.Authorizer) registry.Authorizer {
	return observedAuthorizer{next, m}
}

type observedAuthorizer struct {
	registry.Authorizer
	metrics *Metrics
}

// Authorize implements registry.Authorizer.
func (o observedAuthorizer) Authorize(ctx context.Context, access registry.Access) (registry.Decision, error) {
	started := time.Now()
	decision, err := o.Authorizer.Authorize(ctx, access)
	switch results := &o.metrics.access; {
	case decision.Allowed:
		results.allowed.observe(started)
	case err != nil:
		results.authorizationFailed.observe(started)
	case decision.Denied:
		results.denied.observe(started)
	default:
		results.noOpinion.observe(started)
	}
	return decision, err
}
