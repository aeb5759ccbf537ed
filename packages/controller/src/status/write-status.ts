import type { Resource } from '@portico/translate'
import type { ApiKind } from '../kube/kinds.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import { isStatus } from '../kube/kube-error.ts'
import { getObject, patchStatus } from '../kube/objects.ts'

export interface StatusWrite {
  /** As last seen, and what its status lacks. */
  resource: Resource
  patch: object
  /** What the status of a newer version lacks; null when nothing, undefined when it is too early to say anything. */
  compare: (resource: Resource) => object | null | undefined
  /** Somebody was faster. */
  conflicted: () => void
}

const MOST_TRIES = 5

/**
 * Writes upon the newest version, as long as others are faster. What is there then, and what was written of it, null where
 * another has written the same; null when the object is gone, or is for the watch to tell of.
 */
export async function writeStatus(
  client: KubeClient,
  api: ApiKind,
  { resource, patch, compare, conflicted }: StatusWrite,
): Promise<{ resource: Resource; patch: object | null } | null> {
  const { namespace, name } = resource.metadata
  const place = namespace === undefined ? { name } : { namespace, name }
  let next = patch
  let upon = resource
  for (let tries = 1; ; tries += 1) {
    const { resourceVersion = '' } = upon.metadata
    try {
      return { resource: await patchStatus(client, api, { ...place, resourceVersion }, next), patch: next }
    } catch (error) {
      if (isStatus(error, 404)) return null
      if (!isStatus(error, 409) || tries === MOST_TRIES) throw error
      conflicted()
    }
    const newest = await getObject(client, api, place)
    // Another object of the same name is for the watch to tell of.
    if (newest === undefined || newest.metadata.uid !== resource.metadata.uid) return null
    const rest = compare(newest)
    if (rest === undefined) return null
    if (rest === null) return { resource: newest, patch: null }
    ;[upon, next] = [newest, rest]
  }
}
