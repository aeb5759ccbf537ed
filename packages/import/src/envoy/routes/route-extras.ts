import { withoutAbsent } from '../../core/config-yaml.ts'
import { durationText } from '../../core/duration.ts'
import type { Field } from '../../core/yaml-field.ts'
import { listAt, memberAt, runtimePercentOf, secondsOf, takeText } from '../messages/message.ts'
import type { Services } from '../clusters/services.ts'

/** Returns the policy for `request_mirror_policies`. */
export function mirrorPolicy(level: Field | null, services: Services): object | undefined {
  const found = listAt(level, 'request_mirror_policies').flatMap((field) => {
    const cluster = memberAt(field, 'cluster')
    const reference = cluster === null ? 'the mirror policy has no cluster' : services.refOf(cluster.text ?? '')
    for (const name of [
      'trace_sampled',
      'disable_shadow_host_suffix_append',
      'request_headers_mutations',
      'host_rewrite_literal',
    ])
      memberAt(field, name)?.notCarried("copies have the request's headers, without credentials")
    memberAt(field, 'cluster_header')?.notCarried("the gateway's mirror policy names its backend in the config")
    if (typeof reference === 'string') {
      cluster?.notCarried(reference)
      return []
    }
    cluster?.changed('the gateway sends copies without credentials, and with an unchanged Host')
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
        'configure a sessionPersistence policy, which uses a cookie or a header: docs/policies/traffic-session-persistence.md',
      )
      continue
    }
    field.changed("the gateway chooses the cookie's value")
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
