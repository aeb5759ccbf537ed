import { applyChange, EMPTY_IR } from '../ir/change.ts'
import type { Ir } from '../ir/resources.ts'
import type { QuarantinedResource } from '../ir/quarantine.ts'
import { type Generation, generationOf, hashesOf } from './hashes.ts'
import type { Ack, ConfigMessage, Have, Nack } from './messages.ts'
import { StreamFault } from './stream-fault.ts'

export interface ReceivedConfig {
  generation: Generation
  ir: Ir
}

interface ReceiverOptions {
  /** Makes a config live; returns the problems when it is rejected. */
  apply: (ir: Ir) => Promise<string[]>
  wentLive: (live: ReceivedConfig) => void
  /** Quarantined resources of the live config. */
  quarantined: () => QuarantinedResource[]
}

type Answer = (message: Ack | Nack) => void

/** Assembles configs from a controller's messages and makes the newest config live, whole or not at all. */
export class ConfigReceiver {
  readonly #options: ReceiverOptions
  #live: ReceivedConfig | null = null
  /** The config that the controller's next change is relative to, whether or not it went live. */
  #latest: ReceivedConfig | null = null
  #next: (ReceivedConfig & { answer: Answer }) | null = null
  #isRunning = false
  #isHeld = false
  readonly counts = { received: 0, acked: 0, nacked: 0 }

  constructor(options: ReceiverOptions) {
    this.#options = options
  }

  get live(): ReceivedConfig | null {
    return this.#live
  }

  /** Makes a stored config live. Call it before the first stream. */
  async begin(kept: ReceivedConfig): Promise<boolean> {
    return (await this.#apply({ generation: kept.generation, ir: kept.ir })).length === 0
  }

  /** Returns the live config for the `hello` of a new stream; changes on that stream are relative to it. */
  hello(): Have | null {
    this.#latest = this.#live
    if (this.#live === null) return null
    return { generation: this.#live.generation, hashes: hashesOf(this.#live.ir) }
  }

  /** Throws when `base` is not the latest config, or when the change does not result in `generation`. */
  take({ generation, base, change }: ConfigMessage, answer: Answer): void {
    if (base !== null && base !== this.#latest?.generation) {
      throw new StreamFault('the change is relative to a config that is not stored here')
    }
    const before = base === null ? EMPTY_IR : (this.#latest?.ir ?? EMPTY_IR)
    const { ir } = applyChange(before, change)
    if (generationOf(ir, before) !== generation)
      throw new StreamFault('the change results in another generation than announced')
    this.counts.received++
    this.#latest = { generation, ir }
    this.#next = { generation, ir, answer }
    if (!this.#isRunning) void this.#run()
  }

  /** From now on, no config goes live. */
  hold(): void {
    this.#isHeld = true
    this.#next = null
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#next !== null && !this.#isHeld) {
      const { answer, ...wanted } = this.#next
      this.#next = null
      const problems = await this.#apply(wanted)
      // A newer config could be reported alone, but a report for each config tells the controller which config failed.
      if (problems.length === 0) {
        this.counts.acked++
        answer({ type: 'ack', generation: wanted.generation, ...this.#closed() })
      } else {
        this.counts.nacked++
        answer({ type: 'nack', generation: wanted.generation, problems: problems.map(short).slice(0, MOST_PROBLEMS) })
      }
    }
    this.#isRunning = false
  }

  #closed(): Pick<Ack, 'quarantined'> {
    const all = this.#options.quarantined()
    return all.length === 0 ? {} : { quarantined: all.slice(0, MOST_PROBLEMS).map(shortened) }
  }

  async #apply(wanted: ReceivedConfig): Promise<string[]> {
    if (wanted.generation === this.#live?.generation) return []
    try {
      const problems = await this.#options.apply(wanted.ir)
      if (problems.length > 0) return problems
    } catch (error) {
      return [`the config cannot be put together: ${error instanceof Error ? error.message : String(error)}`]
    }
    this.#live = wanted
    this.#options.wentLive(wanted)
    return []
  }
}

function short(problem: string): string {
  return problem.slice(0, 2_000)
}

function shortened({ object, problem, units }: QuarantinedResource): QuarantinedResource {
  return { object: short(object), problem: short(problem), units: units.slice(0, MOST_UNITS) }
}

const MOST_PROBLEMS = 100
/** The most quarantined units that are reported for one resource. */
const MOST_UNITS = 1_000
