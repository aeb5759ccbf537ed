import type { JsonObject } from '@portico/gateway/schema'

/** Schemas of statuses, as Kubernetes and the Gateway API define them. */

const text = (description: string, max: number, more: JsonObject = {}): JsonObject => ({
  description,
  type: 'string',
  maxLength: max,
  ...more,
})

const name = { minLength: 1 }

const condition: JsonObject = {
  description: 'A condition of the resource.',
  type: 'object',
  required: ['lastTransitionTime', 'message', 'reason', 'status', 'type'],
  properties: {
    lastTransitionTime: { description: 'When the status changed last.', type: 'string', format: 'date-time' },
    message: text('Message for people.', 32_768),
    observedGeneration: {
      description: 'Generation of the resource that the condition describes.',
      type: 'integer',
      format: 'int64',
      minimum: 0,
    },
    reason: text('Reason for programs.', 1_024, { ...name, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' }),
    status: { description: 'Status of the condition.', type: 'string', enum: ['True', 'False', 'Unknown'] },
    type: text('Type of the condition.', 316, {
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
    }),
  },
}

function conditions(min: number): JsonObject {
  return {
    description: 'Conditions of the resource.',
    type: 'array',
    items: condition,
    minItems: min,
    maxItems: 8,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  }
}

/** A reference to an object, with the defaults of the Gateway API. */
function objectReference(description: string): JsonObject {
  return {
    description,
    type: 'object',
    required: ['name'],
    properties: {
      group: text('API group of the object.', 253, { default: 'gateway.networking.k8s.io' }),
      kind: text('Kind of the object.', 63, { ...name, default: 'Gateway' }),
      namespace: text('Namespace of the object.', 63, name),
      name: text('Name of the object.', 253, name),
      sectionName: text('Section of the object.', 253, name),
      port: { description: 'Port of the object.', type: 'integer', format: 'int32', minimum: 1, maximum: 65_535 },
    },
  }
}

const controllerName = text('Name of the controller that wrote the entry.', 253, {
  ...name,
  pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+$",
})

const parent: JsonObject = {
  description: 'Status at one parent.',
  type: 'object',
  required: ['parentRef', 'conditions', 'controllerName'],
  properties: {
    parentRef: objectReference('Reference to the parent.'),
    controllerName,
    conditions: conditions(1),
  },
}

const ancestor: JsonObject = {
  description: 'Status at one Gateway, or at a target without a Gateway.',
  type: 'object',
  required: ['ancestorRef', 'conditions', 'controllerName'],
  properties: {
    ancestorRef: objectReference('Reference to the Gateway or target.'),
    controllerName,
    conditions: conditions(1),
  },
}

const ancestors: JsonObject = {
  description: 'Gateways and targets of the policy.',
  type: 'array',
  items: ancestor,
  maxItems: 16,
  'x-kubernetes-list-type': 'atomic',
}

export const statusSchemas = {
  conditions: {
    description: 'Whether the backend can be used.',
    type: 'object',
    properties: { conditions: conditions(0) },
  },
  ancestors: {
    description: 'Whether and where the policy applies.',
    type: 'object',
    required: ['ancestors'],
    properties: {
      conditions: conditions(0),
      ancestors,
    },
  },
  verifiedAncestors: {
    description: 'Whether and where the policy applies.',
    type: 'object',
    required: ['ancestors'],
    properties: {
      conditions: conditions(0),
      verified: {
        description: 'The spec in force.',
        type: 'object',
        properties: {
          checked: text('Hash of the last run.', 128),
          generation: { description: 'Its generation.', type: 'integer', format: 'int64', minimum: 0 },
          spec: text('The spec, as JSON.', 262_144),
        },
      },
      ancestors,
    },
  },
  parents: {
    description: 'Which parents serve the model.',
    type: 'object',
    required: ['parents'],
    properties: {
      parents: {
        description: 'The parents of the model.',
        type: 'array',
        items: parent,
        maxItems: 32,
        'x-kubernetes-list-type': 'atomic',
      },
    },
  },
  nothing: { description: 'Always empty.', type: 'object' },
} satisfies Record<string, JsonObject>
