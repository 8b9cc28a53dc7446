# An aggregated ClusterRole contains the rules of the roles that it selects.
kubectl create clusterrole "$NAMESPACE" --verb get --resource configmaps
kubectl label clusterrole "$NAMESPACE" "part-of=$NAMESPACE"
kubectl create clusterrole "$NAMESPACE-all" --aggregation-rule "part-of=$NAMESPACE"
kubectl wait clusterrole "$NAMESPACE-all" --for jsonpath='{.rules[0].resources[0]}'=configmaps --timeout 90s
