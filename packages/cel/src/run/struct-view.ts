import type { StructType } from '../declarations.ts'
import { MapView } from '../value.ts'
import type { Value } from '../value.ts'

/** A host struct as a map of its declared fields. */
class StructView extends MapView {
  readonly #host: object
  readonly #type: StructType

  constructor(host: object, type: StructType) {
    super()
    this.#host = host
    this.#type = type
  }

  get(key: string): Value | undefined {
    const type = this.#type.fields.get(key)
    if (type === undefined) return undefined
    const value = readHost(this.#host, key)
    return type.kind === 'struct' ? viewOf(value, type) : value
  }

  *keys(): Iterable<string> {
    for (const key of this.#type.fields.keys()) if (this.get(key) !== undefined) yield key
  }
}

export function viewOf(host: unknown, type: StructType): StructView | null | undefined {
  return typeof host === 'object' && host !== null ? new StructView(host, type) : host === null ? null : undefined
}

/** Reads a declared name from a host object, including getters, but never from `Object.prototype`. */
export function readHost(host: unknown, name: string): Value | undefined {
  if (host === undefined || host === null) return undefined
  if (name in Object.prototype && !Object.hasOwn(host, name)) return undefined
  return (host as Record<string, Value | undefined>)[name]
}
