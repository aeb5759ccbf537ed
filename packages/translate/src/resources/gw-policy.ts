import {
  atLeastOneOf,
  backendBlock,
  enumeration,
  exactlyOneOf,
  list,
  listenerBlock,
  map,
  object,
  otherRule,
  string,
  targetedFrontendBlock,
  trafficPolicies,
} from '@portico/gateway/schema'
import { API_GROUP } from './api-group.ts'
import { valueAt } from './json.ts'
import { groupByKind, routeKinds } from './kinds.ts'

/** Kinds that policies may target, with their group. */
const GROUPS = {
  Gateway: 'gateway.networking.k8s.io',
  ListenerSet: 'gateway.networking.k8s.io',
  HTTPRoute: 'gateway.networking.k8s.io',
  GRPCRoute: 'gateway.networking.k8s.io',
  TLSRoute: 'gateway.networking.k8s.io',
  TCPRoute: 'gateway.networking.k8s.io',
  UDPRoute: 'gateway.networking.k8s.io',
  Service: '',
  GwBackend: API_GROUP,
  InferencePool: groupByKind.InferencePool,
} as const

export type TargetKind = keyof typeof GROUPS

export function isTargetKind(text: string): text is TargetKind {
  return Object.hasOwn(GROUPS, text)
}

const kindNames = Object.keys(GROUPS) as TargetKind[]

const group = () => string({ max: 253 }).describe('API group of the kind; empty for a Service.')

const kind = () => enumeration(kindNames).describe('Kind of the target.')

const sectionName = () =>
  string(
    { min: 1, max: 253 },
    { pattern: /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/, expected: 'a name of letters, digits, `-`, `_` and `.`' },
  )
    .optional()
    .describe(
      'Part of the target: a listener, a rule of a route, a port number of a Service, or a provider or MCP target of a backend.',
    )

const targetRef = object({
  group: group(),
  kind: kind(),
  name: string({ min: 1, max: 253 }).describe('Name of the target, in the namespace of the policy.'),
  sectionName: sectionName(),
}).describe('A target by name.')

const targetSelector = object({
  group: group(),
  kind: kind(),
  matchLabels: map(string({ max: 63 }).describe('Value of the label.'), { max: 64 }).describe(
    'Labels; a target must have all of them.',
  ),
  sectionName: sectionName(),
}).describe('Targets in the same namespace, by labels.')

interface Target {
  group?: unknown
  kind?: unknown
  sectionName?: unknown
}

type Spec = Readonly<Record<string, unknown>>

/** Returns the targets of a spec that may have other problems. */
function targetsOf({ targetRefs, targetSelectors }: Spec): Target[] {
  const lists = [targetRefs, targetSelectors].filter((each) => Array.isArray(each))
  return lists.flat().filter((target) => typeof target === 'object' && target !== null) as Target[]
}

function every(condition: string): string {
  return ['targetRefs', 'targetSelectors']
    .map((key) => `(!has(self.${key}) || self.${key}.all(t, ${condition}))`)
    .join(' && ')
}

/** Returns a rule that checks each target when the spec sets the field `when`, or always when `when` is null. */
function targetRule(
  message: string,
  when: { has: string; cel?: string; is?: (spec: Spec) => boolean } | null,
  each: { cel: string; is: (target: Target) => boolean },
) {
  const path = when?.has.split('.') ?? []
  const present = path.map((_, index) => `has(self.${path.slice(0, index + 1).join('.')})`)
  const conditions = when?.cel === undefined ? present : [...present, when.cel]
  const isNamed = (spec: Spec): boolean => valueAt(spec, ...path) !== undefined && (when?.is?.(spec) ?? true)
  return otherRule(
    message,
    when === null ? every(each.cel) : `!(${conditions.join(' && ')}) || (${every(each.cel)})`,
    (spec) => (when !== null && !isNamed(spec)) || targetsOf(spec).every(each.is),
  )
}

function oneOfKinds(...kinds: TargetKind[]) {
  return {
    cel: `t.kind in ['${kinds.join("', '")}']`,
    is: (target: Target) => kinds.some((name) => name === target.kind),
  }
}

/** The kinds of each group. */
const pairs = [...new Set(Object.values(GROUPS))].map((name) => {
  const kinds = kindNames.filter((each) => GROUPS[each] === name)
  return `(t.group == '${name}' && t.kind in ['${kinds.join("', '")}'])`
})

