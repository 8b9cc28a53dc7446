package controllers_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
)

// newJob returns a Job with the container c.
func newJob(name string, edits ...func(*batchv1.Job)) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
	j.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "x"}}}
	for _, edit := range edits {
		edit(j)
	}
	return j
}

func (e *env) createJob(j *batchv1.Job) *batchv1.Job {
	e.Helper()
	created, err := e.client.BatchV1().Jobs("default").Create(e.Context(), j, metav1.CreateOptions{})
	e.check(err)
	return created
}

func (e *env) awaitJobGone(name string) {
	e.Helper()
	e.await("the end of Job "+name, func(ctx context.Context) bool {
		_, err := e.client.BatchV1().Jobs("default").Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// finish writes the status of a Job that completed some time ago.
func (e *env) finish(j *batchv1.Job, ago time.Duration) {
	e.Helper()
	end := metav1.NewTime(time.Now().Add(-ago))
	j.Status.StartTime, j.Status.CompletionTime = &end, &end
	for _, kind := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: end})
	}
	_, err := e.client.BatchV1().Jobs(j.Namespace).UpdateStatus(e.Context(), j, metav1.UpdateOptions{})
	e.check(err)
}

func expires(seconds int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = &seconds }
}

func TestFinishedJobsExpire(t *testing.T) {
	e := start(t, miniapi.Config{})
	kept := []*batchv1.Job{newJob("without-ttl"), newJob("fresh", expires(3600))}
	for _, j := range kept {
		e.finish(e.createJob(j), 30*time.Minute)
	}
	e.createJob(newJob("unfinished", expires(0)))
	e.finish(e.createJob(newJob("old", expires(60))), 2*time.Minute)
	e.finish(e.createJob(newJob("soon", expires(1))), 0)
	e.awaitJobGone("old")
	e.awaitJobGone("soon")
	for _, name := range []string{"without-ttl", "fresh", "unfinished"} {
		if _, err := e.client.BatchV1().Jobs("default").Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Errorf("Job %s: %v", name, err)
		}
	}
}

// A shorter TTL of a finished Job has an effect.
func TestTheTTLOfAFinishedJobCanChange(t *testing.T) {
	e := start(t, miniapi.Config{})
	j := e.createJob(newJob("j", expires(3600)))
	e.finish(j, 30*time.Minute)
	j, err := e.client.BatchV1().Jobs("default").Get(t.Context(), "j", metav1.GetOptions{})
	e.check(err)
	j.Spec.TTLSecondsAfterFinished = new(int32(60))
	_, err = e.client.BatchV1().Jobs("default").Update(t.Context(), j, metav1.UpdateOptions{})
	e.check(err)
	e.awaitJobGone("j")
}

func TestDecidedCertificateSigningRequestsExpire(t *testing.T) {
	e := start(t, miniapi.Config{})
	for name, ago := range map[string]time.Duration{"old": 2 * time.Hour, "fresh": time.Minute} {
		request := e.createSigningRequest(name)
		request.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{
			Type: certificatesv1.CertificateDenied, Status: corev1.ConditionTrue, Reason: "Test", LastUpdateTime: metav1.NewTime(time.Now().Add(-ago)),
		}}
		_, err := e.client.CertificatesV1().CertificateSigningRequests().UpdateApproval(t.Context(), name, request, metav1.UpdateOptions{})
		e.check(err)
	}
	e.await("the end of the old request", func(ctx context.Context) bool {
		_, err := e.client.CertificatesV1().CertificateSigningRequests().Get(ctx, "old", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	_, err := e.client.CertificatesV1().CertificateSigningRequests().Get(t.Context(), "fresh", metav1.GetOptions{})
	e.check(err)
}

func (e *env) createSigningRequest(name string) *certificatesv1.CertificateSigningRequest {
	e.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	e.check(err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane"}}, key)
	e.check(err)
	request, err := e.client.CertificatesV1().CertificateSigningRequests().Create(e.Context(), &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: "example.com/signer", Usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
		},
	}, metav1.CreateOptions{})
	e.check(err)
	return request
}
