import type { CompileServices } from '../compile/index.ts'
import type { CompiledConfig } from '../compile/index.ts'
import { Recorder } from '../telemetry/recorder/recorder.ts'
import { RecordStore } from '../telemetry/recorder/record-store.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'

type RecorderService = CompileServices['recorder']

/** A recorder that keeps the last record with all details: every request counts as sampled. */
export class DetailRecorder implements RecorderService {
  readonly #clock: () => number
  readonly #isOn: boolean
  #settings: CompiledConfig['recorder'] = null
  #lastId = 0
  #current: { recorder: Recorder; requests: number } | null = null
  readonly #store: RecordStore
  #positions: Parameters<RecordStore['since']>[0]

  /** Simulations that run one after the other may share a store, because its memory takes time to allocate. */
  constructor(clock: () => number, isOn: boolean, store: RecordStore = new RecordStore()) {
    this.#clock = clock
    this.#isOn = isOn
    this.#store = store
    this.#positions = store.positions()
  }

  use(settings: CompiledConfig['recorder']): void {
    this.#settings = settings
  }

  /** Returns the record since the last call; null when nothing was recorded. */
  take(): RequestRecord | null {
    if (this.#current === null) return null
    const { records, positions } = this.#store.since(this.#positions)
    this.#positions = positions
    // Only the first requests of a second have headers, and the clock stands still.
    if (++this.#current.requests >= REQUESTS_PER_RECORDER) this.#current = null
    return records.at(-1)?.decode() ?? null
  }

  request(...given: Parameters<RecorderService['request']>): void {
    const [rx, scope] = given
    // A scope is needed for a request to count as sampled; its content is not read.
    this.#recorder()?.request(rx, scope ?? {})
  }

  connection(...given: Parameters<RecorderService['connection']>): void {
    this.#recorder()?.connection(...given)
  }

  malformed(...given: Parameters<RecorderService['malformed']>): void {
    this.#recorder()?.malformed(...given)
  }

  refused(...given: Parameters<RecorderService['refused']>): void {
    this.#recorder()?.refused(...given)
  }

  idOf(rx: Parameters<RecorderService['idOf']>[0]): string | null {
    if (this.#settings === null) return null
    // Responses name the id of their record, whether details are kept or not.
    return this.#recorder()?.idOf(rx) ?? `simulated${String(++this.#lastId).padStart(6, '0')}`
  }

  #recorder(): Recorder | null {
    if (!this.#isOn || this.#settings === null) return null
    this.#current ??= this.#create(this.#settings)
    return this.#current.recorder
  }

  #create(settings: NonNullable<CompiledConfig['recorder']>): { recorder: Recorder; requests: number } {
    this.#store.resize({ passed: RECORD_BYTES, notable: RECORD_BYTES })
    const recorder = new Recorder(this.#clock)
    recorder.attach(this.#store.memoryFor('simulation'))
    recorder.use({ ...settings, isSampled: () => true, generation: 1 }, this.#clock())
    return { recorder, requests: 0 }
  }
}

const RECORD_BYTES = 128 * 1024
const REQUESTS_PER_RECORDER = 100
