import type { Field } from '../../core/yaml-field.ts'
import { merge, readPolicies } from '../policies/effects.ts'
import { BACKEND_POLICIES } from '../policies/tables.ts'
import { lost, type Scope } from '../values/convert.ts'
import { destinationOf, staticOf } from '../values/targets.ts'
import { readAi, type ReadBackend, UNKNOWN, unusable, worst } from './ai.ts'
import { readMcp } from './mcp.ts'

const NOT_AVAILABLE: Readonly<Record<string, string>> = {
  service: 'Portico does not discover services of a mesh; write the address of the service',
  invalid: 'agentgateway responds with 500 for this backend',
  internal: 'Portico serves its admin API on a separate server',
  routeGroup: 'Portico has no route groups; write the routes of the group into the listener',
}

const KINDS = ['host', 'backend', 'ai', 'mcp', 'aws', 'dynamic', ...Object.keys(NOT_AVAILABLE)]

/** Reads an entry in the `backends` of a route, with its policies. */
export function readBackend(field: Field, scope: Scope): ReadBackend {
  return withPolicies(field, readKind(field, scope, false), scope)
}

/** Reads an entry of the top-level `backends`, with its policies. */
export function readNamedBackend(field: Field, scope: Scope): ReadBackend {
  return withPolicies(field, readKind(field, scope, true), scope)
}

function withPolicies(field: Field, read: ReadBackend, scope: Scope): ReadBackend {
  const effects = readPolicies(field.get('policies'), BACKEND_POLICIES, scope, 'backend')
  const policies: Record<string, unknown> = { ...effects.policies }
  const isTwice = !merge(policies, read.policies)
  if (isTwice) field.get('policies')?.notCarried('the provider has policies of the same kind; requests get 501', true)
  return { ...read, policies, status: worst([read.status, effects.status, isTwice ? 501 : null]) }
}

function readKind(field: Field, scope: Scope, isNamed: boolean): ReadBackend {
  const kind = KINDS.find((each) => field.members.some(([name]) => name === each))
  const settings = kind === undefined ? null : field.get(kind)
  if (kind === undefined || kind in NOT_AVAILABLE) {
    const why = kind === undefined ? 'the importer does not know this backend' : NOT_AVAILABLE[kind]
    lost(settings ?? field, `${why}; requests get 501`)
    return unusable(501)
  }
  if (kind === 'dynamic') return readDynamic(settings, scope)
  if (settings === null) {
    lost(field, 'the backend has no settings; requests get 501')
    return unusable(501)
  }
  if (kind === 'ai') return readAi(settings, scope)
  if (kind === 'mcp') return readMcp(settings, scope)
  if (kind === 'aws') return readAws(settings, scope)
  return kind === 'backend' ? readReference(settings, scope) : readHost(settings, scope, isNamed)
}

function readHost(field: Field, scope: Scope, isNamed: boolean): ReadBackend {
  const found = destinationOf(field, scope)
  if (typeof found === 'string' || found.isTls || (isNamed && typeof found.host !== 'string')) {
    const why =
      typeof found === 'string'
        ? found
        : found.isTls
          ? 'expected host:port'
          : 'a named backend cannot have a variable as its address'
    lost(field, `${why}; requests get 501`)
    return unusable(501)
  }
  field.carried()
  const { host, address } = found
  const backend = !isNamed ? { host } : { static: staticOf(typeof host === 'string' ? host : '') }
  return { backend, policies: {}, status: null, tested: address === null ? UNKNOWN : { kind: 'http', address } }
}

function readReference(field: Field, { backends }: Scope): ReadBackend {
  const name = backends.named(field.text ?? '')
  if (typeof name !== 'string') {
    lost(field, 'the named backend is missing or cannot be imported')
    field.amendLosses(`requests get ${name}`, name === 403)
    return unusable(name)
  }
  field.carried()
  return { backend: { backend: name }, policies: {}, status: null, tested: backends.testedOf(field.text ?? '') }
}

/** agentgateway calls any host; Portico calls hosts in private networks only if they are listed. */
function readDynamic(field: Field | null, _scope: Scope): ReadBackend {
  if (field?.get('target') != null) {
    lost(field, 'Portico cannot compute the destination from an expression; requests get 501')
    return unusable(501)
  }
  field?.changed(
    'Portico denies private addresses, and ports other than 80 and 443: docs/backends/dynamic-forward-proxy.md',
  )
  return { backend: { dynamicForwardProxy: {} }, policies: {}, status: null, tested: UNKNOWN }
}

function readAws(field: Field, _scope: Scope): ReadBackend {
  const agent = field.get('agentCore')
  const arn = agent?.get('agentRuntimeArn') ?? null
  const qualifier = agent?.get('qualifier') ?? null
  if (arn?.text == null) {
    lost(field, 'expected agentCore with agentRuntimeArn; requests get 501')
    return unusable(501)
  }
  arn.carried()
  qualifier?.carried()
  const agentCore = { agentRuntimeArn: arn.text, ...(qualifier?.text != null && { qualifier: qualifier.text }) }
  return { backend: { aws: { agentCore } }, policies: {}, status: null, tested: UNKNOWN }
}
