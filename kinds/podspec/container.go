package podspec

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func defaultContainer(c *corev1.Container) {
	if c.ImagePullPolicy == "" {
		c.ImagePullPolicy = pullPolicy(c.Image)
	}
	kind.Fill(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	kind.Fill(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		kind.Fill(&c.Ports[i].Protocol, corev1.ProtocolTCP)
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
		kind.FillNil(&source.FileKeyRef.Optional, false)
	}
}

func defaultFieldRef(ref *corev1.ObjectFieldSelector) {
	if ref != nil {
		kind.Fill(&ref.APIVersion, "v1")
	}
}

func defaultProbe(probe *corev1.Probe) {
	kind.Fill(&probe.TimeoutSeconds, 1)
	kind.Fill(&probe.PeriodSeconds, 10)
	kind.Fill(&probe.SuccessThreshold, 1)
	kind.Fill(&probe.FailureThreshold, 3)
	defaultHTTPGet(probe.HTTPGet)
	if probe.GRPC != nil {
		kind.FillNil(&probe.GRPC.Service, "")
	}
}

func defaultHandler(handler *corev1.LifecycleHandler) {
	if handler != nil {
		defaultHTTPGet(handler.HTTPGet)
	}
}

func defaultHTTPGet(action *corev1.HTTPGetAction) {
	if action != nil {
		kind.Fill(&action.Path, "/")
		kind.Fill(&action.Scheme, corev1.URISchemeHTTP)
	}
}
