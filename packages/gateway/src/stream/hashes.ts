import { createHash, type Hash } from 'node:crypto'
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

type Resource = Ir[keyof Ir][number]

/** Resources and lists are never changed in place, and most are in one config after the other. */
const hashByResource = new WeakMap<Resource, string>()
/** Of those that no later list was made of: that has taken them over. */
const hashesByList = new WeakMap<readonly Resource[], Buffer>()
const HASH_LENGTH = 22

/** Of what is on the wire: equal for equal texts of JSON. */
export function hashOf(resource: Resource): string {
  const known = hashByResource.get(resource)
  if (known !== undefined) return known
  const hash = shortened(createHash('sha256').update(JSON.stringify(resource)))
  hashByResource.set(resource, hash)
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

/** The name of a config: the order of its lists counts. What it shares with the one before is not looked at again. */
export function generationOf(ir: Ir, before: Ir = EMPTY_IR): Generation {
  const hash = createHash('sha256')
  for (const [index, list] of IR_LISTS.entries()) {
    if (index > 0) hash.update('/')
    hash.update(hashesInOrder(ir[list], before[list]))
  }
  return shortened(hash)
}

/** Hashes are all of one length, and cover the keys. The bytes are good until the next list is made of this one. */
function hashesInOrder(list: readonly Resource[], before: readonly Resource[]): Buffer {
  const size = list.length * HASH_LENGTH
  const known = hashesByList.get(list)
  if (known !== undefined) return known.subarray(0, size)
  const old = hashesByList.get(before)
  const most = old === undefined ? 0 : Math.min(list.length, before.length)
  let start = 0
  while (start < most && list[start] === before[start]) start++
  let end = 0
  while (end < most - start && list[list.length - 1 - end] === before[before.length - 1 - end]) end++
  const bytes = roomFor(size, old)
  // A buffer for each of many changes is garbage outside of V8's heap, and makes holes in that of the C library.
  if (old === bytes) hashesByList.delete(before)
  else old?.copy(bytes, 0, 0, start * HASH_LENGTH)
  const oldSize = before.length * HASH_LENGTH
  old?.copy(bytes, size - end * HASH_LENGTH, oldSize - end * HASH_LENGTH, oldSize)
  for (const [index, resource] of list.slice(start, list.length - end).entries()) {
    bytes.write(hashOf(resource), (start + index) * HASH_LENGTH, 'latin1')
  }
  hashesByList.set(list, bytes)
  return bytes.subarray(0, size)
}

/** What the list before had, where that fits; with some room to grow otherwise. */
function roomFor(size: number, old: Buffer | undefined): Buffer {
  if (old !== undefined && old.length >= size && old.length <= 4 * size) return old
  return Buffer.allocUnsafeSlow(size + (size >> 2))
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

function keyAndHash(resource: Resource): [string, string] {
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

function shortened(hash: Hash): string {
  return hash.digest('base64url').slice(0, HASH_LENGTH)
}
