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
import { listAt, memberAt } from '../messages/message.ts'
import { readUpgrades, upgradePolicy } from '../messages/upgrades.ts'
import { rulesOfTable } from '../routes/virtual-hosts.ts'

/** The rules of a connection manager, and the policies of its listener. */
interface Manager {
  readonly rules: readonly HttpRule[]
  readonly policies: Readonly<Record<string, unknown>>
}

/**
 * Reads an HttpConnectionManager. The rules are empty when routes come from a control plane, because the files do not
 * contain them.
 */
export function readManager(manager: Field, connection: FilterContext, guards: readonly HttpFilter[]): Manager {
  noteManager(manager)
  const upgrades = readUpgrades(manager)
  const facts = { ...connection, ignoresForwardedFor: ignoresForwardedFor(manager), upgrades }
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
    policies: { ...(limit !== undefined && { rateLimit: limit }), ...upgradePolicy(upgrades) },
  }
}

/** Whether Envoy takes the client's address from the connection and ignores `x-forwarded-for`. */
function ignoresForwardedFor(manager: Field): boolean {
  const hops = memberAt(manager, 'xff_num_trusted_hops')?.number ?? 0
  const isDetected = listAt(manager, 'original_ip_detection_extensions').length > 0
  return memberAt(manager, 'use_remote_address')?.isTrue === true && hops === 0 && !isDetected
}

/**
 * Returns the entry for a `health_check` filter, which responds before all routes; null when the filter does not
 * respond.
 */
function healthReply({ kind, config, isDisabled }: HttpFilter): Entry | null {
  if (kind !== 'health_check' || isDisabled) return null
  const pass = memberAt(config, 'pass_through_mode')
  pass?.carried()
  memberAt(config, 'cluster_min_healthy_percentages')?.notCarried(
    'the gateway sends no health checks, so the response is always 200',
  )
  memberAt(config, 'cache_time')?.carried()
  if (pass?.isTrue === true) return null
  const matchers = listAt(config, 'headers')
  if (matchers.some((matcher) => memberAt(matcher, 'invert_match')?.isTrue === true)) {
    config.notCarried("the gateway's routes have no negated conditions; configure a directResponse policy")
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
