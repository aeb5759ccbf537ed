export { indexPolicies } from './merge.ts'
export type { PolicyIndex } from './merge.ts'
export type {
  AttachedPolicy,
  Backend,
  BackendTarget,
  Bind,
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
