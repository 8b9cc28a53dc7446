package crd

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// resolveStatus sets the accepted names and the conditions in the status of a definition.
func resolveStatus(crd *apiextensionsv1.CustomResourceDefinition, taken *takenNames) {
	resolveNames(crd, taken)
	if approval := approvalCondition(crd); approval != nil {
		apihelpers.SetCRDCondition(crd, *approval)
	}
	if unstructured := nonStructuralCondition(crd); unstructured != nil {
		apihelpers.SetCRDCondition(crd, *unstructured)
	} else {
		apihelpers.RemoveCRDCondition(crd, apiextensionsv1.NonStructuralSchema)
	}
}

// resolveNames sets the accepted names and the conditions NamesAccepted and Established. If all
// names have been accepted, a NamesAccepted condition that a client has removed stays removed, and
// the definition is not established again, as in kube-apiserver.
func resolveNames(crd *apiextensionsv1.CustomResourceDefinition, taken *takenNames) {
	if !equality.Semantic.DeepEqual(crd.Spec.Names, crd.Status.AcceptedNames) {
		names, condition := taken.accept(crd.Spec.Names, crd.Status.AcceptedNames)
		crd.Status.AcceptedNames = names
		apihelpers.SetCRDCondition(crd, condition)
		if !isEstablished(crd) {
			apihelpers.SetCRDCondition(crd, establishedCondition(false))
		}
	}
	if !isEstablished(crd) && apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.NamesAccepted) {
		apihelpers.SetCRDCondition(crd, establishedCondition(true))
	}
}

func establishedCondition(accepted bool) apiextensionsv1.CustomResourceDefinitionCondition {
	condition := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue,
		Reason: "InitialNamesAccepted", Message: "the initial names have been accepted",
	}
	if !accepted {
		condition.Status, condition.Reason, condition.Message = apiextensionsv1.ConditionFalse, "NotAccepted", "not all names are accepted"
	}
	return condition
}

// approvalCondition returns the condition KubernetesAPIApprovalPolicyConformant of a definition in
// a group of the Kubernetes community, nil for other groups.
func approvalCondition(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinitionCondition {
	if !apihelpers.IsProtectedCommunityGroup(crd.Spec.Group) {
		return nil
	}
	state, message := apihelpers.GetAPIApprovalState(crd.Annotations)
	condition := &apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.KubernetesAPIApprovalPolicyConformant, Status: apiextensionsv1.ConditionFalse, Message: message,
	}
	switch state {
	case apihelpers.APIApproved:
		condition.Status, condition.Reason = apiextensionsv1.ConditionTrue, "ApprovedAnnotation"
	case apihelpers.APIApprovalMissing:
		condition.Reason = "MissingAnnotation"
	case apihelpers.APIApprovalInvalid:
		condition.Reason = "InvalidAnnotation"
	case apihelpers.APIApprovalBypassed:
		condition.Reason = "UnapprovedAnnotation"
	}
	return condition
}

// nonStructuralCondition returns the condition NonStructuralSchema, nil if all schemas are
// structural. Other schemas exist only in definitions of old releases, which preserve unknown
// fields.
func nonStructuralCondition(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinitionCondition {
	if !crd.Spec.PreserveUnknownFields {
		return nil
	}
	errs := field.ErrorList{field.Invalid(field.NewPath("spec", "preserveUnknownFields"), true, "must be false")}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		var structure *structuralschema.Structural
		props, err := internalSchema(v)
		if err == nil {
			structure, err = structuralschema.NewStructural(props)
		}
		if err != nil {
			return &apiextensionsv1.CustomResourceDefinitionCondition{
				Type: apiextensionsv1.NonStructuralSchema, Status: apiextensionsv1.ConditionUnknown, Reason: "StructuralError",
				Message: fmt.Sprintf("failed to check validation schema for version %s: %v", v.Name, err),
			}
		}
		at := field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema")
		errs = append(errs, structuralschema.ValidateStructural(at, structure)...)
	}
	return &apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.NonStructuralSchema, Status: apiextensionsv1.ConditionTrue, Reason: "Violations",
		Message: errs.ToAggregate().Error(),
	}
}
