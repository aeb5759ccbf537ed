import type { BacktestOutcome, BacktestSource } from '../../admin/backtest/backtest-api.ts'
import type { BacktestRequest } from '../../admin/backtest/backtest-view.ts'
import type { RequestsSource } from '../../admin/requests.ts'
import type { CheckedConfig } from '../../admin/config-edit-view.ts'
import type { BacktestReport } from '../../backtest/report.ts'
import type { BacktestJob } from '../../simulation-thread/jobs.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import type { RequestRecord } from '../../telemetry/recorder/record.ts'
import type { Gateway } from '../config/gateway.ts'
import type { AcceptedEdit } from '../config-edit/check-edit.ts'
import type { ConfigEditor } from '../config-edit/config-editor.ts'
import type { SimulationRunner } from './simulation-runner.ts'

interface RunnerParts {
  simulations: SimulationRunner
  editor: Pick<ConfigEditor, 'prepare'>
  gateway: Pick<Gateway, 'ir'>
  requests: Pick<RequestsSource, 'filter' | 'download' | 'state'>
  log: Logger
}

/** Runs back-tests for the admin API. */
export class BacktestRunner implements BacktestSource {
  readonly #parts: RunnerParts

  constructor(parts: RunnerParts) {
    this.#parts = parts
  }

  async run(request: BacktestRequest, signal: AbortSignal): Promise<BacktestOutcome> {
    const { simulations, log } = this.#parts
    const edit: { checked: CheckedConfig | null; accepted: AcceptedEdit | null } = { checked: null, accepted: null }
    const result = await simulations.run<BacktestJob, BacktestOutcome>(() => this.#job(request, edit), signal)
    if (result === null) return { kind: 'busy' }
    if ('instead' in result) return result.instead
    const { checked, accepted } = edit
    if (!result.ok) {
      if (!signal.aborted) log.warn('a back-test failed', { cause: result.problem })
      return { kind: 'failed', reason: accepted?.withoutValues(result.problem) ?? '' }
    }
    if (checked === null || accepted === null) return { kind: 'failed', reason: 'the config was not checked' }
    const { version, warnings } = checked
    return { kind: 'done', answer: { version, warnings, report: shown(result.value, accepted) } }
  }

  /** Returns the job of a back-test with the records and the edited config, or the outcome when no job can start. */
  async #job(
    { last, limit, ...request }: BacktestRequest,
    edit: { checked: CheckedConfig | null; accepted: AcceptedEdit | null },
  ): Promise<BacktestJob | { instead: BacktestOutcome }> {
    const { editor, gateway } = this.#parts
    const closed = (reason: string): { instead: BacktestOutcome } => ({ instead: { kind: 'closed', reason } })
    const prepared = await editor.prepare(request)
    if ('kind' in prepared) return closed(prepared.reason)
    const { checked, accepted } = prepared
    if (accepted === null) return { instead: { kind: 'rejected', checked } }
    if (gateway.ir === null) return closed('no config is live yet')
    const records = this.#records(last, limit)
    if (typeof records === 'string') return closed(records)
    Object.assign(edit, { checked, accepted })
    const { text, place, ir } = accepted
    return { kind: 'backtest', text, place, binds: ir.binds, before: gateway.ir, records, limitMs: DECIDE_MS }
  }

  /** Returns the newest records; returns the reason as a string when there are none. */
  #records(last: string, limit: number): RequestRecord[] | string {
    const { requests } = this.#parts
    const filter = requests.filter(new URLSearchParams({ since: last }))
    if (typeof filter === 'string') return filter
    const records = [...Iterator.from(requests.download(filter)).take(limit)]
    if (records.length > 0) return records
    const none = `no requests were recorded in the last ${last}: a back-test of nothing proves nothing`
    return requests.state().recorder.isEnabled ? none : `${none}, and the recorder is off`
  }
}

/** Returns the report with redacted values, and with locations in the edited text. */
function shown(report: BacktestReport, { sourcePlace, withoutValues }: AcceptedEdit): BacktestReport {
  const example = ({ before, after, ...rest }: BacktestReport['flips'][number]['example']) => ({
    ...rest,
    before: withoutValues(before),
    after: withoutValues(after),
  })
  return {
    ...report,
    flips: report.flips.map((flip) => ({
      ...flip,
      cause: withoutValues(flip.cause),
      example: example(flip.example),
      decidedAt:
        flip.decidedAt !== null && 'file' in flip.decidedAt
          ? { ...flip.decidedAt, ...sourcePlace(flip.decidedAt) }
          : flip.decidedAt,
    })),
    unknowns: report.unknowns.map((unknown) => ({
      ...unknown,
      cause: withoutValues(unknown.cause),
      example: example(unknown.example),
    })),
  }
}

/** The longest time to decide records. The report leaves out later records and says that the run was cut. */
const DECIDE_MS = 30_000
