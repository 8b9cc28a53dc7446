package admissionregistration

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/feature"
)

func TestParamRefColumn(t *testing.T) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	cases := map[string]struct {
		ref  *admissionregistrationv1.ParamRef
		want string
	}{
		"none":                      {nil, "<unset>"},
		"in a namespace":            {&admissionregistrationv1.ParamRef{Name: "n", Namespace: "demo"}, "demo/n"},
		"in any namespace":          {&admissionregistrationv1.ParamRef{Name: "n"}, "*/n"},
		"by labels, in Go notation": {&admissionregistrationv1.ParamRef{Selector: selector}, "&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := paramRefCell(c.ref); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := paramKindCell(&admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}); got != "v1/ConfigMap" {
		t.Errorf("param kind %q", got)
	}
}

func TestGenerationCountsWebhooks(t *testing.T) {
	update := validatingWebhookConfigurations(feature.Default()).Strategy.Update.Prepare
	old := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	old.Generation = 1
	labelled := old.DeepCopy()
	labelled.Labels = map[string]string{"a": "b"}
	update(t.Context(), labelled, old)
	hooked := old.DeepCopy()
	hooked.Webhooks = []admissionregistrationv1.ValidatingWebhook{{Name: "w"}}
	update(t.Context(), hooked, old)
	if labelled.Generation != 1 || hooked.Generation != 2 {
		t.Errorf("generation %d after a label, %d after a webhook; want 1, 2", labelled.Generation, hooked.Generation)
	}
}
