import type { Entity } from './entities.ts'

/** A service, which requests go to. */
export interface Service {
  readonly names: readonly string[]
  readonly entity: Entity
  readonly isEnabled: boolean
}

/** The requests that go to a service. */
export interface Route {
  /** The name of the route, or of its service and its position. */
  readonly label: string
  readonly names: readonly string[]
  readonly entity: Entity
  /** Null for routes without a service. */
  readonly service: Service | null
}
