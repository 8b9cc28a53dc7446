package podspec

import (
	"regexp"
	"sync"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

const unknownTarget = "must be valid format starting with iqn, eui, or naa"

func validateISCSI(i *corev1.ISCSIVolumeSource, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("targetPortal"), i.TargetPortal)
	errs = append(errs, validateIQN(i.IQN, unknownTarget, at.Child("iqn"))...)
	errs = append(errs, validateLUN(i.Lun, at.Child("lun"))...)
	if (i.DiscoveryCHAPAuth || i.SessionCHAPAuth) && i.SecretRef == nil {
		errs = append(errs, field.Required(at.Child("secretRef"), ""))
	}
	if i.InitiatorName != nil {
		errs = append(errs, validateTarget(*i.InitiatorName, unknownTarget, at.Child("initiatorname"))...)
	}
	return errs
}

// validateISCSIName validates a name. shown is the part of the name in the message.
func validateISCSIName(volume, portal, shown string, at *field.Path) field.ErrorList {
	if len(volume+":"+portal) <= 64 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, shown,
		"Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.")}
}

// targets maps the prefix of a target's name to its form.
var targets = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"iqn": regexp.MustCompile(`iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`),
		"eui": regexp.MustCompile(`^eui.[[:alnum:]]{16}$`),
		"naa": regexp.MustCompile(`^naa.[[:alnum:]]{32}$`),
	}
})

func validateIQN(name, unknown string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return validateTarget(name, unknown, at)
}

// validateTarget requires one of the forms. message is the error for another prefix.
func validateTarget(name, unknown string, at *field.Path) field.ErrorList {
	form := targets()[name[:min(len(name), 3)]]
	switch {
	case form == nil:
		return field.ErrorList{field.Invalid(at, name, unknown)}
	case !form.MatchString(name):
		return field.ErrorList{field.Invalid(at, name, "must be valid format")}
	}
	return nil
}

func validateLUN(lun int32, at *field.Path) field.ErrorList {
	return kind.Invalid(at, lun, utilvalidation.IsInRange(int(lun), 0, 255))
}
