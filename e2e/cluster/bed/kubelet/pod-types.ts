/** The fields of Pods that this kubelet reads. */

export interface PodObject {
  apiVersion: string
  kind: string
  metadata: {
    name: string
    namespace: string
    uid: string
    generation?: number
    labels?: Readonly<Record<string, string>>
    annotations?: Readonly<Record<string, string>>
    deletionTimestamp?: string
    deletionGracePeriodSeconds?: number
  }
  spec: PodSpec
  status?: { phase?: string; qosClass?: string }
}

export interface PodSpec {
  nodeName?: string
  serviceAccountName?: string
  hostNetwork?: boolean
  restartPolicy?: 'Always' | 'OnFailure' | 'Never'
  securityContext?: SecurityContext & {
    fsGroup?: number
    sysctls?: readonly { name: string; value: string }[]
  }
  initContainers?: readonly ContainerSpec[]
  containers: readonly ContainerSpec[]
  volumes?: readonly Volume[]
}

export interface SecurityContext {
  runAsUser?: number
  runAsGroup?: number
  allowPrivilegeEscalation?: boolean
  readOnlyRootFilesystem?: boolean
  capabilities?: { drop?: readonly string[]; add?: readonly string[] }
}

export interface ContainerSpec {
  name: string
  image: string
  command?: readonly string[]
  args?: readonly string[]
  workingDir?: string
  ports?: readonly { name?: string; containerPort: number }[]
  env?: readonly EnvVar[]
  envFrom?: readonly EnvFrom[]
  volumeMounts?: readonly VolumeMount[]
  securityContext?: SecurityContext
  startupProbe?: Probe
  readinessProbe?: Probe
  livenessProbe?: Probe
}

export interface EnvVar {
  name: string
  value?: string
  valueFrom?: {
    fieldRef?: { fieldPath: string }
    resourceFieldRef?: { resource: string }
    secretKeyRef?: KeyReference
    configMapKeyRef?: KeyReference
  }
}

interface KeyReference {
  name: string
  key: string
  optional?: boolean
}

export interface EnvFrom {
  prefix?: string
  secretRef?: { name: string; optional?: boolean }
  configMapRef?: { name: string; optional?: boolean }
}

interface VolumeMount {
  name: string
  mountPath: string
  subPath?: string
  readOnly?: boolean
}

export interface Volume extends Partial<Source> {
  name: string
  hostPath?: { path: string }
  emptyDir?: object
  projected?: { defaultMode?: number; sources?: readonly ProjectedSource[] }
}

interface Source {
  secret: { secretName: string; optional?: boolean; items?: readonly Item[]; defaultMode?: number }
  configMap: { name: string; optional?: boolean; items?: readonly Item[]; defaultMode?: number }
  downwardAPI: { items?: readonly DownwardItem[]; defaultMode?: number }
}

export interface ProjectedSource {
  secret?: { name: string; optional?: boolean; items?: readonly Item[] }
  configMap?: { name: string; optional?: boolean; items?: readonly Item[] }
  downwardAPI?: { items?: readonly DownwardItem[] }
  serviceAccountToken?: { audience?: string; expirationSeconds?: number; path: string }
}

export interface Item {
  key: string
  path: string
  mode?: number
}

interface DownwardItem {
  path: string
  fieldRef?: { fieldPath: string }
}

export interface Probe {
  httpGet?: {
    host?: string
    port: number | string
    path?: string
    scheme?: string
    httpHeaders?: readonly { name: string; value: string }[]
  }
  tcpSocket?: { port: number | string }
  grpc?: { port: number; service?: string }
  exec?: { command: readonly string[] }
  initialDelaySeconds?: number
  periodSeconds?: number
  timeoutSeconds?: number
  successThreshold?: number
  failureThreshold?: number
}
