import { groupByKind } from '@portico/translate'
import type { ApiKind } from '../kube/kinds.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import { isStatus } from '../kube/kube-error.ts'
import { apiKindOf, type WatchedKind } from './watched-kinds.ts'

/** Returns the kind in the first of its versions that the server has; null when it has none. */
export async function servedKind(
  client: KubeClient,
  watched: WatchedKind,
  signal: AbortSignal,
): Promise<ApiKind | null> {
  const [only, ...others] = watched.versions
  // A kind with a single version needs no discovery: its list fails when it is missing.
  if (only !== undefined && others.length === 0) return apiKindOf(watched, only)
  for (const version of watched.versions) {
    if (await hasKind(client, { watched, version, signal })) return apiKindOf(watched, version)
  }
  return null
}

async function hasKind(
  client: KubeClient,
  { watched, version, signal }: { watched: WatchedKind; version: string; signal: AbortSignal },
): Promise<boolean> {
  const path = `/apis/${groupByKind[watched.kind]}/${version}`
  try {
    const { resources = [] } = (await client.ask({ path, signal })) as { resources?: { name?: string }[] }
    return resources.some(({ name }) => name === watched.plural)
  } catch (error) {
    if (isStatus(error, 404)) return false
    throw error
  }
}
