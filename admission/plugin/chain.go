package plugin

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/miniapi/miniapi/internal/suggest"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// Config selects and configures the admission plugins. The zero value runs the plugins that
// kube-apiserver runs by default, except ServiceAccount.
type Config struct {
	// Enable and Disable are the names of plugins to enable and to disable. All names of
	// kube-apiserver v1.36 and v1.37 are accepted.
	Enable, Disable []string
	// ControlConfigFile is the path of an AdmissionConfiguration of apiserver.config.k8s.io, with
	// the configurations of plugins. Default: no plugin is configured.
	ControlConfigFile string
	// Mutating and Validating are the steps of admission policies and webhooks, policies first.
	// They run after all other steps except ResourceQuota and AlwaysDeny, the mutating ones first.
	Mutating, Validating registry.Chain
	// Features decides which rules the plugins have. Nil: the defaults of the latest release.
	Features *feature.Set
}

// Default returns the enabled steps in the order in which kube-apiserver runs them. It loads the
// files of the configuration.
func Default(c Config) (registry.Chain, error) {
	s, err := c.settings()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(c.steps(s), func(step registry.AdmissionStep) bool { return !c.enabled(step.Name) }), nil
}

// steps returns all steps, enabled or not.
func (c Config) steps(s settings) registry.Chain {
	return slices.Concat(
		registry.Chain{
			AlwaysAdmit(),
			NamespaceAutoProvision(),
			NamespaceLifecycle(),
			NamespaceExists(),
			LimitPodHardAntiAffinityTopology(),
			LimitRanger(),
			ServiceAccount(),
			NodeRestriction(cmp.Or(c.Features, feature.Default())),
			TaintNodesByCondition(),
			AlwaysPullImages(),
			PodSecurity(s.podSecurity),
			PodNodeSelector(s.nodeSelectors),
			Priority(),
			DefaultTolerationSeconds(),
			PodTolerationRestriction(s.tolerations),
			EventRateLimit(s.eventLimits),
			ExtendedResourceToleration(),
			DefaultStorageClass(),
			StorageObjectInUseProtection(),
			OwnerReferencesPermissionEnforcement(),
			PersistentVolumeClaimResize(),
			RuntimeClass(),
			CertificateApproval(),
			CertificateSigning(),
			ClusterTrustBundleAttest(),
			CertificateSubjectRestriction(),
			DefaultIngressClass(),
			DenyServiceExternalIPs(),
			PodTopologyLabels(),
			NodeDeclaredFeatureValidator(),
			PodResizeValidator(),
		},
		c.Mutating,
		c.Validating,
		registry.Chain{
			ResourceQuota(s.quotaLimits),
			AlwaysDeny(),
		},
	)
}

// disabledByDefault lists the plugins that run only if they are enabled.
func disabledByDefault() []string {
	return []string{
		"AlwaysAdmit", "NamespaceAutoProvision", "NamespaceExists", "LimitPodHardAntiAffinityTopology", "ServiceAccount",
		"NodeRestriction", "AlwaysPullImages", "PodNodeSelector", "PodTolerationRestriction", "EventRateLimit",
		"ExtendedResourceToleration", "OwnerReferencesPermissionEnforcement", "DenyServiceExternalIPs", "AlwaysDeny",
	}
}

func (c Config) enabled(name string) bool {
	return !slices.Contains(c.Disable, name) &&
		(slices.Contains(c.Enable, name) || !slices.Contains(disabledByDefault(), name))
}

// Validate returns all errors, joined. It loads the files of the configuration.
func (c Config) Validate() error {
	known := upstreamPlugins()
	var errs []error
	for _, name := range c.Enable {
		if !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("enable-admission-plugins plugin %q is unknown%s", name, suggest.DidYouMean(name, known)))
		}
		if slices.Contains(c.Disable, name) {
			errs = append(errs, fmt.Errorf("%s in enable-admission-plugins and disable-admission-plugins overlapped", name))
		}
	}
	for _, name := range c.Disable {
		if !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("disable-admission-plugins plugin %q is unknown%s", name, suggest.DidYouMean(name, known)))
		}
	}
	_, err := c.settings()
	return errors.Join(append(errs, err)...)
}

// NotImplemented returns the enabled plugins that kube-apiserver has and miniapi does not.
func (c Config) NotImplemented() []string {
	implemented := withoutEffect()
	for _, step := range c.steps(settings{}) {
		implemented = append(implemented, step.Name)
	}
	return slices.DeleteFunc(slices.Clone(c.Enable), func(name string) bool { return slices.Contains(implemented, name) })
}

// withoutEffect lists the plugins that only concern pod groups, which are not served, and Jobs with
// a pod group.
func withoutEffect() []string {
	return []string{"PodGroupProtection", "PodGroupWorkloadExists", "JobValidation"}
}

// upstreamPlugins lists the plugins of kube-apiserver v1.36 and v1.37, in its order.
func upstreamPlugins() []string {
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
