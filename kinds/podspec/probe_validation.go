package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// validateLife validates the probes and hooks of a container or a sidecar.
func validateLife(s *scope, c *corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.Lifecycle != nil {
		errs = append(errs, validateHook(s, c.Lifecycle.PostStart, at.Child("lifecycle", "postStart"))...)
		errs = append(errs, validateHook(s, c.Lifecycle.PreStop, at.Child("lifecycle", "preStop"))...)
		errs = append(errs, validateStopSignal(s, c.Lifecycle.StopSignal, at.Child("lifecycle", "stopSignal"))...)
	}
	errs = append(errs, validateProbe(c.LivenessProbe, at.Child("livenessProbe"))...)
	errs = append(errs, succeedsAtOnce(c.LivenessProbe, at.Child("livenessProbe"))...)
	errs = append(errs, validateProbe(c.ReadinessProbe, at.Child("readinessProbe"))...)
	if p := c.ReadinessProbe; p != nil && p.TerminationGracePeriodSeconds != nil {
		errs = append(errs, field.Invalid(at.Child("readinessProbe", "terminationGracePeriodSeconds"), *p.TerminationGracePeriodSeconds,
			"must not be set for readinessProbes"))
	}
	errs = append(errs, validateProbe(c.StartupProbe, at.Child("startupProbe"))...)
	return append(errs, succeedsAtOnce(c.StartupProbe, at.Child("startupProbe"))...)
}

// noLife rejects probes and hooks.
func noLife(c *corev1.Container, at *field.Path, message string) field.ErrorList {
	f := forbidding{message: message}
	f.forbid(c.Lifecycle != nil, at, "lifecycle")
	return append(f.errs, noProbes(c, at, message)...)
}

func noProbes(c *corev1.Container, at *field.Path, message string) field.ErrorList {
	f := forbidding{message: message}
	f.forbid(c.LivenessProbe != nil, at, "livenessProbe")
	f.forbid(c.ReadinessProbe != nil, at, "readinessProbe")
	f.forbid(c.StartupProbe != nil, at, "startupProbe")
	return f.errs
}

func validateProbe(p *corev1.Probe, at *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	errs := validateProbeHandler(&p.ProbeHandler, at)
	for _, f := range []struct {
		name  string
		value int32
	}{
		{"initialDelaySeconds", p.InitialDelaySeconds},
		{"timeoutSeconds", p.TimeoutSeconds},
		{"periodSeconds", p.PeriodSeconds},
		{"successThreshold", p.SuccessThreshold},
		{"failureThreshold", p.FailureThreshold},
	} {
		if f.value < 0 {
			errs = append(errs, validation.ValidateNonnegativeField(int64(f.value), at.Child(f.name))...)
		}
	}
	if n := p.TerminationGracePeriodSeconds; n != nil && *n <= 0 {
		errs = append(errs, field.Invalid(at.Child("terminationGracePeriodSeconds"), *n, "must be greater than 0"))
	}
	return errs
}

func succeedsAtOnce(p *corev1.Probe, at *field.Path) field.ErrorList {
	if p == nil || p.SuccessThreshold == 1 {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("successThreshold"), p.SuccessThreshold, "must be 1")}
}

const moreHandlers = "may not specify more than 1 handler type"

func validateProbeHandler(h *corev1.ProbeHandler, at *field.Path) field.ErrorList {
	one := &kind.Union{At: at, Refusal: moreHandlers}
	kind.Member(one, h.Exec, validateExec, "exec")
	kind.Member(one, h.HTTPGet, validateHTTPGet, "httpGet")
	kind.Member(one, h.TCPSocket, validateTCP, "tcpSocket")
	kind.Member(one, h.GRPC, func(a *corev1.GRPCAction, at *field.Path) field.ErrorList {
		errs := validatePort(intstr.FromInt32(a.Port), at.Child("port"))
		return append(errs, kind.SupportedIfSet(at.Child("mode"), a.Mode, corev1.GRPCProbeModePlaintext, corev1.GRPCProbeModeTLS)...)
	}, "grpc")
	return someHandler(one)
}

func validateHook(s *scope, h *corev1.LifecycleHandler, at *field.Path) field.ErrorList {
	if h == nil {
		return nil
	}
	one := &kind.Union{At: at, Refusal: moreHandlers}
	kind.Member(one, h.Exec, validateExec, "exec")
	kind.Member(one, h.HTTPGet, validateHTTPGet, "httpGet")
	kind.Member(one, h.TCPSocket, validateTCP, "tcpSocket")
	kind.Member(one, h.Sleep, func(a *corev1.SleepAction, at *field.Path) field.ErrorList {
		if period := s.TerminationGracePeriodSeconds; period != nil && (a.Seconds < 0 || a.Seconds > *period) {
			return field.ErrorList{field.Invalid(at, a.Seconds, fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", *period))}
		}
		return nil
	}, "sleep")
	return someHandler(one)
}

func someHandler(one *kind.Union) field.ErrorList {
	if !one.Found {
		return append(one.Errs, field.Required(one.At, "must specify a handler type"))
	}
	return one.Errs
}

func validateExec(a *corev1.ExecAction, at *field.Path) field.ErrorList {
	if len(a.Command) == 0 {
		return field.ErrorList{field.Required(at.Child("command"), "")}
	}
	return nil
}

func validateTCP(a *corev1.TCPSocketAction, at *field.Path) field.ErrorList {
	return validatePort(a.Port, at.Child("port"))
}

func validateHTTPGet(action *corev1.HTTPGetAction, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if action.Path == "" {
		errs = append(errs, field.Required(at.Child("path"), ""))
	}
	errs = append(errs, validatePort(action.Port, at.Child("port"))...)
	errs = append(errs, kind.Supported(at.Child("scheme"), action.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)...)
	for _, header := range action.HTTPHeaders {
		errs = append(errs, kind.Invalid(at.Child("httpHeaders"), header.Name, utilvalidation.IsHTTPHeaderName(header.Name))...)
	}
	protocol := at.Child("protocol")
	errs = append(errs, kind.SupportedIfSet(protocol, action.Protocol, corev1.HTTPProtocolHTTP1, corev1.HTTPProtocolHTTP2)...)
	if p := action.Protocol; p == nil || *p != corev1.HTTPProtocolHTTP2 {
		return errs
	}
	if action.Scheme != corev1.URISchemeHTTP {
		return append(errs, field.Invalid(protocol, *action.Protocol, "is only supported with HTTP (H2C)"))
	}
	if action.Host != "" {
		errs = append(errs, field.Invalid(at.Child("host"), action.Host, "must be empty when `protocol` is \"HTTP2\""))
	}
	return errs
}

func validatePort(port intstr.IntOrString, at *field.Path) field.ErrorList {
	if port.Type == intstr.Int {
		return kind.Invalid(at, port.IntVal, utilvalidation.IsValidPortNum(port.IntValue()))
	}
	return kind.Invalid(at, port.StrVal, utilvalidation.IsValidPortName(port.StrVal))
}
