package webhook_test

import (
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// expectMetrics compares lines of /metrics.
func (e *env) expectMetrics(lines ...string) {
	e.Helper()
	text, err := e.client.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	for _, line := range lines {
		if !strings.Contains(string(text), "\n"+line+"\n") {
			e.Errorf("no %s in the metrics", line)
		}
	}
	if e.Failed() {
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "apiserver_admission_webhook_") && !strings.Contains(line, "_bucket") {
				e.Log(line)
			}
		}
	}
}

func TestMetricsOfAllowedAndDeniedRequests(t *testing.T) {
	e := start(t)
	e.mutating("m")
	e.validating("v")
	if _, err := e.create(configMap("x")); err != nil {
		t.Fatal(err)
	}
	e.handle("/v", deny(&metav1.Status{Code: 403}))
	if _, err := e.create(configMap("y")); err == nil {
		t.Error("the request is not denied")
	}
	e.expectMetrics(
		`apiserver_admission_webhook_request_total{code="200",name="m.example.com",operation="CREATE",rejected="false",type="admit"} 2`,
		`apiserver_admission_webhook_request_total{code="200",name="v.example.com",operation="CREATE",rejected="false",type="validating"} 1`,
		`apiserver_admission_webhook_request_total{code="403",name="v.example.com",operation="CREATE",rejected="true",type="validating"} 1`,
		`apiserver_admission_webhook_admission_duration_seconds_count{name="v.example.com",operation="CREATE",rejected="true",type="validating"} 1`,
		`apiserver_admission_webhook_rejection_count{error_type="no_error",name="v.example.com",operation="CREATE",rejection_code="403",type="validating"} 1`,
		`apiserver_admission_controller_admission_duration_seconds_count{name="ValidatingAdmissionWebhook",operation="CREATE",rejected="true",type="validate"} 1`,
	)
}

func TestMetricsOfFailedWebhooks(t *testing.T) {
	e := start(t)
	unreachable := "https://127.0.0.1:1/"
	e.mutating("open", func(w *admissionregistrationv1.MutatingWebhook) {
		w.ClientConfig.URL, w.FailurePolicy = &unreachable, new(admissionregistrationv1.Ignore)
	})
	e.validating("closed", func(w *admissionregistrationv1.ValidatingWebhook) { w.ClientConfig.URL = &unreachable })
	if _, err := e.create(configMap("x")); err == nil {
		t.Error("the failure is ignored")
	}
	e.expectMetrics(
		`apiserver_admission_webhook_fail_open_count{name="open.example.com",type="admit"} 1`,
		`apiserver_admission_webhook_request_total{code="503",name="open.example.com",operation="CREATE",rejected="false",type="admit"} 1`,
		`apiserver_admission_webhook_request_total{code="503",name="closed.example.com",operation="CREATE",rejected="true",type="validating"} 1`,
		`apiserver_admission_webhook_rejection_count{error_type="calling_webhook_error",name="closed.example.com",operation="CREATE",rejection_code="503",type="validating"} 1`,
	)
}
