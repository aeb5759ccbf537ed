import type { Resource } from '@portico/translate'
import { isStatus } from '../kube/kube-error.ts'
import { addressesOf, type GatewayAddress } from './addresses.ts'
import { isOwnedBy, MANAGED_BY, MANAGED_BY_LABEL } from './identity.ts'
import { dataPlaneName, labelValue, sessionSecretName } from './names.ts'
import { type DeployedObject, type DeployedKind, deployedKinds, isWorkload } from './objects.ts'
import { nameOf, plan } from './plan.ts'
import { type DeploySettings, hasOwnSessionKey, type RenderResult, render, type DesiredDeployment } from './render.ts'
import { isRolledOut } from './rollout.ts'
import { GATEWAY_NAME_LABEL } from './selector.ts'
import { randomBytes } from 'node:crypto'
import { textAt } from '@portico/translate/json'
import { SESSION_SECRET_KEY } from './pod.ts'

/** The requests to the API server. They throw KubeErrors. */
export interface Cluster {
  /** Lists objects with `apiVersion` and `kind`, which the server leaves out of lists. */
  list(kind: DeployedKind, namespace: string, labels: Readonly<Record<string, string>>): Promise<readonly Resource[]>
  get(kind: DeployedKind, namespace: string, name: string): Promise<Resource | undefined>
  /** Server-side apply, as the owner of all given fields; returns the resulting object. */
  apply(object: DeployedObject): Promise<Resource>
  /** Deletes this object, identified by its uid, if it still exists. */
  remove(object: Resource): Promise<void>
}

/** The result of an attempt to deploy a Gateway, for its status. */
export interface Outcome {
  /** The addresses of the Gateway; null when they are unknown. */
  addresses: GatewayAddress[] | null
  /** Messages for the reason `InvalidParameters`, which only the user can fix. */
  problems: string[]
  /** Failures that a retry may fix. */
  failures: string[]
  /** Ports of listeners that are not available in the data plane. */
  skippedPorts: number[]
  /** Objects that were applied, such as `Service shop/edge`. */
  applied: string[]
  removed: string[]
  /** The workload of another kind that serves until the Pods of the wanted workload do. */
  kept: string[]
}

/** Makes the deployed objects of a Gateway match the desired state. With invalid parameters nothing changes. */
export async function reconcile(
  cluster: Cluster,
  desired: Omit<DesiredDeployment, 'sessionKey'>,
  settings: DeploySettings,
): Promise<Outcome> {
  const { gateway } = desired
  const outcome = nothingDone()
  const labelled = await objectsOf(cluster, gateway)
  const rendered = await renderWithKey(cluster, { desired, settings, labelled })
  if (!rendered.ok) return { ...outcome, problems: rendered.problems, addresses: addressesIn(labelled, gateway) }
  const live = [...labelled, ...(await namesakes(cluster, rendered.objects, labelled))]
  const { apply, remove, blocked } = plan(live, rendered.objects, gateway)
  outcome.failures.push(...blocked)
  const results: Resource[] = []
  for (const object of apply)
    await attempt(outcome, 'applied', object, async () => results.push(await cluster.apply(object)))
  // Objects are removed only after everything was applied, because the rest may still need them.
  const isWhole = outcome.failures.length + outcome.problems.length === 0
  const current = [...results, ...live]
  const isReplaced = canReplaceWorkload(rendered.objects, current)
  for (const object of isWhole ? remove : []) {
    if (isWorkload(object.kind) && !isReplaced) outcome.kept.push(nameOf(object))
    else await attempt(outcome, 'removed', object, () => cluster.remove(object))
  }
  return { ...outcome, skippedPorts: rendered.skippedPorts, addresses: addressesIn(current, gateway) }
}

/** Removes all objects of a Gateway that now belongs to another controller. */
export async function withdraw(cluster: Cluster, gateway: Resource): Promise<Outcome> {
  const outcome = nothingDone()
  const { remove } = plan(await objectsOf(cluster, gateway), [], gateway)
  for (const object of remove) await attempt(outcome, 'removed', object, () => cluster.remove(object))
  return outcome
}

