export { aiTarget, awsTarget, dynamicTarget, HTTPS_PORT, sectionKey, staticTarget } from '../ir/backend-targets.ts'
export { applyChange, changeBetween, EMPTY_IR } from '../ir/change.ts'
export type { ChangedIr, IrChange, ListChange, Put } from '../ir/change.ts'
export { exposeOauth } from '../ir/expose-oauth.ts'
export { indexPolicies, setsOfListeners } from '../ir/merge.ts'
export { findModelFaults, modelNode } from '../ir/model-graph.ts'
export { backendsNamedIn } from '../ir/named-backends.ts'
export { PoliciesByTarget } from '../ir/policies-by-target.ts'
export type { PolicyIndex } from '../ir/merge.ts'
export type {
  AttachedPolicy,
  Backend,
  BackendTarget,
  Bind,
  Certificate,
  Ir,
  Listener,
  ListenerProtocol,
  ListenerTls,
  PolicyTarget,
  Route,
  RouteBackend,
  RouteMatch,
  ValueMatch,
} from '../ir/resources.ts'
