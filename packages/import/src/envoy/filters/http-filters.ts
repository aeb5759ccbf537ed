import { directiveOf } from '../../chain/field-directive.ts'
import { closed, notImported } from '../../chain/replies.ts'
import type { Handler } from '../../chain/routes.ts'
import { Field } from '../../core/yaml-field.ts'
import { cors } from './cors.ts'
import { csrf } from './csrf.ts'
import { apiKeyAuth, basicAuth } from './credentials.ts'
import { extAuthz } from './ext-authz.ts'
import { extProc } from './ext-proc.ts'
import { fault } from './fault.ts'
import {
  closing,
  type FilterContext,
  type FilteredRoute,
  type FilterEffect,
  type FilterReader,
  type RouteOverride,
} from './filter.ts'
import { globalRateLimit } from './global-rate-limit.ts'
import { headerMutation } from './header-mutation.ts'
import { jwtAuthn } from './jwt-authn.ts'
import { localRateLimit } from './local-rate-limit.ts'
import { HARMLESS_FILTERS, UNTRANSLATED_FILTERS } from './notes.ts'
import { rbac } from './rbac.ts'
import { statefulSession } from './stateful-session.ts'
import { listAt, memberAt, takeFlag, takeText, typedConfig } from '../messages/message.ts'

/** An HTTP filter of a connection manager. */
export interface HttpFilter {
  /** The name of the filter, by which `typed_per_filter_config` refers to the filter. */
  readonly name: string
  readonly kind: string
  readonly config: Field
  readonly effect: FilterEffect
  readonly isDisabled: boolean
}

const READERS: Readonly<Record<string, FilterReader>> = {
  ...{ cors, csrf, fault, rbac },
  basic_auth: basicAuth,
  api_key_auth: apiKeyAuth,
  ext_authz: extAuthz,
  ext_proc: extProc,
  header_mutation: headerMutation,
  jwt_authn: jwtAuthn,
  local_ratelimit: localRateLimit,
  ratelimit: globalRateLimit,
  stateful_session: statefulSession,
}

export function readHttpFilters(manager: Field, context: FilterContext): HttpFilter[] {
  return listAt(manager, 'http_filters').map((field) => readFilter(field, context))
}

function readFilter(field: Field, context: FilterContext): HttpFilter {
  const name = takeText(field, 'name') ?? ''
  const isDisabled = takeFlag(field, 'disabled')
  const config = typedConfig(field) ?? emptyConfig(field)
  const kind = filterKind(name, config)
  memberAt(field, 'is_optional')?.carried()
  return { name, kind, config, isDisabled, effect: effectOf(kind, field, config, context) }
}

/** Returns an empty config, because old files may name a filter without a config. */
function emptyConfig(field: Field): Field {
  return new Field(field.path, field.at, { members: new Map() })
}

/**
 * Returns the kind of a filter, such as `jwt_authn`, from the type of its config; without a type, from the name of the
 * filter.
 */
export function filterKind(name: string, config: Field | null): string {
  const type = config?.get('@type')?.text ?? ''
  const found = /\bfilters\.(?:http|network)\.(\w+)\.v\d\w*\.\w+$/.exec(type)
  if (found?.[1] !== undefined) return found[1]
  return type === '' ? name.replace(/^envoy\.(filters\.(http|network)\.)?/, '') : type.replace(/^.*\//, '')
}

function effectOf(kind: string, field: Field, config: Field, context: FilterContext): FilterEffect {
  const discovery = memberAt(field, 'config_discovery')
  if (discovery !== null) return closing(discovery, kind, 'the config of the filter comes from a control plane')
  const reader = READERS[kind]
  if (reader !== undefined) return reader(config, context)
  const note = HARMLESS_FILTERS[kind]
  if (note !== undefined) {
    if (note === '') config.get('@type')?.carried()
    else config.notCarried(note)
    return () => []
  }
  const other = UNTRANSLATED_FILTERS[kind]
  const text = kind === '' ? 'filter' : kind
  const statement = { ...directiveOf(field, text), text }
  if (other !== undefined) {
    config.notCarried(`${other}; matching requests get 501`)
    return () => [notImported(statement)]
  }
  const target = config.members.length === 0 ? field : config
  target.notCarried(
    'the importer does not know this filter, which may restrict access; requests get 403 until you configure a replacement',
    true,
  )
  return (override) => (override !== null && takeFlag(override, 'disabled') ? [] : [closed(statement)])
}

/** Returns the handlers of all filters for a route, in the order of the filters. */
export function handlersOfFilters(filters: readonly HttpFilter[], route: FilteredRoute): Handler[] {
  return filters.flatMap(({ name, isDisabled, effect }) => {
    const { config, isOff } = overrideOf(name, route, isDisabled)
    return isOff ? [] : effect(config, route)
  })
}

/**
 * Returns the config of a filter for a route: the config of the route, else of its virtual host, else of its route
 * table.
 */
function overrideOf(
  name: string,
  { levels, usedConfigs }: FilteredRoute,
  isDisabled: boolean,
): { config: RouteOverride; isOff: boolean } {
  for (const level of levels) {
    const found = memberAt(level, 'typed_per_filter_config')?.get(name) ?? null
    if (found === null) continue
    usedConfigs.add(found)
    found.get('@type')?.carried()
    const isWrapped = (found.get('@type')?.text ?? '').endsWith('.route.v3.FilterConfig')
    if (!isWrapped) return { config: found, isOff: false }
    memberAt(found, 'is_optional')?.carried()
    const inner = memberAt(found, 'config')
    inner?.get('@type')?.carried()
    return { config: inner, isOff: takeFlag(found, 'disabled') }
  }
  return { config: null, isOff: isDisabled }
}

/** Sets notes on filter configs that no route uses, because every route has its own config. */
export function noteUnusedConfigs(level: Field, filters: readonly HttpFilter[], usedConfigs: ReadonlySet<Field>): void {
  for (const [name, config] of memberAt(level, 'typed_per_filter_config')?.members ?? []) {
    if (usedConfigs.has(config)) continue
    if (filters.some((filter) => filter.name === name))
      config.carried('the config has no effect, because each route has its own config')
    else config.notCarried('no filter has this name')
  }
}
