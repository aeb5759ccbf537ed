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

const ancestor: JsonObject = {
  description: 'Status at one Gateway, or at a target without a Gateway.',
  type: 'object',
  required: ['ancestorRef', 'conditions', 'controllerName'],
  properties: {
    ancestorRef: {
      description: 'Reference to the Gateway or target.',
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
    },
    controllerName: text('Name of the controller that wrote the entry.', 253, {
      ...name,
      pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+$",
    }),
    conditions: conditions(1),
  },
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
      ancestors: {
        description: 'Gateways and targets of the policy.',
        type: 'array',
        items: ancestor,
        maxItems: 16,
        'x-kubernetes-list-type': 'atomic',
      },
    },
  },
  nothing: { description: 'Always empty.', type: 'object' },
} satisfies Record<string, JsonObject>
