import { createHash, type Hash } from 'node:crypto'
import { changeBetween, EMPTY_IR, type IrChange, type ListChange } from '../ir/change.ts'
import type { Ir } from '../ir/resources.ts'

/**
 * Identifies a config by its contents (`generationOf`): every controller computes the same name, and a data plane can
 * check that the config it assembled is the config that the controller meant.
 */
export type Generation = string

/** Keys and hashes of all resources, in the order of their lists. */
export type HashedIr = Readonly<Record<keyof Ir, readonly (readonly [key: string, hash: string])[]>>

export const IR_LISTS = Object.keys(EMPTY_IR) as (keyof Ir)[]

type Resource = Ir[keyof Ir][number]

/**
 * Hashes are cached: resources and lists never change in place, and most of them are part of many successive configs.
 */
const hashByResource = new WeakMap<Resource, string>()
/** Holds only the newest list of each chain of changes: a newer list takes over the buffer of its predecessor. */
const hashesByList = new WeakMap<readonly Resource[], Buffer>()
const HASH_LENGTH = 22

/** Returns the hash of the resource's JSON on the wire: equal JSON has equal hashes. */
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

/**
 * Returns the name of a config, which depends on the order of its lists. Resources shared with `before` are not hashed
 * again.
 */
export function generationOf(ir: Ir, before: Ir = EMPTY_IR): Generation {
  const hash = createHash('sha256')
  for (const [index, list] of IR_LISTS.entries()) {
    if (index > 0) hash.update('/')
    hash.update(hashesInOrder(ir[list], before[list]))
  }
  return shortened(hash)
}

/**
 * All hashes have the same length and cover the keys. The bytes are valid until the next list is derived from this
 * list.
 */
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
  // A new buffer for each of many changes would be garbage outside V8's heap, and would fragment the heap of the C
  // library.
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

/** Returns the buffer of the previous list when its size fits, otherwise a new buffer with some room to grow. */
function roomFor(size: number, old: Buffer | undefined): Buffer {
  if (old !== undefined && old.length >= size && old.length <= 4 * size) return old
  return Buffer.allocUnsafeSlow(size + (size >> 2))
}

/**
 * Returns the change from the config with these hashes to `after`; null when keys are not unique, so that only the
 * whole config can be sent.
 */
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

/** A config of hashes: the comparison needs only keys and equality. */
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
