# A namespace gets its service account and the CA; issued tokens and tokens in Secrets authenticate.
kubectl wait serviceaccount default --for create --timeout 90s
kubectl wait configmap kube-root-ca.crt --for create --timeout 90s
user() { kubectl config set-credentials robot --token "$1" >/dev/null && kubectl --user robot auth whoami --output jsonpath='{.status.userInfo.username}'; }
test "$(user "$(kubectl create token default)")" = "system:serviceaccount:$NAMESPACE:default"
kubectl apply -f - <<EOF
apiVersion: v1
kind: Secret
metadata:
  name: token
  annotations: {kubernetes.io/service-account.name: default}
type: kubernetes.io/service-account-token
EOF
kubectl wait secret token --for jsonpath='{.data.token}' --timeout 90s
token=$(kubectl get secret token --output jsonpath='{.data.token}' | base64 -d)
test "$(user "$token")" = "system:serviceaccount:$NAMESPACE:default"
kubectl delete secret token
if user "$token"; then exit 1; fi
