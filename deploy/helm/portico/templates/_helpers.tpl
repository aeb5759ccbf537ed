{{/* The name of all objects. */}}
{{- define "portico.name" -}}
{{- .Values.name | default (printf "%s-controller" .Release.Name) | trunc 52 | trimSuffix "-" -}}
{{- end }}

{{/* The selector of the Deployment, which is immutable. */}}
{{- define "portico.selector" -}}
app.kubernetes.io/name: portico-controller
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "portico.labels" -}}
{{ include "portico.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: portico
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "portico.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "portico.name" .) }}
{{- else -}}
{{ required "serviceAccount.name is needed where serviceAccount.create is false" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* [registry/]repository[:tag][@digest] */}}
{{- define "portico.image" -}}
{{- with .registry }}{{ . }}/{{ end }}{{ .repository }}{{ with .tag }}:{{ . }}{{ end }}{{ with .digest }}@{{ . }}{{ end }}
{{- end }}

{{/* A variable that another value decides, or that is there twice, would make it a matter of chance which one counts. */}}
{{- define "portico.checkEnv" -}}
{{- $decidedBy := dict
  "POD_NAME" "the chart" "POD_NAMESPACE" "the chart" "SERVICE_NAME" "`name`"
  "CONTROLLER_NAME" "`controllerName`" "CLUSTER_DOMAIN" "`clusterDomain`" "EXTERNAL_NAMES" "`externalNames`"
  "PROXY_IMAGE" "`dataPlane.image`" "PROXY_IMAGE_PULL_POLICY" "`dataPlane.image.pullPolicy`"
  "NAMESPACES" "`namespaces`" "NAMESPACE_SELECTOR" "`namespaceSelector`"
  "LOG_LEVEL" "`logging.level`" "LOG_FORMAT" "`logging.format`" }}
{{- $seen := list }}
{{- range $variable := .Values.env }}
{{- with get $decidedBy $variable.name }}{{ fail (printf "env: %s is set by %s" $variable.name .) }}{{ end }}
{{- if has $variable.name $seen }}{{ fail (printf "env: %s is there twice" $variable.name) }}{{ end }}
{{- $seen = append $seen $variable.name }}
{{- end }}
{{- end }}
