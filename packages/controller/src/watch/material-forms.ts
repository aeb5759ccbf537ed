import type { Metadata, Resource } from '@portico/translate'

/** The part of an unreferenced object that is kept, without annotations, which may contain the applied content. */
export function partOf({ apiVersion, kind, metadata }: Resource): Resource {
  return { apiVersion, kind, metadata: kept(metadata), isPartial: true }
}

/** The part of a referenced object that is kept. */
export function contentsOf({ apiVersion, kind, metadata, data }: Resource): Resource {
  return { apiVersion, kind, metadata: kept(metadata), ...(data !== undefined && { data }) }
}

/** Resource versions are compared as numbers. */
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
