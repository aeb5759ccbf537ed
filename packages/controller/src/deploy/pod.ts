import { createHash } from 'node:crypto'
import type { ConnectionParts } from './connection.ts'
import type { Identity } from './identity.ts'
import type { JsonObject } from '@portico/translate/json'
import { meshParts } from './mesh.ts'
import { sessionSecretName } from './names.ts'
import type { EnvVar, ImageParts, TypedParameters } from './parameters.ts'
import type { Servers } from './servers.ts'
import { gracePeriod, shutdownVariables } from './shutdown.ts'

export interface PodParts {
  gatewayName: string
  identity: Identity
  typed: TypedParameters
  servers: Servers
  /** The default image; parameters may replace parts of it. */
  image: ImageParts
  configFile: string
  /** The session key; null when the user sets one. */
  sessionKey: string | null
  connection: ConnectionParts
}

export const CONFIG_FOLDER = '/etc/portico'
export const CONFIG_FILE_NAME = 'gateway.yaml'
/** The user of the image, which owns the files there. */
const USER = 65_532

export function podTemplate(parts: PodParts): JsonObject {
  const { identity, typed, connection } = parts
  const mesh = meshParts(typed)
  return {
    metadata: { labels: { ...identity.podLabels, ...mesh.labels }, annotations: annotations(parts) },
    spec: {
      serviceAccountName: identity.metadata.name,
      // A data plane connects to its controller, never to the API server.
      automountServiceAccountToken: false,
      // The environment does not list the Services of the namespace.
      enableServiceLinks: false,
      terminationGracePeriodSeconds: gracePeriod(typed),
      securityContext: {
        seccompProfile: { type: 'RuntimeDefault' },
        // Listeners may use any port without a capability.
        sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
      },
      containers: [container(parts)],
      volumes: [
        { name: 'config', configMap: { name: identity.metadata.name } },
        { name: 'tmp', emptyDir: {} },
        ...connection.volumes,
        ...mesh.volumes,
      ],
    },
  }
}

/** A Pod reads config and key only at its start, so a change of either replaces the Pod. */
function annotations({ identity, servers, configFile, sessionKey }: PodParts): JsonObject {
  const { metrics } = servers
  return {
    ...identity.metadata.annotations,
    'checksum/config': sha256(configFile),
    ...(sessionKey !== null && { 'checksum/session-key': sha256(sessionKey) }),
    ...(metrics !== null && {
      'prometheus.io/scrape': 'true',
      'prometheus.io/path': '/metrics',
      'prometheus.io/port': String(metrics),
    }),
  }
}

function container(parts: PodParts): JsonObject {
  const { typed, servers, connection } = parts
  const image = { ...parts.image, ...typed.image }
  const { limits = {}, requests = {}, claims } = typed.resources ?? { requests: DEFAULT_REQUESTS }
  const resources = {
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(Object.keys(requests).length > 0 && { requests }),
    ...(claims !== undefined && { claims }),
  }
  return {
    name: 'portico',
    image: imageName(image),
    ...(image.pullPolicy !== undefined && { imagePullPolicy: image.pullPolicy }),
    args: ['-f', `${CONFIG_FOLDER}/${CONFIG_FILE_NAME}`],
    env: environment(parts),
    ...(servers.metrics !== null && { ports: [{ name: 'metrics', containerPort: servers.metrics, protocol: 'TCP' }] }),
    ...(servers.readiness !== null && probes(servers.readiness, connection.startupSeconds)),
    ...(Object.keys(resources).length > 0 && { resources }),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      runAsUser: USER,
    },
    volumeMounts: [
      { name: 'config', mountPath: CONFIG_FOLDER, readOnly: true },
      { name: 'tmp', mountPath: '/tmp' },
      ...connection.volumeMounts,
      ...meshParts(typed).volumeMounts,
    ],
  }
}

/** Resource requests of an idle data plane with a few hundred routes; GwParameters can raise them. */
const DEFAULT_REQUESTS = { cpu: '100m', memory: '128Mi' }

function imageName({ registry, repository = 'portico', tag, digest }: ImageParts): string {
  const name = registry === undefined ? repository : `${registry}/${repository}`
  return `${name}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`
}

/**
 * glibc settings: memory of a burst of changes is returned to the node, but request bodies do not cost a system call each.
 */
const ALLOCATOR: readonly EnvVar[] = [
  { name: 'MALLOC_MMAP_THRESHOLD_', value: '1048576' },
  { name: 'MALLOC_TRIM_THRESHOLD_', value: '262144' },
]

/** Variables of the user override those of the same name, and may refer to the others. */
function environment({ gatewayName, typed, sessionKey, connection }: PodParts): EnvVar[] {
  const given = typed.env ?? []
  const secretKeyRef = { name: sessionSecretName(gatewayName), key: SESSION_SECRET_KEY }
  const own: EnvVar[] = [
    { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
    { name: 'GATEWAY', value: gatewayName },
    ...ALLOCATOR,
    ...shutdownVariables(typed),
    ...(sessionKey === null ? [] : [{ name: 'SESSION_KEY', valueFrom: { secretKeyRef } }]),
    ...connection.env,
    ...meshParts(typed).env,
  ]
  return [...own.filter(({ name }) => given.every((variable) => variable.name !== name)), ...given]
}

export const SESSION_SECRET_KEY = 'key'

/** The process replaces a worker that dies. Only a stuck worker needs a restart, which the liveness probe triggers. */
function probes(port: number, startupSeconds: number): JsonObject {
  const httpGet = { path: '/healthz/ready', port }
  return {
    startupProbe: { httpGet, periodSeconds: 1, timeoutSeconds: 2, failureThreshold: startupSeconds },
    readinessProbe: { httpGet, periodSeconds: 10 },
    // The response takes up to five seconds if a worker is stuck; the third failed probe restarts the container.
    livenessProbe: {
      httpGet: { path: '/healthz/live', port },
      periodSeconds: 10,
      timeoutSeconds: 8,
      failureThreshold: 3,
    },
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
