package storage

import (
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func warningsForTopologies(c *storagev1.StorageClass) []string {
	var warnings []string
	for i, term := range c.AllowedTopologies {
		for j, requirement := range term.MatchLabelExpressions {
			at := field.NewPath("allowedTopologies").Index(i).Child("matchLabelExpressions").Index(j).Child("key")
			warnings = append(warnings, kind.WarningsForNodeLabel(at, requirement.Key)...)
		}
	}
	return warnings
}
