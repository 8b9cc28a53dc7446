package miniapi

import (
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// contextName is the name of cluster, user and context in a kubeconfig.
const contextName = "miniapi"

// RESTConfig returns a config for client-go and what is built on it. Its rate
// limit is off: a test talks to a server of its own.
func (s *Server) RESTConfig() *rest.Config {
	return &rest.Config{Host: s.URL(), QPS: -1}
}

// Kubeconfig returns the kubeconfig, in YAML, of an administrator.
func (s *Server) Kubeconfig() ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters[contextName] = &clientcmdapi.Cluster{Server: s.URL()}
	config.AuthInfos[contextName] = &clientcmdapi.AuthInfo{}
	config.Contexts[contextName] = &clientcmdapi.Context{Cluster: contextName, AuthInfo: contextName}
	config.CurrentContext = contextName
	return clientcmd.Write(*config)
}
