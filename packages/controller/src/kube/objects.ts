import type { Resource } from '@portico/translate'
import type { Ask, KubeClient } from './kube-client.ts'
import { isStatus } from './kube-error.ts'
import { type ApiKind, apiVersionOf, pathOf } from './kinds.ts'

/** The name of an object; cluster-scoped kinds have no namespace. */
export interface Name {
  namespace?: string
  name: string
}

/** Reads an object; undefined when it does not exist. */
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

export async function createObject(
  client: Pick<KubeClient, 'ask'>,
  kind: ApiKind,
  object: ObjectBody,
): Promise<Resource> {
  const { namespace } = object.metadata
  const path = pathOf(kind, namespace === undefined ? {} : { namespace })
  return (await client.ask({ method: 'POST', path, body: withType(kind, object) })) as Resource
}

/** Replaces an object; throws 409 when the resource version is outdated. */
export async function updateObject(
  client: Pick<KubeClient, 'ask'>,
  kind: ApiKind,
  object: ObjectBody,
): Promise<Resource> {
  const body = withType(kind, object)
  return (await client.ask({ method: 'PUT', path: pathOf(kind, nameOf(object)), body })) as Resource
}

/** Server-side apply: owns the given fields, and leaves fields of others alone. */
export async function applyObject(
  client: Pick<KubeClient, 'ask'>,
  kind: ApiKind,
  object: ObjectBody,
  manager: string,
): Promise<Resource> {
  return (await client.ask({
    method: 'PATCH',
    path: pathOf(kind, nameOf(object)),
    query: { fieldManager: manager, force: true },
    // JSON is valid YAML.
    contentType: 'application/apply-patch+yaml',
    body: withType(kind, object),
  })) as Resource
}

/** Patches fields of the status; with a version, throws 409 when the object has changed. */
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

/** Deletes an object, with a uid only that very object; false when it does not exist. */
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

/** An object without kind and version, which the `ApiKind` already states. */
export type ObjectBody = Partial<Omit<Resource, 'metadata'>> & { metadata: Resource['metadata'] } & Readonly<
    Record<string, unknown>
  >

function withType(kind: ApiKind, object: ObjectBody): object {
  return { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind }
}

function nameOf({ metadata: { namespace, name } }: ObjectBody): Name {
  return namespace === undefined ? { name } : { namespace, name }
}
