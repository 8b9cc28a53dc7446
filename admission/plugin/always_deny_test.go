package plugin_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestAlwaysDeny(t *testing.T) {
	const reason = " is forbidden: admission control is denying all modifications"
	step := plugin.AlwaysDeny()
	for _, tc := range []struct {
		rule string
		a    registry.Attributes
		want string
	}{
		{"a creation", registry.Attributes{Operation: registry.OperationCreate, Name: "c"}, `configmaps "c"` + reason},
		{"a creation without a name", registry.Attributes{
			Operation: registry.OperationCreate, Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-"}},
		}, `configmaps "c-"` + reason},
		{"a deletion", registry.Attributes{Operation: registry.OperationDelete, Name: "c"}, `configmaps "c"` + reason},
		{"a deletion of a collection", registry.Attributes{Operation: registry.OperationDelete}, `configmaps "Unknown"` + reason},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			tc.a.Resource = registrytest.ConfigMaps()
			for phase, err := range map[string]error{"Admit": step.Admit(t.Context(), &tc.a), "Validate": step.Validate(t.Context(), &tc.a)} {
				if text(err) != tc.want {
					t.Errorf("%s: got %q\nwant %q", phase, text(err), tc.want)
				}
			}
		})
	}
}
