package crd

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// takenNames are the accepted names of the other definitions of a group.
type takenNames struct{ resources, kinds []string }

func (t *takenNames) add(names apiextensionsv1.CustomResourceDefinitionNames) {
	t.resources = append(append(t.resources, names.Plural, names.Singular), names.ShortNames...)
	t.kinds = append(t.kinds, names.Kind, names.ListKind)
}

// accept returns the accepted names of a definition and the condition NamesAccepted, given the
// requested names and the names accepted before. A name that another definition has is not
// accepted. The last conflict is the reason of the condition.
func (t *takenNames) accept(requested, current apiextensionsv1.CustomResourceDefinitionNames) (apiextensionsv1.CustomResourceDefinitionNames, apiextensionsv1.CustomResourceDefinitionCondition) {
	accepted := current
	condition := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue,
		Reason: "NoConflicts", Message: "no conflicts found",
	}
	check := func(reason string, err error) bool {
		if err != nil {
			condition.Status, condition.Reason, condition.Message = apiextensionsv1.ConditionFalse, reason, err.Error()
		}
		return err == nil
	}
	if check("PluralConflict", checkFree(requested.Plural, current.Plural, t.resources)) {
		accepted.Plural = requested.Plural
	}
	if check("SingularConflict", checkFree(requested.Singular, current.Singular, t.resources)) {
		accepted.Singular = requested.Singular
	}
	if check("ShortNamesConflict", checkAllFree(requested.ShortNames, current.ShortNames, t.resources)) {
		accepted.ShortNames = requested.ShortNames
	}
	if check("KindConflict", checkFree(requested.Kind, current.Kind, t.kinds)) {
		accepted.Kind = requested.Kind
	}
	if check("ListKindConflict", checkFree(requested.ListKind, current.ListKind, t.kinds)) {
		accepted.ListKind = requested.ListKind
	}
	accepted.Categories = requested.Categories
	return accepted, condition
}

func checkFree(requested, current string, taken []string) error {
	if requested != current && slices.Contains(taken, requested) {
		return fmt.Errorf("%q is already in use", requested)
	}
	return nil
}

func checkAllFree(requested, current, taken []string) error {
	var errs []error
	for _, name := range requested {
		if slices.Contains(current, name) {
			continue
		}
		if err := checkFree(name, "", taken); err != nil {
			errs = append(errs, err)
		}
	}
	return utilerrors.NewAggregate(errs)
}
