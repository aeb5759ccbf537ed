import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { AT } from './layout.ts'
import type { RecordStore, StoredRecord } from './record-store.ts'
import { EncodedRecord } from './record-store.ts'
import { framesIn } from './segment.ts'

export interface DiskSettings {
  readonly folder: string
  readonly maxBytes: number
  /** Segments whose last record is older than this are deleted; null keeps them. */
  readonly retentionMs: number | null
}

interface Segment {
  readonly path: string
  bytes: number
  /** Milliseconds since 1970. */
  lastAt: number
}

/** Stores records in a folder of bounded size, and reads the records that an earlier process stored there. */
export class RecordDisk {
  readonly #settings: DiskSettings
  readonly #store: Pick<RecordStore, 'since'>
  readonly #failed: (error: Error) => void
  readonly #timer: NodeJS.Timeout
  /** Oldest first; the last segment is being written. */
  #segments: Segment[]
  #open: { file: number; segment: Segment } | null = null
  #positions: ReadonlyMap<SharedArrayBuffer, number> | null = null
  /** Ids of records that a failed flush already wrote; the flush is retried from its beginning. */
  #written = new Set<string>()

  /** Throws if the folder cannot be used. */
  constructor(settings: DiskSettings, store: Pick<RecordStore, 'since'>, failed: (error: Error) => void) {
    this.#settings = settings
    this.#store = store
    this.#failed = failed
    // Only the user of the process may read the records.
    mkdirSync(settings.folder, { recursive: true, mode: 0o700 })
    this.#segments = segmentsIn(settings.folder)
    this.#timer = setInterval(() => this.flush(), FLUSH_MS)
    this.#timer.unref()
  }

  get bytes(): number {
    return this.#segments.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Writes the records since the last successful flush. */
  flush(): void {
    const { records, positions } = this.#store.since(this.#positions)
    const missing = this.#written.size === 0 ? records : records.filter(({ id }) => !this.#written.has(id))
    try {
      for (let i = 0; i < missing.length; i += BATCH) {
        const batch = missing.slice(i, i + BATCH)
        this.#write(batch)
        for (const { id } of batch) this.#written.add(id)
      }
      this.#positions = positions
      this.#written = new Set()
      this.#drop()
    } catch (error) {
      // Drops ids of records that have left the memory, because `since` does not return those again.
      this.#written = this.#written.intersection(new Set(records.map(({ id }) => id)))
      this.#failed(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** Returns all stored records, in no particular order. */
  read(): StoredRecord[] {
    return this.#segments.flatMap(({ path }) => {
      const bytes = bytesOf(path)
      const frames = bytes === null ? [] : framesIn(bytes)
      return frames
        .filter(({ entry }) => entry.length >= AT.texts)
        .map(({ prefix, key, worker, entry }) => new EncodedRecord(entry, { names: { prefix, key }, worker }))
    })
  }

  close(): void {
    clearInterval(this.#timer)
    this.flush()
    this.#end()
  }

  #write(records: readonly StoredRecord[]): void {
    const bytes = Buffer.concat(records.map((record) => record.frame()))
    if (this.#open !== null && this.#open.segment.bytes + bytes.length > this.#segmentBytes) this.#end()
    const { file, segment } = (this.#open ??= this.#begin())
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
    } catch (error) {
      this.#undo(file, segment)
      throw error
    }
    segment.bytes += bytes.length
    segment.lastAt = Date.now()
  }

  get #segmentBytes(): number {
    return this.#settings.maxBytes / SEGMENTS
  }

  #begin(): { file: number; segment: Segment } {
    const name = `${Date.now()}-${process.pid}-${segmentsMade++}${SUFFIX}`
    const segment = { path: join(this.#settings.folder, name), bytes: 0, lastAt: Date.now() }
    // Fails if the file exists, because another process wrote it then.
    const file = openSync(segment.path, 'ax', 0o600)
    this.#segments.push(segment)
    return { file, segment }
  }

  /** Truncates a partly written record, because readers stop at a broken record. */
  #undo(file: number, { bytes }: Segment): void {
    try {
      ftruncateSync(file, bytes)
    } catch {
      this.#end()
    }
  }

  #end(): void {
    if (this.#open !== null) closeSync(this.#open.file)
    this.#open = null
  }

  /** Deletes the oldest segments beyond the limits, but never the current segment. */
  #drop(): void {
    const { maxBytes, retentionMs } = this.#settings
    const oldest = retentionMs === null ? 0 : Date.now() - retentionMs
    while (this.#segments.length > 1) {
      const [first] = this.#segments
      if (first === undefined || (this.bytes <= maxBytes && first.lastAt >= oldest)) return
      // A segment that cannot be deleted stays readable; a missing one is already deleted.
      rmSync(first.path, { force: true })
      this.#segments.shift()
    }
  }
}

/** The number of segments of this process, which makes their names unique. */
let segmentsMade = 0

/** Returns the segments in a folder, ordered by the time in their names. */
function segmentsIn(folder: string): Segment[] {
  return readdirSync(folder)
    .filter((name) => NAME.test(name))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map((name) => {
      const path = join(folder, name)
      const { size, mtimeMs } = statSync(path)
      return { path, bytes: size, lastAt: mtimeMs }
    })
}

/** Reads a segment; null if the file is gone. */
function bytesOf(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch {
    return null
  }
}

const SUFFIX = '.records'
const NAME = /^[0-9]{13}-[0-9]+-[0-9]+\.records$/
const SEGMENTS = 8
const BATCH = 256
const FLUSH_MS = 1000
