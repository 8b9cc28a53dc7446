package podspec

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// The limits of Windows.
const (
	maxCredentialSpec = 64 << 10
	maxDomain         = 256
	maxUser           = 104
)

// The name of a domain is a NetBIOS or a DNS name.
var (
	netBIOS = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$`)
	})
	dnsDomain = sync.OnceValue(func() *regexp.Regexp {
		const label = `[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?`
		return regexp.MustCompile(`^` + label + `(?:\.` + label + `)*$`)
	})
)

func validateWindowsOptions(o *corev1.WindowsSecurityContextOptions, at *field.Path) field.ErrorList {
	if o == nil {
		return nil
	}
	var errs field.ErrorList
	if name := o.GMSACredentialSpecName; name != nil {
		errs = append(errs, kind.Invalid(at.Child("gmsaCredentialSpecName"), *name, utilvalidation.IsDNS1123Subdomain(*name))...)
	}
	if spec := o.GMSACredentialSpec; spec != nil {
		at := at.Child("gmsaCredentialSpec")
		switch {
		case *spec == "":
			errs = append(errs, field.Invalid(at, *spec, "gmsaCredentialSpec cannot be an empty string"))
		case len(*spec) > maxCredentialSpec:
			errs = append(errs, field.Invalid(at, *spec, "gmsaCredentialSpec size must be under 64 KiB"))
		}
	}
	if name := o.RunAsUserName; name != nil {
		errs = append(errs, kind.Invalid(at.Child("runAsUserName"), *name, windowsUser(*name))...)
	}
	return errs
}

// windowsUser returns the errors of a user name, with or without a domain.
func windowsUser(name string) []string {
	switch {
	case name == "":
		return []string{"runAsUserName cannot be an empty string"}
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return []string{"runAsUserName cannot contain control characters"}
	case strings.Count(name, `\`) > 1:
		return []string{"runAsUserName cannot contain more than one backslash"}
	}
	var messages []string
	domain, user, qualified := strings.Cut(name, `\`)
	if !qualified {
		domain, user = "", name
	}
	if len(domain) >= maxDomain {
		messages = append(messages, fmt.Sprintf("runAsUserName's Domain length must be under %d characters", maxDomain))
	}
	if qualified && !netBIOS().MatchString(domain) && !dnsDomain().MatchString(domain) {
		messages = append(messages, "runAsUserName's Domain doesn't match the NetBios nor the DNS format")
	}
	switch {
	case user == "":
		messages = append(messages, "runAsUserName's User cannot be empty")
	case len(user) > maxUser:
		messages = append(messages, fmt.Sprintf("runAsUserName's User length must not be longer than %d characters", maxUser))
	}
	if user != "" && strings.Trim(user, ". ") == "" {
		messages = append(messages, "runAsUserName's User cannot contain only periods or spaces")
	}
	if strings.ContainsAny(user, `"/\:;|=,+*?<>@[]`) {
		messages = append(messages, `runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]`)
	}
	return messages
}

