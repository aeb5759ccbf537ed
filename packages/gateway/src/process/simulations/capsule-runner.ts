import type { CapsuleOutcome, CapsuleSource } from '../../admin/capsules/capsule-api.ts'
import type { RequestsSource } from '../../admin/requests.ts'
import type { CapsuleJob } from '../../simulation-thread/jobs.ts'
import type { Ir } from '../../ir/resources.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import type { RequestRecord } from '../../telemetry/recorder/record.ts'
import type { SimulationRunner } from './simulation-runner.ts'

interface CapsuleParts {
  simulations: SimulationRunner
  requests: Pick<RequestsSource, 'explain'>
  /** Returns the config that decided a request; null when the config is no longer stored. */
  configOf: (record: RequestRecord) => Ir | null
  log: Logger
}

/** Writes capsules of records for the admin API. */
export class CapsuleRunner implements CapsuleSource {
  readonly #parts: CapsuleParts

  constructor(parts: CapsuleParts) {
    this.#parts = parts
  }

  async capsule(record: RequestRecord, signal: AbortSignal): Promise<CapsuleOutcome> {
    const { simulations, requests, configOf, log } = this.#parts
    const ir = configOf(record)
    if (ir === null) return { kind: 'closed', reason: 'the config that decided the request is no longer stored' }
    const prepare = async (): Promise<CapsuleJob> => {
      return { kind: 'capsule', record, ir, explanation: await requests.explain(record) }
    }
    const result = await simulations.run<CapsuleJob, CapsuleOutcome>(prepare, signal)
    if (result === null) return { kind: 'busy' }
    if ('instead' in result) return result.instead
    if (result.ok) {
      const { value } = result
      return typeof value === 'string' ? { kind: 'closed', reason: value } : { kind: 'done', capsule: value }
    }
    if (!signal.aborted) log.warn('a capsule could not be written', { cause: result.problem })
    return { kind: 'failed', reason: result.problem }
  }
}
