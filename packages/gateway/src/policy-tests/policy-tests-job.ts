import type { Ir } from '../ir/resources.ts'

/** The config of one Gateway for the tests of a policy. */
export interface TestedGateway {
  /** `namespace/name` */
  readonly gateway: string
  readonly ir: Ir
  /** Addresses that come separately from the config, by the key of the backend. */
  readonly endpoints: Readonly<Record<string, readonly string[]>>
}

/** The tests of a policy, and the configs of the Gateways that the policy reaches. */
export interface PolicyTestsJob {
  /** The file of tests, in which `config` may be missing. */
  readonly tests: string
  /** The name of the file in messages. */
  readonly location: string
  readonly gateways: readonly TestedGateway[]
}

/** The outcome of the tests of a policy. */
export type PolicyTestsResult =
  | { readonly kind: 'passed'; readonly tests: number; readonly gateways: readonly string[] }
  /** The message has no secret of the config. */
  | { readonly kind: 'failed' | 'invalid' | 'exceeded'; readonly message: string }
