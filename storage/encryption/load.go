package encryption

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"regexp"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/apis/apiserver"
	apiserverv1 "k8s.io/apiserver/pkg/apis/apiserver/v1"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
)

// file is a valid EncryptionConfiguration.
type file struct {
	resources []apiserver.ResourceConfiguration
	hash      string // of the content
}

// loadFile reads and validates the file at a path. The errors contain no secrets.
func loadFile(path string, reload bool) (*file, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the encryption configuration: %w", err)
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("encryption configuration %s: the file is empty", path)
	}
	config, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("encryption configuration %s: %w", path, err)
	}
	if errs := validate(config, reload); len(errs) > 0 {
		return nil, fmt.Errorf("encryption configuration %s: %w", path, errs.ToAggregate())
	}
	return &file{config.Resources, hashOf(data)}, nil
}

func hashOf(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

var errNoKind = errors.New("the file has no kind or apiVersion: write apiVersion: apiserver.config.k8s.io/v1 and kind: EncryptionConfiguration")

// decoder decodes a configuration as kube-apiserver does: strictly, and with its defaults.
var decoder = sync.OnceValue(func() runtime.Decoder {
	scheme := runtime.NewScheme()
	utilruntime.Must(apiserver.AddToScheme(scheme))
	utilruntime.Must(apiserverv1.AddToScheme(scheme))
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder()
})

func decode(data []byte) (*apiserver.EncryptionConfiguration, error) {
	obj, kind, err := decoder().Decode(data, nil, nil)
	if runtime.IsMissingKind(err) || runtime.IsMissingVersion(err) { // it contains the whole file
		return nil, errNoKind
	}
	if err != nil {
		return nil, withoutContent(err)
	}
	config, ok := obj.(*apiserver.EncryptionConfiguration)
	if !ok {
		return nil, fmt.Errorf("the file contains a %s instead of an EncryptionConfiguration", kind.Kind)
	}
	return config, nil
}

var lineNumber = regexp.MustCompile(`line \d+`)

// withoutContent returns an error of the decoder without values of the file. The errors of unknown
// fields and kinds contain names only.
func withoutContent(err error) error {
	if runtime.IsStrictDecodingError(err) || runtime.IsNotRegisteredError(err) {
		return err
	}
	text := "the file is not an EncryptionConfiguration in yaml or json"
	if line := lineNumber.FindString(err.Error()); line != "" {
		text += ": see " + line
	}
	return errors.New(text)
}

// validate returns the errors of kube-apiserver, and errors for KMS version 1, which is not
// supported.
func validate(config *apiserver.EncryptionConfiguration, reload bool) field.ErrorList {
	errs := validation.ValidateEncryptionConfiguration(config, reload)
	for _, err := range errs {
		if _, hasSecrets := err.BadValue.(apiserver.ProviderConfiguration); hasSecrets {
			err.BadValue = field.OmitValueType{}
		}
	}
	for i, resource := range config.Resources {
		for j, provider := range resource.Providers {
			if provider.KMS != nil && provider.KMS.APIVersion == "v1" {
				path := field.NewPath("resources").Index(i).Child("providers").Index(j).Child("kms", "apiVersion")
				errs = append(errs, field.NotSupported(path, provider.KMS.APIVersion, []string{"v2"}))
			}
		}
	}
	return append(errs, validateMasks(config)...)
}
