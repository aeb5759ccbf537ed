import {
  integer,
  list,
  modelFields,
  modelName,
  modelPattern,
  modelRules,
  modelTarget,
  object,
  providerBlock,
  string,
} from '@portico/gateway/schema'
import type { Output } from '@portico/gateway/schema'
import { GATEWAY_GROUP } from './kinds.ts'

const parentRef = object({
  group: string({ max: 253 }).prefault(GATEWAY_GROUP).describe('API group of the parent.'),
  kind: string({ min: 1, max: 63 })
    .prefault('Gateway')
    .describe('Kind of the parent: `Gateway`, `ListenerSet` or `HTTPRoute`.'),
  namespace: string({ min: 1, max: 63 })
    .optional()
    .describe('Namespace of the parent; that of the GwModel when unset.'),
  name: string({ min: 1, max: 253 }).describe('Name of the parent.'),
  sectionName: string({ min: 1, max: 253 }).optional().describe('Name of a listener, or of a rule of an HTTPRoute.'),
  port: integer({ min: 1, max: 65_535 }).optional().describe('Port of the listeners.'),
}).describe('A parent.')

const match = object({
  model: modelPattern()
    .optional()
    .describe(
      'Name that clients send: exact, or with one `*` at the start or the end. An exact name takes precedence over patterns, and a longer pattern over a shorter one. The name of the GwModel when unset.',
    ),
}).describe('The requests for the model.')

const target = modelTarget({
  modelRef: object({ name: string({ min: 1, max: 253 }).describe('Name of the GwModel.') }).describe(
    'A GwModel of the same namespace with a parent in common.',
  ),
  model: modelName()
    .optional()
    .describe('Name of the model, when the GwModel has a pattern; required then. The pattern must match it.'),
})

/** GwModel: a model that clients name, for the listeners and routes that are its parents. */
export const gwModelSpec = object(
  {
    parentRefs: list(parentRef, { min: 1, max: 16 }).describe(
      'Gateways and ListenerSets whose listeners serve the model, and HTTPRoutes with a rule that refers to it.',
    ),
    match: match.optional(),
    ...modelFields(providerBlock, target),
  },
  modelRules,
).describe('A model, with its provider or with the models that serve its requests.')

/** The spec after references are resolved. */
export type GwModelSpec = Output<typeof gwModelSpec>
