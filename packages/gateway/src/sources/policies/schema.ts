import {
  type AttachedFrontend,
  type AttachedTraffic,
  backendPolicies,
  frontendPolicies,
  type FrontendShadows,
  type ShadowPolicies,
  trafficPolicies,
} from '../../policies/index.ts'
import type { AttachmentPoint, Phase, PoliciesOf, Policy } from '../../schema/define-policy.ts'
import { fileOnly, list, localForm, map, object } from '../../schema/kit.ts'
import type { Output, Schema } from '../../schema/kit.ts'
import { objectName } from '../../schema/fields/names.ts'
import { exactlyOneOf } from '../../schema/rules.ts'
import { enumeration, string } from '../../schema/fields/values.ts'

type PolicyBlock<All extends readonly Policy[]> = Schema<PoliciesOf<All>>
type TrafficBlock = AttachedTraffic & { phase: Phase }

export function frontendBlock(): Schema<AttachedFrontend> {
  return block(frontendPolicies, 'gateway', { shadow: shadowOf(frontendShadowBlock()) })
}

/** A listener takes every traffic policy except the filters that only routes have. */
export function listenerBlock(): Schema<TrafficBlock> {
  return block(trafficPolicies, 'listener', {
    phase: enumeration(['PreRouting', 'PostRouting'])
      .prefault('PostRouting')
      .describe('Whether these policies run before or after routing. Only some policies can run before it.'),
    shadow: shadowField('listener'),
  })
}

/** The traffic policies of a filter, which run after routing. */
export function filterBlock(): PolicyBlock<typeof trafficPolicies> {
  return block(trafficPolicies, 'listener')
}

export function backendBlock(): PolicyBlock<typeof backendPolicies> {
  return block(backendPolicies, 'backend')
}

/** SPEC 2.7 BackendWithAI: in custom resources a provider has neither an authorizer nor rules of MCP of its own. */
export function providerBlock(): PolicyBlock<typeof backendPolicies> {
  const inCluster = backendPolicies.filter(({ name }) => name !== 'extAuth' && name !== 'mcp')
  return localForm(backendBlock(), block(inCluster, 'backend'), null)
}

/**
 * In custom resources a model has only a credential of its own: the definition of GwBackend would not fit into the
 * annotation of `kubectl apply` with all policies of each model.
 */
export function modelBlock(): PolicyBlock<typeof backendPolicies> {
  const inCluster = backendPolicies.filter(({ name }) => name === 'auth')
  return localForm(backendBlock(), block(inCluster, 'backend'), null)
}

/** SPEC 2.7 BackendSimple, with the rules for what one MCP target offers. */
export function targetBlock(): PolicyBlock<typeof backendPolicies> {
  return block(backendPolicies, 'mcpTarget')
}

/** Traffic policies, and the backend policies for all backends of the route. */
export function routeBlock(): Schema<AttachedTraffic & { backend?: PoliciesOf<typeof backendPolicies> }> {
  return block(trafficPolicies, 'route', {
    backend: block(backendPolicies, 'route').optional().describe('Policies for all backends of this route.'),
    shadow: shadowField('route'),
  })
}

/** Returns the schema of the `shadow` block with traffic policies. */
export function shadowBlock(place: AttachmentPoint): Schema<ShadowPolicies> {
  const deciding = trafficPolicies.filter(({ decides }: Policy) => decides === true)
  return block(deciding, place)
}

/** Returns the schema of the `shadow` block with policies for connections. */
export function frontendShadowBlock(): Schema<FrontendShadows> {
  return block(
    frontendPolicies.filter(({ decides }: Policy) => decides === true),
    'gateway',
  )
}

function shadowField(place: AttachmentPoint) {
  return shadowOf(shadowBlock(place))
}

function shadowOf<Shadows>(policies: Schema<Shadows>) {
  return fileOnly(
    policies
      .optional()
      .describe(
        'Policies that run without an effect, next to the enforced policies: what they would do is logged, counted and recorded.',
      ),
  )
}

/** Names that selectors find objects by. */
export function labels() {
  return map(string({ max: 63 }).describe('Value of the label.'), { max: 64 })
}

const sectionName = objectName().optional()

/** Policies for handling connections; none has a default. */
export function targetedFrontendBlock(): Schema<AttachedFrontend> {
  return block(frontendPolicies, 'gateway', { shadow: shadowOf(frontendShadowBlock()) }, { withDefaults: false })
}

const targetRef = object({
  group: string({ max: 253 }).optional().describe('API group of the kind; ignored in config files.'),
  kind: enumeration(['Gateway', 'Route', 'Backend']).describe(
    'Kind of the object: this gateway, a route, or a backend of the top-level `backends`.',
  ),
  name: objectName().describe('Name of the object; the gateway of a config file is `default`.'),
  sectionName: sectionName.describe(
    'Part of the object: the name of a listener of the gateway, a rule of the route, or a provider or MCP target of the backend.',
  ),
}).describe('An object, by name.')

const targetSelector = object({
  group: string({ max: 253 }).optional().describe('API group of the kind; ignored in config files.'),
  kind: enumeration(['Route', 'Backend']).describe(
    'Kind of the objects: routes, or backends of the top-level `backends`.',
  ),
  matchLabels: labels().describe('Labels; an object must have all of them.'),
  sectionName: sectionName.describe('Name of a rule of the routes.'),
}).describe('Objects, by labels.')

/** One policy of the top-level list, with the shape of the custom resource. */
export const targetedPolicy = object(
  {
    name: objectName().describe('Name in messages.'),
    targetRefs: list(targetRef, { min: 1, max: 16 })
      .optional()
      .describe('Objects that the policy applies to, by name.'),
    targetSelectors: list(targetSelector, { min: 1, max: 16 })
      .optional()
      .describe('Objects that the policy applies to, by labels.'),
    frontend: targetedFrontendBlock().optional().describe('Handling of connections; for the whole gateway only.'),
    traffic: listenerBlock()
      .optional()
      .describe('Handling of requests; for the gateway, a listener, a route or a rule.'),
    backend: backendBlock()
      .optional()
      .describe('Handling of backends; for the gateway, a listener, a route, a rule or a backend.'),
  },
  [exactlyOneOf('targetRefs', 'targetSelectors')],
).describe('A policy with the objects that it applies to.')

export type TargetedPolicyConfig = Output<typeof targetedPolicy>

function block<All extends readonly Policy[], More extends object>(
  policies: All,
  place: AttachmentPoint,
  more: { [Key in keyof More]: Schema<More[Key]> } = {} as { [Key in keyof More]: Schema<More[Key]> },
  { withDefaults } = { withDefaults: true },
): Schema<PoliciesOf<All> & More> {
  const shape: Record<string, Schema> = {}
  for (const policy of policies) {
    if (!policy.attach.includes(place)) continue
    const presence = policy.always && withDefaults ? policy.schema.prefault({}) : policy.schema.optional()
    shape[policy.name] = policy.fileOnly ? fileOnly(presence) : presence
  }
  return object({ ...shape, ...(more as Record<string, Schema>) }) as unknown as Schema<PoliciesOf<All> & More>
}
