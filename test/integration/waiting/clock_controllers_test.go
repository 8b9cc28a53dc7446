package waiting_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
)

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Image: "x"}},
	}}
}

func (e *env) createPod(p *corev1.Pod) {
	e.Helper()
	_, err := e.client.CoreV1().Pods("default").Create(e.Context(), p, metav1.CreateOptions{})
	e.check(err)
}

// A container that ignores its termination is killed at the end of the grace period.
func TestAdvanceEndsGracePeriods(t *testing.T) {
	e := start(t, miniapi.Config{Pods: miniapi.PodsInstant})
	p := pod("p")
	p.Annotations = map[string]string{"miniapi.dev/termination": "ignore"}
	p.Spec.TerminationGracePeriodSeconds = new(int64(3600))
	e.createPod(p)
	e.settle()
	pods := e.client.CoreV1().Pods("default")
	e.check(pods.Delete(t.Context(), "p", metav1.DeleteOptions{}))
	for _, step := range []struct {
		advance time.Duration
		exists  bool
	}{{0, true}, {50 * time.Minute, true}, {11 * time.Minute, false}} {
		e.advance(step.advance)
		e.settle()
		_, err := pods.Get(t.Context(), "p", metav1.GetOptions{})
		if exists := !apierrors.IsNotFound(err); exists != step.exists {
			t.Errorf("%v later: the pod exists: %v, want %v", step.advance, exists, step.exists)
		}
	}
}

func TestAdvanceReachesTheProgressDeadlineOfDeployments(t *testing.T) {
	e := start(t, miniapi.Config{Controllers: []string{"*", "deployment", "replicaset"}})
	labels := map[string]string{"app": "web"}
	_, err := e.client.AppsV1().Deployments("default").Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			ProgressDeadlineSeconds: new(int32(600)),
			Selector:                &metav1.LabelSelector{MatchLabels: labels},
			Template:                corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod("").Spec},
		},
	}, metav1.CreateOptions{})
	e.check(err)
	for _, step := range []struct {
		advance time.Duration
		reason  string
	}{{0, "ReplicaSetUpdated"}, {9 * time.Minute, "ReplicaSetUpdated"}, {2 * time.Minute, "ProgressDeadlineExceeded"}} {
		e.advance(step.advance)
		e.settle()
		d, err := e.client.AppsV1().Deployments("default").Get(t.Context(), "web", metav1.GetOptions{})
		e.check(err)
		reason := ""
		for _, c := range d.Status.Conditions {
			if c.Type == appsv1.DeploymentProgressing {
				reason = c.Reason
			}
		}
		if reason != step.reason {
			t.Errorf("%v later: reason %q, want %q", step.advance, reason, step.reason)
		}
	}
}

func TestAdvanceRemovesOldSigningRequests(t *testing.T) {
	e := start(t, miniapi.Config{})
	requests := e.client.CertificatesV1().CertificateSigningRequests()
	e.createSigningRequest("pending")
	e.createSigningRequest("denied")
	e.advance(time.Hour)
	denied, err := requests.Get(t.Context(), "denied", metav1.GetOptions{})
	e.check(err)
	denied.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateDenied, Status: corev1.ConditionTrue, Reason: "Test"}}
	_, err = requests.UpdateApproval(t.Context(), "denied", denied, metav1.UpdateOptions{})
	e.check(err)
	for _, step := range []struct {
		advance         time.Duration
		pending, denied bool
	}{{50 * time.Minute, true, true}, {11 * time.Minute, true, false}, {22 * time.Hour, false, false}} {
		e.advance(step.advance)
		e.settle()
		for name, want := range map[string]bool{"pending": step.pending, "denied": step.denied} {
			_, err := requests.Get(t.Context(), name, metav1.GetOptions{})
			if exists := !apierrors.IsNotFound(err); exists != want {
				t.Errorf("%v later: the %s request exists: %v, want %v", step.advance, name, exists, want)
			}
		}
	}
}

// A pod that a lost node does not remove is charged until the end of its grace period.
func TestAdvanceEndsTheQuotaChargeOfTerminatingPods(t *testing.T) {
	e := start(t, miniapi.Config{Controllers: []string{"*", "resourcequota"}})
	e.advance(24 * time.Hour)
	quotas := e.client.CoreV1().ResourceQuotas("default")
	_, err := quotas.Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "q"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("9")}},
	}, metav1.CreateOptions{})
	e.check(err)
	e.settle()
	p := pod("p")
	p.Spec.NodeName = "lost"
	p.Spec.TerminationGracePeriodSeconds = new(int64(3600)) // the charge ends after twice the time
	e.createPod(p)
	e.check(e.client.CoreV1().Pods("default").Delete(t.Context(), "p", metav1.DeleteOptions{}))
	for _, step := range []struct {
		advance time.Duration
		used    string
	}{{0, "1"}, {110 * time.Minute, "1"}, {11 * time.Minute, "0"}} {
		e.advance(step.advance)
		e.settle()
		quota, err := quotas.Get(t.Context(), "q", metav1.GetOptions{})
		e.check(err)
		if used := quota.Status.Used[corev1.ResourcePods]; used.String() != step.used {
			t.Errorf("%v later: %s pods, want %s", step.advance, used.String(), step.used)
		}
	}
}
