package plugin

import (
	"cmp"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/pod-security-admission/api"
	"sigs.k8s.io/yaml"
)

// PodSecurityConfig is the configuration of PodSecurity.
type PodSecurityConfig struct {
	// Defaults are the standards of namespaces without labels.
	Defaults api.Policy
	// Exemptions name the users, namespaces and runtime classes whose pods are not checked.
	Exemptions PodSecurityExemptions
}

// PodSecurityExemptions are the exemptions of a PodSecurityConfiguration.
type PodSecurityExemptions struct {
	Usernames      []string `json:"usernames,omitempty"`
	Namespaces     []string `json:"namespaces,omitempty"`
	RuntimeClasses []string `json:"runtimeClasses,omitempty"`
}

const podSecurityGroup = "pod-security.admission.config.k8s.io"

// podSecurityFile is a PodSecurityConfiguration of [podSecurityGroup], in all versions.
type podSecurityFile struct {
	metav1.TypeMeta `json:",inline"`
	Defaults        podSecurityDefaults   `json:"defaults"`
	Exemptions      PodSecurityExemptions `json:"exemptions"`
}

type podSecurityDefaults struct {
	Enforce        string `json:"enforce,omitempty"`
	EnforceVersion string `json:"enforce-version,omitempty"`
	Audit          string `json:"audit,omitempty"`
	AuditVersion   string `json:"audit-version,omitempty"`
	Warn           string `json:"warn,omitempty"`
	WarnVersion    string `json:"warn-version,omitempty"`
}

// parsePodSecurity decodes and validates a configuration, which may be empty. The default standard
// is privileged, in the latest version.
func parsePodSecurity(data []byte) (PodSecurityConfig, error) {
	var file podSecurityFile
	if len(data) > 0 {
		versions := []string{podSecurityGroup + "/v1", podSecurityGroup + "/v1beta1", podSecurityGroup + "/v1alpha1"}
		if err := checkKind(data, "PodSecurityConfiguration", versions...); err != nil {
			return PodSecurityConfig{}, err
		}
		if err := yaml.UnmarshalStrict(data, &file); err != nil {
			return PodSecurityConfig{}, err
		}
	}
	var errs field.ErrorList
	standard := func(mode, level, version string) api.LevelVersion {
		level, version = cmp.Or(level, string(api.LevelPrivileged)), cmp.Or(version, api.VersionLatest)
		at := field.NewPath("defaults")
		l, err := api.ParseLevel(level)
		if err != nil {
			errs = append(errs, field.Invalid(at.Child(mode), level, err.Error()))
		}
		v, err := api.ParseVersion(version)
		if err != nil {
			errs = append(errs, field.Invalid(at.Child(mode+"-version"), version, err.Error()))
		}
		return api.LevelVersion{Level: l, Version: v}
	}
	defaults := api.Policy{
		Enforce: standard("enforce", file.Defaults.Enforce, file.Defaults.EnforceVersion),
		Audit:   standard("audit", file.Defaults.Audit, file.Defaults.AuditVersion),
		Warn:    standard("warn", file.Defaults.Warn, file.Defaults.WarnVersion),
	}
	errs = append(errs, file.Exemptions.validate(field.NewPath("exemptions"))...)
	return PodSecurityConfig{Defaults: defaults, Exemptions: file.Exemptions}, errs.ToAggregate()
}

func (e PodSecurityExemptions) validate(at *field.Path) field.ErrorList {
	notEmpty := func(name string, _ bool) []string {
		if name == "" {
			return []string{"username must not be empty"}
		}
		return nil
	}
	return slices.Concat(
		validateNames(at.Child("namespaces"), e.Namespaces, apivalidation.ValidateNamespaceName),
		validateNames(at.Child("runtimeClasses"), e.RuntimeClasses, apivalidation.NameIsDNSSubdomain),
		validateNames(at.Child("usernames"), e.Usernames, notEmpty),
	)
}

// validateNames rejects invalid names and duplicates.
func validateNames(at *field.Path, names []string, validate apivalidation.ValidateNameFunc) field.ErrorList {
	var errs field.ErrorList
	for i, name := range names {
		if messages := validate(name, false); len(messages) > 0 {
			errs = append(errs, field.Invalid(at.Index(i), name, strings.Join(messages, ", ")))
		} else if slices.Contains(names[:i], name) {
			errs = append(errs, field.Duplicate(at.Index(i), name))
		}
	}
	return errs
}
