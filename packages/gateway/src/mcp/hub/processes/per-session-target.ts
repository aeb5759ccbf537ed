import type { Logger } from '../../../telemetry/log/logger.ts'
import type { TargetFailure } from '../../transport.ts'
import type { ProcessSpec } from '../../hub.ts'
import { Child, type ChildEvents } from './child.ts'
import { type ProcessTarget, RETIRE_MS, RETIRE_SWEEP_MS, Sweeper, sweepEveryMs } from './process-target.ts'
import type { Seat } from './seat.ts'
import { OwnProcess } from './own-process.ts'

/** A target that starts a process for each session. */
export class PerSessionTarget implements ProcessTarget {
  readonly #spec: ProcessSpec
  readonly #log: Logger
  readonly #seats = new Map<string, OwnProcess>()
  /** Those that are about to end too: they are still there. */
  readonly #children = new Set<Child>()
  readonly #sweeper: Sweeper
  #retiredAt = Infinity

  constructor(spec: ProcessSpec, log: Logger) {
    this.#spec = spec
    this.#log = log
    this.#sweeper = new Sweeper(sweepEveryMs(spec.idleTimeoutMs), () => this.#sweep())
  }

  get isEmpty(): boolean {
    return this.#seats.size === 0 && this.#children.size === 0
  }

  seat(session: string): Seat {
    let seat = this.#seats.get(session)
    if (seat === undefined) {
      seat = new OwnProcess((events, speaksFirst) => this.#start(events, speaksFirst))
      this.#seats.set(session, seat)
      this.#sweeper.start()
    }
    return seat
  }

  end(session: string): void {
    this.#end(session, 'the session has ended')
  }

  retire(): void {
    this.#retiredAt = performance.now()
    this.#sweeper.hurry(RETIRE_SWEEP_MS)
  }

  async close(): Promise<void> {
    this.#sweeper.stop()
    for (const session of [...this.#seats.keys()]) this.#end(session, 'the gateway ends')
    await Promise.all([...this.#children].map((child) => child.gone))
  }

  kill(): void {
    for (const child of this.#children) child.kill()
  }

  #start(events: ChildEvents, speaksFirst: boolean): Child | TargetFailure {
    const { maxProcesses } = this.#spec
    if (this.#children.size >= maxProcesses) {
      const message = `it has ${this.#children.size} processes already, and maxProcesses is ${maxProcesses}: sessions must end first`
      this.#log.warn('no more processes', { target: this.#spec.name, maxProcesses })
      return { code: 'unavailable', message }
    }
    const child = new Child(this.#spec, this.#log, events, speaksFirst)
    this.#children.add(child)
    void child.gone.then(() => this.#children.delete(child))
    return child
  }

  #end(session: string, why: string): void {
    const seat = this.#seats.get(session)
    this.#seats.delete(session)
    seat?.end(why)
  }

  #sweep(): boolean {
    const now = performance.now()
    const { idleTimeoutMs } = this.#spec
    for (const [session, seat] of this.#seats) {
      if (this.#retiredAt !== Infinity && (seat.isIdle || now - this.#retiredAt > RETIRE_MS)) {
        this.#end(session, 'the config has changed')
      } else if (seat.isEmpty || (seat.isQuiet && now - seat.usedAt >= idleTimeoutMs)) {
        this.#end(session, 'the session was idle')
      }
    }
    return this.#seats.size > 0
  }
}
