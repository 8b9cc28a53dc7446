package webhook

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/miniapi/miniapi/registry"
)

// Validation of v1 rejects these values; configurations of older versions may have them.
func TestSideEffectsOfOldConfigurations(t *testing.T) {
	some := admissionregistrationv1.SideEffectClassSome
	for _, c := range []struct {
		rule    string
		effects *admissionregistrationv1.SideEffectClass
		dryRun  bool
		want    string
	}{
		{"side effects forbid a dry run", &some, true, `admission webhook "h" does not support dry run`},
		{"side effects allow other requests", &some, false, ""},
		{"missing side effects are a failure", nil, true, `failed calling webhook "h": Webhook SideEffects is nil`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			h := &hook{name: "h", sideEffects: c.effects}
			got := ""
			if err := h.checkDryRun(registry.WriteOptions{DryRun: c.dryRun}); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
