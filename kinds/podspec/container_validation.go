package podspec

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateContainers(s *scope, at *field.Path) field.ErrorList {
	if len(s.Containers) == 0 {
		errs := field.ErrorList{field.Required(at.Child("containers"), "")}
		return append(errs, validateOtherContainers(s, sets.New[string](), at)...)
	}
	var errs field.ErrorList
	names := sets.New[string]()
	for i := range s.Containers {
		c, at := &s.Containers[i], at.Child("containers").Index(i)
		errs = append(errs, validateContainer(s, c, at)...)
		errs = append(errs, newName(names, c.Name, at)...)
		names.Insert(c.Name) // invalid names too
		errs = append(errs, validateLife(s, c, at)...)
		errs = append(errs, validateRestarts(c, at)...)
	}
	ports := sets.New[string]()
	for i := range s.Containers {
		errs = append(errs, newHostPorts(ports, s.Containers[i].Ports, at.Child("containers").Index(i).Child("ports"))...)
	}
	return append(errs, validateOtherContainers(s, names, at)...)
}

func validateOtherContainers(s *scope, names sets.Set[string], at *field.Path) field.ErrorList {
	errs := validateInitContainers(s, names, at.Child("initContainers"))
	for i := range s.InitContainers {
		names.Insert(s.InitContainers[i].Name)
	}
	return append(errs, validateEphemeralContainers(s, names, at.Child("ephemeralContainers"))...)
}

// validateInitContainers validates sidecars like containers. Other init containers run one after
// the other and may share ports. A duplicate port within one of them is reported for the first one,
// as kube-apiserver does.
func validateInitContainers(s *scope, names sets.Set[string], path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range s.InitContainers {
		c, at := &s.InitContainers[i], path.Index(i)
		errs = append(errs, validateContainer(s, c, at)...)
		errs = append(errs, validateInitRestarts(c, at)...)
		errs = append(errs, newName(names, c.Name, at)...)
		errs = append(errs, newHostPorts(sets.New[string](), c.Ports, path.Index(0).Child("ports"))...)
		if isSidecar(c) {
			errs = append(errs, validateLife(s, c, at)...)
		} else {
			errs = append(errs, noLife(c, at, "may not be set for init containers without restartPolicy=Always")...)
			errs = append(errs, neverAgain(c.ResizePolicy, at.Child("resizePolicy"))...)
		}
	}
	return errs
}

// neverAgain rejects the restart on resize of init containers that are not sidecars.
func neverAgain(list []corev1.ContainerResizePolicy, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, p := range list {
		if p.RestartPolicy == corev1.RestartContainer {
			errs = append(errs, field.Invalid(at.Index(i).Child("restartPolicy"), p.RestartPolicy, "must not be set to 'RestartContainer' for non-sidecar initContainers"))
		}
	}
	return errs
}

func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// validateEphemeralContainers validates the containers that are added to a running pod. taken are
// the names of the others.
func validateEphemeralContainers(s *scope, taken sets.Set[string], at *field.Path) field.ErrorList {
	if len(s.EphemeralContainers) == 0 {
		return nil
	}
	var errs field.ErrorList
	names := taken.Clone()
	for i := range s.EphemeralContainers {
		c, at := &s.EphemeralContainers[i], at.Index(i)
		common := (*corev1.Container)(&c.EphemeralContainerCommon)
		errs = append(errs, validateContainer(s, common, at)...)
		errs = append(errs, ValidateImage(c.Image, at.Child("image"))...)
		errs = append(errs, newName(names, c.Name, at)...)
		names.Insert(c.Name)
		if target := c.TargetContainerName; target != "" && !taken.Has(target) {
			errs = append(errs, field.NotFound(at.Child("targetContainerName"), target))
		}
		errs = append(errs, validateEphemeral(common, at)...)
	}
	return errs
}

// validateEphemeral rejects the fields that ephemeral containers do not support.
func validateEphemeral(c *corev1.Container, at *field.Path) field.ErrorList {
	f := forbidding{message: "cannot be set for an Ephemeral Container"}
	f.forbid(c.Ports != nil, at, "ports")
	f.forbid(c.Resources.Limits != nil || c.Resources.Requests != nil || c.Resources.Claims != nil, at, "resources")
	f.forbid(c.ResizePolicy != nil, at, "resizePolicy")
	f.forbid(c.RestartPolicy != nil, at, "restartPolicy")
	f.forbid(c.RestartPolicyRules != nil, at, "restartPolicyRules")
	f.errs = append(f.errs, noProbes(c, at, f.message)...)
	f.forbid(c.Lifecycle != nil, at, "lifecycle")
	for i, m := range c.VolumeMounts {
		at := at.Child("volumeMounts").Index(i)
		f.forbid(m.SubPath != "", at, "subPath")
		f.forbid(m.SubPathExpr != "", at, "subPathExpr")
	}
	return f.errs
}

