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
  description: 'What is the case, since when, and why.',
  type: 'object',
  required: ['lastTransitionTime', 'message', 'reason', 'status', 'type'],
  properties: {
    lastTransitionTime: { description: 'When the status changed last.', type: 'string', format: 'date-time' },
    message: text('For people.', 32_768),
    observedGeneration: {
      description: 'The generation of the resource that it is about.',
      type: 'integer',
      format: 'int64',
      minimum: 0,
    },
    reason: text('For programs.', 1_024, { ...name, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' }),
    status: { description: 'Whether it is the case.', type: 'string', enum: ['True', 'False', 'Unknown'] },
    type: text('What it is about.', 316, {
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
    }),
  },
}

function conditions(min: number): JsonObject {
  return {
    description: 'What is the case.',
    type: 'array',
    items: condition,
    minItems: min,
    maxItems: 8,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  }
}

const ancestor: JsonObject = {
  description: 'How it fares at one Gateway, or at a target that no Gateway reaches.',
  type: 'object',
  required: ['ancestorRef', 'conditions', 'controllerName'],
  properties: {
    ancestorRef: {
      description: 'The object.',
      type: 'object',
      required: ['name'],
      properties: {
        group: text('Its API group.', 253, { default: 'gateway.networking.k8s.io' }),
        kind: text('Its kind.', 63, { ...name, default: 'Gateway' }),
        namespace: text('Its namespace.', 63, name),
        name: text('Its name.', 253, name),
        sectionName: text('A part of it.', 253, name),
        port: { description: 'A port of it.', type: 'integer', format: 'int32', minimum: 1, maximum: 65_535 },
      },
    },
    controllerName: text('Who wrote it.', 253, {
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
    description: 'Whether the policy holds, and where.',
    type: 'object',
    required: ['ancestors'],
    properties: {
      conditions: conditions(0),
      ancestors: {
        description: 'Where it holds, or should.',
        type: 'array',
        items: ancestor,
        maxItems: 16,
        'x-kubernetes-list-type': 'atomic',
      },
    },
  },
  nothing: { description: 'Nothing is written here.', type: 'object' },
} satisfies Record<string, JsonObject>
