import type { Field } from '../../core/yaml-field.ts'
import { memberAt, secondsOf } from '../messages/message.ts'
import type { Services } from '../clusters/services.ts'

/** A service that a policy calls. */
interface CalledService {
  readonly ref: object
  /** The time limit of a call in seconds; null for the default. */
  readonly seconds: number | null
  /** The path of the service's URL; empty for gRPC. */
  readonly path: string
}

/** Reads a GrpcService or an HttpUri; returns the reason as a string when the gateway cannot call the service. */
export function readGrpcService(field: Field | null, services: Services): CalledService | string {
  const name = memberAt(field, 'envoy_grpc', 'cluster_name') ?? memberAt(field, 'cluster')
  if (name?.text == null) return 'the field names no cluster'
  const ref = services.refOf(name.text)
  if (typeof ref === 'string') return ref
  const uri = memberAt(field, 'uri')
  const path = /^(?:[a-z]+:\/\/)?[^/?#]*(\/[^#]*)?/.exec(uri?.text ?? '')?.[1] ?? ''
  uri?.carried('the gateway uses the address of the cluster')
  name.carried()
  const timeout = memberAt(field, 'timeout')
  const seconds = secondsOf(timeout)
  timeout?.carried()
  memberAt(field, 'initial_metadata')?.notCarried('the gateway adds no headers to its calls')
  memberAt(field, 'retry_policy')?.notCarried('the gateway does not repeat a failed call')
  for (const option of ['authority', 'retry_policy', 'max_receive_message_length'])
    memberAt(field, 'envoy_grpc', option)?.notCarried("the gateway's gRPC calls have fixed options")
  return { ref, seconds: seconds === 0 ? null : seconds, path }
}
