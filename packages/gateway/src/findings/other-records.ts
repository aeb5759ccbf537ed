import type { RequestRecord } from '../telemetry/recorder/record.ts'

/** The other recorded requests. */
export interface OtherRecords {
  /** The requests that began between the two times, newest first. */
  between(from: number, to: number): Iterable<RequestRecord>
  /** The time since which no record is missing. */
  readonly completeSince: number
}
