import type { Resource } from '@portico/translate'
import type { Ask, KubeClient } from './kube-client.ts'
import { isStatus } from './kube-error.ts'
import { type ApiKind, apiVersionOf, pathOf } from './kinds.ts'

/** The object's own place: kinds without namespaces have none. */
export interface Name {
  namespace?: string
  name: string
}

/** Undefined when there is none. */
export async function getObject(
  client: Pick<KubeClient, 'ask'>,
  kind: ApiKind,
  name: Name,
  limits: Pick<Ask, 'signal' | 'limitMs'> = {},
): Promise<Resource | undefined> {
  try {
    return (await client.ask({ ...limits, path: pathOf(kind, name) })) as Resource
  } catch (error) {
    if (isStatus(error, 404)) return undefined
    throw error
  }
}

export async function createObject(client: Pick<KubeClient, 'ask'>, kind: ApiKind, object: Unnamed): Promise<Resource> {
  const { namespace } = object.metadata
  const path = pathOf(kind, namespace === undefined ? {} : { namespace })
  return (await client.ask({ method: 'POST', path, body: typed(kind, object) })) as Resource
}

/** Replaces it; refused with 409 when it is not the version that the object names. */
export async function updateObject(client: Pick<KubeClient, 'ask'>, kind: ApiKind, object: Unnamed): Promise<Resource> {
  const body = typed(kind, object)
  return (await client.ask({ method: 'PUT', path: pathOf(kind, nameOf(object)), body })) as Resource
}

/** Makes the fields of the object ours, and leaves those of others alone (server-side apply). */
export async function applyObject(
  client: Pick<KubeClient, 'ask'>,
  kind: ApiKind,
  object: Unnamed,
  manager: string,
): Promise<Resource> {
  return (await client.ask({
    method: 'PATCH',
    path: pathOf(kind, nameOf(object)),
    query: { fieldManager: manager, force: true },
    // JSON is YAML too.
    contentType: 'application/apply-patch+yaml',
    body: typed(kind, object),
  })) as Resource
}

/** Sets these fields of the status; with a version, refused with 409 when the object is another by now. */
export async function patchStatus(
  client: Pick<KubeClient, 'ask'>,
  kind: ApiKind,
  { resourceVersion, ...name }: Name & { resourceVersion?: string },
  status: object,
): Promise<Resource> {
  return (await client.ask({
    method: 'PATCH',
    path: pathOf(kind, { ...name, part: 'status' }),
    contentType: 'application/merge-patch+json',
    body: { ...(resourceVersion !== undefined && { metadata: { resourceVersion } }), status },
  })) as Resource
}

/** False when there was none. With a uid, only that very object. */
export async function deleteObject(
  client: Pick<KubeClient, 'ask'>,
  kind: ApiKind,
  { uid, ...name }: Name & { uid?: string },
): Promise<boolean> {
  const body = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: 'Background',
    ...(uid !== undefined && { preconditions: { uid } }),
  }
  try {
    await client.ask({ method: 'DELETE', path: pathOf(kind, name), body })
    return true
  } catch (error) {
    if (isStatus(error, 404)) return false
    throw error
  }
}

/** What the kind says already need not be in the object. */
export type Unnamed = Partial<Omit<Resource, 'metadata'>> & { metadata: Resource['metadata'] } & Readonly<
    Record<string, unknown>
  >

function typed(kind: ApiKind, object: Unnamed): object {
  return { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind }
}

function nameOf({ metadata: { namespace, name } }: Unnamed): Name {
  return namespace === undefined ? { name } : { namespace, name }
}
