{{/* Rights that the controller needs in the whole cluster, wherever its Gateways are. */}}
{{- define "portico.clusterRules" -}}
# Classes, and Gateways in all namespaces: those that are not served are told why.
- apiGroups: [gateway.networking.k8s.io]
  resources: [gatewayclasses, gateways]
  verbs: [get, list, watch]
- apiGroups: [gateway.networking.k8s.io]
  resources: [gatewayclasses/status, gateways/status]
  verbs: [patch]
# Labels of namespaces, by which listeners select routes.
- apiGroups: [""]
  resources: [namespaces]
  verbs: [list, watch]
# CA certificates that Gateways and BackendTLSPolicies refer to.
- apiGroups: [certificates.k8s.io]
  resources: [clustertrustbundles]
  verbs: [list, watch]
# Reviews of the tokens of data planes.
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
{{- end }}

{{/* Rights in namespaces whose Gateways, routes and backends are served. */}}
{{- define "portico.gatewayRules" -}}
# Resources of users.
- apiGroups: [gateway.networking.k8s.io]
  resources: [listenersets, httproutes, grpcroutes, tlsroutes, tcproutes, udproutes, backendtlspolicies]
  verbs: [get, list, watch]
# Kinds of the experimental channel of the Gateway API.
- apiGroups: [gateway.networking.x-k8s.io]
  resources: [xlistenersets, xbackends, xbackendtrafficpolicies, xtelemetrypolicies]
  verbs: [get, list, watch]
- apiGroups: [gateway.networking.k8s.io]
  resources: [referencegrants]
  verbs: [list, watch]
- apiGroups: [portico.dev]
  resources: [gwbackends, gwmodels, gwpolicies, gwfilters]
  verbs: [get, list, watch]
- apiGroups: [portico.dev]
  resources: [gwparameters]
  verbs: [list, watch]
- apiGroups: [inference.networking.k8s.io]
  resources: [inferencepools]
  verbs: [get, list, watch]
- apiGroups: [multicluster.x-k8s.io]
  resources: [serviceimports]
  verbs: [list, watch]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list, watch]
# Pods of meshes, pools and XBackends, which are watched only while parameters of a Gateway have `mesh`, an InferencePool
# exists, or an XBackend selects Pods.
- apiGroups: [""]
  resources: [pods]
  verbs: [list, watch]
# Statuses of these resources.
- apiGroups: [gateway.networking.k8s.io]
  resources:
    - listenersets/status
    - httproutes/status
    - grpcroutes/status
    - tlsroutes/status
    - tcproutes/status
    - udproutes/status
    - backendtlspolicies/status
  verbs: [patch]
- apiGroups: [gateway.networking.x-k8s.io]
  resources: [xlistenersets/status, xbackends/status, xbackendtrafficpolicies/status, xtelemetrypolicies/status]
  verbs: [patch]
- apiGroups: [portico.dev]
  resources: [gwbackends/status, gwmodels/status, gwpolicies/status, gwfilters/status]
  verbs: [patch]
- apiGroups: [inference.networking.k8s.io]
  resources: [inferencepools/status]
  verbs: [patch]
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
# Data planes: what is deployed for Gateways into their namespaces, and what routes and policies refer to there.
- apiGroups: [""]
  resources: [configmaps, secrets, serviceaccounts, services]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [apps]
  resources: [deployments, daemonsets]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [get, list, watch, create, patch, delete]
# To be named as their owner, where the API server asks for it.
- apiGroups: [gateway.networking.k8s.io]
  resources: [gateways/finalizers]
  verbs: [update]
- apiGroups: [portico.dev]
  resources: [gwparameters/finalizers]
  verbs: [update]
{{- end }}
