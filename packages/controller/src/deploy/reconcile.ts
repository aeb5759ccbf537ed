import type { Resource } from '@portico/translate'
import { isStatus } from '../kube/kube-error.ts'
import { addressesOf, type GatewayAddress } from './addresses.ts'
import { isOwnedBy, MANAGED_BY, MANAGED_BY_LABEL } from './identity.ts'
import { labelValue, sessionSecretName } from './names.ts'
import { type Deployed, type DeployedKind, deployedKinds } from './objects.ts'
import { nameOf, plan } from './plan.ts'
import { type DeploySettings, hasOwnSessionKey, type Rendered, render, type Wish } from './render.ts'
import { sessionKeyOf } from './session-key.ts'
import { GATEWAY_NAME_LABEL } from './selector.ts'

/** What is asked of the API server. It throws KubeErrors. */
export interface Cluster {
  /** Each with its `apiVersion` and `kind`, which the server leaves out of lists. */
  list(kind: DeployedKind, namespace: string, labels: Readonly<Record<string, string>>): Promise<readonly Resource[]>
  get(kind: DeployedKind, namespace: string, name: string): Promise<Resource | undefined>
  /** On the server, as the owner of all fields that are given; the answer is the object as it is then. */
  apply(object: Deployed): Promise<Resource>
  /** This very object, if it is still there. */
  remove(object: Resource): Promise<void>
}

/** How a Gateway is deployed, for its status. */
export interface Outcome {
  /** Null when they could not be found out. */
  addresses: GatewayAddress[] | null
  /** Texts for the reason `InvalidParameters`: only the user can mend it. */
  problems: string[]
  /** What another try may do better. */
  failures: string[]
  /** Ports of listeners that the data plane cannot have. */
  skippedPorts: number[]
  /** What was done, such as `Service shop/edge`. */
  applied: string[]
  removed: string[]
}

/** Makes what is deployed for a Gateway what is wanted. With wrong parameters everything stays as it is. */
export async function reconcile(
  cluster: Cluster,
  wish: Omit<Wish, 'sessionKey'>,
  settings: DeploySettings,
): Promise<Outcome> {
  const { gateway } = wish
  const outcome = nothingDone()
  const labelled = await objectsOf(cluster, gateway)
  const rendered = await renderWithKey(cluster, { wish, settings, labelled })
  if (!rendered.ok) return { ...outcome, problems: rendered.problems, addresses: addressesIn(labelled, gateway) }
  const live = [...labelled, ...(await namesakes(cluster, rendered.objects, labelled))]
  const { apply, remove, blocked } = plan(live, rendered.objects, gateway)
  outcome.failures.push(...blocked)
  const results: Resource[] = []
  for (const object of apply)
    await attempt(outcome, 'applied', object, async () => results.push(await cluster.apply(object)))
  // What is not whole yet may still need what would be removed.
  const isWhole = outcome.failures.length + outcome.problems.length === 0
  for (const object of isWhole ? remove : []) await attempt(outcome, 'removed', object, () => cluster.remove(object))
  return { ...outcome, skippedPorts: rendered.skippedPorts, addresses: addressesIn([...results, ...live], gateway) }
}

/** Removes all that is deployed for a Gateway that lives on under another controller. */
export async function withdraw(cluster: Cluster, gateway: Resource): Promise<Outcome> {
  const outcome = nothingDone()
  const { remove } = plan(await objectsOf(cluster, gateway), [], gateway)
  for (const object of remove) await attempt(outcome, 'removed', object, () => cluster.remove(object))
  return outcome
}

function nothingDone(): Outcome {
  return { addresses: [], problems: [], failures: [], skippedPorts: [], applied: [], removed: [] }
}

/** All that bears the labels of the Gateway. */
async function objectsOf(cluster: Cluster, { metadata }: Resource): Promise<Resource[]> {
  const labels = { [GATEWAY_NAME_LABEL]: labelValue(metadata.name), [MANAGED_BY_LABEL]: MANAGED_BY }
  const lists = deployedKinds.map((kind) => cluster.list(kind, metadata.namespace ?? 'default', labels))
  return (await Promise.all(lists)).flat()
}

interface Circumstances {
  wish: Omit<Wish, 'sessionKey'>
  settings: DeploySettings
  labelled: readonly Resource[]
}

async function renderWithKey(cluster: Cluster, { wish, settings, labelled }: Circumstances): Promise<Rendered> {
  if (hasOwnSessionKey(wish.levels)) return render({ ...wish, sessionKey: '' }, settings)
  const { name, namespace = 'default' } = wish.gateway.metadata
  const secretName = sessionSecretName(name)
  const secret = labelled.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === secretName)
  // Whoever took its labels away has not taken the sessions away.
  const key = sessionKeyOf(secret ?? (await cluster.get('Secret', namespace, secretName)))
  return key.ok ? render({ ...wish, sessionKey: key.value }, settings) : { ok: false, problems: [key.problem] }
}

/** Objects of the names that are wanted, without the labels of the Gateway: most likely somebody else's. */
async function namesakes(
  cluster: Cluster,
  wanted: readonly Deployed[],
  known: readonly Resource[],
): Promise<Resource[]> {
  const names = new Set(known.map(nameOf))
  const others = wanted
    .filter((object) => !names.has(nameOf(object)))
    .map(({ kind, metadata }) => cluster.get(kind, metadata.namespace, metadata.name))
  return (await Promise.all(others)).filter((object) => object !== undefined)
}

/** One object that cannot be had does not keep the others from it. */
async function attempt(
  outcome: Outcome,
  done: 'applied' | 'removed',
  object: Deployed | Resource,
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

/** Said with status 500 of an object with fields that its kind does not have. */
const UNKNOWN_FIELD = /failed to create typed patch object/

function addressesIn(objects: readonly Resource[], gateway: Resource): GatewayAddress[] {
  const service = objects.find((object) => object.kind === 'Service' && isOwnedBy(object, gateway))
  return service === undefined ? [] : addressesOf(service, gateway)
}
