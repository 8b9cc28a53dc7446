package plugin_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/registry"
)

func names(chain registry.Chain) []string {
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
		if diff := cmp.Diff(strings.Fields(tc.want), names(plugin.Default(tc.config))); diff != "" {
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

func TestPluginsWithoutEffect(t *testing.T) {
	config := plugin.Config{
		Enable:   []string{"NodeRestriction", "AlwaysPullImages", "PodSecurity", "MutatingAdmissionWebhook", "EventRateLimit"},
		Mutating: registry.Chain{{Name: "MutatingAdmissionWebhook"}},
	}
	if diff := cmp.Diff([]string{"AlwaysPullImages", "EventRateLimit"}, config.WithoutEffect()); diff != "" {
		t.Error(diff)
	}
	if got := (plugin.Config{}).WithoutEffect(); len(got) > 0 {
		t.Errorf("by default: %q", got)
	}
}
