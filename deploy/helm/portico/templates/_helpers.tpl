{{/* The name of all that is installed. */}}
{{- define "portico.name" -}}
{{- .Values.name | default (printf "%s-controller" .Release.Name) | trunc 52 | trimSuffix "-" -}}
{{- end }}

{{/* What the Deployment knows its Pods by; it can never change. */}}
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
