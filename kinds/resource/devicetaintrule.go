package resource

import (
	"context"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func deviceTaintRules(features *feature.Set) *registry.Resource {
	d := definition("devicetaintrules", &resourcev1.DeviceTaintRule{}, &resourcev1.DeviceTaintRuleList{})
	d.StorageVersion = "v1beta2"
	d.Gate = feature.DRADeviceTaintRules
	d.AllowUnconditionalUpdate, d.ReturnDeletedObject = false, false
	d.Generation = true
	d.DefaultTimes = func(rule *resourcev1.DeviceTaintRule, now metav1.Time) { defaultTimeAdded(&rule.Spec.Taint, now) }
	d.ValidateCreate = validateTaintRule
	d.PrepareForUpdate = restartTaint
	d.ValidateUpdate = validateTaintRuleUpdate
	d.Status, d.StatusKeepsMetadata = true, true
	d.ValidateStatusUpdate = validateTaintRuleStatus
	d.Columns = taintRuleColumns()
	return d.Build(features)
}

// restartTaint sets the time of a changed effect, unless the client sets it.
func restartTaint(ctx context.Context, rule, old *resourcev1.DeviceTaintRule) {
	taint, before := &rule.Spec.Taint, &old.Spec.Taint
	if taint.Effect != before.Effect && taint.TimeAdded.Equal(before.TimeAdded) {
		taint.TimeAdded = nil
		defaultTimeAdded(taint, metav1.NewTime(registry.Now(ctx)))
	}
}

func taintRuleColumns() []kind.Column[*resourcev1.DeviceTaintRule] {
	doc := resourcev1.DeviceTaint{}.SwaggerDoc()
	return kind.StandardColumns(
		kind.TextColumn("Key", doc["key"], func(r *resourcev1.DeviceTaintRule) any { return r.Spec.Taint.Key }),
		kind.TextColumn("Value", doc["value"], func(r *resourcev1.DeviceTaintRule) any { return r.Spec.Taint.Value }),
		kind.TextColumn("Effect", doc["effect"], func(r *resourcev1.DeviceTaintRule) any { return string(r.Spec.Taint.Effect) }),
		kind.TextColumn("TimeAdded", doc["timeAdded"], func(r *resourcev1.DeviceTaintRule) any {
			if added := r.Spec.Taint.TimeAdded; added != nil {
				return kind.Age(*added)
			}
			return ""
		}),
	)
}
