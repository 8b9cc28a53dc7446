package podspec

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

func validatePodSecurity(s *scope, at *field.Path) field.ErrorList {
	c := s.SecurityContext
	if c == nil {
		return nil
	}
	errs := validateID(c.FSGroup, utilvalidation.IsValidGroupID, at, "fsGroup")
	errs = append(errs, validateID(c.RunAsUser, utilvalidation.IsValidUserID, at, "runAsUser")...)
	errs = append(errs, validateID(c.RunAsGroup, utilvalidation.IsValidGroupID, at, "runAsGroup")...)
	for i, id := range c.SupplementalGroups {
		errs = append(errs, kind.Invalid(at.Child("supplementalGroups").Index(i), id, utilvalidation.IsValidGroupID(id))...)
	}
	errs = append(errs, validateSysctls(s.PodSpec, at.Child("sysctls"))...)
	if p := c.FSGroupChangePolicy; p != nil {
		errs = append(errs, kind.Supported(at.Child("fsGroupChangePolicy"), *p, corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch)...)
	}
	errs = append(errs, validateSeccomp(c.SeccompProfile, at.Child("seccompProfile"))...)
	errs = append(errs, validateWindowsOptions(c.WindowsOptions, at.Child("windowsOptions"))...)
	errs = append(errs, validateAppArmor(c.AppArmorProfile, at.Child("appArmorProfile"))...)
	if p := c.SupplementalGroupsPolicy; p != nil {
		errs = append(errs, kind.Supported(at.Child("supplementalGroupsPolicy"), *p, corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)...)
	}
	if p := c.SELinuxChangePolicy; p != nil {
		errs = append(errs, kind.Supported(at.Child("seLinuxChangePolicy"), *p, seLinuxChangePolicies(s.features)...)...)
	}
	return errs
}

// seLinuxChangePolicies returns the supported policies.
func seLinuxChangePolicies(features *feature.Set) []corev1.PodSELinuxChangePolicy {
	if features.Enabled(feature.SELinuxMount) {
		return []corev1.PodSELinuxChangePolicy{corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive}
	}
	return []corev1.PodSELinuxChangePolicy{corev1.SELinuxChangePolicyRecursive}
}

func validateShareProcessNamespace(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	if !isTrue(spec.ShareProcessNamespace) || !spec.HostPID {
		return nil
	}
	return field.ErrorList{field.Invalid(at, true, "ShareProcessNamespace and HostPID cannot both be enabled")}
}

func validateID(id *int64, valid func(int64) []string, at *field.Path, name string) field.ErrorList {
	if id == nil {
		return nil
	}
	return kind.Invalid(at.Child(name), *id, valid(*id))
}

func isTrue(b *bool) bool { return b != nil && *b }

// validateSecurity validates the security context of a container.
func validateSecurity(c *corev1.SecurityContext, ownUsers bool, at *field.Path) field.ErrorList {
	if c == nil {
		return nil
	}
	errs := validateID(c.RunAsUser, utilvalidation.IsValidUserID, at, "runAsUser")
	errs = append(errs, validateID(c.RunAsGroup, utilvalidation.IsValidGroupID, at, "runAsGroup")...)
	if m := c.ProcMount; m != nil {
		at := at.Child("procMount")
		errs = append(errs, kind.Supported(at, *m, corev1.DefaultProcMount, corev1.UnmaskedProcMount)...)
		if !ownUsers && *m == corev1.UnmaskedProcMount {
			errs = append(errs, field.Invalid(at, *m, "`hostUsers` must be false to use `Unmasked`"))
		}
	}
	errs = append(errs, validateSeccomp(c.SeccompProfile, at.Child("seccompProfile"))...)
	errs = append(errs, validateEscalation(c, at)...)
	errs = append(errs, validateWindowsOptions(c.WindowsOptions, at.Child("windowsOptions"))...)
	return append(errs, validateAppArmor(c.AppArmorProfile, at.Child("appArmorProfile"))...)
}

