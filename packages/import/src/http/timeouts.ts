import { withoutAbsent } from '../core/config-yaml.ts'
import { durationText } from '../core/duration.ts'

const LONGEST = 86_400

/**
 * The policies of a backend with the time to connect and the time to respond, in seconds; null for none. The limit of a
 * request includes the time to connect, so a limit that leaves no time after connecting is that of both together.
 */
export function backendTimeouts(connect: number | null, response: number | null): { http?: object; tcp?: object } {
  const isLate = connect !== null && response !== null && connect >= response
  const whole = isLate ? connect + response : response
  return withoutAbsent({
    http: whole === null ? undefined : { requestTimeout: durationText(Math.min(whole, LONGEST)) },
    tcp: connect === null ? undefined : { connectTimeout: durationText(Math.min(connect, LONGEST)) },
  })
}
