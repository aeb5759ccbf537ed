import { inResource, validate } from '@portico/gateway/schema'
import type { Problem, Schema, ValidationResult } from '@portico/gateway/schema'
import { gwBackendSpec } from './gw-backend.ts'
import { gwFilterSpec } from './gw-filter.ts'
import { gwModelSpec } from './gw-model.ts'
import { gwParametersSpec } from './gw-parameters.ts'
import { gwPolicySpec } from './gw-policy.ts'
import type { Resource } from './resource.ts'

/** A kind of our API group. */
export interface OwnKind {
  kind: 'GwBackend' | 'GwModel' | 'GwPolicy' | 'GwFilter' | 'GwParameters'
  plural: string
  singular: string
  shortNames: readonly string[]
  description: string
  spec: Schema
  /** The kind of its status. */
  status: 'conditions' | 'parents' | 'ancestors' | 'verifiedAncestors' | 'nothing'
}

export const ownKinds: readonly OwnKind[] = [
  {
    kind: 'GwBackend',
    plural: 'gwbackends',
    singular: 'gwbackend',
    shortNames: ['gwbe'],
    description: 'A destination that routes and policies refer to.',
    spec: gwBackendSpec,
    status: 'conditions',
  },
  {
    kind: 'GwModel',
    plural: 'gwmodels',
    singular: 'gwmodel',
    shortNames: ['gwmodel'],
    description: 'A model that clients name, for listeners and routes that route by model.',
    spec: gwModelSpec,
    status: 'parents',
  },
  {
    kind: 'GwPolicy',
    plural: 'gwpolicies',
    singular: 'gwpolicy',
    shortNames: ['gwpol'],
    description: 'Policies for Gateways, routes, Services, backends and InferencePools of the same namespace.',
    spec: gwPolicySpec,
    status: 'verifiedAncestors',
  },
  {
    kind: 'GwFilter',
    plural: 'gwfilters',
    singular: 'gwfilter',
    shortNames: ['gwfil'],
    description: 'Policies for the rules of routes that refer to it as a filter.',
    spec: gwFilterSpec,
    status: 'ancestors',
  },
  {
    kind: 'GwParameters',
    plural: 'gwparameters',
    singular: 'gwparameters',
    shortNames: ['gwpar'],
    description: 'Settings of the data planes of a GatewayClass or of a Gateway.',
    spec: gwParametersSpec,
    status: 'nothing',
  },
]

/** Validates the spec of a resource and applies defaults, without resolving references. Returns all problems. */
export function readSpec<Out>(spec: Schema<Out>, resource: Resource): ValidationResult<unknown> {
  const read = validate(inResource(spec), resource.spec)
  return read.ok ? read : { ok: false, problems: read.problems.map(below('spec')) }
}

function below(key: string): (problem: Problem) => Problem {
  return (problem) => ({ ...problem, path: [key, ...problem.path] })
}