// ValidateImage validates an image in a pod. Templates accept blanks around the name.
func ValidateImage(image string, at *field.Path) field.ErrorList {
	if image == strings.TrimSpace(image) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, image, "must not have leading or trailing whitespace")}
}

// newName adds a name to the names in use.
func newName(taken sets.Set[string], name string, at *field.Path) field.ErrorList {
	if taken.Has(name) {
		return field.ErrorList{field.Duplicate(at.Child("name"), name)}
	}
	if name != "" {
		taken.Insert(name)
	}
	return nil
}

// validateContainer holds for all containers.
func validateContainer(s *scope, c *corev1.Container, at *field.Path) field.ErrorList {
	errs := dnsLabel(c.Name, at.Child("name"))
	if c.Image == "" {
		errs = append(errs, field.Required(at.Child("image"), ""))
	}
	errs = append(errs, kind.OneOf(at.Child("terminationMessagePolicy"), c.TerminationMessagePolicy,
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)...)
	errs = append(errs, validatePorts(c.Ports, at.Child("ports"))...)
	errs = append(errs, validateEnv(c.Env, at.Child("env"))...)
	errs = append(errs, validateEnvFrom(c.EnvFrom, at.Child("envFrom"))...)
	errs = append(errs, validateMounts(s, c, at.Child("volumeMounts"))...)
	errs = append(errs, validateDevices(s, c, at.Child("volumeDevices"))...)
	errs = append(errs, validatePullPolicy(c.ImagePullPolicy, at.Child("imagePullPolicy"))...)
	errs = append(errs, validateRequirements(&c.Resources, ValidateContainerResourceName, at.Child("resources"))...)
	errs = append(errs, validateClaimNames(s, c.Resources.Claims, at.Child("resources", "claims"))...)
	errs = append(errs, validateResizePolicy(s, c.ResizePolicy, at.Child("resizePolicy"))...)
	return append(errs, validateSecurity(c.SecurityContext, hasOwnUsers(s.PodSpec), at.Child("securityContext"))...)
}

func validatePullPolicy(policy corev1.PullPolicy, at *field.Path) field.ErrorList {
	return kind.OneOf(at, policy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
}

func validatePorts(ports []corev1.ContainerPort, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := sets.New[string]()
	for i := range ports {
		p, at := &ports[i], at.Index(i)
		if messages := utilvalidation.IsValidPortName(p.Name); p.Name != "" && len(messages) > 0 {
			errs = append(errs, kind.Invalid(at.Child("name"), p.Name, messages)...)
		} else {
			errs = append(errs, newName(names, p.Name, at)...)
		}
		if p.ContainerPort == 0 {
			errs = append(errs, field.Required(at.Child("containerPort"), ""))
		} else {
			errs = append(errs, kind.Invalid(at.Child("containerPort"), p.ContainerPort, utilvalidation.IsValidPortNum(int(p.ContainerPort)))...)
		}
		if p.HostPort != 0 {
			errs = append(errs, kind.Invalid(at.Child("hostPort"), p.HostPort, utilvalidation.IsValidPortNum(int(p.HostPort)))...)
		}
		errs = append(errs, kind.OneOf(at.Child("protocol"), p.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)...)
	}
	return errs
}

// newHostPorts adds host ports to the ports in use.
func newHostPorts(taken sets.Set[string], ports []corev1.ContainerPort, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range ports {
		p := &ports[i]
		if p.HostPort == 0 {
			continue
		}
		port := fmt.Sprintf("%s/%s/%d", p.Protocol, p.HostIP, p.HostPort)
		if taken.Has(port) {
			errs = append(errs, field.Duplicate(at.Index(i).Child("hostPort"), port))
		}
		taken.Insert(port)
	}
	return errs
}

// dnsLabel requires a DNS label.
func dnsLabel(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return kind.Invalid(at, name, utilvalidation.IsDNS1123Label(name))
}
