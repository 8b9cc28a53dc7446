package oidc

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	upstream "k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"
)

// newLatency returns the metric of authentications, under the name of kube-apiserver.
func newLatency() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "apiserver_authentication_jwt_authenticator_latency_seconds",
		Help:    "Duration in seconds of the authentication of a token, by result and issuer.",
		Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"result", "jwt_issuer_hash"})
}

// Collector returns the metrics of the authenticator.
func (a *Authenticator) Collector() prometheus.Collector { return a.latency }

// Reloads returns the metrics of the reloads of the file.
func (a *Authenticator) Reloads() prometheus.Collector { return a.current.Collector("authentication") }

// observedTokens authenticates the tokens of one issuer.
type observedTokens struct {
	upstream.AuthenticatorTokenWithHealthCheck
	succeeded, failed prometheus.Observer
}

func (a *Authenticator) observe(issuer string, tokens upstream.AuthenticatorTokenWithHealthCheck) observedTokens {
	hash := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(issuer)))
	return observedTokens{tokens, a.latency.WithLabelValues("success", hash), a.latency.WithLabelValues("failure", hash)}
}

// authenticate authenticates a token. A token of another issuer is not observed.
func (o observedTokens) authenticate(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	started := time.Now()
	response, ok, err := o.AuthenticateToken(ctx, token)
	switch {
	case err != nil:
		o.failed.Observe(time.Since(started).Seconds())
	case ok:
		o.succeeded.Observe(time.Since(started).Seconds())
	}
	return response, ok, err
}
