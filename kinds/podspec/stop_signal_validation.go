package podspec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// The stop signals of containers, by operating system.
const (
	linuxSignals = "SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO SIGIOT SIGKILL " +
		"SIGPIPE SIGPOLL SIGPROF SIGPWR SIGQUIT " +
		"SIGRTMAX SIGRTMAX-1 SIGRTMAX-10 SIGRTMAX-11 SIGRTMAX-12 SIGRTMAX-13 SIGRTMAX-14 SIGRTMAX-2 SIGRTMAX-3 " +
		"SIGRTMAX-4 SIGRTMAX-5 SIGRTMAX-6 SIGRTMAX-7 SIGRTMAX-8 SIGRTMAX-9 " +
		"SIGRTMIN SIGRTMIN+1 SIGRTMIN+10 SIGRTMIN+11 SIGRTMIN+12 SIGRTMIN+13 SIGRTMIN+14 SIGRTMIN+15 SIGRTMIN+2 " +
		"SIGRTMIN+3 SIGRTMIN+4 SIGRTMIN+5 SIGRTMIN+6 SIGRTMIN+7 SIGRTMIN+8 SIGRTMIN+9 " +
		"SIGSEGV SIGSTKFLT SIGSTOP SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM " +
		"SIGWINCH SIGXCPU SIGXFSZ"
	windowsSignals = "SIGKILL SIGTERM"
)

// validateStopSignal requires a signal of the operating system of the pod.
func validateStopSignal(s *scope, signal *corev1.Signal, at *field.Path) field.ErrorList {
	switch {
	case signal == nil:
		return nil
	case s.OS == nil || s.OS.Name == "":
		return field.ErrorList{field.Forbidden(at, "may not be set for containers with empty `spec.os.name`")}
	case s.OS.Name == corev1.Windows:
		return kind.Supported(at, string(*signal), strings.Fields(windowsSignals)...)
	}
	return kind.Supported(at, string(*signal), strings.Fields(linuxSignals)...)
}