const targetRules = [
  targetRule('targets must have a supported kind and its group', null, {
    cel: pairs.join(' || '),
    is: (target) => kindNames.some((name) => name === target.kind && GROUPS[name] === target.group),
  }),
  otherRule(
    'all targets must have the same kind',
    ['targetRefs', 'targetSelectors']
      .map((key) => `(!has(self.${key}) || self.${key}.all(t, t.kind == self.${key}[0].kind))`)
      .join(' && '),
    (spec) => new Set(targetsOf(spec).map((target) => target.kind)).size < 2,
  ),
  targetRule('the sectionName of a Service must be the number of a port', null, {
    cel: `t.kind != 'Service' || !has(t.sectionName) || t.sectionName.matches('^[1-9][0-9]{0,4}$')`,
    is: ({ kind: name, sectionName: section }) =>
      name !== 'Service' || section === undefined || (typeof section === 'string' && /^[1-9][0-9]{0,4}$/.test(section)),
  }),
  targetRule('an InferencePool has no parts that sectionName could name', null, {
    cel: `t.kind != 'InferencePool' || !has(t.sectionName)`,
    is: ({ kind: name, sectionName: section }) => name !== 'InferencePool' || section === undefined,
  }),
  targetRule(
    'frontend may only target a Gateway, without sectionName',
    { has: 'frontend' },
    {
      cel: `t.kind == 'Gateway' && !has(t.sectionName)`,
      is: (target) => target.kind === 'Gateway' && target.sectionName === undefined,
    },
  ),
  targetRule(
    'traffic may only target a Gateway, ListenerSet or route',
    { has: 'traffic' },
    oneOfKinds('Gateway', 'ListenerSet', ...routeKinds),
  ),
  targetRule(
    'traffic.phase PreRouting may only target a Gateway or ListenerSet',
    { has: 'traffic.phase', cel: `self.traffic.phase == 'PreRouting'`, is: isPreRouting },
    oneOfKinds('Gateway', 'ListenerSet'),
  ),
  targetRule(
    'backend.ai may not target a Service',
    { has: 'backend.ai' },
    { cel: `t.kind != 'Service'`, is: (target) => target.kind !== 'Service' },
  ),
  targetRule(
    'backend.mcp may not target a Service, an InferencePool, nor a part of a GwBackend',
    { has: 'backend.mcp' },
    {
      cel: `t.kind != 'Service' && t.kind != 'InferencePool' && !(t.kind == 'GwBackend' && has(t.sectionName))`,
      is: ({ kind: name, sectionName: section }) =>
        name !== 'Service' && name !== 'InferencePool' && !(name === 'GwBackend' && section !== undefined),
    },
  ),
  targetRule(
    'backend.tunnel may not target an InferencePool, whose members are called directly',
    { has: 'backend.tunnel' },
    { cel: `t.kind != 'InferencePool'`, is: (target) => target.kind !== 'InferencePool' },
  ),
]

function isPreRouting(spec: Spec): boolean {
  return valueAt(spec, 'traffic', 'phase') === 'PreRouting'
}

const lateFields = trafficPolicies
  .filter((policy) => policy.fileOnly !== true && !(policy.phases ?? []).includes('PreRouting'))
  .map(({ name }) => name)

const otherRules = [
  otherRule(
    `traffic.phase PreRouting may not be set with any of [${lateFields.join(' ')}]`,
    `!has(self.traffic) || !has(self.traffic.phase) || self.traffic.phase != 'PreRouting' || !(${lateFields
      .map((name) => `has(self.traffic.${name})`)
      .join(' || ')})`,
    (spec) => !isPreRouting(spec) || lateFields.every((name) => valueAt(spec, 'traffic', name) === undefined),
  ),
  otherRule(
    'traffic.jwtAuthentication may not be set with backend.mcp.authentication',
    '!(has(self.traffic) && has(self.traffic.jwtAuthentication) && has(self.backend) && has(self.backend.mcp) && has(self.backend.mcp.authentication))',
    (spec) =>
      valueAt(spec, 'traffic', 'jwtAuthentication') === undefined ||
      valueAt(spec, 'backend', 'mcp', 'authentication') === undefined,
  ),
]

/** The key of the tests in a ConfigMap. */
export const TESTS_KEY = 'tests.yaml'

const verify = object({
  tests: object({
    configMap: object({
      name: string({ min: 1, max: 253 }).describe('Name, in the namespace of the policy.'),
      key: string({ min: 1, max: 253 }).prefault(TESTS_KEY).describe('Key in the ConfigMap.'),
    }).describe('The ConfigMap with the tests.'),
  }).describe('Tests in the format of `porticoctl test`.'),
}).describe('Tests that a spec must pass before it applies. Until then, the last spec that passed stays in force.')

/** GwPolicy (SPEC 2.4): policies for objects of the same namespace. */
export const gwPolicySpec = object(
  {
    targetRefs: list(targetRef, { min: 1, max: 16 }).optional().describe('Targets by name.'),
    targetSelectors: list(targetSelector, { min: 1, max: 16 }).optional().describe('Targets by labels.'),
    frontend: targetedFrontendBlock().optional().describe('Policies for connections; only for a whole Gateway.'),
    traffic: listenerBlock()
      .optional()
      .describe('Policies for requests; for a Gateway, a ListenerSet, a listener, a route or a rule.'),
    backend: backendBlock().optional().describe('Policies for backends; for any target.'),
    verify: verify.optional(),
  },
  [
    exactlyOneOf('targetRefs', 'targetSelectors'),
    atLeastOneOf('traffic', 'frontend', 'backend'),
    ...targetRules,
    ...otherRules,
  ],
).describe('The targets and the policies for them.')
