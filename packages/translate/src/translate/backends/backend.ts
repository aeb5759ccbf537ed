import { awsTarget, dynamicTarget, sectionKey, staticTarget, findModelFaults, modelNode } from '@portico/gateway/ir'
import type { AttachedPolicy, Backend, BackendTarget } from '@portico/gateway/ir'
import { printPath, resolveReferences } from '@portico/gateway/schema'
import type { BackendPolicies, Problem } from '@portico/gateway/schema'
import { gwBackendSpec } from '../../resources/gw-backend.ts'
import type { GwBackendSpec } from '../../resources/gw-backend.ts'
import { readSpec } from '../../resources/own-kinds.ts'
import { condition, type ConditionsStatus } from '../../resources/status.ts'
import type { Context, Query } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { aiServers } from './ai-pools.ts'
import { mcpTargets } from './mcp-targets.ts'
import { ownKey, referredObjects } from './referred-objects.ts'
import { toAttachedPolicy } from '../to-attached-policy.ts'

/** The translation of a GwBackend. */
interface OwnBackend {
  backend: Backend
  /** Inline policies of the backend and of its parts. */
  policies: AttachedPolicy[]
  /** Parts that are not served; routes to the backend report them. */
  ignored: string[]
  /** References of parts that do not resolve, while other parts of the backend work. */
  unresolved: string[]
}

/** Translates a GwBackend, by `namespace/name`. Any problem makes the whole backend unusable. */
export const ownBackend: Query<OwnBackend | Unusable> = {
  name: 'ownBackend',
  compute(context, place) {
    const resource = context.get('GwBackend', place)
    if (resource === undefined) return { reason: 'BackendNotFound', message: `GwBackend ${place} not found` }
    const read = readSpec(gwBackendSpec, resource)
    if (!read.ok) return unusable(place, read.problems)
    const { namespace = '' } = resource.metadata
    const objects = referredObjects(context, { kind: 'GwBackend', namespace })
    const { value: spec, problems } = resolveReferences(gwBackendSpec, read.value, objects, ['spec'])
    if (problems.length > 0) return unusable(place, problems)
    const disagreements = modelProblems(spec)
    if (disagreements.length > 0) return unusable(place, disagreements)
    const key = ownKey(place)
    const made = serversOf(context, { namespace, key }, spec)
    if ('reason' in made) return made
    const { target, ignored, unresolved = [] } = made
    const backend = { key, name: place, target }
    const policies = policiesIn(spec, key)
    const faults = context.settings.checks.backend(backend, policies.map(withoutTls))
    if (faults.length > 0) {
      return {
        reason: 'BackendError',
        message: `GwBackend ${place}: ${faults.map(({ message }) => message).join('; ')}`,
      }
    }
    return { backend, policies, ignored, unresolved }
  },
}

/** Drops TLS from the check, because certificates are checked when they are read. */
export function withoutTls(policy: AttachedPolicy): AttachedPolicy {
  if (policy.backend?.tls === undefined) return policy
  const { tls: _checked, ...backend } = policy.backend
  return { ...policy, backend }
}

export const backendStatus: Query<ConditionsStatus | null> = {
  name: 'backendStatus',
  compute(context, place) {
    const resource = context.get('GwBackend', place)
    if (resource === undefined) return null
    const { generation = 0 } = resource.metadata
    const made = context.read(ownBackend, place)
    const accepted =
      'reason' in made
        ? condition('Accepted', false, {
            reason: 'TranslationError',
            message: `failed to translate backend: ${made.message}`,
            generation,
          })
        : condition('Accepted', true, { reason: 'Accepted', message: acceptedMessage(made), generation })
    const message = 'reason' in made ? null : unresolvedMessage(made)
    if (message === null) return { conditions: [accepted] }
    const unresolved = condition('ResolvedRefs', false, { reason: 'BackendNotFound', message, generation })
    return { conditions: [accepted, unresolved] }
  },
}

/** Why references of a backend do not resolve; null when they all do. The selectors of an MCP backend may match nothing. */
function unresolvedMessage({ backend: { target }, ignored, unresolved }: OwnBackend): string | null {
  const isWithoutServers = target.kind === 'mcp' && target.targets.length === 0
  if (isWithoutServers) return `the backend has no MCP servers and answers 503: ${ignored.join('; ')}`
  return unresolved.length === 0 ? null : `calls of some providers fail: ${unresolved.join('; ')}`
}

function acceptedMessage({ ignored }: OwnBackend): string {
  const leftOut = ignored.length === 0 ? '' : `; left out: ${ignored.join('; ')}`
  return `Backend successfully accepted${leftOut}`
}

function unusable(place: string, problems: readonly Problem[]): Unusable {
  return { reason: 'BackendError', message: `GwBackend ${place}: ${printProblems(problems)}` }
}

/** Prints problems for a status. */
export function printProblems(problems: readonly Problem[]): string {
  return problems.map(printProblem).join('; ')
}

function printProblem({ path, found, expected, suggestion }: Problem): string {
  const wanted = expected === '' ? '' : `, expected ${expected}`
  return `${printPath(path)}: ${found}${wanted}${suggestion === null ? '' : ` (${suggestion})`}`
}

/** The destination of a backend, with messages about parts that are not served. */
function serversOf(
  context: Context,
  at: { namespace: string; key: string },
  spec: GwBackendSpec,
): { target: BackendTarget; ignored: string[]; unresolved?: string[] } | Unusable {
  if (spec.mcp !== undefined) return mcpTargets(context, at, spec.mcp)
  if (spec.ai !== undefined) return aiServers(context, at, spec.ai)
  return { target: targetOf(spec), ignored: [] }
}

function targetOf(spec: GwBackendSpec): BackendTarget {
  if (spec.aws !== undefined) return awsTarget(spec.aws)
  if (spec.dynamicForwardProxy !== undefined) return dynamicTarget(spec.dynamicForwardProxy)
  if (spec.static !== undefined) return staticTarget(spec.static)
  throw new Error('a backend has no kind')
}

/** The problems between the models of a backend, which would not compile. */
function modelProblems({ ai }: GwBackendSpec): Problem[] {
  const nodes = (ai?.models ?? []).map(modelNode)
  return findModelFaults(nodes).map(({ model, path, ...fault }) => ({
    code: 'conflict',
    at: 'value',
    path: ['spec', 'ai', 'models', nodes.indexOf(model), ...path],
    ...fault,
  }))
}

function policiesIn({ ai, mcp, policies }: GwBackendSpec, key: string): AttachedPolicy[] {
  const providers = ai?.models ?? ai?.groups?.flatMap((group) => group.providers) ?? []
  return [
    ...providers.flatMap((provider) => inlinePolicies(sectionKey(key, provider.name), provider.policies)),
    ...(mcp?.targets ?? []).flatMap((target) => inlinePolicies(sectionKey(key, target.name), target.static?.policies)),
    ...inlinePolicies(key, policies),
  ]
}

export function inlinePolicies(key: string, policies: BackendPolicies | undefined): AttachedPolicy[] {
  return policies === undefined ? [] : [toAttachedPolicy({ kind: 'backend', key }, { backend: policies })]
}
