import type { BacktestReport } from '../backtest/report.ts'
import type { Capsule } from '../capsule/capsule.ts'
import type { Explanation } from '../findings/explanation.ts'
import type { Bind, Ir } from '../ir/resources.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'

/** The input of the simulation thread, which runs one job. */
export type SimulationJob = BacktestJob | CapsuleJob

/** The job that decides recorded requests with a new config. */
export interface BacktestJob {
  readonly kind: 'backtest'
  /** The text of the new config, which was checked and has no problems. */
  readonly text: string
  readonly place: { readonly file: string; readonly dir: string }
  /** The binds of the new config, without IPv6 addresses when IPv6 is off in this process. */
  readonly binds: readonly Bind[]
  /** The live config, which the new config is compared with. */
  readonly before: Ir
  readonly records: readonly RequestRecord[]
  readonly limitMs: number
}

/** The job that writes the capsule of a record. */
export interface CapsuleJob {
  readonly kind: 'capsule'
  readonly record: RequestRecord
  /** The config that decided the request. */
  readonly ir: Ir
  readonly explanation: Explanation
}

/** The result of each kind of job; a string is the reason why there is no capsule. */
export interface JobResults {
  readonly backtest: BacktestReport
  readonly capsule: Capsule | string
}
