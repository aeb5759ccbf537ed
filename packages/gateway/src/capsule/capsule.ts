import type { Explanation } from '../findings/explanation.ts'
import type { Ir } from '../ir/resources.ts'
import type { RecordedTest } from '../recorded-tests/recorded-test.ts'
import type { RecordedStep } from '../telemetry/recorder/record.ts'

/** The version of the format. */
export const CAPSULE_FORMAT = 1

/** One recorded request that can be replayed without the gateway that received it. It has no secrets. */
export interface Capsule {
  readonly capsule: typeof CAPSULE_FORMAT
  /** The version of the gateway that wrote it. */
  readonly version: string
  /** The id of the record. */
  readonly request: string
  /** When the request came, as `2026-01-31T12:00:00.000Z`. */
  readonly at: string
  readonly decision: CapsuleDecision
  /** The values that were redacted or not recorded, and have a stand-in. */
  readonly replaced: readonly string[]
  /** Why the request cannot be replayed; null when it can. */
  readonly problem: string | null
  /** The request, the answer of the upstream, and the outcome, as a test; null when it cannot be replayed. */
  readonly test: RecordedTest | null
  /** The parts of the config that the request passed. */
  readonly config: Ir
  /** Addresses of Services, by the key of their backends. */
  readonly endpoints: Readonly<Record<string, readonly string[]>>
}

/** The decision of the gateway, with what it read. */
interface CapsuleDecision extends Pick<Explanation, 'headline' | 'code' | 'decidedBy' | 'values' | 'rules' | 'calls'> {
  readonly status: number
  readonly steps: readonly RecordedStep[]
}
