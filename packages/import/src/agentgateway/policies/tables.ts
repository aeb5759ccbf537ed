import type { Field } from '../../core/yaml-field.ts'
import { backendAuth } from './backend-auth.ts'
import { backendTls } from './backend-tls.ts'
import { type Convert, lost, missing, type Scope } from '../values/convert.ts'
import { literalExpression } from '../values/expressions.ts'
import { named, serviceReference } from '../values/targets.ts'
import { aiTable, fieldExpressions, fieldValues, promptCaching } from './ai.ts'
import * as authentication from './authentication.ts'
import { authorization } from './authorization.ts'
import { type PolicyTable, reader, readPolicies } from './effects.ts'
import * as filters from './filters.ts'
import { localRateLimit } from './local-rate-limit.ts'
import { promptGuard } from './prompt-guards.ts'
import { servicePolicies } from './services.ts'
import { backendHttp, backendTcp, health, retry, timeoutOf } from './timing.ts'

/** Reads the policies for connections to a service that another policy calls. */
function policiesOfCalls(field: Field, scope: Scope): object | undefined {
  const { policies, status } = readPolicies(field, CONNECTION_POLICIES, scope, 'backend')
  return status === null ? policies : undefined
}

const services = servicePolicies(policiesOfCalls)

const tunnel: Convert = (field, scope) => {
  const proxy = field.get('proxy')
  if (proxy === null) return lost(field, 'expected a proxy')
  const found = serviceReference(proxy, scope, () => undefined)
  if (found === undefined) return undefined
  if (found.name !== undefined) return { backendRef: { name: found.name } }
  const backendRef = named(proxy, found.host, {}, scope)
  return backendRef === undefined ? undefined : { backendRef }
}

/** Prints literal header changes as expressions, because header changes of Portico backends are expressions. */
const backendHeaders: Convert = (field, scope) => {
  const found = filters.headerChanges(field, scope) as Readonly<Record<string, readonly unknown[]>> | undefined
  if (found === undefined) return undefined
  const isText = (value: unknown): value is string => typeof value === 'string'
  const all = [...(found['add'] ?? []), ...(found['set'] ?? [])] as { value: unknown }[]
  if (!all.every(({ value }) => isText(value))) return lost(field, "Portico's backend headers cannot contain variables")
  const quoted = (list: readonly unknown[] | undefined) =>
    list?.map((each) => ({ ...(each as object), value: literalExpression((each as { value: string }).value) }))
  const parts = { add: quoted(found['add']), set: quoted(found['set']), remove: found['remove'] }
  return Object.fromEntries(Object.entries(parts).filter(([, list]) => list !== undefined))
}

const a2a = missing(
  'Portico does not rewrite agent cards; write the public address into them: docs/backends.md#agents-that-speak-a2a',
)
const guardrails = missing('Portico has no external processors for MCP')

/**
 * Returns the readers of policies for backend connections. `prefix` is the path of the policies' parent in the Portico
 * config.
 */
function connection(prefix: string): PolicyTable {
  return {
    backendTLS: reader(`${prefix}tls`, 'protection', backendTls),
    backendTls: reader(`${prefix}tls`, 'protection', backendTls),
    backendAuth: reader(`${prefix}auth`, 'upstream', backendAuth),
    backendTunnel: reader(`${prefix}tunnel`, 'upstream', tunnel),
    mcpAuthorization: reader(`${prefix}mcp.authorization`, 'protection', authorization('mcp')),
    mcpGuardrails: reader(`${prefix}mcp`, 'protection', guardrails),
    extMcp: reader(`${prefix}mcp`, 'protection', guardrails),
    a2a: reader(`${prefix}http`, 'extra', a2a),
  }
}

export const CONNECTION_POLICIES: PolicyTable = {
  ...connection(''),
  http: reader('http', 'extra', backendHttp),
  tcp: reader('tcp', 'extra', backendTcp),
}

export const MCP_TARGET_POLICIES = CONNECTION_POLICIES

