import { isObject } from '@portico/http/json'
import {
  additionalTrustDomains,
  boolean,
  caAddress,
  enumeration,
  integer,
  list,
  logFilter,
  map,
  object,
  otherRule,
  Refusal,
  scalar,
  string,
  trustDomain,
} from '@portico/gateway/schema'
import type { JsonObject, Output, Schema } from '@portico/gateway/schema'

const quantityPattern =
  '^[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+))?$'

/** An object whose fields only Kubernetes validates. */
function anyObject(): Schema<JsonObject> {
  return scalar<JsonObject>((input) => (isObject(input) ? (input as JsonObject) : new Refusal('wrong_type')), {
    type: 'object',
    expected: 'a mapping',
    json: { type: 'object' },
    crd: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  })
}

/** A quantity such as `500m`, `1Gi` or 2. */
function quantity(): Schema<string | number> {
  return scalar<string | number>(
    (input) => {
      if (typeof input === 'number') return Number.isSafeInteger(input) ? input : new Refusal('wrong_type')
      if (typeof input !== 'string') return new Refusal('wrong_type')
      return input.length <= 64 && new RegExp(quantityPattern).test(input) ? input : new Refusal('bad_format')
    },
    {
      type: 'quantity',
      expected: 'a quantity such as `500m` or `1Gi`',
      json: { type: ['integer', 'string'], maxLength: 64, pattern: quantityPattern },
      crd: { 'x-kubernetes-int-or-string': true, maxLength: 64, pattern: quantityPattern },
    },
  )
}

const quantities = () => map(quantity().describe('The quantity.'), { max: 32 }).optional()

const texts = () => map(string({ max: 262_144 }).describe('Value of the entry.'), { max: 256 }).optional()

const second = () => integer({ min: 0, max: 31_536_000 })

const image = object({
  registry: string({ min: 1, max: 256 }).optional().describe('Registry of the image.'),
  repository: string({ min: 1, max: 256 }).optional().describe('Repository in the registry.'),
  tag: string({ min: 1, max: 128 }).optional().describe('Tag of the image.'),
  digest: string({ min: 1, max: 256 }).optional().describe('Digest of the image, such as `sha256:...`.'),
  pullPolicy: string({ min: 1, max: 64 })
    .optional()
    .describe('When the image is pulled; the default of Kubernetes for the tag when unset.'),
})

const environmentVariable = object({
  name: string({ min: 1, max: 1_024 }).describe('Name of the variable.'),
  value: string({ max: 65_536 }).optional().describe('Value of the variable.'),
  valueFrom: anyObject().optional().describe('Source of the value, as in a container.'),
}).describe('An environment variable.')

const resources = object({
  limits: quantities().describe('Limits of the container.'),
  requests: quantities().describe('Resource requests of the container.'),
  claims: list(anyObject().describe('A resource claim.'), { max: 32 })
    .optional()
    .describe('Resource claims of the container.'),
})

const shutdown = object(
  {
    min: second().describe(
      'After the Pod is told to terminate, it keeps accepting connections for this many seconds, so that load balancers can react.',
    ),
    max: second().describe('Seconds after which the Pod is killed.'),
  },
  [
    otherRule(
      'shutdown.min must not be above shutdown.max',
      'self.min <= self.max',
      ({ min, max }) => typeof min !== 'number' || typeof max !== 'number' || min <= max,
    ),
  ],
)

const autoscaling = object(
  {
    minReplicas: integer({ min: 1, max: 10_000 }).optional().describe('The least number of Pods; 1 when unset.'),
    maxReplicas: integer({ min: 1, max: 10_000 }).describe('The largest number of Pods.'),
    metrics: list(
      object({
        metric: enumeration(['RequestsPerSecond', 'ActiveRequests', 'ActiveConnections']).describe(
          'Requests that ended in a second, requests without a complete response (which include streams), or open connections of clients.',
        ),
        target: integer({ min: 1, max: 1_000_000_000 }).describe('The value for each Pod, on average.'),
      }).describe('A metric of the data plane.'),
      { min: 1, max: 3 },
    ).describe('The metrics; the one that needs the most Pods decides.'),
  },
  [
    otherRule(
      'autoscaling.minReplicas must not be above autoscaling.maxReplicas',
      '!has(self.minReplicas) || self.minReplicas <= self.maxReplicas',
      ({ minReplicas, maxReplicas }) =>
        typeof minReplicas !== 'number' || typeof maxReplicas !== 'number' || minReplicas <= maxReplicas,
    ),
  ],
)

