export { aiTarget, awsTarget, dynamicTarget, HTTPS_PORT, sectionKey, staticTarget } from './backend-targets.ts'
export { applyChange, changeBetween, EMPTY_IR } from './change.ts'
export type { ChangedIr, IrChange, ListChange, Put } from './change.ts'
export { exposeOauth } from '../sources/expose-oauth.ts'
export { indexPolicies, setsOfListeners } from './merge.ts'
export { backendsNamedIn } from './named-backends.ts'
export { PoliciesByTarget } from './policies-by-target.ts'
export type { PolicyIndex } from './merge.ts'
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
} from './resources.ts'
