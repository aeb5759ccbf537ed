/** A kind of the API server, as its paths name it. */
export interface ApiKind {
  /** Empty for the core group. */
  group: string
  version: string
  kind: string
  plural: string
  namespaced: boolean
}

export interface Place {
  namespace?: string
  name?: string
  /** Such as `status`. */
  part?: string
}

/** The path of an object, of a namespace's objects, or of all objects of a kind. */
export function pathOf({ group, version, plural }: ApiKind, { namespace, name, part }: Place = {}): string {
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const inside = namespace === undefined ? [] : ['namespaces', namespace]
  return [base, ...[...inside, plural, name, part].filter((text) => text !== undefined).map(encodeURIComponent)].join(
    '/',
  )
}

export function apiVersionOf({ group, version }: ApiKind): string {
  return group === '' ? version : `${group}/${version}`
}