function nothingDone(): Outcome {
  return { addresses: [], problems: [], failures: [], skippedPorts: [], applied: [], removed: [], kept: [] }
}

/** Whether the Pods of the wanted workload serve, so that a workload of the other kind can go. */
function canReplaceWorkload(wanted: readonly DeployedObject[], current: readonly Resource[]): boolean {
  return wanted.every((object) => {
    if (!isWorkload(object.kind)) return true
    const found = current.find((other) => nameOf(other) === nameOf(object))
    return found !== undefined && isRolledOut(object.kind, found)
  })
}

/** All objects with the labels of the Gateway. */
async function objectsOf(cluster: Cluster, gateway: Resource): Promise<Resource[]> {
  const labels = { [GATEWAY_NAME_LABEL]: labelValue(dataPlaneName(gateway)), [MANAGED_BY_LABEL]: MANAGED_BY }
  const lists = deployedKinds.map((kind) => cluster.list(kind, gateway.metadata.namespace ?? 'default', labels))
  return (await Promise.all(lists)).flat()
}

interface Circumstances {
  desired: Omit<DesiredDeployment, 'sessionKey'>
  settings: DeploySettings
  labelled: readonly Resource[]
}

async function renderWithKey(cluster: Cluster, { desired, settings, labelled }: Circumstances): Promise<RenderResult> {
  if (hasOwnSessionKey(desired.levels)) return render({ ...desired, sessionKey: '' }, settings)
  const { namespace = 'default' } = desired.gateway.metadata
  const secretName = sessionSecretName(dataPlaneName(desired.gateway))
  const secret = labelled.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === secretName)
  // A Secret without our labels still holds the key of the sessions.
  const key = sessionKeyOf(secret ?? (await cluster.get('Secret', namespace, secretName)))
  return key.ok ? render({ ...desired, sessionKey: key.value }, settings) : { ok: false, problems: [key.problem] }
}

/** Objects with wanted names but without the labels of the Gateway, which probably belong to somebody else. */
async function namesakes(
  cluster: Cluster,
  wanted: readonly DeployedObject[],
  known: readonly Resource[],
): Promise<Resource[]> {
  const names = new Set(known.map(nameOf))
  const others = wanted
    .filter((object) => !names.has(nameOf(object)))
    .map(({ kind, metadata }) => cluster.get(kind, metadata.namespace, metadata.name))
  return (await Promise.all(others)).filter((object) => object !== undefined)
}

/** Runs one request, so that a failure does not stop the others. */
async function attempt(
  outcome: Outcome,
  done: 'applied' | 'removed',
  object: DeployedObject | Resource,
  act: () => Promise<unknown>,
): Promise<void> {
  try {
    await act()
    outcome[done].push(nameOf(object))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const list = isStatus(error, 400, 422) || UNKNOWN_FIELD.test(message) ? outcome.problems : outcome.failures
    list.push(`${nameOf(object)}: ${message}`)
  }
}

/** The message with which the server answers 500 for unknown fields. */
const UNKNOWN_FIELD = /failed to create typed patch object/

function addressesIn(objects: readonly Resource[], gateway: Resource): GatewayAddress[] {
  const service = objects.find((object) => object.kind === 'Service' && isOwnedBy(object, gateway))
  return service === undefined ? [] : addressesOf(service, gateway)
}

type SessionKey = { ok: true; value: string } | { ok: false; problem: string }

/** Returns the session key of a Gateway, or a new one. During a rotation, the old key may follow the new one. */
function sessionKeyOf(secret: Resource | undefined): SessionKey {
  if (secret === undefined) return { ok: true, value: randomBytes(32).toString('hex') }
  const value = Buffer.from(textAt(secret.data, SESSION_SECRET_KEY) ?? '', 'base64').toString('utf8')
  const keys = value.split(/[\s,]+/).filter((key) => key !== '')
  if (keys.length >= 1 && keys.length <= 8 && keys.every((key) => /^[0-9a-f]{64}$/i.test(key)))
    return { ok: true, value }
  // The message omits the value, which may be part of a secret.
  return {
    ok: false,
    problem: `${nameOf(secret)}: \`${SESSION_SECRET_KEY}\` is not 1 to 8 keys of 64 hexadecimal digits`,
  }
}
