import type { Metadata, Resource } from '@portico/translate'

/** What is kept of one that nobody refers to: annotations may hold all that was ever applied. */
export function partOf({ apiVersion, kind, metadata }: Resource): Resource {
  return { apiVersion, kind, metadata: kept(metadata), isPartial: true }
}

/** What is kept of one that somebody refers to. */
export function contentsOf({ apiVersion, kind, metadata, data }: Resource): Resource {
  return { apiVersion, kind, metadata: kept(metadata), ...(data !== undefined && { data }) }
}

/** Versions are numbers, whatever is said about them. */
export function versionOf({ metadata }: Resource): number {
  return Number(metadata.resourceVersion ?? 0)
}

function kept({ name, namespace, labels, uid, resourceVersion }: Metadata): Metadata {
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(labels !== undefined && { labels }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  }
}
