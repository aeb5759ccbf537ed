import * as fs from 'node:fs'
import type { LedgerEntry } from '../stores/store.ts'
import { deliverEntries, readEntryFile } from './entry-file.ts'

/**
 * Keeps batches that the store did not take, in a file. While the file cannot be written either, batches are kept in
 * memory. The size of both together is bounded. A batch is the JSON text of its entries and one line of the file.
 */
export class Spool {
  readonly #file: string
  readonly #maxBytes: number
  #fileBytes: number
  #inMemory: string[] = []
  #memoryBytes = 0

  constructor(file: string, maxBytes: number) {
    this.#file = file
    this.#maxBytes = maxBytes
    this.#fileBytes = sizeOf(file)
  }

  get isEmpty(): boolean {
    return this.#fileBytes === 0 && this.#inMemory.length === 0
  }

  /** Whether batches are in memory only, and would be lost with the process. */
  get isVolatile(): boolean {
    return this.#inMemory.length > 0
  }

  /** Keeps a batch; returns false when there is no room for it. */
  keep(batch: string): boolean {
    const bytes = Buffer.byteLength(batch) + 2
    if (this.#fileBytes + this.#memoryBytes + bytes > this.#maxBytes) return false
    if (!this.#append(batch)) {
      this.#inMemory.push(batch)
      this.#memoryBytes += bytes
    }
    return true
  }

  /** Passes all entries to `deliver`. They are removed once it has taken all; returns the number of unreadable lines. */
  async drain(deliver: (entries: readonly LedgerEntry[]) => Promise<void>): Promise<number> {
    let unreadable = 0
    if (this.#fileBytes > 0) {
      unreadable = await deliverEntries(readEntryFile(this.#file, Infinity), deliver)
      fs.rmSync(this.#file, { force: true })
      this.#fileBytes = 0
    }
    for (let batch = this.#inMemory[0]; batch !== undefined; batch = this.#inMemory[0]) {
      await deliver(JSON.parse(batch) as LedgerEntry[])
      this.#inMemory.shift()
      this.#memoryBytes -= Buffer.byteLength(batch) + 2
    }
    return unreadable
  }

  /** The line feed before a batch separates it from a line that a killed process did not finish. */
  #append(batch: string): boolean {
    try {
      fs.appendFileSync(this.#file, `\n${batch}\n`, { mode: 0o600, flush: true })
      this.#fileBytes += Buffer.byteLength(batch) + 2
      return true
    } catch {
      this.#cutUnfinished()
      return false
    }
  }

  /** A full disk may have taken a part of the batch. */
  #cutUnfinished(): void {
    try {
      if (sizeOf(this.#file) > this.#fileBytes) fs.truncateSync(this.#file, this.#fileBytes)
    } catch {
      // The unfinished line is skipped when the file is read.
    }
  }
}

function sizeOf(file: string): number {
  return fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
