import { directiveOf } from '../../chain/field-directive.ts'
import { final, notImported, statusReply } from '../../chain/replies.ts'
import { entriesOf, type Directive, type Handler, type Route } from '../../chain/routes.ts'
import { withoutExcess } from '../../chain/without-excess.ts'
import { FIRST_STATE, policiesOf } from '../../chain/state.ts'
import type { Field } from '../../core/yaml-field.ts'
import type { Entry } from '../../http/entries.ts'
import type { FilterContext } from '../filters/filter.ts'
import { handlersOfFilters, type HttpFilter } from '../filters/http-filters.ts'
import { readHeaderChanges } from '../messages/header-changes.ts'
import { memberAt, takeText } from '../messages/message.ts'
import { readRedirect } from './redirects.ts'
import { readDirectResponse } from './replies.ts'
import { readRouteAction } from './route-action.ts'
import { readRouteMatch } from '../messages/route-match.ts'

/** The context in which a route is read. */
export interface RouteContext {
  readonly table: Field
  readonly host: Field
  readonly filters: readonly HttpFilter[]
  readonly facts: FilterContext
  /** The `typed_per_filter_config` entries that were read; routes add to this set. */
  readonly usedConfigs: Set<Field>
}

/** Returns the entries of a route. */
export function entriesOfRoute(field: Field, context: RouteContext): Entry[] {
  const { table, host, filters, facts, usedConfigs } = context
  for (const [name, note] of Object.entries(NOTES)) memberAt(field, name)?.notCarried(note)
  const match = memberAt(field, 'match')
  const text = takeText(field, 'name') ?? memberAt(host, 'name')?.text ?? 'route'
  const directive: Directive = { ...directiveOf(actionField(field), 'route'), at: (match ?? field).at, text }
  const { condition, matchedPath } = readRouteMatch(match)
  const levels = [field, host, table]
  const changes = levels.map((level) => readHeaderChanges(level, facts.variables))
  const isSpecificLast = memberAt(table, 'most_specific_header_mutations_wins')?.isTrue === true
  const cluster = memberAt(field, 'route', 'cluster')?.text ?? null
  const handlers = [
    ...handlersOfFilters(filters, { directive, levels, usedConfigs, cluster }),
    ...(isSpecificLast ? changes.toReversed() : changes).flat(),
    ...actionHandlers(field, { context, directive, text, matchedPath }),
  ]
  const route: Route = { statement: directive, condition, group: null, handlers }
  const entries = withoutExcess(directive, condition, () => entriesOf([route], FIRST_STATE, [], () => []))
  return entries.map((entry) => ({
    ...entry,
    refused: (why) => {
      directive.notCarried(`${why}; matching requests continue with the next rule`, true)
      return null
    },
  }))
}

function actionField(route: Field): Field {
  const [action, redirect, response] = ['route', 'redirect', 'direct_response'].map((name) => memberAt(route, name))
  return memberAt(action ?? null, 'cluster') ?? action ?? redirect ?? response ?? route
}

interface ActionFacts {
  readonly context: RouteContext
  readonly directive: Directive
  readonly text: string
  readonly matchedPath: string | null
}

function actionHandlers(field: Field, { context, directive, text, matchedPath }: ActionFacts): Handler[] {
  const { facts, host, table } = context
  const [action, redirect, response] = ['route', 'redirect', 'direct_response'].map((name) => memberAt(field, name))
  if (!facts.isTls && needsTls(host)) return [httpsRedirect(host)]
  if (redirect != null) return [readRedirect(redirect, directive, { port: facts.port, matchedPath })]
  if (response != null) return [readDirectResponse(response, directive)]
  if (action != null) {
    return readRouteAction(action, {
      ...{ directive, matchedPath, name: text, clusters: facts.clusters, services: facts.services },
      upgrades: facts.upgrades,
      parents: [host, table],
    })
  }
  directive.notCarried('the kind of action has no counterpart; matching requests get 501')
  return [notImported(directive)]
}

function needsTls(host: Field): boolean {
  const field = memberAt(host, 'require_tls')
  field?.carried()
  return ['ALL', 'EXTERNAL_ONLY'].includes(field?.text?.toUpperCase() ?? '')
}

function httpsRedirect(host: Field): Handler {
  const directive = directiveOf(memberAt(host, 'require_tls') ?? host, 'require_tls')
  return final((state) => ({
    ...statusReply(directive, 301, state),
    policies: { ...policiesOf(state, false), requestRedirect: { scheme: 'https', status: 301 } },
  }))
}

const NOTES: Readonly<Record<string, string>> = {
  metadata: "the gateway's routes have no metadata",
  decorator: "the gateway's spans have fixed names: docs/tracing.md",
  tracing: 'configure tracing in frontend.tracing: docs/tracing.md',
  stat_prefix: "the gateway's metrics have fixed names: docs/logs-and-metrics.md",
  per_request_buffer_limit_bytes: 'the gateway streams bodies instead of buffering them',
  request_body_buffer_limit: 'the gateway streams bodies instead of buffering them',
  filter_action: 'the kind of action has no counterpart',
  non_forwarding_action: 'the kind of action has no counterpart',
}
