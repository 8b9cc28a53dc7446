package plugin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/internal/configfile"
)

// settings are the configurations of the enabled plugins.
type settings struct {
	podSecurity   PodSecurityConfig
	nodeSelectors map[string]string
	tolerations   TolerationConfig
	eventLimits   []EventLimit
	quotaLimits   []resourcequota.LimitedResource

	mutatingWebhooks, validatingWebhooks webhookConfig
}

// settings loads the configurations of the enabled plugins.
func (c Config) settings() (settings, error) {
	file, err := loadControlFile(c.ControlConfigFile)
	if err != nil {
		return settings{}, fmt.Errorf("--admission-control-config-file: %w", err)
	}
	var s settings
	return s, errors.Join(
		configure(c, file, "PodSecurity", parsePodSecurity, &s.podSecurity),
		configure(c, file, "PodNodeSelector", parseNodeSelectors, &s.nodeSelectors),
		configure(c, file, "PodTolerationRestriction", parseTolerations, &s.tolerations),
		configure(c, file, "EventRateLimit", parseEventLimits, &s.eventLimits),
		configure(c, file, "ResourceQuota", parseQuotaLimits, &s.quotaLimits),
		configure(c, file, "MutatingAdmissionWebhook", parseWebhookConfig, &s.mutatingWebhooks),
		configure(c, file, "ValidatingAdmissionWebhook", parseWebhookConfig, &s.validatingWebhooks),
	)
}

// IgnoredConfigurations returns the enabled plugins whose configuration has a staticManifestsDir,
// which this package ignores.
func (c Config) IgnoredConfigurations() ([]string, error) {
	s, err := c.settings()
	if err != nil {
		return nil, err
	}
	file, err := loadControlFile(c.ControlConfigFile)
	var ignored []string
	for _, plugin := range []struct {
		name    string
		ignored bool
	}{
		{"MutatingAdmissionPolicy", file.index("MutatingAdmissionPolicy") >= 0},
		{"MutatingAdmissionWebhook", s.mutatingWebhooks.manifests},
		{"ValidatingAdmissionPolicy", file.index("ValidatingAdmissionPolicy") >= 0},
		{"ValidatingAdmissionWebhook", s.validatingWebhooks.manifests},
	} {
		if plugin.ignored && c.enabled(plugin.name) {
			ignored = append(ignored, plugin.name)
		}
	}
	return ignored, err
}

// configure parses the configuration of an enabled plugin, nil if it has none.
func configure[T any](c Config, file controlFile, name string, parse func(data []byte) (T, error), to *T) error {
	if !c.enabled(name) {
		return nil
	}
	data, err := file.configurationOf(name)
	if err == nil {
		*to, err = parse(data)
	}
	if err != nil {
		return fmt.Errorf("couldn't init admission plugin %q: %w", name, err)
	}
	return nil
}

// controlFile is an AdmissionConfiguration of apiserver.config.k8s.io in a folder. The zero value
// configures no plugin.
type controlFile struct {
	folder  string
	plugins []apiserver.AdmissionPluginConfiguration
}

// loadControlFile reads an AdmissionConfiguration. As in kube-apiserver, the file may be the
// configuration of PodNodeSelector instead.
func loadControlFile(path string) (controlFile, error) {
	if path == "" {
		return controlFile{}, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return controlFile{}, err
	}
	var content struct {
		metav1.TypeMeta    `json:",inline"`
		nodeSelectorConfig `json:",inline"`
	}
	if err := yaml.Unmarshal(data, &content); err == nil && content.Kind == "" && content.Selectors != nil {
		return controlFile{plugins: []apiserver.AdmissionPluginConfiguration{{Name: "PodNodeSelector", Path: path}}}, nil
	}
	config, err := configfile.Load[*apiserver.AdmissionConfiguration](path)
	if err != nil {
		return controlFile{}, err
	}
	return controlFile{folder: filepath.Dir(path), plugins: config.Plugins}, nil
}

// configurationOf returns the configuration of a plugin, nil if it has none. An inline
// configuration takes precedence over a path, which is relative to the folder of the file.
func (f controlFile) configurationOf(name string) ([]byte, error) {
	i := f.index(name)
	switch {
	case i < 0:
		return nil, nil
	case f.plugins[i].Configuration != nil:
		return f.plugins[i].Configuration.Raw, nil
	case f.plugins[i].Path == "":
		return nil, nil
	case filepath.IsAbs(f.plugins[i].Path):
		return os.ReadFile(f.plugins[i].Path)
	default:
		return os.ReadFile(filepath.Join(f.folder, f.plugins[i].Path))
	}
}

// index returns the index of the first configuration of a plugin, -1 if there is none.
func (f controlFile) index(name string) int {
	return slices.IndexFunc(f.plugins, func(p apiserver.AdmissionPluginConfiguration) bool { return p.Name == name })
}

// decode decodes the Configuration of a plugin, of one version.
func decode[T any](data []byte, apiVersion string) (T, error) {
	var config T
	if err := checkKind(data, "Configuration", apiVersion); err != nil {
		return config, err
	}
	return config, yaml.Unmarshal(data, &config)
}

// checkKind requires a kind in one of several versions, the latest one first.
func checkKind(data []byte, kind string, apiVersions ...string) error {
	var found metav1.TypeMeta
	if err := yaml.Unmarshal(data, &found); err != nil {
		return err
	}
	if found.Kind != kind || !slices.Contains(apiVersions, found.APIVersion) {
		return fmt.Errorf("kind %q of apiVersion %q is no configuration of the plugin: use %s of %s", found.Kind, found.APIVersion, kind, apiVersions[0])
	}
	return nil
}
