package webhook_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/internal/servertest"
)

func TestDenials(t *testing.T) {
	e := start(t)
	e.validating("v")
	for _, c := range []struct {
		rule    string
		result  *metav1.Status
		code    int32
		reason  metav1.StatusReason
		message string
	}{
		{"a status of the webhook", &metav1.Status{Code: 403, Reason: "Forbidden", Message: "no"}, 403, "Forbidden", `: no`},
		{"a reason without a message", &metav1.Status{Reason: "Because"}, 400, "Because", `: Because`},
		{"no status", nil, 400, "", ` without explanation`},
		{"a status of success", &metav1.Status{Status: "Success", Code: 200, Message: "fine"}, 400, "", `: fine`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			e.handle("/v", deny(c.result))
			_, err := e.create(configMap("x"))
			servertest.WantStatus(t, err, c.code, c.reason, `admission webhook "v.example.com" denied the request`+c.message)
		})
	}
}

func TestFirstDenialIsReturned(t *testing.T) {
	e := start(t)
	for _, name := range []string{"c", "a", "b"} {
		e.validating(name)
		e.handle("/"+name, deny(&metav1.Status{Message: name}))
	}
	_, err := e.create(configMap("x"))
	servertest.WantStatus(t, err, 400, "", `admission webhook "a.example.com" denied the request: a`)
}

func TestFailurePolicy(t *testing.T) {
	e := start(t)
	closed := httptest.NewServer(http.NotFoundHandler())
	address := strings.TrimPrefix(closed.URL, "http://")
	closed.Close()
	missing := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(missing.Close)
	release := make(chan struct{})
	slow := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(release) })
	var followed atomic.Int64
	redirected := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	t.Cleanup(redirected.Close)
	t.Cleanup(func() {
		if n := followed.Load(); n > 0 {
			t.Errorf("%d redirects were followed", n)
		}
	})
	misbehaving := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/long" {
			http.Redirect(w, r, redirected.URL, http.StatusTemporaryRedirect)
			return
		}
		for range 3 << 10 { // beyond any limit
			if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(misbehaving.Close)
	for _, c := range []struct {
		rule   string
		handle handler
		change func(*admissionregistrationv1.ValidatingWebhook)
		want   string
	}{
		{"connection refused", nil, func(w *admissionregistrationv1.ValidatingWebhook) {
			w.ClientConfig.URL = new("https://" + address + "/v")
		},
			`failed to call webhook: Post "https://` + address + `/v?timeout=10s": dial tcp ` + address + `: connect: connection refused`},
		{"an unknown certificate authority", nil, func(w *admissionregistrationv1.ValidatingWebhook) { w.ClientConfig.CABundle = nil },
			`failed to call webhook: Post "` + e.hooks.URL + `/v?timeout=10s": tls: failed to verify certificate: x509: certificate signed by unknown authority`},
		{"not found", nil, func(w *admissionregistrationv1.ValidatingWebhook) { w.ClientConfig.URL = &missing.URL },
			`failed to call webhook: the server could not find the requested resource`},
		{"timeout", nil, func(w *admissionregistrationv1.ValidatingWebhook) {
			w.ClientConfig.URL, w.TimeoutSeconds = &slow.URL, new(int32(1))
		}, `failed to call webhook: Post "` + slow.URL + `/?timeout=1s": context deadline exceeded`},
		{"a redirect", nil, func(w *admissionregistrationv1.ValidatingWebhook) {
			w.ClientConfig.URL = new(misbehaving.URL + "/moved")
		},
			`failed to call webhook: Post "` + redirected.URL + `": the server attempted to redirect this request, which is not permitted`},
		{"a response that is too long", nil, func(w *admissionregistrationv1.ValidatingWebhook) {
			w.ClientConfig.URL, w.TimeoutSeconds = new(misbehaving.URL+"/long"), new(int32(30))
		},
			`failed to call webhook: unexpected error when reading response body. Please retry. Original error: the answer is longer than 8388608 bytes`},
		{"a response with another uid", func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
			return &admissionv1.AdmissionResponse{UID: types.UID("other")}
		}, nil, `received invalid webhook response: expected response.uid="UID", got "other"`},
		{"a patch of a validating webhook", func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
			return &admissionv1.AdmissionResponse{Allowed: true, Patch: []byte("[]")}
		}, nil, `received invalid webhook response: validating webhook may not return response.patch`},
		{"a missing service", nil, func(w *admissionregistrationv1.ValidatingWebhook) {
			w.ClientConfig.URL = nil
			w.ClientConfig.Service = &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "none", Path: new("/v")}
		}, `failed to call webhook: Post "https://none.default.svc:443/v?timeout=10s": service "none" not found`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			for _, policy := range []admissionregistrationv1.FailurePolicyType{admissionregistrationv1.Fail, admissionregistrationv1.Ignore} {
				e.validating("v", func(w *admissionregistrationv1.ValidatingWebhook) {
					w.FailurePolicy = &policy
					if c.change != nil {
						c.change(w)
					}
				})
				e.handle("/v", c.handle)
				_, err := e.with(t).create(configMap(strings.ToLower(string(policy)) + "-" + strings.ReplaceAll(c.rule, " ", "-")))
				if policy == admissionregistrationv1.Ignore {
					if err != nil {
						t.Errorf("the failure is not ignored: %v", err)
					}
				} else {
					want := c.want
					if requests := e.requests(); len(requests) > 0 {
						want = strings.Replace(want, "UID", string(requests[0].UID), 1)
					}
					servertest.WantStatus(t, err, 500, metav1.StatusReasonInternalError, `Internal error occurred: failed calling webhook "v.example.com": `+want)
				}
				e.remove("v")
			}
		})
	}
}
