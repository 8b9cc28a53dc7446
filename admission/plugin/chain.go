package plugin

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/miniapi/miniapi/registry"
)

// Config says which steps run, by the names of kube-apiserver's admission
// plugins. The zero value runs those that run there by default, but for
// ServiceAccount, which needs a controller.
type Config struct {
	// Enable and Disable name steps that run, or do not, whatever the default.
	// Plugins of kube-apiserver that are no step here change nothing.
	Enable, Disable []string
	// Mutating steps run behind all that fill something in, those of policies
	// before those of webhooks; Validating ones behind them, before quotas are
	// charged.
	Mutating, Validating registry.Chain
	// Logger takes at debug level what kube-apiserver annotates its audit log
	// with. Nil: nothing does.
	Logger *slog.Logger
}

// Default returns the steps in the order in which kube-apiserver runs them.
func Default(c Config) registry.Chain {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	chain := slices.Concat(
		registry.Chain{
			NamespaceLifecycle(),
			LimitRanger(),
			ServiceAccount(),
			TaintNodesByCondition(),
			PodSecurity(c.Logger),
			Priority(),
			DefaultTolerationSeconds(),
			DefaultStorageClass(),
			StorageObjectInUseProtection(),
			PersistentVolumeClaimResize(),
			RuntimeClass(),
			CertificateApproval(),
			CertificateSigning(),
			CertificateSubjectRestriction(),
			DefaultIngressClass(),
			PodTopologyLabels(),
			NodeDeclaredFeatureValidator(),
			PodResizeValidator(),
		},
		c.Mutating,
		c.Validating,
		registry.Chain{
			ResourceQuota(),
		},
	)
	return slices.DeleteFunc(chain, func(step registry.AdmissionStep) bool { return !c.runs(step.Name) })
}

func (c Config) runs(name string) bool {
	return !slices.Contains(c.Disable, name) && (name != serviceAccountStep || slices.Contains(c.Enable, name))
}

// Validate returns all faults at once, joined.
func (c Config) Validate() error {
	var errs []error
	for _, name := range c.Enable {
		if !slices.Contains(plugins(), name) {
			errs = append(errs, fmt.Errorf("enable-admission-plugins plugin %q is unknown", name))
		}
		if slices.Contains(c.Disable, name) {
			errs = append(errs, fmt.Errorf("%s in enable-admission-plugins and disable-admission-plugins overlapped", name))
		}
	}
	for _, name := range c.Disable {
		if !slices.Contains(plugins(), name) {
			errs = append(errs, fmt.Errorf("disable-admission-plugins plugin %q is unknown", name))
		}
	}
	return errors.Join(errs...)
}

// plugins are the names that kube-apiserver knows, in its order.
func plugins() []string {
	return []string{
		"AlwaysAdmit", "NamespaceAutoProvision", "NamespaceLifecycle", "NamespaceExists", "LimitPodHardAntiAffinityTopology",
		"LimitRanger", "ServiceAccount", "NodeRestriction", "TaintNodesByCondition", "AlwaysPullImages", "ImagePolicyWebhook",
		"PodSecurity", "PodNodeSelector", "Priority", "DefaultTolerationSeconds", "PodTolerationRestriction", "EventRateLimit",
		"ExtendedResourceToleration", "DefaultStorageClass", "StorageObjectInUseProtection", "PodGroupProtection",
		"OwnerReferencesPermissionEnforcement", "PersistentVolumeClaimResize", "RuntimeClass", "CertificateApproval",
		"CertificateSigning", "ClusterTrustBundleAttest", "CertificateSubjectRestriction", "DefaultIngressClass",
		"DenyServiceExternalIPs", "PodTopologyLabels", "PodGroupWorkloadExists", "NodeDeclaredFeatureValidator", "JobValidation",
		"PodResizeValidator", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "ValidatingAdmissionPolicy",
		"ValidatingAdmissionWebhook", "ResourceQuota", "AlwaysDeny",
	}
}
