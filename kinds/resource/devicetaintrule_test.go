package resource

import (
	"strings"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func newTaintRule() *resourcev1.DeviceTaintRule {
	return &resourcev1.DeviceTaintRule{Spec: resourcev1.DeviceTaintRuleSpec{
		DeviceSelector: &resourcev1.DeviceTaintSelector{Driver: new("gpu.example.com")},
		Taint:          resourcev1.DeviceTaint{Key: "example.com/broken", Effect: resourcev1.DeviceTaintEffectNoExecute},
	}}
}

func TestDeviceTaintRules(t *testing.T) {
	type rule = resourcev1.DeviceTaintRule
	check := registrytest.Rules(t, newTaintRule, validateTaintRule)
	check("no selector selects all devices", func(r *rule) { r.Spec.DeviceSelector = nil })
	check("an effect is required", func(r *rule) { r.Spec.Taint.Effect = "" }, "spec.taint.effect: Required value")
	check("effects are known", func(r *rule) { r.Spec.Taint.Effect = "Explode" },
		`spec.taint.effect: Unsupported value: "Explode": supported values: "NoExecute", "NoSchedule", "None"`)
	check("the key is a label", func(r *rule) { r.Spec.Taint.Key = "" },
		"spec.taint.key: Invalid value: \"\": name part must be non-empty", registrytest.Texts(validateTaintLabel(resourcev1.DeviceTaint{}, field.NewPath("spec", "taint")))[1])
	check("a driver has a name", func(r *rule) { r.Spec.DeviceSelector.Driver = new("") }, "spec.deviceSelector.driver: Required value")

	updated := registrytest.Rules(t, newTaintRule, func(r *rule) field.ErrorList { return validateTaintRuleUpdate(r, newTaintRule()) })
	updated("a changed effect is known", func(r *rule) { r.Spec.Taint.Effect = "" }, "spec.taint.effect: Required value")

	status := newTaintRule()
	status.Status.Conditions = make([]metav1.Condition, resourcev1.DeviceTaintRuleStatusMaxConditions+1)
	texts := strings.Join(registrytest.Texts(validateTaintRuleStatus(status, nil)), "\n")
	if want := "status.conditions: Too many: 9: must have at most 8 items"; !strings.Contains(texts, want) {
		t.Errorf("9 conditions: %s", texts)
	}
}

// Invariant: spec.taint.timeAdded is the time of the effect, unless the client sets another one.
func TestTimeOfAChangedEffect(t *testing.T) {
	long := metav1.NewTime(time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC))
	old := newTaintRule()
	old.Spec.Taint.TimeAdded = &long
	for _, tc := range []struct {
		rule   string
		change func(*resourcev1.DeviceTaint)
		kept   bool
	}{
		{"an equal effect keeps its time", func(t *resourcev1.DeviceTaint) { t.Value = "v" }, true},
		{"another effect has a new time", func(t *resourcev1.DeviceTaint) { t.Effect = resourcev1.DeviceTaintEffectNone }, false},
	} {
		r := old.DeepCopy()
		tc.change(&r.Spec.Taint)
		restartTaint(t.Context(), r, old)
		if kept := r.Spec.Taint.TimeAdded.Equal(&long); kept != tc.kept {
			t.Errorf("%s: kept is %t", tc.rule, kept)
		}
	}
	own := old.DeepCopy()
	own.Spec.Taint.Effect = resourcev1.DeviceTaintEffectNone
	own.Spec.Taint.TimeAdded = new(metav1.NewTime(long.Add(time.Hour)))
	restartTaint(t.Context(), own, old)
	if !own.Spec.Taint.TimeAdded.Equal(new(metav1.NewTime(long.Add(time.Hour)))) {
		t.Error("the time of the client is lost")
	}
	if deviceTaintRules(feature.At(36)) != nil {
		t.Error("1.36 serves the kind")
	}
}
