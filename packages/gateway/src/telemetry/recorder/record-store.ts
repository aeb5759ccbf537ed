import { decodeRecord, type RecordSource, serialOf, startOf } from './decode.ts'
import { AT } from './layout.ts'
import type { RequestRecord } from './record.ts'
import { createNames, idOf, PREFIX_LENGTH } from './record-id.ts'
import type { RecorderMemory } from './recorder.ts'
import { createRing, hasForgotten, readRing, ringEnd, ringUse } from './ring.ts'
import { frameOf } from './segment.ts'

/** The memory of each worker in bytes. */
export interface RecorderSizes {
  passed: number
  notable: number
}

/** A record that has not been read yet. */
export interface StoredRecord {
  readonly at: number
  readonly id: string
  /** Returns the record as a frame for a file. */
  frame(): Buffer
  decode(): RequestRecord | null
}

interface RecordsSince {
  readonly records: readonly StoredRecord[]
  /** For the next call. */
  readonly positions: ReadonlyMap<SharedArrayBuffer, number>
  /** Whether records were overwritten before they could be read. */
  readonly hasLost: boolean
}

/** The records of all workers, read from shared memory, which outlives the workers. */
export class RecordStore {
  readonly #sources = new Map<string, Source>()
  /** Prefixes of all ids of this process; records on disk may be from another process. */
  readonly #prefixes = new Set<string>()
  /** Memory of workers that died, and of earlier sizes. */
  #retired: Source[] = []
  #sizes: RecorderSizes | null = null

  get isEnabled(): boolean {
    return this.#sizes !== null
  }

  /** Sets the sizes: new records go to new memory, old records stay in theirs. */
  resize(sizes: RecorderSizes | null): void {
    const before = this.#sizes
    this.#sizes = sizes
    if (before?.passed === sizes?.passed && before?.notable === sizes?.notable) return
    for (const worker of [...this.#sources.keys()]) this.died(worker)
  }

  memoryFor(worker: string): RecorderMemory | null {
    const sizes = this.#sizes
    if (sizes === null) return null
    let source = this.#sources.get(worker)
    if (source === undefined) {
      const memory = { passed: createRing(sizes.passed), notable: createRing(sizes.notable), names: createNames() }
      source = { worker, names: memory.names, memory }
      this.#sources.set(worker, source)
      this.#prefixes.add(source.names.prefix)
    }
    return source.memory
  }

  died(worker: string): void {
    const source = this.#sources.get(worker)
    if (source === undefined) return
    this.#sources.delete(worker)
    // Only the newest, so that repeated crashes of workers do not fill the memory.
    this.#retired = [...this.#retired, source].slice(-MAX_RETIRED)
  }

  /** Newest first. */
  all(): StoredRecord[] {
    return this.since(null).records.toSorted(newestFirst)
  }

  /** Records after the positions of an earlier call; null returns all. */
  since(before: ReadonlyMap<SharedArrayBuffer, number> | null): RecordsSince {
    const positions = new Map<SharedArrayBuffer, number>()
    const records: StoredRecord[] = []
    let hasLost = false
    for (const source of this.#everySource()) {
      for (const ring of [source.memory.passed, source.memory.notable]) {
        const read = readRing(ring, before?.get(ring) ?? null)
        positions.set(ring, read.position)
        hasLost ||= read.hasLost
        for (const entry of read.entries) if (entry.length >= AT.texts) records.push(new EncodedRecord(entry, source))
      }
    }
    return { records, positions, hasLost }
  }

  /** The current positions, for a reader that wants only later records. */
  positions(): ReadonlyMap<SharedArrayBuffer, number> {
    const rings = this.#everySource().flatMap(({ memory }) => [memory.passed, memory.notable])
    return new Map(rings.map((ring) => [ring, ringEnd(ring)]))
  }

  /** The time since which no record was overwritten. */
  get completeSince(): number {
    return this.#newestStart(() => true)
  }

  /** Records of requests that began before this time may have been overwritten. */
  get forgottenBefore(): number {
    return this.#newestStart(hasForgotten)
  }

  /** Returns the latest of the start times of the oldest records of all memories. */
  #newestStart(isMeant: (ring: SharedArrayBuffer) => boolean): number {
    const oldest = this.#everySource().flatMap(({ memory }) =>
      [memory.passed, memory.notable].filter(isMeant).flatMap((ring) => {
        const first = readRing(ring).entries.find((entry) => entry.length >= AT.texts)
        return first === undefined ? [] : [startOf(first)]
      }),
    )
    return Math.max(...oldest, Number.NEGATIVE_INFINITY)
  }

  /** Whether a worker of this process wrote the record. */
  isOwn(id: string): boolean {
    return this.#prefixes.has(id.slice(0, PREFIX_LENGTH))
  }

  find(id: string): RequestRecord | null {
    for (const source of this.#everySource()) {
      if (!id.startsWith(source.names.prefix)) continue
      for (const ring of [source.memory.notable, source.memory.passed]) {
        const { entries } = readRing(ring)
        const entry = entries.find(
          (candidate) => candidate.length >= AT.texts && idOf(source.names, serialOf(candidate)) === id,
        )
        if (entry !== undefined) return decodeRecord(entry, source)
      }
    }
    return null
  }

  get use(): { bytes: number; maxBytes: number } {
    const use = { bytes: 0, maxBytes: 0 }
    for (const { memory } of this.#everySource()) {
      for (const ring of [memory.passed, memory.notable]) {
        const { bytes, maxBytes } = ringUse(ring)
        use.bytes += bytes
        use.maxBytes += maxBytes
      }
    }
    return use
  }

  #everySource(): Source[] {
    return [...this.#retired, ...this.#sources.values()]
  }
}

export function newestFirst(a: StoredRecord, b: StoredRecord): number {
  return b.at - a.at || (a.id < b.id ? 1 : -1)
}

interface Source extends RecordSource {
  readonly memory: RecorderMemory
}

/** A copy of an encoded record, with its worker. */
export class EncodedRecord implements StoredRecord {
  readonly at: number
  readonly #entry: Buffer
  readonly #source: RecordSource

  constructor(entry: Buffer, source: RecordSource) {
    this.at = startOf(entry)
    this.#entry = entry
    this.#source = source
  }

  get id(): string {
    return idOf(this.#source.names, serialOf(this.#entry))
  }

  frame(): Buffer {
    const { names, worker } = this.#source
    return frameOf({ ...names, worker, entry: this.#entry })
  }

  decode(): RequestRecord | null {
    return decodeRecord(this.#entry, this.#source)
  }
}

const MAX_RETIRED = 4
