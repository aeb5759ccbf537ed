import { toCrdSchema } from '@portico/gateway/schema'
import type { JsonObject } from '@portico/gateway/schema'
import { stringify } from 'yaml'
import { API_GROUP, API_VERSION } from '../resources/api-group.ts'
import { ownKinds } from '../resources/own-kinds.ts'
import type { OwnKind } from '../resources/own-kinds.ts'
import { describeOnce } from './describe-once.ts'
import { statusSchemas } from './status-schemas.ts'

const PRODUCT = 'portico'

/** Returns the files of the CustomResourceDefinitions: contents by path from the root of the project. */
export function crdFiles(): Map<string, string> {
  return new Map(
    ownKinds.map((kind) => [
      `deploy/crds/${API_GROUP}_${kind.plural}.yaml`,
      `# Printed from the schemas by \`npm run generate\`; changes here are lost.\n${stringify(crdOf(kind), { lineWidth: 120, aliasDuplicateObjects: false })}`,
    ]),
  )
}

export function crdOf(own: OwnKind): JsonObject {
  const { kind, plural, singular, shortNames } = own
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${API_GROUP}`,
      labels: {
        app: PRODUCT,
        'app.kubernetes.io/name': PRODUCT,
        // The label tells tools of the Gateway API that the kind changes the objects that it targets.
        ...(own.status === 'conditions' || own.status === 'parents'
          ? {}
          : { 'gateway.networking.k8s.io/policy': 'Direct' }),
      },
    },
    spec: {
      group: API_GROUP,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames: [...shortNames], categories: [PRODUCT] },
      versions: [
        {
          name: API_VERSION,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columnsOf(own),
          schema: { openAPIV3Schema: describeOnce(schemaOf(own)) },
        },
      ],
    },
  }
}

/** The schema of the whole resource. */
export function schemaOf({ description, spec, status }: OwnKind): JsonObject {
  return {
    description,
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: 'API version of the resource.' },
      kind: { type: 'string', description: 'Kind of the resource.' },
      metadata: { type: 'object' },
      spec: toCrdSchema(spec),
      status: statusSchemas[status],
    },
  }
}

function columnsOf({ kind, status }: OwnKind): JsonObject[] {
  const conditions = {
    conditions: '.status.conditions',
    parents: '.status.parents[*].conditions',
    ancestors: '.status.ancestors[*].conditions',
    verifiedAncestors: '.status.ancestors[*].conditions',
    nothing: null,
  }
  const ofPolicy = ['Accepted', 'Attached']
  const types = {
    ...{ conditions: ['Accepted'], parents: ['Accepted'], nothing: [] },
    ...{ ancestors: ofPolicy, verifiedAncestors: ofPolicy },
  }
  return [
    ...(kind === 'GwModel'
      ? [{ name: 'Model', type: 'string', jsonPath: '.spec.match.model', description: 'Name that clients send.' }]
      : []),
    ...types[status].map((type) => ({
      name: type,
      type: 'string',
      jsonPath: `${conditions[status]}[?(@.type=="${type}")].status`,
      description: `Whether it is ${type.toLowerCase()}.`,
    })),
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Age of the resource.' },
  ]
}
