import type { Resource } from '@portico/translate'
import type { ApiKind } from '../kube/kinds.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import { isStatus } from '../kube/kube-error.ts'
import { getObject, patchStatus } from '../kube/objects.ts'

interface StatusWrite {
  /** The object as last seen; `patch` is the difference of its status. */
  resource: Resource
  patch: object
  /** Returns the difference for a newer version; null when there is none, undefined when it is too early to report. */
  compare: (resource: Resource) => object | null | undefined
  /** Called after a conflict. */
  conflicted: () => void
}

const MOST_TRIES = 5

/**
 * Writes to the newest version, and retries after conflicts. Returns the object and the patch, which is null when
 * another writer wrote the same; null when the object is gone or was recreated, or when it is too early to report.
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
    // A recreated object of the same name is left to the watch.
    if (newest === undefined || newest.metadata.uid !== resource.metadata.uid) return null
    const rest = compare(newest)
    if (rest === undefined) return null
    if (rest === null) return { resource: newest, patch: null }
    ;[upon, next] = [newest, rest]
  }
}
