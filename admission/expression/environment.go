package expression

import (
	"sync"

	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Environment is the CEL environment of kube-apiserver without variables. The process shares
// it.
var Environment = sync.OnceValue(func() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
})

// sharedCompiler compiles expressions without additional variables. The process shares it, and it
// is immutable.
var sharedCompiler = sync.OnceValue(func() plugincel.ConditionCompiler {
	return plugincel.NewConditionCompiler(Environment())
})