// validateHostProcess requires all containers or none to be processes of the node, and the network
// of the node for those that are.
func validateHostProcess(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	var ofPod *bool
	if spec.SecurityContext != nil {
		ofPod = hostProcess(spec.SecurityContext.WindowsOptions)
	}
	all, processes := 0, 0
	visitContainers(spec, at, func(c *corev1.Container, at *field.Path) {
		all++
		own := ofPod
		if c.SecurityContext != nil && hostProcess(c.SecurityContext.WindowsOptions) != nil {
			own = hostProcess(c.SecurityContext.WindowsOptions)
		}
		if ofPod != nil && *own != *ofPod {
			errs = append(errs, field.Invalid(at.Child("securityContext", "windowsOptions", "hostProcess"), *own,
				fmt.Sprintf("pod hostProcess value must be identical if both are specified, was %v", *ofPod)))
		}
		if isTrue(own) {
			processes++
		}
	})
	if processes > 0 && processes < all {
		errs = append(errs, field.Invalid(at, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers"))
	}
	if processes > 0 && !spec.HostNetwork {
		errs = append(errs, field.Invalid(at.Child("hostNetwork"), false, "hostNetwork must be true if pod contains any hostProcess containers"))
	}
	return errs
}

func hostProcess(o *corev1.WindowsSecurityContextOptions) *bool {
	if o == nil {
		return nil
	}
	return o.HostProcess
}

// validateOS rejects the fields of one operating system in pods for another.
func validateOS(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	if spec.OS == nil {
		return nil
	}
	switch spec.OS.Name {
	case "":
		return field.ErrorList{field.Required(at.Child("os", "name"), "")}
	case corev1.Linux:
		return validateLinux(spec, at)
	case corev1.Windows:
		return validateWindows(spec, at)
	default:
		return kind.Supported(at.Child("os"), spec.OS.Name, corev1.Linux, corev1.Windows)
	}
}

func validateLinux(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	const message = "windows options cannot be set for a linux pod"
	var errs field.ErrorList
	if spec.SecurityContext != nil && spec.SecurityContext.WindowsOptions != nil {
		errs = append(errs, field.Forbidden(at.Child("securityContext", "windowsOptions"), message))
	}
	visitContainers(spec, at, func(c *corev1.Container, at *field.Path) {
		if c.SecurityContext != nil && c.SecurityContext.WindowsOptions != nil {
			errs = append(errs, field.Forbidden(at.Child("securityContext", "windowsOptions"), message))
		}
	})
	return errs
}

func validateWindows(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	f := forbidding{message: "cannot be set for a windows pod"}
	if c := spec.SecurityContext; c != nil {
		security := at.Child("securityContext")
		f.forbid(c.AppArmorProfile != nil, security, "appArmorProfile")
		f.forbid(c.SELinuxOptions != nil, security, "seLinuxOptions")
		f.forbid(spec.HostUsers != nil, at, "hostUsers")
		f.forbid(spec.HostPID, at, "hostPID")
		f.forbid(spec.HostIPC, at, "hostIPC")
		f.forbid(c.SeccompProfile != nil, security, "seccompProfile")
		f.forbid(c.FSGroup != nil, security, "fsGroup")
		f.forbid(c.FSGroupChangePolicy != nil, security, "fsGroupChangePolicy")
		f.forbid(len(c.Sysctls) > 0, security, "sysctls")
		f.forbid(spec.ShareProcessNamespace != nil, at, "shareProcessNamespace")
		f.forbid(c.RunAsUser != nil, security, "runAsUser")
		f.forbid(c.RunAsGroup != nil, security, "runAsGroup")
		f.forbid(c.SupplementalGroups != nil, security, "supplementalGroups")
		f.forbid(c.SupplementalGroupsPolicy != nil, security, "supplementalGroupsPolicy")
		f.forbid(c.SELinuxChangePolicy != nil, security, "seLinuxChangePolicy")
	}
	visitContainers(spec, at, func(c *corev1.Container, at *field.Path) {
		if c.SecurityContext != nil {
			f.forbidOfLinux(c.SecurityContext, at.Child("securityContext"))
		}
	})
	return f.errs
}

// forbidding collects errors for fields that are forbidden for one reason.
type forbidding struct {
	message string
	errs    field.ErrorList
}

func (f *forbidding) forbid(set bool, at *field.Path, name string) {
	if set {
		f.errs = append(f.errs, field.Forbidden(at.Child(name), f.message))
	}
}

func (f *forbidding) forbidOfLinux(c *corev1.SecurityContext, at *field.Path) {
	f.forbid(c.AppArmorProfile != nil, at, "appArmorProfile")
	f.forbid(c.SELinuxOptions != nil, at, "seLinuxOptions")
	f.forbid(c.SeccompProfile != nil, at, "seccompProfile")
	f.forbid(c.Capabilities != nil, at, "capabilities")
	f.forbid(c.ReadOnlyRootFilesystem != nil, at, "readOnlyRootFilesystem")
	f.forbid(c.Privileged != nil, at, "privileged")
	f.forbid(c.AllowPrivilegeEscalation != nil, at, "allowPrivilegeEscalation")
	f.forbid(c.ProcMount != nil, at, "procMount")
	f.forbid(c.RunAsUser != nil, at, "runAsUser")
	f.forbid(c.RunAsGroup != nil, at, "runAsGroup")
}
