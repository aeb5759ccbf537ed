import { directiveOf } from '../../chain/field-directive.ts'
import { statusReply, final } from '../../chain/replies.ts'
import { FIRST_STATE } from '../../chain/state.ts'
import type { Field } from '../../core/yaml-field.ts'
import type { Condition } from '../../http/conditions.ts'
import { rulesOfEntries } from '../../http/entries.ts'
import type { HttpRule } from '../../http/model.ts'
import { noteUnusedConfigs } from '../filters/http-filters.ts'
import { domainOrder, readDomain } from './domains.ts'
import { entriesOfRoute, type RouteContext } from './routes.ts'
import { listAt, memberAt, takeText } from '../messages/message.ts'
import { entriesOf } from '../../chain/routes.ts'

interface HostEntry {
  readonly host: Field
  readonly rank: readonly [number, number]
  readonly condition: Condition
}

/**
 * Returns the rules of a route table. A request belongs to the virtual host with the most specific matching domain. If
 * no route of this virtual host matches, the request gets 404, and routes of other virtual hosts are not tried.
 */
export function rulesOfTable(table: Field, given: Omit<RouteContext, 'table' | 'host' | 'usedConfigs'>): HttpRule[] {
  noteTable(table)
  const usedConfigs = new Set<Field>()
  const context = { ...given, usedConfigs }
  const hosts = listAt(table, 'virtual_hosts')
  const ordered = hosts.flatMap((host) => hostEntries(host)).toSorted((one, other) => domainOrder(one.rank, other.rank))
  const groups: { host: Field; conditions: Condition[] }[] = []
  for (const { host, condition } of ordered) {
    const last = groups.at(-1)
    if (last?.host === host) last.conditions.push(condition)
    else groups.push({ host, conditions: [condition] })
  }
  const rules = groups.flatMap(({ host, conditions }) => {
    const condition: Condition = { kind: 'any', of: conditions }
    const domains = memberAt(host, 'domains') ?? host
    const text = `${memberAt(host, 'name')?.text ?? ''}: no route matches`
    const statement = { ...directiveOf(domains, 'virtual_host'), text }
    const entries = listAt(host, 'routes').flatMap((route) => entriesOfRoute(route, { ...context, table, host }))
    const end = entriesOf(
      [
        {
          statement,
          condition: { kind: 'always', value: true },
          group: null,
          handlers: [final((state) => statusReply(statement, 404, state))],
        },
      ],
      FIRST_STATE,
      [],
      () => [],
    )
    const isLast = groups.at(-1)?.host === host
    const all = [...entries, ...(isLast ? [] : end)].map((entry) => ({
      ...entry,
      condition: { kind: 'all' as const, of: [condition, entry.condition] },
    }))
    return rulesOfEntries(all)
  })
  for (const level of [...hosts, table]) noteUnusedConfigs(level, given.filters, usedConfigs)
  return rules
}

function hostEntries(host: Field): HostEntry[] {
  takeText(host, 'name')
  for (const [name, note] of Object.entries(HOST_NOTES)) memberAt(host, name)?.notCarried(note)
  return listAt(host, 'domains').flatMap((field) => {
    const found = readDomain(field.text ?? '')
    if (found === null) {
      field.notCarried('the value is not a valid hostname')
      return []
    }
    field.carried(found.condition.kind === 'always' ? '' : 'the gateway ignores the port of the Host')
    return [{ host, ...found }]
  })
}

function noteTable(table: Field): void {
  takeText(table, 'name')
  for (const [name, note] of Object.entries(TABLE_NOTES)) memberAt(table, name)?.notCarried(note)
  for (const name of ['validate_clusters', 'ignore_port_in_host_matching', 'most_specific_header_mutations_wins'])
    memberAt(table, name)?.carried()
}

const HOST_NOTES: Readonly<Record<string, string>> = {
  matcher: 'a matcher tree has no counterpart; its requests get 404',
  virtual_clusters: "the gateway's metrics have fixed names: docs/logs-and-metrics.md",
  include_request_attempt_count: 'the gateway sends x-retry-attempt with retries',
  include_attempt_count_in_response: 'the gateway writes the number of retries to its access log',
  hedge_policy: 'the gateway does not hedge requests',
  per_request_buffer_limit_bytes: 'the gateway streams bodies instead of buffering them',
  request_body_buffer_limit: 'the gateway streams bodies instead of buffering them',
  metadata: "the gateway's routes have no metadata",
  retry_policy_typed_config: 'configure a retry policy: docs/policies/traffic-retry.md',
}

const TABLE_NOTES: Readonly<Record<string, string>> = {
  vhds: 'the virtual hosts come from a control plane',
  internal_only_headers: 'configure a transformation that removes the headers',
  cluster_specifier_plugins: "the gateway's routes name their backends in the config",
  max_direct_response_body_size_bytes: "the gateway's direct responses have at most 4096 characters",
  ignore_path_parameters_in_path_matching: 'the gateway compares whole paths, including parameters',
  metadata: "the gateway's routes have no metadata",
}
