import type { Fields } from './fields.ts'
import { GATEWAY_GROUP } from './kinds.ts'

/** A reference to an object, with defaults filled in. */
export interface ObjectReference {
  group: string
  kind: string
  namespace: string
  name: string
}

export interface BackendReference extends ObjectReference {
  port: number | undefined
  weight: number
}

export interface ParentRef extends ObjectReference {
  sectionName: string | undefined
  port: number | undefined
}

const PORT = { min: 1, max: 65_535 }

/** Reads the parents of a route; the default kind is Gateway. */
export function readParentRefs(spec: Fields, namespace: string): ParentRef[] {
  return spec.objects('parentRefs').flatMap((fields) => {
    const reference = readReference(fields, { group: GATEWAY_GROUP, kind: 'Gateway', namespace })
    const [sectionName, port] = [fields.text('sectionName'), fields.integer('port', PORT)]
    fields.done()
    return reference === undefined ? [] : [{ ...reference, sectionName, port }]
  })
}

/** Reads a backend; undefined when it has no name. The caller calls `done`, because it may know more fields. */
export function readBackendRef(fields: Fields, namespace: string): BackendReference | undefined {
  const reference = readReference(fields, { group: '', kind: 'Service', namespace })
  const [port, weight = 1] = [fields.integer('port', PORT), fields.integer('weight', { max: 1_000_000 })]
  return reference === undefined ? undefined : { ...reference, port, weight }
}

export function readReference(fields: Fields, defaults: Omit<ObjectReference, 'name'>): ObjectReference | undefined {
  const {
    group = defaults.group,
    kind = defaults.kind,
    namespace = defaults.namespace,
  } = {
    group: fields.text('group'),
    kind: fields.text('kind'),
    namespace: fields.text('namespace'),
  }
  const name = fields.text('name')
  if (name === undefined) return fields.report('name', 'is missing')
  return { group, kind, namespace, name }
}

/** Prints `Secret shop/tls`. */
export function printReference({ kind, namespace, name }: ObjectReference): string {
  return `${kind} ${namespace}/${name}`
}
