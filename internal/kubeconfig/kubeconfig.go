// Package kubeconfig writes a client configuration as a kubeconfig.
package kubeconfig

import (
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// name is the name of the cluster, the user and the context.
const name = "miniapi"

// Encode returns the kubeconfig, in YAML, of a client configuration whose certificates and keys
// are data, not files.
func Encode(client *rest.Config) ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{
		Server:                   client.Host,
		CertificateAuthorityData: client.CAData,
		TLSServerName:            client.ServerName,
		// @kubernetes/client-node rejects plain HTTP without it.
		InsecureSkipTLSVerify: strings.HasPrefix(client.Host, "http://"),
	}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{
		Token:                 client.BearerToken,
		ClientCertificateData: client.CertData,
		ClientKeyData:         client.KeyData,
		Impersonate:           client.Impersonate.UserName,
		ImpersonateGroups:     client.Impersonate.Groups,
	}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return clientcmd.Write(*config)
}