/** The readers of backend policies. */
export const BACKEND_POLICIES: PolicyTable = {
  ...CONNECTION_POLICIES,
  ai: { group: aiTable('', policiesOfCalls) },
  transformations: reader('transformation', 'upstream', filters.backendTransformation),
  requestHeaderModifier: reader('transformation.request', 'upstream', backendHeaders),
  responseHeaderModifier: reader('transformation.response', 'extra', backendHeaders),
  health: reader('health', 'extra', health),
  extAuthz: reader('extAuth', 'protection', services.extAuth),
  requestRedirect: reader('urlRewrite', 'upstream', missing('Portico cannot redirect in a backend')),
  authorization: reader('mcp', 'protection', missing('write the rules into the authorization policy of the route')),
  sessionAffinity: reader(
    'health',
    'extra',
    missing('Portico keeps sessions by cookie: docs/policies/backend-session-persistence.md'),
  ),
}

/** The readers of the policies of a model in the section `llm`. */
export const MODEL_POLICIES: PolicyTable = {
  defaults: reader('ai.defaults', 'upstream', fieldValues),
  overrides: reader('ai.overrides', 'upstream', fieldValues),
  transformation: reader('ai.transformations', 'upstream', fieldExpressions),
  guardrails: reader('ai.promptGuard', 'protection', promptGuard(policiesOfCalls)),
  promptCaching: reader('ai.promptCaching', 'extra', promptCaching),
  requestHeaders: reader('transformation.request', 'upstream', backendHeaders),
  responseHeaders: reader('transformation.response', 'extra', backendHeaders),
  tls: reader('tls', 'protection', backendTls),
  backendTLS: reader('tls', 'protection', backendTls),
  auth: reader('auth', 'upstream', backendAuth),
  health: reader('health', 'extra', health),
  backendTunnel: reader('tunnel', 'upstream', tunnel),
}

/** The readers of policies that can run before routing. */
const EARLY: PolicyTable = {
  cors: reader('cors', 'extra', filters.cors),
  jwtAuth: reader('jwtAuthentication', 'protection', authentication.jwtAuthentication),
  basicAuth: reader('basicAuthentication', 'protection', authentication.basicAuthentication),
  apiKey: reader('apiKeyAuthentication', 'protection', authentication.apiKeyAuthentication),
  oidc: reader('jwtAuthentication', 'protection', authentication.oidc),
  authorization: reader('authorization', 'protection', authorization('request')),
  extAuthz: reader('extAuth', 'protection', services.extAuth),
  extProc: reader('extProc', 'protection', services.extProc),
  transformations: reader('transformation', 'upstream', filters.transformation),
}

/** The readers of listener policies, which run before routing. */
export const LISTENER_POLICIES: PolicyTable = {
  ...EARLY,
  llm: reader(
    'authorization',
    'protection',
    missing('Portico cannot serve models on a port with routes; configure a separate port for the models'),
  ),
}

/** Returns the readers of route policies. */
export function routePolicies(hasRetry: boolean): PolicyTable {
  return {
    ...EARLY,
    ...connection('backend.'),
    ai: { group: aiTable('backend.', policiesOfCalls) },
    mcpAuthentication: reader('mcpAuthentication', 'protection', authentication.mcpAuthentication),
    localRateLimit: reader('rateLimit', 'protection', localRateLimit),
    remoteRateLimit: reader('rateLimit', 'protection', services.remoteRateLimit),
    csrf: reader('csrf', 'protection', authentication.csrf),
    requestHeaderModifier: reader('headerModifiers.request', 'upstream', filters.headerChanges),
    responseHeaderModifier: reader('headerModifiers.response', 'extra', filters.headerChanges),
    requestRedirect: reader('requestRedirect', 'upstream', filters.requestRedirect),
    urlRewrite: reader('', 'upstream', filters.urlRewrite),
    requestMirror: reader('requestMirror', 'extra', filters.requestMirror),
    directResponse: reader('directResponse', 'upstream', filters.directResponse),
    timeout: reader('', 'extra', timeoutOf(hasRetry)),
    retry: reader('retry', 'extra', retry),
    delay: reader('delay', 'extra', filters.delay),
    buffer: reader(
      'upgrades',
      'extra',
      missing('Portico streams bodies; frontend.http.maxBufferSize limits the bodies that policies read'),
    ),
  }
}
