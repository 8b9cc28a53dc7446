package plugin_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/registry"
)

// names returns the names of the enabled plugins, in order.
func names(t *testing.T, config plugin.Config) []string {
	t.Helper()
	chain, err := plugin.Default(config)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, step := range chain {
		list = append(list, step.Name)
	}
	return list
}

func TestChain(t *testing.T) {
	custom := plugin.Config{
		Disable: []string{"PodSecurity", "ResourceQuota", "MutatingAdmissionWebhook"}, Enable: []string{"NodeRestriction", "ServiceAccount"},
		Mutating:   registry.Chain{{Name: "MutatingAdmissionPolicy"}, {Name: "MutatingAdmissionWebhook"}},
		Validating: registry.Chain{{Name: "ValidatingAdmissionPolicy"}},
	}
	for rule, tc := range map[string]struct {
		config plugin.Config
		want   string
	}{
		"default": {plugin.Config{}, "NamespaceLifecycle LimitRanger TaintNodesByCondition PodSecurity Priority DefaultTolerationSeconds " +
			"DefaultStorageClass StorageObjectInUseProtection PersistentVolumeClaimResize RuntimeClass CertificateApproval CertificateSigning " +
			"ClusterTrustBundleAttest CertificateSubjectRestriction DefaultIngressClass PodTopologyLabels NodeDeclaredFeatureValidator PodResizeValidator ResourceQuota"},
		"policies and webhooks run before quotas and can be disabled": {custom, "NamespaceLifecycle LimitRanger ServiceAccount NodeRestriction " +
			"TaintNodesByCondition Priority DefaultTolerationSeconds DefaultStorageClass StorageObjectInUseProtection " +
			"PersistentVolumeClaimResize RuntimeClass CertificateApproval CertificateSigning " +
			"ClusterTrustBundleAttest CertificateSubjectRestriction DefaultIngressClass PodTopologyLabels NodeDeclaredFeatureValidator PodResizeValidator MutatingAdmissionPolicy ValidatingAdmissionPolicy"},
	} {
		if diff := cmp.Diff(strings.Fields(tc.want), names(t, tc.config)); diff != "" {
			t.Errorf("%s: %s", rule, diff)
		}
	}
}

func TestConfigValidation(t *testing.T) {
	config := plugin.Config{Enable: []string{"Unknown", "NodeRestriction"}, Disable: []string{"NodeRestriction", "OtherUnknown"}}
	want := []string{
		`enable-admission-plugins plugin "Unknown" is unknown`,
		`NodeRestriction in enable-admission-plugins and disable-admission-plugins overlapped`,
		`disable-admission-plugins plugin "OtherUnknown" is unknown`,
	}
	if diff := cmp.Diff(want, strings.Split(config.Validate().Error(), "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestChainOfAllPlugins(t *testing.T) {
	all := plugin.Config{
		Enable: strings.Fields("AlwaysDeny DenyServiceExternalIPs OwnerReferencesPermissionEnforcement ExtendedResourceToleration " +
			"AlwaysPullImages NodeRestriction ServiceAccount LimitPodHardAntiAffinityTopology NamespaceExists NamespaceAutoProvision AlwaysAdmit " +
			"PodNodeSelector PodTolerationRestriction"),
		Mutating: registry.Chain{{Name: "MutatingAdmissionWebhook"}}, Validating: registry.Chain{{Name: "ValidatingAdmissionWebhook"}},
	}
	want := "AlwaysAdmit NamespaceAutoProvision NamespaceLifecycle NamespaceExists LimitPodHardAntiAffinityTopology LimitRanger ServiceAccount " +
		"NodeRestriction TaintNodesByCondition AlwaysPullImages PodSecurity PodNodeSelector Priority DefaultTolerationSeconds PodTolerationRestriction ExtendedResourceToleration " +
		"DefaultStorageClass StorageObjectInUseProtection OwnerReferencesPermissionEnforcement PersistentVolumeClaimResize RuntimeClass " +
		"CertificateApproval CertificateSigning ClusterTrustBundleAttest CertificateSubjectRestriction DefaultIngressClass DenyServiceExternalIPs " +
		"PodTopologyLabels NodeDeclaredFeatureValidator PodResizeValidator MutatingAdmissionWebhook ValidatingAdmissionWebhook ResourceQuota AlwaysDeny"
	if diff := cmp.Diff(strings.Fields(want), names(t, all)); diff != "" {
		t.Error(diff)
	}
}

func TestNotImplementedPlugins(t *testing.T) {
	config := plugin.Config{
		Enable:   []string{"NodeRestriction", "JobValidation", "PodSecurity", "MutatingAdmissionWebhook", "ImagePolicyWebhook"},
		Mutating: registry.Chain{{Name: "MutatingAdmissionWebhook"}},
	}
	if err := config.Validate(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"ImagePolicyWebhook"}, config.NotImplemented()); diff != "" {
		t.Error(diff)
	}
	if got := (plugin.Config{}).NotImplemented(); len(got) > 0 {
		t.Errorf("by default: %q", got)
	}
}
