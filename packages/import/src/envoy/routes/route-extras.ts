import { withoutAbsent } from '../../core/config-yaml.ts'
import { durationText } from '../../core/duration.ts'
import type { Field } from '../../core/yaml-field.ts'
import { listAt, memberAt, runtimePercentOf, secondsOf, takeText } from '../messages/message.ts'
import type { Services } from '../clusters/services.ts'

/** Returns the policy for `request_mirror_policies`. */
export function mirrorPolicy(level: Field | null, services: Services): object | undefined {
  const found = listAt(level, 'request_mirror_policies').flatMap((field) => {
    const cluster = memberAt(field, 'cluster')
    const reference = cluster === null ? 'the copies have no cluster' : services.refOf(cluster.text ?? '')
    for (const name of [
      'trace_sampled',
      'disable_shadow_host_suffix_append',
      'request_headers_mutations',
      'host_rewrite_literal',
    ])
      memberAt(field, name)?.notCarried('copies are as the request, without credentials')
    memberAt(field, 'cluster_header')?.notCarried('a policy names its backend')
    if (typeof reference === 'string') {
      cluster?.notCarried(reference)
      return []
    }
    cluster?.changed('without credentials, and with the Host as it is')
    const fraction = memberAt(field, 'runtime_fraction')
    const percentage = runtimePercentOf(fraction, 100)
    takeText(fraction, 'runtime_key')
    memberAt(fraction, 'default_value')?.carried()
    const backend = 'host' in reference ? reference.host : reference.name
    return [withoutAbsent({ backend, percentage: percentage === 100 ? undefined : percentage })]
  })
  const [first, ...others] = found
  return first === undefined
    ? undefined
    : withoutAbsent({ ...first, others: others.length === 0 ? undefined : others.slice(0, 15) })
}

/** Returns the session policy for `hash_policy`: a cookie sends all requests of a client to one server. */
export function sessionPolicy(route: Field): object | undefined {
  let found: object | undefined
  for (const field of listAt(route, 'hash_policy')) {
    const cookie = memberAt(field, 'cookie')
    const name = memberAt(cookie, 'name')?.text ?? ''
    if (cookie === null || found !== undefined || !/^[\w-]{1,128}$/.test(name)) {
      field.notCarried(
        'a cookie or a header of the gateway keeps clients: docs/policies/traffic-session-persistence.md',
      )
      continue
    }
    field.changed('the gateway chooses the value of the cookie')
    const seconds = secondsOf(memberAt(cookie, 'ttl'))
    const lasts = seconds !== null && seconds > 0
    found = withoutAbsent({
      sessionName: name,
      absoluteTimeout: lasts ? durationText(seconds) : undefined,
      lifetimeType: lasts ? 'Permanent' : undefined,
    })
  }
  return found
}
