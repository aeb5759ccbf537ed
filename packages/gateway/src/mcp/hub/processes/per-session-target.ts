import type { Logger } from '../../../telemetry/log/logger.ts'
import type { TargetFailure } from '../../transport.ts'
import type { ProcessSpec } from '../../hub.ts'
import { Child, type ChildEvents } from './child.ts'
import { type ProcessTarget, RETIRE_MS, RETIRE_SWEEP_MS, Sweeper, sweepEveryMs } from './process-target.ts'
import type { TargetSession } from './target-session.ts'
import { OwnProcess } from './own-process.ts'

/** A target that starts a process for each session. */
export class PerSessionTarget implements ProcessTarget {
  readonly #spec: ProcessSpec
  readonly #log: Logger
  readonly #sessions = new Map<string, OwnProcess>()
  /** The running processes, including those that are being stopped. */
  readonly #children = new Set<Child>()
  readonly #sweeper: Sweeper
  #retiredAt = Infinity

  constructor(spec: ProcessSpec, log: Logger) {
    this.#spec = spec
    this.#log = log
    this.#sweeper = new Sweeper(sweepEveryMs(spec.idleTimeoutMs), () => this.#sweep())
  }

  get isEmpty(): boolean {
    return this.#sessions.size === 0 && this.#children.size === 0
  }

  sessionLink(session: string): TargetSession {
    let owner = this.#sessions.get(session)
    if (owner === undefined) {
      owner = new OwnProcess((events, speaksFirst) => this.#start(events, speaksFirst))
      this.#sessions.set(session, owner)
      this.#sweeper.start()
    }
    return owner
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
    for (const session of [...this.#sessions.keys()]) this.#end(session, 'the gateway ends')
    await Promise.all([...this.#children].map((child) => child.gone))
  }

  kill(): void {
    for (const child of this.#children) child.kill()
  }

  #start(events: ChildEvents, speaksFirst: boolean): Child | TargetFailure {
    const { maxProcesses } = this.#spec
    if (this.#children.size >= maxProcesses) {
      const message = `it has reached maxProcesses (${maxProcesses}): sessions must end first`
      this.#log.warn('process limit reached', { target: this.#spec.name, maxProcesses })
      return { code: 'unavailable', message }
    }
    const child = new Child(this.#spec, this.#log, events, speaksFirst)
    this.#children.add(child)
    void child.gone.then(() => this.#children.delete(child))
    return child
  }

  #end(session: string, why: string): void {
    const owner = this.#sessions.get(session)
    this.#sessions.delete(session)
    owner?.end(why)
  }

  #sweep(): boolean {
    const now = performance.now()
    const { idleTimeoutMs } = this.#spec
    for (const [session, owner] of this.#sessions) {
      if (this.#retiredAt !== Infinity && (owner.isIdle || now - this.#retiredAt > RETIRE_MS)) {
        this.#end(session, 'the config has changed')
      } else if (owner.isEmpty || (owner.isQuiet && now - owner.usedAt >= idleTimeoutMs)) {
        this.#end(session, 'the session was idle')
      }
    }
    return this.#sessions.size > 0
  }
}
