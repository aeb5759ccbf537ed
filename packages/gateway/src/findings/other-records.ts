import type { RequestRecord } from '../telemetry/recorder/record.ts'

/** Requests beside the one that is explained. */
export interface OtherRecords {
  /** Those that began in between, newest first. */
  between(from: number, to: number): Iterable<RequestRecord>
  /** From this time on no record is missing. */
  readonly completeSince: number
}
