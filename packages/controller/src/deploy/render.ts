import type { Resource } from '@portico/translate'
import { connectionParts, type ControllerConnection } from './connection.ts'
import { configFile, rawConfigProblems } from './config-file.ts'
import { type Identity, identityOf } from './identity.ts'
import { isObject, type JsonObject } from './json.ts'
import { sessionSecretName } from './names.ts'
import { apiVersion, type Deployed, type DeployedKind } from './objects.ts'
import { overlaid, overlayByKind } from './overlay.ts'
import { type ImageParts, type Level, mergeTyped } from './parameters.ts'
import { CONFIG_FILE_NAME, CONFIG_FOLDER, type PodParts, podTemplate, SESSION_SECRET_KEY } from './pod.ts'
import { staticAddress, usablePorts } from './ports.ts'
import { serversOf } from './servers.ts'

/** What is to be deployed, and with what. */
export interface Wish {
  gateway: Resource
  className: string
  /** Ports of its listeners, with those of its ListenerSets. */
  ports: readonly number[]
  /** Parameters of its class, then its own. */
  levels: readonly Level[]
  /** Seals session ids; not used when a variable of the user has one. */
  sessionKey: string
}

/** What holds for all Gateways. */
export interface DeploySettings {
  /** Parts that parameters may replace; the tag is the version when there is none. */
  image: ImageParts
  /** Of this program. */
  version: string
  /** Where data planes connect to. Without it they have their file alone. */
  controller?: ControllerConnection
}

export type Rendered =
  | { ok: true; objects: Deployed[]; skippedPorts: number[] }
  /** Texts for the reason `InvalidParameters`. */
  | { ok: false; problems: string[] }

/** The objects of a Gateway, in the order in which they are applied. A pure function of what it is given. */
export function render(wish: Wish, settings: DeploySettings): Rendered {
  const { gateway, levels } = wish
  const typed = mergeTyped(levels)
  const problems = rawConfigProblems(typed)
  const servers = serversOf(typed)
  const ports = usablePorts(wish.ports, typed, servers, problems)
  const address = staticAddress(gateway, problems)
  const identity = identityOf(gateway, { ...wish, ...settings })
  const sessionKey = hasOwnSessionKey(levels) ? null : wish.sessionKey
  const pod: PodParts = {
    gatewayName: gateway.metadata.name,
    identity,
    typed,
    servers,
    image: { tag: settings.version, ...settings.image },
    configFile: configFile(typed),
    sessionKey,
    connection: connectionParts(settings.controller, CONFIG_FOLDER),
  }
  const account = object(identity, 'ServiceAccount', { automountServiceAccountToken: false })
  const objects = [
    overlaid(account, 'ServiceAccount', levels, problems),
    object(identity, 'ConfigMap', { data: { [CONFIG_FILE_NAME]: pod.configFile, ...pod.connection.data } }),
    ...(sessionKey === null ? [] : [sessionSecret(pod, sessionKey)]),
    overlaid(service(identity, ports.used, address), 'Service', levels, problems),
    ...workload(pod, levels, problems),
  ]
  if (problems.length > 0) return { ok: false, problems }
  return { ok: true, objects: objects.map(withoutEmptyAnnotations), skippedPorts: ports.skipped }
}

/** Then none is made and kept for the Gateway. */
export function hasOwnSessionKey(levels: readonly Level[]): boolean {
  return mergeTyped(levels).env?.some(({ name }) => name === 'SESSION_KEY') ?? false
}

function object({ metadata }: Identity, kind: DeployedKind, fields: JsonObject): Deployed {
  return { apiVersion: apiVersion(kind), kind, metadata, ...fields }
}

function sessionSecret({ identity, gatewayName }: PodParts, sessionKey: string): Deployed {
  const data = { [SESSION_SECRET_KEY]: Buffer.from(sessionKey).toString('base64') }
  const metadata = { ...identity.metadata, name: sessionSecretName(gatewayName) }
  return object({ ...identity, metadata }, 'Secret', { type: 'Opaque', data })
}

function service(identity: Identity, ports: readonly number[], address: string | null): Deployed {
  return object(identity, 'Service', {
    spec: {
      type: 'LoadBalancer',
      ...(address !== null && { loadBalancerIP: address }),
      selector: identity.selector,
      ports: ports.map((port) => ({ name: `listener-${port}`, port, targetPort: port, protocol: 'TCP' })),
    },
  })
}

/** The Deployment, and what parameters ask to go with it. */
function workload(pod: PodParts, levels: readonly Level[], problems: string[]): Deployed[] {
  const { identity } = pod
  const selector = { matchLabels: identity.selector }
  const deployment = object(identity, 'Deployment', { spec: { selector, template: podTemplate(pod) } })
  const scaleTargetRef = { apiVersion: apiVersion('Deployment'), kind: 'Deployment', name: identity.metadata.name }
  const isAsked = (kind: keyof typeof overlayByKind): boolean =>
    levels.some(({ spec }) => spec[overlayByKind[kind]] !== undefined)
  const isScaled = isAsked('HorizontalPodAutoscaler')
  const wanted = overlaid(deployment, 'Deployment', levels, problems)
  return [
    isScaled ? withoutReplicas(wanted) : wanted,
    ...(isAsked('PodDisruptionBudget')
      ? [
          overlaid(
            object(identity, 'PodDisruptionBudget', { spec: { selector } }),
            'PodDisruptionBudget',
            levels,
            problems,
          ),
        ]
      : []),
    ...(isScaled
      ? [
          overlaid(
            object(identity, 'HorizontalPodAutoscaler', { spec: { scaleTargetRef } }),
            'HorizontalPodAutoscaler',
            levels,
            problems,
          ),
        ]
      : []),
  ]
}

function withoutEmptyAnnotations(object: Deployed): Deployed {
  const { annotations = {}, ...metadata } = object.metadata
  return Object.keys(annotations).length > 0 ? object : { ...object, metadata }
}

/** Two that set the number of replicas would undo each other's work forever. */
function withoutReplicas(deployment: Deployed): Deployed {
  const { spec } = deployment
  if (!isObject(spec)) return deployment
  const { replicas: _, ...rest } = spec
  return { ...deployment, spec: rest }
}
