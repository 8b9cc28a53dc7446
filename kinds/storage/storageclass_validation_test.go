package storage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	storagev1 "k8s.io/api/storage/v1"
)

func TestStorageClassUpdates(t *testing.T) {
	for _, tc := range []struct {
		rule   string
		change func(*storagev1.StorageClass)
		want   []string
	}{
		{"labels may change", func(c *storagev1.StorageClass) { c.Labels = map[string]string{"a": "b"} }, nil},
		{"what volumes are made by may not", func(c *storagev1.StorageClass) {
			c.Parameters, c.Provisioner, c.VolumeBindingMode = map[string]string{"a": "b"}, "", new(storagev1.VolumeBindingWaitForFirstConsumer)
		}, []string{
			`provisioner: Required value`,
			`parameters: Forbidden: updates to parameters are forbidden.`,
			`provisioner: Forbidden: updates to provisioner are forbidden.`,
			`volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable`,
		}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			old := &storagev1.StorageClass{Provisioner: "exam.org/disk"}
			defaultStorageClass(old)
			class := old.DeepCopy()
			tc.change(class)
			var got []string
			for _, err := range validateStorageClassUpdate(class, old) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
