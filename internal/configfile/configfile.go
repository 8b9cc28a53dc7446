// Package configfile decodes configuration files of the server, as kube-apiserver does: strictly,
// in all versions of apiserver.config.k8s.io, with their defaults.
package configfile

import (
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/apis/apiserver/install"
)

// Load reads and decodes the file at a path. The file must contain an object of type T, a pointer
// to an internal type of k8s.io/apiserver/pkg/apis/apiserver.
func Load[T runtime.Object](path string) (T, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		var none T
		return none, err
	}
	config, err := decode[T](data)
	if err != nil {
		return config, fmt.Errorf("%s: %w", path, err)
	}
	return config, nil
}

func decode[T runtime.Object](data []byte) (T, error) {
	var none T
	if len(data) == 0 {
		return none, errors.New("empty config data")
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder()
	obj, kind, err := decoder.Decode(data, nil, nil)
	if err != nil {
		return none, err
	}
	config, ok := obj.(T)
	if !ok {
		return none, fmt.Errorf("the file contains a %s, which configures another part of the server", kind.Kind)
	}
	return config, nil
}
