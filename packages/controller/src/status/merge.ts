import { isDeepStrictEqual } from 'node:util'
import type { Condition, PolicyStatus, Status } from '@portico/translate'
import { isObject } from '@portico/http/json'
import type { GatewayAddress } from '../deploy/addresses.ts'

/** The status to write; for a Gateway with its addresses, if they are known. */
export type WantedStatus = Status & { addresses?: readonly GatewayAddress[] }

interface Circumstances {
  /** The controller name that marks our entries. */
  controllerName: string
  now: Date
}

type Json = Readonly<Record<string, unknown>>

/** The limit of the Gateway API for routes and policies. */
const MOST_PARENTS = 32
const MOST_ANCESTORS = 16

/**
 * Returns the patch to the wanted status, or null when nothing changes. Entries and conditions of others keep their content
 * and position: two controllers that reordered each other's entries would never finish.
 */
export function statusPatch(current: unknown, wanted: WantedStatus | null, circumstances: Circumstances): Json | null {
  const live = isObject(current) ? current : {}
  const merged = wanted === null ? withoutOurs(live, circumstances) : merge(live, wanted, circumstances)
  const changed = Object.entries(merged).filter(([field, value]) => !isDeepStrictEqual(live[field], value))
  return changed.length === 0 ? null : Object.fromEntries(changed)
}

function merge(live: Json, wanted: WantedStatus, circumstances: Circumstances): Json {
  const { now } = circumstances
  if ('parents' in wanted) {
    return { parents: entries({ live: live['parents'], wanted: wanted.parents, most: MOST_PARENTS }, circumstances) }
  }
  if ('ancestors' in wanted) {
    const { ancestors } = wanted
    return {
      ancestors: entries({ live: live['ancestors'], wanted: ancestors, most: MOST_ANCESTORS }, circumstances),
      ...mergeVerification(live, wanted, now),
    }
  }
  const { conditions, ...others } = plain(wanted)
  const merged: Record<string, unknown> = { ...others }
  merged['conditions'] = mergeConditions(live['conditions'], conditions as Condition[], { now, keepsOthers: true })
  if ('listeners' in wanted) {
    merged['listeners'] = wanted.listeners.map((listener) => {
      const before = listOf(live['listeners']).find(({ name }) => name === listener.name)
      return {
        ...plain(listener),
        conditions: mergeConditions(before?.['conditions'], listener.conditions, { now, keepsOthers: true }),
      }
    })
  }
  return merged
}

/** The verification of a GwPolicy, which goes with `spec.verify`. */
function mergeVerification(live: Json, { conditions = [], verified }: PolicyStatus, now: Date): Json {
  if (verified === undefined && live['verified'] === undefined) return {}
  return {
    conditions: mergeConditions(live['conditions'], conditions, { now, keepsOthers: true }),
    verified: verified ?? null,
  }
}

/** Removes our entries from a resource that is no longer ours. */
function withoutOurs(live: Json, { controllerName }: Circumstances): Json {
  const lists = ['parents', 'ancestors'].filter((field) => Array.isArray(live[field]))
  return Object.fromEntries(
    lists.map((field) => [field, listOf(live[field]).filter((entry) => entry['controllerName'] !== controllerName)]),
  )
}

type Entry = { controllerName: string; conditions: Condition[] } & ({ parentRef: object } | { ancestorRef: object })

function entries(
  { live, wanted, most }: { live: unknown; wanted: readonly Entry[]; most: number },
  { controllerName, now }: Circumstances,
): Json[] {
  const left = wanted.map((entry) => plain(entry))
  const take = (entry: Json): Json | undefined => {
    const index = left.findIndex((one) => isDeepStrictEqual(refOf(one), refOf(entry)))
    return index < 0 ? undefined : left.splice(index, 1)[0]
  }
  const timed = (entry: Json, before: unknown): Json => ({
    ...entry,
    conditions: mergeConditions(before, entry['conditions'] as Condition[], { now, keepsOthers: false }),
  })
  const kept = listOf(live).flatMap((entry) => {
    if (entry['controllerName'] !== controllerName) return [entry]
    const own = take(entry)
    return own === undefined ? [] : [timed(own, entry['conditions'])]
  })
  return [...kept, ...left.map((entry) => timed(entry, undefined))].slice(0, Math.max(most, kept.length))
}

function refOf(entry: Json): unknown {
  return entry['parentRef'] ?? entry['ancestorRef']
}

/** A condition whose status is unchanged keeps its transition time. */
function mergeConditions(
  live: unknown,
  wanted: readonly Condition[],
  { now, keepsOthers }: { now: Date; keepsOthers: boolean },
): Json[] {
  const known = listOf(live)
  const time = `${now.toISOString().slice(0, 19)}Z`
  const left = new Map(wanted.map((condition) => [condition.type, condition]))
  const timed = (condition: Condition, before: Json | undefined): Json => {
    const isSame = before?.['status'] === condition.status && typeof before['lastTransitionTime'] === 'string'
    return { ...plain(condition), lastTransitionTime: isSame ? before['lastTransitionTime'] : time }
  }
  const kept = known.flatMap((before) => {
    const own = left.get(String(before['type']))
    if (own === undefined) return keepsOthers && !OUR_TYPES.has(String(before['type'])) ? [before] : []
    left.delete(own.type)
    return [timed(own, before)]
  })
  return [...kept, ...[...left.values()].map((condition) => timed(condition, undefined))].slice(0, MOST_CONDITIONS)
}

const MOST_CONDITIONS = 8
/** Condition types that only we set, so an unwanted one is outdated and removed. */
const OUR_TYPES = new Set([
  'Accepted',
  'AddressesAssigned',
  'Programmed',
  'Conflicted',
  'ResolvedRefs',
  'InsecureFrontendValidationMode',
  'Verified',
])

/** The object as the server returns it, without undefined members. */
function plain(value: object): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
