package crd

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// takenNames are those that definitions of one group hold already.
type takenNames struct{ resources, kinds []string }

func (t *takenNames) add(names apiextensionsv1.CustomResourceDefinitionNames) {
	t.resources = append(append(t.resources, names.Plural, names.Singular), names.ShortNames...)
	t.kinds = append(t.kinds, names.Kind, names.ListKind)
}

// accept decides which of the names that are asked for a definition gets, given
// those that it holds. One that somebody else holds it does not get; the last
// such name is the reason in the condition.
func (t *takenNames) accept(asked, held apiextensionsv1.CustomResourceDefinitionNames) (apiextensionsv1.CustomResourceDefinitionNames, apiextensionsv1.CustomResourceDefinitionCondition) {
	accepted := held
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
	if check("PluralConflict", free(asked.Plural, held.Plural, t.resources)) {
		accepted.Plural = asked.Plural
	}
	if check("SingularConflict", free(asked.Singular, held.Singular, t.resources)) {
		accepted.Singular = asked.Singular
	}
	if check("ShortNamesConflict", allFree(asked.ShortNames, held.ShortNames, t.resources)) {
		accepted.ShortNames = asked.ShortNames
	}
	if check("KindConflict", free(asked.Kind, held.Kind, t.kinds)) {
		accepted.Kind = asked.Kind
	}
	if check("ListKindConflict", free(asked.ListKind, held.ListKind, t.kinds)) {
		accepted.ListKind = asked.ListKind
	}
	accepted.Categories = asked.Categories
	return accepted, condition
}

func free(asked, held string, taken []string) error {
	if asked != held && slices.Contains(taken, asked) {
		return fmt.Errorf("%q is already in use", asked)
	}
	return nil
}

func allFree(asked, held, taken []string) error {
	var faults []error
	for _, name := range asked {
		if slices.Contains(held, name) {
			continue
		}
		if err := free(name, "", taken); err != nil {
			faults = append(faults, err)
		}
	}
	return utilerrors.NewAggregate(faults)
}
