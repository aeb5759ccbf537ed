/**
 * How Kubernetes merges the fields of the deployed kinds in a strategic merge patch. A field without a rule is merged when
 * it is a map and replaced when it is a list or a scalar.
 */
export type Rules = Readonly<Record<string, Rule>>

export type Rule =
  | { list: 'byKey'; key: string; item: Rules; isLoose: boolean }
  | { list: 'union' }
  | { map: 'merged'; fields: Rules }
  | { map: 'replaced' }

export type PatchedKind =
  | 'Deployment'
  | 'DaemonSet'
  | 'Service'
  | 'ServiceAccount'
  | 'PodDisruptionBudget'
  | 'HorizontalPodAutoscaler'

const map = (fields: Rules): Rule => ({ map: 'merged', fields })
const byKey = (key: string, item: Rules = {}): Rule => ({ list: 'byKey', key, item, isLoose: false })
/** Lists whose items may lack the key or share one. */
const looselyByKey = (key: string): Rule => ({ list: 'byKey', key, item: {}, isLoose: true })

const metadata = map({ finalizers: { list: 'union' }, ownerReferences: byKey('uid') })

const containers = byKey('name', {
  env: byKey('name'),
  ports: byKey('containerPort'),
  volumeMounts: byKey('mountPath'),
  volumeDevices: byKey('devicePath'),
})

const podSpec = map({
  containers,
  initContainers: containers,
  ephemeralContainers: containers,
  volumes: byKey('name'),
  imagePullSecrets: byKey('name'),
  hostAliases: byKey('ip'),
  topologySpreadConstraints: byKey('topologyKey'),
  schedulingGates: byKey('name'),
  resourceClaims: byKey('name'),
  // Kubernetes replaces tolerations; parameters merge them. A toleration without a key applies to every taint.
  tolerations: looselyByKey('key'),
})

const workload: Rules = { metadata, spec: map({ template: map({ metadata, spec: podSpec }) }) }

export const rulesByKind: Readonly<Record<PatchedKind, Rules>> = {
  Deployment: workload,
  DaemonSet: workload,
  Service: { metadata, spec: map({ ports: byKey('port') }) },
  ServiceAccount: { metadata, secrets: byKey('name') },
  PodDisruptionBudget: { metadata, spec: map({ selector: { map: 'replaced' } }) },
  HorizontalPodAutoscaler: { metadata },
}

/** The rule of a field; `name` may be any text. */
export function ruleOf(rules: Rules, name: string): Rule | undefined {
  return Object.hasOwn(rules, name) ? rules[name] : undefined
}
