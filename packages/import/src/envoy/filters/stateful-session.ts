import { policy } from '../../chain/effects.ts'
import { withoutAbsent } from '../../core/config-yaml.ts'
import { durationText } from '../../core/duration.ts'
import { memberAt, secondsOf, typedConfig, typeOf } from '../messages/message.ts'
import { type FilterReader, replaceable } from './filter.ts'

/** Reads the filter `stateful_session`: a cookie or a header that sends all requests of a client to one server. */
export const statefulSession: FilterReader = (config) =>
  replaceable(config, 'stateful_session', (field) => {
    if (memberAt(field, 'disabled')?.isTrue === true) {
      field.carried()
      return []
    }
    const session = memberAt(field, 'session_state') ?? memberAt(field, 'stateful_session', 'session_state')
    const state = typedConfig(session)
    const type = typeOf(state)
    const cookie = memberAt(state, 'cookie')
    const name = memberAt(cookie, 'name')?.text ?? memberAt(state, 'name')?.text ?? ''
    if (!/^[\w-]{1,128}$/.test(name) || !/^http\.stateful_session\.(cookie|header)$/.test(type)) {
      field.notCarried('configure a sessionPersistence policy: docs/policies/traffic-session-persistence.md')
      return []
    }
    const seconds = secondsOf(memberAt(cookie, 'ttl'))
    const path = memberAt(cookie, 'path')?.text ?? ''
    session?.changed('the gateway chooses the value that identifies the server')
    return [
      policy(
        'sessionPersistence',
        withoutAbsent({
          type: cookie === null ? 'Header' : undefined,
          sessionName: name,
          absoluteTimeout: seconds === null || seconds <= 0 ? undefined : durationText(seconds),
          lifetimeType: seconds === null || seconds <= 0 ? undefined : 'Permanent',
          path: path === '' || path === '/' ? undefined : path,
        }),
      ),
    ]
  })
