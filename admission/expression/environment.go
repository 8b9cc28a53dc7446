package expression

import (
	"sync"

	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Environment is that of kube-apiserver, before any variables. It is shared by
// the process.
var Environment = sync.OnceValue(func() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
})

// shared compiles expressions without variables of their own, for the process.
// It has nothing that changes.
var shared = sync.OnceValue(func() plugincel.ConditionCompiler {
	return plugincel.NewConditionCompiler(Environment())
})
