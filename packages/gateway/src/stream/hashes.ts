import { createHash } from 'node:crypto'
import { changeBetween, EMPTY_IR, type IrChange, type ListChange } from '../ir/change.ts'
import type { Ir } from '../ir/resources.ts'

/**
 * Names a config by its contents (`generationOf`), so that every controller calls it the same, and a data plane can tell
 * whether what it put together is what was meant.
 */
export type Generation = string

/** Keys and hashes of all resources, in the order of their lists. */
export type HashedIr = Readonly<Record<keyof Ir, readonly (readonly [key: string, hash: string])[]>>

export const IR_LISTS = Object.keys(EMPTY_IR) as (keyof Ir)[]

/** Resources are never changed in place, and most are in one config after the other. */
const known = new WeakMap<object, string>()

/** Of what is on the wire: equal for equal texts of JSON. */
export function hashOf(resource: Ir[keyof Ir][number]): string {
  const before = known.get(resource)
  if (before !== undefined) return before
  const hash = digest(JSON.stringify(resource))
  known.set(resource, hash)
  return hash
}

export function hashesOf(ir: Ir): HashedIr {
  return {
    binds: ir.binds.map(keyAndHash),
    listeners: ir.listeners.map(keyAndHash),
    routes: ir.routes.map(keyAndHash),
    backends: ir.backends.map(keyAndHash),
    policies: ir.policies.map(keyAndHash),
  }
}

/** The name of a config: the order of its lists counts. */
export function generationOf(ir: Ir): Generation {
  // Hashes are all of one length, and cover the keys.
  return digest(IR_LISTS.map((list) => ir[list].map(hashOf).join('')).join('/'))
}

/** What makes `after` of the config with these hashes; null when keys are not unique: then only the whole says what is meant. */
export function changeSince(before: HashedIr, after: Ir): IrChange | null {
  const change = changeBetween(shadow(before), shadow(hashesOf(after)))
  if (change === null) return null
  return {
    binds: filled(change.binds, after.binds),
    listeners: filled(change.listeners, after.listeners),
    routes: filled(change.routes, after.routes),
    backends: filled(change.backends, after.backends),
    policies: filled(change.policies, after.policies),
  }
}

function keyAndHash(resource: Ir[keyof Ir][number]): [string, string] {
  return [resource.key, hashOf(resource)]
}

/** What finds changes looks at keys and equality alone. */
function shadow(hashes: HashedIr): Ir {
  const lists = IR_LISTS.map((list) => [list, hashes[list].map(([key, hash]) => ({ key, hash }))])
  return Object.fromEntries(lists) as Ir
}

function filled<R extends { key: string }>({ put, drop }: ListChange<R>, after: readonly R[]): ListChange<R> {
  if (put.length === 0) return { put: [], drop }
  const byKey = new Map(after.map((resource) => [resource.key, resource]))
  return { put: put.map((each) => ({ ...each, resource: byKey.get(each.resource.key) ?? each.resource })), drop }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
