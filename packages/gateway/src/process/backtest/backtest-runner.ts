import type { BacktestOutcome, BacktestSource } from '../../admin/backtest/backtest-api.ts'
import type { BacktestRequest } from '../../admin/backtest/backtest-view.ts'
import type { RequestsSource } from '../../admin/requests.ts'
import { runApart } from '../../backtest/run-apart.ts'
import type { BacktestReport } from '../../backtest/report.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import type { RequestRecord } from '../../telemetry/recorder/record.ts'
import type { Gateway } from '../config/gateway.ts'
import type { AcceptedEdit } from '../config-edit/check-edit.ts'
import type { ConfigEditor } from '../config-edit/config-editor.ts'

interface RunnerParts {
  editor: Pick<ConfigEditor, 'prepare'>
  gateway: Pick<Gateway, 'ir'>
  requests: Pick<RequestsSource, 'filter' | 'download' | 'state'>
  log: Logger
}

/** Runs back-tests for the admin API, one at a time, each in a thread of its own. */
export class BacktestRunner implements BacktestSource {
  readonly #parts: RunnerParts
  #isRunning = false

  constructor(parts: RunnerParts) {
    this.#parts = parts
  }

  async run(request: BacktestRequest, signal: AbortSignal): Promise<BacktestOutcome> {
    if (this.#isRunning) return { kind: 'busy' }
    this.#isRunning = true
    try {
      return await this.#run(request, signal)
    } finally {
      this.#isRunning = false
    }
  }

  async #run({ last, limit, ...edit }: BacktestRequest, signal: AbortSignal): Promise<BacktestOutcome> {
    const { editor, gateway, log } = this.#parts
    const checked = await editor.prepare(edit)
    if ('kind' in checked) return { kind: 'closed', reason: checked.reason }
    const { accepted } = checked
    if (accepted === null) return { kind: 'rejected', checked: checked.checked }
    if (gateway.ir === null) return { kind: 'closed', reason: 'no config is live yet' }
    const records = this.#records(last, limit)
    if (typeof records === 'string') return { kind: 'closed', reason: records }
    const { text, place, ir } = accepted
    const job = { text, place, binds: ir.binds, before: gateway.ir, records, limitMs: DECIDE_MS }
    const report = await runApart(job, { limits: { ms: END_MS, heapMb: HEAP_MB }, signal })
    if (typeof report === 'string') {
      if (!signal.aborted) log.warn('a back-test failed', { cause: report })
      return { kind: 'failed', reason: accepted.withoutValues(report) }
    }
    const { version, warnings } = checked.checked
    return { kind: 'done', answer: { version, warnings, report: shown(report, accepted) } }
  }

  /** The newest records; a text says why there are none. */
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

/** The report without hidden values, with locations in the text that was edited. */
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

/** Records that are not decided by then are left out of the report, which says so. */
const DECIDE_MS = 30_000
/** The thread is ended after this time, whatever it does. */
const END_MS = 60_000
const HEAP_MB = 512
