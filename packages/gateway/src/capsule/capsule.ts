import type { Explanation } from '../findings/explanation.ts'
import type { Ir } from '../ir/resources.ts'
import type { RecordedTest } from '../recorded-tests/recorded-test.ts'
import type { RecordedStep } from '../telemetry/recorder/record.ts'

/** The version of the capsule format. */
export const CAPSULE_FORMAT = 1

/** A recorded request that can be replayed without the gateway that received it. A capsule has no secrets. */
export interface Capsule {
  readonly capsule: typeof CAPSULE_FORMAT
  /** The version of the gateway that wrote the capsule. */
  readonly version: string
  /** The id of the request's record. */
  readonly request: string
  /** The time of the request, such as `2026-01-31T12:00:00.000Z`. */
  readonly at: string
  readonly decision: CapsuleDecision
  /** The values that stand-ins replace, because they were redacted or not recorded. */
  readonly replaced: readonly string[]
  /** The reason why the request cannot be replayed; null when it can be. */
  readonly problem: string | null
  /** The test with the request, the response of the upstream, and the outcome; null when the request cannot be replayed. */
  readonly test: RecordedTest | null
  /** The parts of the config that apply to the request. */
  readonly config: Ir
  /** The addresses of Kubernetes Services, by the key of their backends. */
  readonly endpoints: Readonly<Record<string, readonly string[]>>
}

/** The decision of the gateway, with the values that it depended on. */
interface CapsuleDecision extends Pick<Explanation, 'headline' | 'code' | 'decidedBy' | 'values' | 'rules' | 'calls'> {
  readonly status: number
  readonly steps: readonly RecordedStep[]
}
