// Package flowschema reports in the status of each FlowSchema whether its priority level exists.
// It creates deleted mandatory FlowSchemas and priority levels again, as kube-apiserver does.
package flowschema

import (
	"context"
	"fmt"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/kinds/flowcontrol"
	"github.com/miniapi/miniapi/registry"
)

// The field managers of kube-apiserver.
const (
	producer = "api-priority-and-fairness-config-producer-v1"
	consumer = "api-priority-and-fairness-config-consumer-v1"
)

type controller struct {
	// schemas writes statuses, mandatory writes whole FlowSchemas.
	schemas, mandatory reconcile.Objects[*flowcontrolv1.FlowSchema]
	levels             reconcile.Objects[*flowcontrolv1.PriorityLevelConfiguration]
}

// New returns the controller. It starts nothing.
func New(config reconcile.Config) reconcile.Controller {
	schemas, levels := flowcontrolv1.Resource("flowschemas"), flowcontrolv1.Resource("prioritylevelconfigurations")
	c := &controller{
		schemas:   reconcile.Objects[*flowcontrolv1.FlowSchema]{Catalog: config.Catalog, Resource: schemas, Manager: consumer},
		mandatory: reconcile.Objects[*flowcontrolv1.FlowSchema]{Catalog: config.Catalog, Resource: schemas, Manager: producer},
		levels:    reconcile.Objects[*flowcontrolv1.PriorityLevelConfiguration]{Catalog: config.Catalog, Resource: levels, Manager: producer},
	}
	var required []string
	if config.Bootstrapped {
		required = flowcontrol.MandatoryNames()
	}
	return reconcile.New(config, reconcile.Spec[*flowcontrolv1.FlowSchema]{
		Name:      "flowschema-controller",
		Account:   "flowschema-controller",
		Objects:   c.schemas,
		Related:   []schema.GroupResource{levels},
		Required:  required,
		Reconcile: c.reconcile,
		Gone:      c.restore,
	})
}

// restore creates a deleted mandatory FlowSchema again.
func (c *controller) restore(ctx context.Context, _, name string) error {
	required := flowcontrol.MandatoryFlowSchema(name)
	if required == nil {
		return nil
	}
	_, err := c.mandatory.Create(ctx, required)
	return ignoreExisting(err)
}

// reconcile writes the condition Dangling.
func (c *controller) reconcile(ctx context.Context, s *flowcontrolv1.FlowSchema) (time.Duration, error) {
	level := s.Spec.PriorityLevelConfiguration.Name
	_, err := c.levels.Get(ctx, "", level)
	if required := flowcontrol.MandatoryPriorityLevel(level); apierrors.IsNotFound(err) && required != nil {
		_, err = c.levels.Create(ctx, required)
		err = ignoreExisting(err)
	}
	dangling := apierrors.IsNotFound(err)
	if err != nil && !dangling {
		return 0, err
	}
	desired := danglingCondition(level, dangling)
	for _, current := range s.Status.Conditions {
		desired.LastTransitionTime = current.LastTransitionTime
		if current == desired {
			return 0, nil
		}
	}
	desired.LastTransitionTime = metav1.NewTime(registry.Now(ctx))
	_, err = c.schemas.ApplyStatus(ctx, s, applied(s, desired))
	return 0, reconcile.IgnoreGone(err)
}

func danglingCondition(level string, dangling bool) flowcontrolv1.FlowSchemaCondition {
	c := flowcontrolv1.FlowSchemaCondition{
		Type: flowcontrolv1.FlowSchemaConditionDangling, Status: flowcontrolv1.ConditionFalse, Reason: "Found",
		Message: fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q and it exists", level),
	}
	if dangling {
		c.Status, c.Reason = flowcontrolv1.ConditionTrue, "NotFound"
		c.Message = fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q but there is no such object", level)
	}
	return c
}

// applied returns the status with one condition as the body of a server-side apply.
func applied(s *flowcontrolv1.FlowSchema, c flowcontrolv1.FlowSchemaCondition) *unstructured.Unstructured {
	apiVersion, kind := flowcontrolv1.SchemeGroupVersion.WithKind("FlowSchema").ToAPIVersionAndKind()
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{"name": s.Name, "uid": string(s.UID)},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": string(c.Type), "status": string(c.Status), "reason": c.Reason, "message": c.Message,
			"lastTransitionTime": c.LastTransitionTime.UTC().Format(time.RFC3339),
		}}},
	}}
}

func ignoreExisting(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
