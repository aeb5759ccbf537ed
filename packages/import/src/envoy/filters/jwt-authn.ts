import { effect, guard } from '../../chain/effects.ts'
import { directiveOf } from '../../chain/field-directive.ts'
import { closed } from '../../chain/replies.ts'
import type { Handler, Route } from '../../chain/routes.ts'
import { withoutAbsent } from '../../core/config-yaml.ts'
import type { Field } from '../../core/yaml-field.ts'
import { listAt, memberAt, takeFlag } from '../messages/message.ts'
import { readRouteMatch } from '../messages/route-match.ts'
import type { FilterReader } from './filter.ts'
import { type JwtProvider, readProviders } from './jwt-providers.ts'
import { claimHeaders } from './jwt-headers.ts'
import { type Requirement, requirementOf } from './jwt-requirements.ts'

/** Reads the filter `jwt_authn`. The first rule that matches a request says which tokens the request needs. */
export const jwtAuthn: FilterReader = (config, { services }) => {
  const providers = readProviders(config, services)
  const named = new Map(memberAt(config, 'requirement_map')?.members ?? [])
  const preflight = memberAt(config, 'bypass_cors_preflight')
  if (preflight?.isTrue === true) preflight.changed('preflight requests pass only if a cors policy responds to them')
  else preflight?.carried()
  memberAt(config, 'filter_state_rules')?.notCarried('rules about the filter state have no counterpart', true)
  memberAt(config, 'strip_failure_response')?.notCarried("the gateway's denials have a body")
  memberAt(config, 'stat_prefix')?.notCarried("the gateway's metrics have fixed names: docs/logs-and-metrics.md")
  const rules = listAt(config, 'rules').map((rule): Route => {
    const statement = { ...directiveOf(rule, 'jwt_authn'), text: 'jwt_authn' }
    const { condition } = readRouteMatch(memberAt(rule, 'match'))
    const name = memberAt(rule, 'requirement_name')
    const required = memberAt(rule, 'requires') ?? named.get(name?.text ?? '') ?? null
    name?.carried()
    const handlers = name !== null && required === null ? [closed(statement)] : handlersOf(required, providers)
    return { statement, condition, group: config, handlers }
  })
  return (override) => {
    if (takeFlag(override, 'disabled')) return []
    const name = memberAt(override, 'requirement_name')
    if (name === null) return [{ kind: 'routes', routes: rules }]
    name.carried()
    const required = named.get(name.text ?? '')
    return required === undefined ? [closed(directiveOf(name, 'jwt_authn'))] : handlersOf(required, providers)
  }
}

/** A handler without an effect, for a rule that needs no token. Later rules are not tried after it. */
const NONE: Handler = effect((state) => state)

function handlersOf(required: Field | null, providers: ReadonlyMap<string, JwtProvider | string>): Handler[] {
  if (required === null || required.members.length === 0) return [NONE]
  const found = requirementOf(required, providers)
  if (typeof found === 'string') {
    required.notCarried(`${found}; requests get 403 until you configure a replacement`, true)
    return [closed(directiveOf(required, 'jwt_authn'))]
  }
  if (found.providers.length === 0) return [NONE]
  return [guard('jwtAuthentication', policyOf(found), (why) => required.notCarried(why, true)), ...claimHeaders(found)]
}

function policyOf({ providers, mode }: Requirement): object {
  return withoutAbsent({
    mode: mode === 'Strict' ? undefined : mode,
    providers: providers.map(({ issuer, audiences, jwks }) =>
      withoutAbsent({ issuer, audiences: audiences.length === 0 ? undefined : audiences, jwks }),
    ),
    location: providers[0]?.location ?? undefined,
  })
}
