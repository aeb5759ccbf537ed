import { dirname, resolve } from 'node:path'
import type { Ir } from '../../ir/resources.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import { type DiskSettings, RecordDisk } from '../../telemetry/recorder/record-disk.ts'
import type { RecordStore } from '../../telemetry/recorder/record-store.ts'
import { recorderConfig } from './recorder-sizes.ts'

/** Stores records on disk according to the newest config. */
export class KeptRecords {
  readonly #store: RecordStore
  readonly #path: string
  readonly #log: Logger
  #disk: RecordDisk | null = null
  #settings: DiskSettings | null = null
  #toldAt = 0

  /** `path` of the config file, which folders are relative to. */
  constructor(store: RecordStore, path: string, log: Logger) {
    this.#store = store
    this.#path = path
    this.#log = log
  }

  get disk(): RecordDisk | null {
    return this.#disk
  }

  use(ir: Ir): void {
    const { enabled, disk, retention } = recorderConfig(ir)
    const wanted =
      disk === undefined || !enabled
        ? null
        : {
            folder: resolve(dirname(this.#path), disk.folder),
            maxBytes: disk.maxSize,
            retentionMs: retention ?? null,
          }
    if (JSON.stringify(wanted) === JSON.stringify(this.#settings)) return
    this.close()
    this.#settings = wanted
    if (wanted === null) return
    try {
      this.#disk = new RecordDisk(wanted, this.#store, (error) => this.#failed(error))
    } catch (error) {
      // A failure of the record store does not stop traffic.
      this.#log.error('request records cannot be stored on disk', { folder: wanted.folder, error: String(error) })
    }
  }

  close(): void {
    this.#disk?.close()
    this.#disk = null
  }

  /** Writes are retried each second, but the error is logged at most once a minute. */
  #failed(error: Error): void {
    if (Date.now() - this.#toldAt < 60_000) return
    this.#toldAt = Date.now()
    this.#log.error('request records could not be written', { error: error.message })
  }
}