function overlay(kind: string) {
  return object({
    metadata: object({
      labels: texts().describe('Labels to add or replace.'),
      annotations: texts().describe('Annotations to add or replace.'),
    })
      .optional()
      .describe('Labels and annotations.'),
    spec: anyObject().optional().describe(`A partial spec of the ${kind}, applied as a strategic merge patch.`),
  }).optional()
}

/** A rule against an overlay whose object the kind of workload in the same resource rules out. */
const notWith = (overlay: string, kind: 'Deployment' | 'DaemonSet') =>
  otherRule(
    `${overlay} cannot be set when workload.kind is ${kind}`,
    `!has(self.${overlay}) || !has(self.workload) || !has(self.workload.kind) || self.workload.kind != '${kind}'`,
    ({ [overlay]: found, workload }) => found === undefined || !isObject(workload) || workload['kind'] !== kind,
  )

/** GwParameters (SPEC 2.3): settings of the data planes of a class, or of one Gateway. */
export const gwParametersSpec = object(
  {
    logging: object({
      level: logFilter()
        .optional()
        .describe('Log level, or levels by module: `info,upstream=debug`; `info` when unset.'),
      format: enumeration(['json', 'text']).optional().describe('Format of log lines; `text` when unset.'),
    })
      .optional()
      .describe('Logging of the data plane.'),
    rawConfig: anyObject().optional().describe('Config file of the data plane; the other fields take precedence.'),
    image: image.optional().describe('Parts of the image that replace those of the default image.'),
    env: list(environmentVariable, { max: 256 })
      .optional()
      .describe(
        'Environment variables to add or replace. With `SESSION_KEY`, no Secret with a session key is created.',
      ),
    resources: resources.optional().describe('Resource requests and limits of the container.'),
    shutdown: shutdown
      .optional()
      .describe('Time limits for the shutdown of a Pod: `min` is 10 and `max` is 60 seconds when unset.'),
    mesh: object({
      caAddress: caAddress()
        .optional()
        .describe('Address of the CA of the mesh; `https://istiod.istio-system.svc:15012` when unset.'),
      trustDomain: trustDomain().optional().describe('Trust domain of the Gateway; `cluster.local` when unset.'),
      additionalTrustDomains: additionalTrustDomains()
        .optional()
        .describe('Other trust domains whose workloads are accepted as peers.'),
    })
      .optional()
      .describe('Makes the Gateway a workload of an Istio mesh, also when the mapping is empty.'),
    workload: object({
      kind: enumeration(['Deployment', 'DaemonSet'])
        .optional()
        .describe('`DaemonSet` runs one Pod on each node that its overlay selects; `Deployment` when unset.'),
    })
      .optional()
      .describe('The object that runs the Pods.'),
    autoscaling: autoscaling
      .optional()
      .describe(
        'Creates a HorizontalPodAutoscaler by metrics of the data plane, which need an adapter for custom metrics.',
      ),
    mergeGateways: boolean()
      .optional()
      .describe(
        'Whether all Gateways of a GatewayClass that refers to these parameters share one data plane, in the namespace of the parameters.',
      ),
    deployment: overlay('Deployment').describe('Changes to the Deployment.'),
    daemonSet: overlay('DaemonSet').describe('Changes to the DaemonSet.'),
    service: overlay('Service').describe('Changes to the Service.'),
    serviceAccount: overlay('ServiceAccount').describe('Changes to the ServiceAccount.'),
    podDisruptionBudget: overlay('PodDisruptionBudget').describe('Creates a PodDisruptionBudget for the Pods.'),
    horizontalPodAutoscaler: overlay('HorizontalPodAutoscaler').describe(
      'Creates a HorizontalPodAutoscaler for the Deployment.',
    ),
  },
  [
    notWith('deployment', 'DaemonSet'),
    notWith('autoscaling', 'DaemonSet'),
    notWith('horizontalPodAutoscaler', 'DaemonSet'),
    notWith('daemonSet', 'Deployment'),
  ],
).describe('Settings of data planes.')

export type GwParametersSpec = Output<typeof gwParametersSpec>
