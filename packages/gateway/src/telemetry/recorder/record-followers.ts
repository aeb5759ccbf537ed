import { summaryOf } from './decode.ts'
import type { ListedRequest, RequestBatch, RequestRecord } from './record.ts'
import type { RecordStore, StoredRecord } from './record-store.ts'

type FollowerCallback = (batch: RequestBatch) => void

interface Follower {
  /** Null for every record. */
  readonly matches: ((record: RequestRecord) => boolean) | null
  /** The summary of a record for this follower. */
  readonly summarize?: (record: RequestRecord) => ListedRequest
  readonly told: FollowerCallback
}

/** Followers that get requests as they end. Without followers, no records are read. */
export class RecordFollowers {
  readonly #store: Pick<RecordStore, 'since' | 'positions'>
  readonly #followers = new Set<Follower>()
  #positions: ReadonlyMap<SharedArrayBuffer, number> = new Map()
  #timer: NodeJS.Timeout | null = null

  constructor(store: Pick<RecordStore, 'since' | 'positions'>) {
    this.#store = store
  }

  /** Adds a follower; the returned function removes it. Null when there are too many followers. */
  follow(follower: Follower): (() => void) | null {
    if (this.#followers.size >= MAX_FOLLOWERS) return null
    if (this.#timer === null) {
      this.#positions = this.#store.positions()
      this.#timer = setInterval(() => this.#look(), BETWEEN_MS)
      this.#timer.unref()
    }
    this.#followers.add(follower)
    return () => {
      this.#followers.delete(follower)
      if (this.#followers.size > 0 || this.#timer === null) return
      clearInterval(this.#timer)
      this.#timer = null
    }
  }

  #look(): void {
    const { records, positions } = this.#store.since(this.#positions)
    this.#positions = positions
    if (records.length === 0) return
    const oldestFirst = records.toSorted((a, b) => a.at - b.at)
    // Only the newest records are read when there are too many.
    let looked: RequestRecord[] | null = null
    for (const { matches, summarize = summaryOf, told } of this.#followers) {
      // A follower of all records gets only the newest, so the others are not read.
      const found = matches === null ? null : (looked ??= read(oldestFirst, MAX_READ)).filter(matches)
      const newest = found === null ? read(oldestFirst, MAX_TOLD) : found.slice(-MAX_TOLD)
      const unread = found === null ? records.length : found.length + Math.max(0, records.length - MAX_READ)
      const requests = newest.map(summarize)
      const omitted = unread - requests.length
      if (requests.length > 0 || omitted > 0) told({ requests, omitted })
    }
  }
}

/** Decodes the last `count` records. */
function read(records: readonly StoredRecord[], count: number): RequestRecord[] {
  return records.slice(-count).flatMap((stored) => stored.decode() ?? [])
}

/** At most ten messages a second. */
const BETWEEN_MS = 100
const MAX_TOLD = 100
const MAX_READ = 2000
const MAX_FOLLOWERS = 16
