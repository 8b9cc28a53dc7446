package controllers_test

import (
	"context"
	"slices"
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/bootstrap"
)

func newFlowSchema(level string) *flowcontrolv1.FlowSchema {
	return &flowcontrolv1.FlowSchema{
		ObjectMeta: metav1.ObjectMeta{Name: "s"},
		Spec: flowcontrolv1.FlowSchemaSpec{
			PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: level},
			Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
				Subjects:         []flowcontrolv1.Subject{{Kind: flowcontrolv1.SubjectKindUser, User: &flowcontrolv1.UserSubject{Name: "u"}}},
				NonResourceRules: []flowcontrolv1.NonResourcePolicyRule{{Verbs: []string{"get"}, NonResourceURLs: []string{"/a"}}},
			}},
		},
	}
}

func newLevel(name string) *flowcontrolv1.PriorityLevelConfiguration {
	return &flowcontrolv1.PriorityLevelConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
			Type: flowcontrolv1.PriorityLevelEnablementLimited,
			Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{
				LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject},
			},
		},
	}
}

// awaitDangling waits until the condition of the FlowSchema has a status.
func (e *env) awaitDangling(want flowcontrolv1.ConditionStatus) *flowcontrolv1.FlowSchema {
	e.Helper()
	var schema *flowcontrolv1.FlowSchema
	e.await("the condition Dangling="+string(want), func(ctx context.Context) bool {
		var err error
		schema, err = e.client.FlowcontrolV1().FlowSchemas().Get(ctx, "s", metav1.GetOptions{})
		e.check(err)
		return len(schema.Status.Conditions) == 1 && schema.Status.Conditions[0].Status == want
	})
	return schema
}

func TestFlowSchemasReportMissingPriorityLevels(t *testing.T) {
	e := start(t, miniapi.Config{})
	ctx, api := t.Context(), e.client.FlowcontrolV1()
	_, err := api.FlowSchemas().Create(ctx, newFlowSchema("l"), metav1.CreateOptions{})
	e.check(err)
	schema := e.awaitDangling(flowcontrolv1.ConditionTrue)
	condition := schema.Status.Conditions[0]
	const message = `This FlowSchema references the PriorityLevelConfiguration object named "l" but there is no such object`
	if condition.Type != flowcontrolv1.FlowSchemaConditionDangling || condition.Reason != "NotFound" || condition.Message != message {
		t.Errorf("condition %+v", condition)
	}
	applied := slices.ContainsFunc(schema.ManagedFields, func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == "api-priority-and-fairness-config-consumer-v1" && m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == "status"
	})
	if !applied {
		t.Errorf("field managers: %+v", schema.ManagedFields)
	}

	_, err = api.PriorityLevelConfigurations().Create(ctx, newLevel("l"), metav1.CreateOptions{})
	e.check(err)
	e.awaitDangling(flowcontrolv1.ConditionFalse)
	e.check(api.PriorityLevelConfigurations().Delete(ctx, "l", metav1.DeleteOptions{}))
	e.awaitDangling(flowcontrolv1.ConditionTrue)
}

func TestDeletedMandatoryFlowSchemasAndPriorityLevelsReturn(t *testing.T) {
	e := start(t, miniapi.Config{Bootstrap: bootstrap.Full})
	ctx, api := t.Context(), e.client.FlowcontrolV1()
	for _, name := range []string{"exempt", "catch-all"} {
		e.check(api.FlowSchemas().Delete(ctx, name, metav1.DeleteOptions{}))
		e.check(api.PriorityLevelConfigurations().Delete(ctx, name, metav1.DeleteOptions{}))
	}
	e.check(api.FlowSchemas().Delete(ctx, "global-default", metav1.DeleteOptions{}))
	for _, name := range []string{"exempt", "catch-all"} {
		e.await(name, func(ctx context.Context) bool {
			schema, err := api.FlowSchemas().Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return false
			}
			e.check(err)
			_, err = api.PriorityLevelConfigurations().Get(ctx, name, metav1.GetOptions{})
			return err == nil && len(schema.Status.Conditions) == 1 && schema.Status.Conditions[0].Status == flowcontrolv1.ConditionFalse
		})
	}
	if _, err := api.FlowSchemas().Get(ctx, "global-default", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("global-default is not mandatory: %v", err)
	}
}
