import { hostPort } from './hosts.ts'
import { serviceReference } from './references.ts'
import { duration, enumeration } from './values.ts'
import { list, object } from '../kit.ts'
import type { Output } from '../kit.ts'

/** Model servers with an endpoint picker, as an InferencePool of a cluster has them. */
export const inferencePool = object({
  endpoints: list(hostPort().describe('A model server as `host:port` or `[ipv6]:port`.'), {
    min: 1,
    max: 1_024,
  }).describe('The members of the pool. A request only goes to a member, whatever the picker answers.'),
  picker: object({
    backendRef: serviceReference().describe('The endpoint picker; its backend policies apply to the calls.'),
    failureMode: enumeration(['FailClosed', 'FailOpen'])
      .prefault('FailClosed')
      .describe(
        'What happens when the picker fails or picks no member of the pool: the request gets 503 (`FailClosed`), or the gateway chooses the endpoint (`FailOpen`).',
      ),
    timeout: duration({ min: '1ms' })
      .prefault('5s')
      .describe('Timeout for each expected message of the picker. It does not run while the client sends the request.'),
  }).describe('The service that chooses the endpoint of each request.'),
}).describe('Model servers of which an endpoint picker chooses one for each request.')

/** One model server of a pool. */
export type PoolMember = InferencePoolConfig['endpoints'][number]

/** The endpoint picker of a pool in the config that data planes run. */
export interface PickerTarget {
  /** Key of the backend that is the picker. */
  readonly backend: string
  readonly failureMode: InferencePoolConfig['picker']['failureMode']
  readonly timeoutMs: number
}

export type InferencePoolConfig = Output<typeof inferencePool>
