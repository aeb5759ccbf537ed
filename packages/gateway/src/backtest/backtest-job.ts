import type { Bind, Ir } from '../ir/resources.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'

/** The input of the thread of a back-test, which answers with a report. */
export interface BacktestJob {
  /** The new config, which has no problems. */
  readonly text: string
  readonly place: { readonly file: string; readonly dir: string }
  /** The binds of the new config as this process would serve them. */
  readonly binds: readonly Bind[]
  /** The live config. */
  readonly before: Ir
  readonly records: readonly RequestRecord[]
  readonly limitMs: number
}
