package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// validateLife looks at the probes and the hooks of a container that stays.
func validateLife(c *corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.Lifecycle != nil {
		errs = append(errs, validateHook(c.Lifecycle.PostStart, at.Child("lifecycle", "postStart"))...)
		errs = append(errs, validateHook(c.Lifecycle.PreStop, at.Child("lifecycle", "preStop"))...)
	}
	errs = append(errs, validateProbe(c.LivenessProbe, at.Child("livenessProbe"))...)
	errs = append(errs, succeedsAtOnce(c.LivenessProbe, at.Child("livenessProbe"))...)
	errs = append(errs, validateProbe(c.ReadinessProbe, at.Child("readinessProbe"))...)
	errs = append(errs, validateProbe(c.StartupProbe, at.Child("startupProbe"))...)
	return append(errs, succeedsAtOnce(c.StartupProbe, at.Child("startupProbe"))...)
}

// noLife is for containers that have neither probes nor hooks.
func noLife(c *corev1.Container, at *field.Path, message string) field.ErrorList {
	var errs field.ErrorList
	forbid := func(set bool, name string) {
		if set {
			errs = append(errs, field.Forbidden(at.Child(name), message))
		}
	}
	forbid(c.Lifecycle != nil, "lifecycle")
	forbid(c.LivenessProbe != nil, "livenessProbe")
	forbid(c.ReadinessProbe != nil, "readinessProbe")
	forbid(c.StartupProbe != nil, "startupProbe")
	return errs
}

func validateProbe(p *corev1.Probe, at *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	errs := validateHandler(handler{p.Exec, p.HTTPGet, p.TCPSocket, p.GRPC, nil}, at)
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
		errs = append(errs, validation.ValidateNonnegativeField(int64(f.value), at.Child(f.name))...)
	}
	return errs
}

func succeedsAtOnce(p *corev1.Probe, at *field.Path) field.ErrorList {
	if p == nil || p.SuccessThreshold == 1 {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("successThreshold"), p.SuccessThreshold, "must be 1")}
}

func validateHook(h *corev1.LifecycleHandler, at *field.Path) field.ErrorList {
	if h == nil {
		return nil
	}
	return validateHandler(handler{h.Exec, h.HTTPGet, h.TCPSocket, nil, h.Sleep}, at)
}

// handler is that of a probe or of a hook.
type handler struct {
	exec  *corev1.ExecAction
	http  *corev1.HTTPGetAction
	tcp   *corev1.TCPSocketAction
	grpc  *corev1.GRPCAction
	sleep *corev1.SleepAction
}

// validateHandler wants exactly one, and looks no further than at the first.
func validateHandler(h handler, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	found := false
	one := func(set bool, name string, validate func(*field.Path) field.ErrorList) {
		switch {
		case set && found:
			errs = append(errs, field.Forbidden(at.Child(name), "may not specify more than 1 handler type"))
		case set:
			found = true
			errs = append(errs, validate(at.Child(name))...)
		}
	}
	one(h.exec != nil, "exec", func(at *field.Path) field.ErrorList {
		if len(h.exec.Command) == 0 {
			return field.ErrorList{field.Required(at.Child("command"), "")}
		}
		return nil
	})
	one(h.http != nil, "httpGet", func(at *field.Path) field.ErrorList { return validateHTTPGet(h.http, at) })
	one(h.tcp != nil, "tcpSocket", func(at *field.Path) field.ErrorList { return validatePort(h.tcp.Port, at.Child("port")) })
	one(h.grpc != nil, "grpc", func(at *field.Path) field.ErrorList {
		return validatePort(intstr.FromInt32(h.grpc.Port), at.Child("port"))
	})
	one(h.sleep != nil, "sleep", func(*field.Path) field.ErrorList { return nil })
	if !found {
		errs = append(errs, field.Required(at, "must specify a handler type"))
	}
	return errs
}

func validateHTTPGet(action *corev1.HTTPGetAction, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if action.Path == "" {
		errs = append(errs, field.Required(at.Child("path"), ""))
	}
	errs = append(errs, validatePort(action.Port, at.Child("port"))...)
	return append(errs, kind.OneOf(at.Child("scheme"), action.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)...)
}

func validatePort(port intstr.IntOrString, at *field.Path) field.ErrorList {
	if port.Type == intstr.Int {
		return kind.Invalid(at, port.IntVal, utilvalidation.IsValidPortNum(port.IntValue()))
	}
	return kind.Invalid(at, port.StrVal, utilvalidation.IsValidPortName(port.StrVal))
}
