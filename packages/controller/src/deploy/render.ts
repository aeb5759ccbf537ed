import type { Resource } from '@portico/translate'
import { addressRequests } from './addresses.ts'
import { connectionParts, type ControllerConnection } from './connection.ts'
import { configFile, rawConfigProblems } from './config-file.ts'
import { type Identity, identityOf, object } from './identity.ts'
import { dataPlaneName, sessionSecretName } from './names.ts'
import type { DeployedObject } from './objects.ts'
import { applyOverlays } from './overlay.ts'
import { type ImageParts, type Level, mergeTyped } from './parameters.ts'
import { CONFIG_FILE_NAME, CONFIG_FOLDER, type PodParts, SESSION_SECRET_KEY } from './pod.ts'
import { type Ports, staticAddress, usablePorts } from './ports.ts'
import { serversOf } from './servers.ts'
import { workloadObjects } from './workload.ts'

/** The Gateway to deploy, and its parameters. */
export interface DesiredDeployment {
  /** The Gateway, or the GwParameters of a shared data plane, with an empty spec. */
  gateway: Resource
  /** Empty for a shared data plane. */
  className: string
  /** Ports of its listeners, including those of its ListenerSets. */
  ports: readonly number[]
  /** The ports of UDP listeners. */
  udpPorts?: readonly number[]
  /** Parameters of the class, then those of the Gateway. */
  levels: readonly Level[]
  /** Encrypts session ids; unused when the user sets the variable. */
  sessionKey: string
}

/** Settings for all Gateways. */
export interface DeploySettings {
  /** The default image; parameters may replace parts. Without a tag, the version is the tag. */
  image: ImageParts
  /** The version of this program. */
  version: string
  /** The address and CA of the controller. Without it, data planes run with their config file alone. */
  controller?: ControllerConnection
}

export type RenderResult =
  | { ok: true; objects: DeployedObject[]; skippedPorts: number[] }
  /** Messages for the reason `InvalidParameters`. */
  | { ok: false; problems: string[] }

/** Returns the objects of a Gateway in the order in which they are applied. A pure function of its arguments. */
export function render(desired: DesiredDeployment, settings: DeploySettings): RenderResult {
  const { gateway, levels } = desired
  const typed = mergeTyped(levels)
  const problems = rawConfigProblems(typed)
  const servers = serversOf(typed)
  const ports = usablePorts({ tcp: desired.ports, udp: desired.udpPorts ?? [] }, typed, servers, problems)
  const address = staticAddress(gateway, problems)
  const identity = identityOf(gateway, { ...desired, ...settings })
  const sessionKey = hasOwnSessionKey(levels) ? null : desired.sessionKey
  const pod: PodParts = {
    gatewayName: dataPlaneName(gateway),
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
    applyOverlays(account, 'ServiceAccount', levels, problems),
    object(identity, 'ConfigMap', { data: { [CONFIG_FILE_NAME]: pod.configFile, ...pod.connection.data } }),
    ...(sessionKey === null ? [] : [sessionSecret(pod, sessionKey)]),
    applyOverlays(service(identity, ports, { type: serviceType(gateway), address }), 'Service', levels, problems),
    ...workloadObjects(pod, levels, problems),
  ]
  if (problems.length > 0) return { ok: false, problems }
  return { ok: true, objects: objects.map(withoutEmptyAnnotations), skippedPorts: ports.skipped }
}

/** Whether the user sets a session key, so that none is generated. */
export function hasOwnSessionKey(levels: readonly Level[]): boolean {
  return mergeTyped(levels).env?.some(({ name }) => name === 'SESSION_KEY') ?? false
}

function sessionSecret({ identity, gatewayName }: PodParts, sessionKey: string): DeployedObject {
  const data = { [SESSION_SECRET_KEY]: Buffer.from(sessionKey).toString('base64') }
  const metadata = { ...identity.metadata, name: sessionSecretName(gatewayName) }
  return object({ ...identity, metadata }, 'Secret', { type: 'Opaque', data })
}

/** A Gateway whose addresses all have a scope must not be reachable from outside of it. */
function serviceType(gateway: Resource): 'ClusterIP' | 'LoadBalancer' {
  const requests = addressRequests(gateway)
  return requests.length > 0 && requests.every(({ routability }) => routability !== '') ? 'ClusterIP' : 'LoadBalancer'
}

function service(
  identity: Identity,
  { used, udp }: Ports,
  { type, address }: { type: 'ClusterIP' | 'LoadBalancer'; address: string | null },
): DeployedObject {
  return object(identity, 'Service', {
    spec: {
      type,
      ...(address !== null && { loadBalancerIP: address }),
      selector: identity.selector,
      ports: [
        ...used.map((port) => ({ name: `listener-${port}`, port, targetPort: port, protocol: 'TCP' })),
        ...udp.map((port) => ({ name: `listener-udp-${port}`, port, targetPort: port, protocol: 'UDP' })),
      ],
    },
  })
}

function withoutEmptyAnnotations(object: DeployedObject): DeployedObject {
  const { annotations = {}, ...metadata } = object.metadata
  return Object.keys(annotations).length > 0 ? object : { ...object, metadata }
}