// validateEscalation rejects allowPrivilegeEscalation=false for privileged containers.
func validateEscalation(c *corev1.SecurityContext, at *field.Path) field.ErrorList {
	if c.AllowPrivilegeEscalation == nil || *c.AllowPrivilegeEscalation {
		return nil
	}
	var errs field.ErrorList
	if isTrue(c.Privileged) {
		errs = append(errs, field.Invalid(at, kind.GoJSON(c), "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
	}
	if c.Capabilities == nil {
		return errs
	}
	for _, capability := range c.Capabilities.Add {
		if capability == "CAP_SYS_ADMIN" {
			errs = append(errs, field.Invalid(at, kind.GoJSON(c), "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"))
		}
	}
	return errs
}

func validateSeccomp(p *corev1.SeccompProfile, at *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	var errs field.ErrorList
	if p.Type == "" {
		errs = append(errs, field.Required(at.Child("type"), "type is required when seccompProfile is set"))
	} else {
		errs = kind.Supported(at.Child("type"), p.Type,
			corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined)
	}
	file := at.Child("localhostProfile")
	switch local := p.Type == corev1.SeccompProfileTypeLocalhost; {
	case local && p.LocalhostProfile == nil:
		errs = append(errs, field.Required(file, "must be set when seccomp type is Localhost"))
	case local:
		errs = append(errs, validateDescending(*p.LocalhostProfile, file)...)
	case p.LocalhostProfile != nil:
		errs = append(errs, field.Invalid(file, kind.GoJSON(p), "can only be set when seccomp type is Localhost"))
	}
	return errs
}

// maxPath is the limit of Linux without the final zero byte.
const maxPath = 4095

func validateAppArmor(p *corev1.AppArmorProfile, at *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	file := at.Child("localhostProfile")
	switch p.Type {
	case corev1.AppArmorProfileTypeLocalhost:
		return validateAppArmorFile(p.LocalhostProfile, file)
	case corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined:
		if p.LocalhostProfile != nil {
			return field.ErrorList{field.Invalid(file, *p.LocalhostProfile, "can only be set when AppArmor type is Localhost")}
		}
		return nil
	case "":
		return field.ErrorList{field.Required(at.Child("type"), "type is required when appArmorProfile is set")}
	default:
		return kind.Supported(at.Child("type"), p.Type,
			corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined)
	}
}

func validateAppArmorFile(name *string, at *field.Path) field.ErrorList {
	const needed = "must be set when AppArmor type is Localhost"
	if name == nil {
		return field.ErrorList{field.Required(at, needed)}
	}
	var errs field.ErrorList
	switch strings.TrimSpace(*name) {
	case *name:
		if *name == "" {
			errs = append(errs, field.Required(at, needed))
		}
	default:
		errs = append(errs, field.Invalid(at, *name, "must not be padded with whitespace"))
	}
	if len(*name) > maxPath {
		errs = append(errs, field.TooLong(at, *name, maxPath))
	}
	return errs
}

const (
	maxSysctl     = 253
	sysctlPattern = `^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`
)

var sysctlName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(sysctlPattern) })

// validateSysctls rejects sysctls in namespaces that the pod shares with its node.
func validateSysctls(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	taken := sets.New[string]()
	for i, s := range spec.SecurityContext.Sysctls {
		at := at.Index(i).Child("name")
		switch {
		case s.Name == "":
			errs = append(errs, field.Required(at, ""))
		case len(s.Name) > maxSysctl || !sysctlName().MatchString(s.Name):
			errs = append(errs, field.Invalid(at, s.Name, fmt.Sprintf("must have at most %d characters and match regex %s", maxSysctl, sysctlPattern)))
		case taken.Has(s.Name):
			errs = append(errs, field.Duplicate(at, s.Name))
		}
		switch {
		case spec.HostNetwork && strings.HasPrefix(dotted(s.Name), "net."):
			errs = append(errs, field.Invalid(at, s.Name, "may not be specified when 'hostNetwork' is true"))
		case spec.HostIPC && isIPC(dotted(s.Name)):
			errs = append(errs, field.Invalid(at, s.Name, "may not be specified when 'hostIPC' is true"))
		}
		taken.Insert(s.Name)
	}
	return errs
}

// dotted exchanges slashes and dots in a name whose segments are separated by slashes.
func dotted(sysctl string) string {
	if i := strings.IndexAny(sysctl, "./"); i < 0 || sysctl[i] == '.' {
		return sysctl
	}
	return strings.NewReplacer("/", ".", ".", "/").Replace(sysctl)
}

func isIPC(sysctl string) bool {
	switch sysctl {
	case "kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced", "kernel.shm",
		"kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg":
		return true
	}
	return strings.HasPrefix(sysctl, "fs.mqueue.")
}

// validateHostUsers rejects host namespaces in a pod with a user namespace.
func validateHostUsers(s *scope, at *field.Path) field.ErrorList {
	spec := s.PodSpec
	if !hasOwnUsers(spec) {
		return nil
	}
	f := forbidding{message: "when `hostUsers` is false"}
	f.forbid(spec.HostNetwork && !s.features.Enabled(feature.UserNamespacesHostNetworkSupport), at, "hostNetwork")
	f.forbid(spec.HostPID, at, "HostPID")
	f.forbid(spec.HostIPC, at, "HostIPC")
	visitContainers(spec, at, func(c *corev1.Container, at *field.Path) { f.forbid(len(c.VolumeDevices) > 0, at, "volumeDevices") })
	return f.errs
}

func hasOwnUsers(spec *corev1.PodSpec) bool { return spec.HostUsers != nil && !*spec.HostUsers }
