import type { ChangedRequest, RecordedHeaders } from './record.ts'

/** The stored changes that policies made to a request. Only differences are stored, because policies change little. */
export interface StoredChange {
  path?: string
  /** Names of removed headers. */
  gone?: readonly string[]
  /** Headers that are new or have other values. */
  set?: RecordedHeaders
}

/** Returns the difference of the headers; null if they are equal. */
export function changeOf(came: RecordedHeaders, left: RecordedHeaders): StoredChange | null {
  const gone = Object.keys(came).filter((name) => !Object.hasOwn(left, name))
  const set = Object.entries(left).filter(([name, value]) => !isSame(Object.hasOwn(came, name) && came[name], value))
  if (gone.length === 0 && set.length === 0) return null
  return { ...(gone.length > 0 && { gone }), ...(set.length > 0 && { set: Object.fromEntries(set) }) }
}

function isSame(one: unknown, other: string | readonly string[]): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

export function changedRequest(came: RecordedHeaders, change: StoredChange | undefined): ChangedRequest | null {
  if (change === undefined) return null
  const { path = null, gone = [], set } = change
  if (gone.length === 0 && set === undefined) return { path, headers: null }
  const left = Object.entries(came).filter(([name]) => !gone.includes(name))
  return { path, headers: { ...Object.fromEntries(left), ...set } }
}
