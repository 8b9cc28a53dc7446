package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateContainers(spec *corev1.PodSpec, volumes sets.Set[string], at *field.Path) field.ErrorList {
	if len(spec.Containers) == 0 {
		return field.ErrorList{field.Required(at.Child("containers"), "")}
	}
	var errs field.ErrorList
	names := sets.New[string]()
	for i := range spec.Containers {
		c, at := &spec.Containers[i], at.Child("containers").Index(i)
		errs = append(errs, validateContainer(c, volumes, at)...)
		errs = append(errs, newName(names, c.Name, at)...)
		errs = append(errs, validateLife(c, at)...)
	}
	for i := range spec.InitContainers {
		c, at := &spec.InitContainers[i], at.Child("initContainers").Index(i)
		errs = append(errs, validateContainer(c, volumes, at)...)
		errs = append(errs, newName(names, c.Name, at)...)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			errs = append(errs, validateLife(c, at)...)
		} else {
			errs = append(errs, noLife(c, at, "may not be set for init containers without restartPolicy=Always")...)
		}
	}
	return errs
}

// ValidateEphemeral looks at the containers that are added to a pod while it
// runs.
func ValidateEphemeral(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	volumes, _ := validateVolumes(spec.Volumes, nil)
	names := sets.New[string]()
	for _, c := range slices.Concat(spec.Containers, spec.InitContainers) {
		names.Insert(c.Name)
	}
	targets := names.Clone()
	for i := range spec.EphemeralContainers {
		c, at := &spec.EphemeralContainers[i], at.Child("ephemeralContainers").Index(i)
		common := (*corev1.Container)(&c.EphemeralContainerCommon)
		errs = append(errs, validateContainer(common, volumes, at)...)
		errs = append(errs, newName(names, c.Name, at)...)
		if target := c.TargetContainerName; target != "" && !targets.Has(target) {
			errs = append(errs, field.NotFound(at.Child("targetContainerName"), target))
		}
		const message = "cannot be set for an Ephemeral Container"
		errs = append(errs, noLife(common, at, message)...)
		if len(c.Ports) > 0 {
			errs = append(errs, field.Forbidden(at.Child("ports"), message))
		}
		if len(c.Resources.Limits)+len(c.Resources.Requests)+len(c.Resources.Claims) > 0 {
			errs = append(errs, field.Forbidden(at.Child("resources"), message))
		}
	}
	return errs
}

// newName adds a name to those that are taken.
func newName(taken sets.Set[string], name string, at *field.Path) field.ErrorList {
	if taken.Has(name) {
		return field.ErrorList{field.Duplicate(at.Child("name"), name)}
	}
	if name != "" {
		taken.Insert(name)
	}
	return nil
}

// validateContainer holds for containers of every sort.
func validateContainer(c *corev1.Container, volumes sets.Set[string], at *field.Path) field.ErrorList {
	errs := dnsLabel(c.Name, at.Child("name"))
	if c.Image == "" {
		errs = append(errs, field.Required(at.Child("image"), ""))
	}
	errs = append(errs, kind.OneOf(at.Child("terminationMessagePolicy"), c.TerminationMessagePolicy,
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)...)
	errs = append(errs, validatePorts(c.Ports, at.Child("ports"))...)
	errs = append(errs, validateEnv(c.Env, at.Child("env"))...)
	errs = append(errs, validateEnvFrom(c.EnvFrom, at.Child("envFrom"))...)
	errs = append(errs, validateMounts(c.VolumeMounts, volumes, at.Child("volumeMounts"))...)
	errs = append(errs, kind.OneOf(at.Child("imagePullPolicy"), c.ImagePullPolicy,
		corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	return append(errs, validateRequirements(&c.Resources, at.Child("resources"))...)
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

func validateMounts(mounts []corev1.VolumeMount, volumes sets.Set[string], at *field.Path) field.ErrorList {
	var errs field.ErrorList
	paths := sets.New[string]()
	for i := range mounts {
		m, at := &mounts[i], at.Index(i)
		if m.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		}
		if !volumes.Has(m.Name) {
			errs = append(errs, field.NotFound(at.Child("name"), m.Name))
		}
		if m.MountPath == "" {
			errs = append(errs, field.Required(at.Child("mountPath"), ""))
		}
		if paths.Has(m.MountPath) {
			errs = append(errs, field.Invalid(at.Child("mountPath"), m.MountPath, "must be unique"))
		}
		paths.Insert(m.MountPath)
		if m.SubPath != "" && m.SubPathExpr != "" {
			errs = append(errs, field.Invalid(at.Child("subPathExpr"), m.SubPathExpr, "subPathExpr and subPath are mutually exclusive"))
		}
	}
	return errs
}

// dnsLabel wants a name that is a label of DNS.
func dnsLabel(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return kind.Invalid(at, name, utilvalidation.IsDNS1123Label(name))
}
