package podspec

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func defaultContainer(c *corev1.Container) {
	if c.ImagePullPolicy == "" {
		c.ImagePullPolicy = pullPolicy(c.Image)
	}
	kind.SetDefault(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	kind.SetDefault(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		kind.SetDefault(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		if source := c.Env[i].ValueFrom; source != nil {
			defaultEnvSource(source)
		}
	}
	roundRequirements(&c.Resources)
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe != nil {
			defaultProbe(probe)
		}
	}
	if c.Lifecycle != nil {
		defaultHandler(c.Lifecycle.PostStart)
		defaultHandler(c.Lifecycle.PreStop)
	}
}

func defaultEnvSource(source *corev1.EnvVarSource) {
	defaultFieldRef(source.FieldRef)
	if source.FileKeyRef != nil {
		kind.SetDefaultPointer(&source.FileKeyRef.Optional, false)
	}
}

func defaultFieldRef(ref *corev1.ObjectFieldSelector) {
	if ref != nil {
		kind.SetDefault(&ref.APIVersion, "v1")
	}
}

func defaultProbe(probe *corev1.Probe) {
	kind.SetDefault(&probe.TimeoutSeconds, 1)
	kind.SetDefault(&probe.PeriodSeconds, 10)
	kind.SetDefault(&probe.SuccessThreshold, 1)
	kind.SetDefault(&probe.FailureThreshold, 3)
	defaultHTTPGet(probe.HTTPGet)
	if probe.GRPC != nil {
		kind.SetDefaultPointer(&probe.GRPC.Service, "")
	}
}

func defaultHandler(handler *corev1.LifecycleHandler) {
	if handler != nil {
		defaultHTTPGet(handler.HTTPGet)
	}
}

func defaultHTTPGet(action *corev1.HTTPGetAction) {
	if action != nil {
		kind.SetDefault(&action.Path, "/")
		kind.SetDefault(&action.Scheme, corev1.URISchemeHTTP)
	}
}

// DefaultProbeProtocol sets the protocol of all HTTP requests of probes and lifecycle handlers. It
// applies to pods, not to templates.
func DefaultProbeProtocol(spec *corev1.PodSpec) {
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			defaultProtocols(&containers[i])
		}
	}
	for i := range spec.EphemeralContainers {
		defaultProtocols((*corev1.Container)(&spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
}

func defaultProtocols(c *corev1.Container) {
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe != nil {
			defaultProtocol(probe.HTTPGet)
		}
	}
	if c.Lifecycle == nil {
		return
	}
	for _, handler := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
		if handler != nil {
			defaultProtocol(handler.HTTPGet)
		}
	}
}

func defaultProtocol(action *corev1.HTTPGetAction) {
	if action != nil {
		kind.SetDefaultPointer(&action.Protocol, corev1.HTTPProtocolHTTP1)
	}
}
