package flowcontrol

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestPriorityLevelColumns(t *testing.T) {
	level := &flowcontrolv1.PriorityLevelConfiguration{}
	level.Spec.Type = flowcontrolv1.PriorityLevelEnablementExempt
	level.Spec.Exempt = &flowcontrolv1.ExemptPriorityLevelConfiguration{NominalConcurrencyShares: ptr.To[int32](5)}
	want := []any{"Exempt", "<none>", "<none>", "<none>", "<none>"}
	if diff := cmp.Diff(want, registrytest.Cells(priorityLevels(feature.Default()), level)[1:6]); diff != "" {
		t.Errorf("exempt (-want +got):\n%s", diff)
	}
	level.Spec.Type = flowcontrolv1.PriorityLevelEnablementLimited
	level.Spec.Limited = &flowcontrolv1.LimitedPriorityLevelConfiguration{NominalConcurrencyShares: ptr.To[int32](30)}
	level.Spec.Limited.LimitResponse.Queuing = &flowcontrolv1.QueuingConfiguration{Queues: 64, HandSize: 8, QueueLengthLimit: 50}
	want = []any{"Limited", int64(30), int64(64), int64(8), int64(50)}
	if diff := cmp.Diff(want, registrytest.Cells(priorityLevels(feature.Default()), level)[1:6]); diff != "" {
		t.Errorf("queued (-want +got):\n%s", diff)
	}
}

func TestFlowSchemaDanglingCell(t *testing.T) {
	schema := &flowcontrolv1.FlowSchema{}
	if got := registrytest.Cells(flowSchemas(feature.Default()), schema)[5]; got != "?" {
		t.Errorf("before anybody looked: %v", got)
	}
	schema.Status.Conditions = []flowcontrolv1.FlowSchemaCondition{
		{Type: "Other", Status: flowcontrolv1.ConditionFalse},
		{Type: flowcontrolv1.FlowSchemaConditionDangling, Status: flowcontrolv1.ConditionTrue},
	}
	schema.Spec.DistinguisherMethod = &flowcontrolv1.FlowDistinguisherMethod{Type: "ByUser"}
	cells := registrytest.Cells(flowSchemas(feature.Default()), schema)
	if cells[3] != "ByUser" || cells[5] != "True" {
		t.Errorf("distinguisher %v, missing level %v", cells[3], cells[5])
	}
}

func TestRowsOfFlowSchemasAreSortedByPrecedence(t *testing.T) {
	schema := func(name string, precedence int32) runtime.Object {
		s := &flowcontrolv1.FlowSchema{Spec: flowcontrolv1.FlowSchemaSpec{MatchingPrecedence: precedence}}
		s.Name = name
		return s
	}
	rows := []runtime.Object{schema("b", 2), schema("a", 2), schema("z", 1)}
	slices.SortFunc(rows, flowSchemas(feature.Default()).Columns.Compare)
	want := []runtime.Object{schema("z", 1), schema("a", 2), schema("b", 2)}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
