/**
 * The entry point: takes resources of a cluster, returns configs of gateways and statuses. It contains no Kubernetes
 * client.
 */
export { Fields, printFieldPath, printFieldProblem } from './resources/fields.ts'
export type { FieldPath, FieldProblem } from './resources/fields.ts'
export { GATEWAY_GROUP, groupByKind, isKind, kindOf, listenerSetKinds, routeKinds } from './resources/kinds.ts'
export type { Kind, ListenerSetKind, RouteKind } from './resources/kinds.ts'
export type { Index, Lookups } from './resources/lookups.ts'
export { isMaterialKind, materialKinds } from './resources/material.ts'
export type { MaterialKind } from './resources/material.ts'
export { keyOf } from './resources/resource.ts'
export type { Metadata, Resource } from './resources/resource.ts'
export { readGateway } from './resources/gateway.ts'
export { readListenerSet } from './resources/listener-set.ts'
export { readBackendRef, readParentRefs } from './resources/references.ts'
export type { BackendReference, ParentRef } from './resources/references.ts'
export { readEndpointSlice, readService } from './resources/service.ts'
export { conditionTypes, isFine, reasonEntry, reasons } from './resources/reasons.ts'
export type { ConditionType, Reason, ReasonEntry } from './resources/reasons.ts'
export { condition } from './resources/status.ts'
export type {
  Condition,
  ConditionsStatus,
  GatewayClassStatus,
  GatewayStatus,
  ListenerSetStatus,
  ListenerStatus,
  ParentReference,
  PolicyAncestorStatus,
  PolicyStatus,
  RouteParentStatus,
  RouteStatus,
  Status,
  VerifiedRecord,
} from './resources/status.ts'
export { pemChecks } from './pem-checks.ts'
export { quarantineNotes, withQuarantine } from './translate/status/quarantine-status.ts'
export type { QuarantineNote } from './translate/status/quarantine-status.ts'
export type { TranslateSettings } from './translate/context.ts'
export { Translator } from './translator.ts'
export type { PlaneMember } from './translate/gateways/shared-planes.ts'
export { parametersOfPlane, sharedPlaneKey } from './translate/listeners/shared-data-plane.ts'
export type { TranslationResult, TranslatedChange, TrialConfig } from './translator.ts'
export type { PolicyVerification } from './translate/policies/policy-verification.ts'
export { recordOf, verifiedCondition } from './translate/verified-policy.ts'
export { ownKinds, readSpec } from './resources/own-kinds.ts'
export type { OwnKind } from './resources/own-kinds.ts'
export { gwParametersSpec } from './resources/gw-parameters.ts'
export type { GwParametersSpec } from './resources/gw-parameters.ts'
export { MESH_REDIRECTION } from './resources/pod.ts'
