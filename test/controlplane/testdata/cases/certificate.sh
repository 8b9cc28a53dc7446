# An approved signing request gets a certificate, with which its user authenticates.
kubectl apply -f - <<EOF
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: $NAMESPACE}
spec:
  request: $(base64 <client.csr | tr -d '\n')
  signerName: kubernetes.io/kube-apiserver-client
  usages: [client auth]
EOF
kubectl certificate approve "$NAMESPACE"
kubectl wait csr "$NAMESPACE" --for jsonpath='{.status.certificate}' --timeout 90s
kubectl get csr "$NAMESPACE" --output jsonpath='{.status.certificate}' | base64 -d >client.crt
kubectl config set-credentials developer --client-certificate client.crt --client-key client.key
test "$(kubectl --user developer auth whoami --output jsonpath='{.status.userInfo.username}')" = developer
