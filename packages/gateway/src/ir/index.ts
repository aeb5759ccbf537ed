export { applyChange, changeBetween, EMPTY_IR } from './change.ts'
export type { ChangedIr, IrChange, ListChange, Put } from './change.ts'
export { indexPolicies } from './merge.ts'
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
