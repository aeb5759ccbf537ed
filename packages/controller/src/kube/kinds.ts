/** A kind, as in the paths of the API server. */
export interface ApiKind {
  /** Empty for the core group. */
  group: string
  version: string
  kind: string
  plural: string
  namespaced: boolean
}

interface ObjectPath {
  namespace?: string
  name?: string
  /** A subresource, such as `status`. */
  part?: string
}

/** Returns the path of an object, of all objects in a namespace, or of all objects of a kind. */
export function pathOf({ group, version, plural }: ApiKind, { namespace, name, part }: ObjectPath = {}): string {
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const inside = namespace === undefined ? [] : ['namespaces', namespace]
  return [base, ...[...inside, plural, name, part].filter((text) => text !== undefined).map(encodeURIComponent)].join(
    '/',
  )
}

export function apiVersionOf({ group, version }: ApiKind): string {
  return group === '' ? version : `${group}/${version}`
}
