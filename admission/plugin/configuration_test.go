package plugin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi/admission/plugin"
)

// writeFile writes a file in a temporary folder and returns its path.
func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// controlFile writes an AdmissionConfiguration with the given plugins.
func controlFile(t *testing.T, plugins string) string {
	t.Helper()
	return writeFile(t, "admission.yaml", "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n"+plugins)
}

func TestConfigurationOfAPlugin(t *testing.T) {
	const selectors = "podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: zone=a}"
	inFile := controlFile(t, "- {name: PodNodeSelector, path: sub/selectors.yaml}\n")
	sub := filepath.Join(filepath.Dir(inFile), "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(sub, "selectors.yaml"), []byte(selectors), 0o600); err != nil {
		t.Fatal(err)
	}
	for rule, path := range map[string]string{
		"inline":             controlFile(t, "- name: PodNodeSelector\n  path: absent.yaml\n  configuration: {"+selectors+"}\n"),
		"the first one":      controlFile(t, "- name: PodNodeSelector\n  configuration: {"+selectors+"}\n- {name: PodNodeSelector, path: absent.yaml}\n"),
		"a relative path":    inFile,
		"an absolute path":   controlFile(t, "- {name: PodNodeSelector, path: "+writeFile(t, "selectors.yaml", selectors)+"}\n"),
		"without a version":  writeFile(t, "selectors.yaml", selectors),
		"an old API version": writeFile(t, "old.yaml", "apiVersion: apiserver.k8s.io/v1alpha1\nkind: AdmissionConfiguration\nplugins:\n- name: PodNodeSelector\n  configuration: {"+selectors+"}\n"),
	} {
		t.Run(rule, func(t *testing.T) {
			e := newKinds(t, plugin.Config{Enable: []string{"PodNodeSelector"}, ControlConfigFile: path})
			if got := mustCreate(e, "pods", newPod("p", nil)).Spec.NodeSelector["zone"]; got != "a" {
				t.Errorf("zone %q", got)
			}
		})
	}
}

func TestConfigurationErrors(t *testing.T) {
	limits := func(limits string) string {
		return controlFile(t, "- name: EventRateLimit\n  configuration: {apiVersion: eventratelimit.admission.k8s.io/v1alpha1, kind: Configuration, limits: "+limits+"}\n")
	}
	for _, tc := range []struct {
		rule, enable, file, want string
	}{
		{"an absent file", "", "absent.yaml", "--admission-control-config-file: open absent.yaml: no such file or directory"},
		{"another kind", "", writeFile(t, "a.yaml", "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n"),
			"configures another part of the server"},
		{"an unknown field", "", writeFile(t, "a.yaml", "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugin: []\n"), `unknown field "plugin"`},
		{"a plugin that is not enabled", "", controlFile(t, "- {name: EventRateLimit, path: absent.yaml}\n"), ""},
		{"an absent file of a plugin", "EventRateLimit", controlFile(t, "- {name: EventRateLimit, path: absent.yaml}\n"), "absent.yaml: no such file or directory"},
		{"EventRateLimit without a configuration", "EventRateLimit", "", `couldn't init admission plugin "EventRateLimit": limits: Invalid value: null: must not be empty`},
		{"a configuration of another plugin", "EventRateLimit",
			controlFile(t, "- name: EventRateLimit\n  configuration: {apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1, kind: Configuration}\n"),
			`couldn't init admission plugin "EventRateLimit": kind "Configuration" of apiVersion "podtolerationrestriction.admission.k8s.io/v1alpha1" is no ` +
				`configuration of the plugin: use Configuration of eventratelimit.admission.k8s.io/v1alpha1`},
		{"invalid limits", "EventRateLimit", limits("[{type: Server, qps: 1, burst: 1, cacheSize: -1}, {type: Pod, qps: 0, burst: -1, cacheSize: -1}]"),
			`couldn't init admission plugin "EventRateLimit": [limits[1].type: Unsupported value: "Pod": supported values: "Server", "Namespace", "User", "SourceAndObject", ` +
				`limits[1].burst: Invalid value: -1: must be positive, limits[1].qps: Invalid value: 0: must be positive, limits[1].cacheSize: Invalid value: -1: must not be negative]`},
		{"an invalid limit of quotas", "", controlFile(t, "- name: ResourceQuota\n  configuration: "+
			"{apiVersion: resourcequota.admission.k8s.io/v1beta1, kind: Configuration, limitedResources: [{apiGroup: apps}]}\n"),
			`couldn't init admission plugin "ResourceQuota": limitedResources[0].resource: Required value`},
		{"an unknown field of a limit of quotas", "", controlFile(t, "- name: ResourceQuota\n  configuration: "+
			"{apiVersion: resourcequota.admission.k8s.io/v1alpha1, kind: Configuration, limitedResource: []}\n"),
			`couldn't init admission plugin "ResourceQuota": strict decoding error: unknown field "limitedResource"`},
		{"a relative kubeconfig of webhooks", "", controlFile(t, "- name: ValidatingAdmissionWebhook\n  configuration: "+
			"{apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: a}\n"),
			`couldn't init admission plugin "ValidatingAdmissionWebhook": kubeConfigFile: Invalid value: "a": must be an absolute file path`},
		{"invalid tolerations", "PodTolerationRestriction", controlFile(t, "- name: PodTolerationRestriction\n  configuration: "+
			"{apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1, kind: Configuration, whitelist: [{value: x, operator: Exists}]}\n"),
			`couldn't init admission plugin "PodTolerationRestriction": invalid config: [podtolerationrestriction.whitelist[0].operator: Invalid value: "x": ` +
				"value must be empty when `operator` is 'Exists']"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			config := plugin.Config{Enable: strings.Fields(tc.enable), ControlConfigFile: tc.file}
			err := config.Validate()
			if got := text(err); tc.want == "" && got != "" || !strings.HasSuffix(got, tc.want) {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
			if _, again := plugin.Default(config); text(again) != text(err) {
				t.Errorf("Default: %v", again)
			}
		})
	}
}

func TestIgnoredConfigurations(t *testing.T) {
	const configuration = "{apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, staticManifestsDir: /a}\n"
	config := plugin.Config{Disable: []string{"MutatingAdmissionWebhook"}, ControlConfigFile: controlFile(t,
		"- {name: MutatingAdmissionWebhook, path: a.yaml}\n- {name: LimitRanger, path: b.yaml}\n- name: ValidatingAdmissionWebhook\n  configuration: "+configuration)}
	ignored, err := config.IgnoredConfigurations()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ValidatingAdmissionWebhook"}, ignored); diff != "" {
		t.Error(diff)
	}
	if ignored, err := (plugin.Config{}).IgnoredConfigurations(); len(ignored) > 0 || err != nil {
		t.Errorf("without a file: %q, %v", ignored, err)
	}
}
