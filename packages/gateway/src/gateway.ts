import { checkCompile } from './check-compile.ts'
import type { Ir } from './ir/resources.ts'
import { claimPort } from './ports.ts'
import type { Supervisor } from './supervisor.ts'
import type { Collector } from './telemetry/metrics-collect.ts'
import type { Logger } from './telemetry/logger.ts'

/** Takes configs one after the other and makes each live in all workers, or leaves everything as it is. */
export class Gateway {
  readonly #supervisor: Supervisor
  readonly #log: Logger
  /** Real ports by bind key. */
  #ports: Record<string, number> = {}
  #ir: Ir | null = null
  #generation = 0
  #synchronized = false
  readonly #reloads = { success: 0, failure: 0 }

  constructor(supervisor: Supervisor, log: Logger, collector: Collector) {
    this.#supervisor = supervisor
    this.#log = log
    collector.provide('config_synchronized', [], () => (this.#synchronized ? 1 : 0))
    collector.provide('config_generation', [], () => this.#generation)
    collector.provide('config_reloads_total', ['success'], () => this.#reloads.success)
    collector.provide('config_reloads_total', ['failure'], () => this.#reloads.failure)
  }

  get generation(): number {
    return this.#generation
  }

  get ir(): Ir | null {
    return this.#ir
  }

  get ports(): Readonly<Record<string, number>> {
    return this.#ports
  }

  /** The problems that keep the config from going live; none when it has. */
  async apply(ir: Ir): Promise<string[]> {
    const problems = checkCompile(ir)
    if (problems.length > 0) return this.refused(problems)
    const ports: Record<string, number> = {}
    for (const bind of ir.binds) {
      const known = this.#ports[bind.key]
      const claimed = known === undefined || this.#moved(bind.key, ir) ? await claimPort(bind) : { port: known }
      if ('problem' in claimed) problems.push(claimed.problem)
      else ports[bind.key] = claimed.port
    }
    if (problems.length > 0) return this.refused(problems)
    const generation = this.#generation + 1
    const error = await this.#supervisor.apply({ generation, ir, ports })
    if (error !== null) return this.refused([error])
    this.#generation = generation
    this.#ir = ir
    this.#ports = ports
    this.#synchronized = true
    this.#reloads.success++
    this.#log.info(`config ${generation} active`, { listeners: ir.listeners.length, routes: ir.routes.length })
    return []
  }

  /** The last good config stays; logs, health and metrics say that it is not the newest. */
  refused(problems: string[]): string[] {
    this.#synchronized = false
    this.#reloads.failure++
    return problems
  }

  #moved(key: string, ir: Ir): boolean {
    const before = this.#ir?.binds.find((bind) => bind.key === key)
    const now = ir.binds.find((bind) => bind.key === key)
    return before?.address !== now?.address
  }
}
