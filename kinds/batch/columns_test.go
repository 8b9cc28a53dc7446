package batch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestCronJobRow(t *testing.T) {
	c := newCronJob()
	c.Spec.Suspend = nil
	if diff := cmp.Diff([]any{"c", "*/5 * * * *", "<none>", "<unset>", int64(0), "<none>", "<unknown>"}, registrytest.Cells(cronJobs(feature.Default()), c)[:7]); diff != "" {
		t.Errorf("one that never ran (-want +got):\n%s", diff)
	}
	c.Spec.TimeZone, c.Spec.Suspend = new("UTC"), new(true)
	c.Status.Active = make([]corev1.ObjectReference, 2)
	c.Status.LastScheduleTime = &metav1.Time{Time: time.Now().Add(-72 * time.Hour)}
	if diff := cmp.Diff([]any{"c", "*/5 * * * *", "UTC", "True", int64(2), "3d", "<unknown>"}, registrytest.Cells(cronJobs(feature.Default()), c)[:7]); diff != "" {
		t.Errorf("one that did (-want +got):\n%s", diff)
	}
}
