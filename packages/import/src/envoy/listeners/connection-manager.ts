import { directiveOf } from '../../chain/field-directive.ts'
import { statusReply } from '../../chain/replies.ts'
import { FIRST_STATE } from '../../chain/state.ts'
import type { Field } from '../../core/yaml-field.ts'
import type { Condition } from '../../http/conditions.ts'
import { type Entry, rulesOfEntries } from '../../http/entries.ts'
import type { HttpRule } from '../../http/model.ts'
import { reachableRules } from '../../http/reachable.ts'
import { readHeaderMatcher } from '../messages/field-matchers.ts'
import type { FilterContext } from '../filters/filter.ts'
import { listenerLimit } from '../filters/local-rate-limit.ts'
import { type HttpFilter, readHttpFilters } from '../filters/http-filters.ts'
import { noteManager } from './manager-notes.ts'
import { listAt, memberAt, takeText } from '../messages/message.ts'
import { rulesOfTable } from '../routes/virtual-hosts.ts'

/** The routes of a connection manager, and the policies of its listener. */
interface Manager {
  readonly rules: readonly HttpRule[]
  readonly policies: Readonly<Record<string, unknown>>
}

/** Reads an HttpConnectionManager. Routes of a control plane are not known: it has no rules then. */
export function readManager(manager: Field, facts: FilterContext, guards: readonly HttpFilter[]): Manager {
  noteManager(manager)
  const filters = [...guards, ...readHttpFilters(manager, facts)]
  const table = memberAt(manager, 'route_config')
  const limit = filters
    .filter(({ kind, isDisabled }) => kind === 'local_ratelimit' && !isDisabled)
    .flatMap(({ config }) => listenerLimit(config) ?? [])[0]
  return {
    rules:
      table === null
        ? []
        : reachableRules([
            ...rulesOfEntries(filters.flatMap((each) => healthReply(each) ?? [])),
            ...rulesOfTable(table, { filters, facts }),
          ]),
    policies: { ...(limit !== undefined && { rateLimit: limit }), ...upgradePolicy(manager) },
  }
}

/** Envoy allows the upgrades that a connection manager lists; the gateway allows WebSocket unless a policy says otherwise. */
function upgradePolicy(manager: Field): object {
  const protocols = listAt(manager, 'upgrade_configs').flatMap((field) => {
    const type = takeText(field, 'upgrade_type')?.toLowerCase() ?? ''
    memberAt(field, 'filters')?.notCarried('upgrades pass the same filters', true)
    const enabled = memberAt(field, 'enabled')
    enabled?.carried()
    return enabled?.text === 'false' || !/^[a-z][a-z0-9-]{0,31}$/.test(type) || type === 'connect-udp' ? [] : [type]
  })
  const isStandard = protocols.length === 1 && protocols[0] === 'websocket'
  return isStandard ? {} : { upgrades: { protocols: [...new Set(protocols)] } }
}

/** The response of a `health_check` filter, before all routes. */
function healthReply({ kind, config, isDisabled }: HttpFilter): Entry | null {
  if (kind !== 'health_check' || isDisabled) return null
  const pass = memberAt(config, 'pass_through_mode')
  pass?.carried()
  memberAt(config, 'cluster_min_healthy_percentages')?.notCarried('there are no health checks: the response is 200')
  memberAt(config, 'cache_time')?.carried()
  if (pass?.isTrue === true) return null
  const matchers = listAt(config, 'headers')
  if (matchers.some((matcher) => memberAt(matcher, 'invert_match')?.isTrue === true)) {
    config.notCarried('write a directResponse: routes have no negated conditions')
    return null
  }
  const condition: Condition = { kind: 'all', of: matchers.map((matcher) => readHeaderMatcher(matcher)) }
  for (const matcher of matchers) matcher.carried()
  const statement = { ...directiveOf(memberAt(config, 'headers') ?? config, 'health_check'), text: 'health_check' }
  return {
    condition,
    action: statusReply(statement, 200, FIRST_STATE),
    refused: (why) => {
      config.notCarried(why)
      return null
    },
  }
}
