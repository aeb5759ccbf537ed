import { isObject, type Json, type JsonObject } from '@portico/http/json'
import { withParams } from '../edit.ts'
import type { RpcMessage } from '../protocol.ts'
import type { TargetItem } from '../names.ts'

/** Returns the target of a resource or task; null when no target has it, or the caller may not see it. */
type FindOwner = (kind: 'resource' | 'task', exposed: string) => TargetItem | null

/** Splits a `subscriptions/listen` request by target: list changes go to all, resources and tasks to their target. */
export function splitListen(message: RpcMessage, targets: readonly string[], find: FindOwner): Map<string, RpcMessage> {
  const filter = filterOf(message)
  const resources = ownedBy(filter.resourceSubscriptions, 'resource', find)
  const tasks = ownedBy(filter.taskIds, 'task', find)
  const split = new Map<string, RpcMessage>()
  for (const target of targets) {
    const notifications: JsonObject = { ...filter }
    if (Array.isArray(filter.resourceSubscriptions)) notifications.resourceSubscriptions = resources.get(target) ?? []
    if (Array.isArray(filter.taskIds)) notifications.taskIds = tasks.get(target) ?? []
    split.set(target, withParams(message, { notifications }))
  }
  return split
}

/** Merges the acknowledgments of several targets, whose names are already translated for clients. */
export function mergeAcknowledged(messages: readonly [RpcMessage, ...RpcMessage[]]): RpcMessage {
  const merged: JsonObject = {}
  for (const [name, value] of messages.flatMap((message) => Object.entries(filterOf(message)))) {
    const before = Object.hasOwn(merged, name) ? merged[name] : undefined
    if (Array.isArray(before) && Array.isArray(value)) merged[name] = [...before, ...value]
    else if (before === undefined || before === false)
      Object.defineProperty(merged, name, { value, enumerable: true, writable: true, configurable: true })
  }
  return withParams(messages[0], { notifications: merged })
}

function filterOf({ value: { params } }: RpcMessage): JsonObject {
  const filter = isObject(params) ? params.notifications : undefined
  return isObject(filter) ? filter : {}
}

function ownedBy(list: Json | undefined, kind: 'resource' | 'task', find: FindOwner): Map<string, string[]> {
  const byTarget = new Map<string, string[]>()
  for (const entry of Array.isArray(list) ? list : []) {
    const owned = typeof entry === 'string' ? find(kind, entry) : null
    if (owned === null) continue
    const names = byTarget.get(owned.target)
    if (names === undefined) byTarget.set(owned.target, [owned.name])
    else names.push(owned.name)
  }
  return byTarget
}
