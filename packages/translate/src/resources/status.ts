import type { Reason } from './reasons.ts'

/** The part of the status of a GwPolicy with `spec.verify` that says which spec is in force. */
export interface VerifiedRecord {
  /** The hash of the spec and the tests of the last run; absent before the first one. */
  checked?: string
  /** The generation of the spec in force; absent with `spec` when no spec is in force. */
  generation?: number
  /** The spec in force, as JSON: a merge patch would mix two objects. */
  spec?: string
}

/** The status of a resource. The status writer adds times and entries of other controllers. */
export type Status =
  | ConditionsStatus
  | GatewayClassStatus
  | GatewayStatus
  | ListenerSetStatus
  | RouteStatus
  | PolicyStatus

export interface Condition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
  observedGeneration: number
}

/** The status of a GwBackend. */
export interface ConditionsStatus {
  conditions: Condition[]
}

export interface GatewayClassStatus {
  conditions: Condition[]
  supportedFeatures: { name: string }[]
}

export interface GatewayStatus {
  conditions: Condition[]
  listeners: ListenerStatus[]
  attachedListenerSets: number
}

export interface ListenerSetStatus {
  conditions: Condition[]
  listeners: ListenerStatus[]
}

export interface ListenerStatus {
  name: string
  /** The port, which the status of an XListenerSet must have, and that of others has not. */
  port?: number
  supportedKinds: { group: string; kind: string }[]
  attachedRoutes: number
  conditions: Condition[]
}

/** The status of HTTPRoute, GRPCRoute, TLSRoute, TCPRoute, UDPRoute and InferencePool. */
export interface RouteStatus {
  parents: RouteParentStatus[]
}

export interface RouteParentStatus {
  parentRef: ParentReference
  controllerName: string
  conditions: Condition[]
}

export interface ParentReference {
  group: string
  kind: string
  namespace?: string
  name: string
  sectionName?: string
  port?: number
}

/** The status of policies and of XBackend. */
export interface PolicyStatus {
  ancestors: PolicyAncestorStatus[]
  /** `Verified`, for a GwPolicy with `spec.verify`. */
  conditions?: Condition[]
  verified?: VerifiedRecord
}

export interface PolicyAncestorStatus {
  ancestorRef: ParentReference
  controllerName: string
  conditions: Condition[]
}

export function condition(
  type: string,
  isTrue: boolean,
  { reason, message, generation }: { reason: Reason; message: string; generation: number },
): Condition {
  return { type, status: isTrue ? 'True' : 'False', reason, message, observedGeneration: generation }
}
